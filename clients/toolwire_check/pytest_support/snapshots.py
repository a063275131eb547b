"""Compare a server's tools with a snapshot in its repository, so that a breaking change fails a
test.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolwire_client.connecting import connect
from toolwire_client.errors import ClientError

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from toolwire_client.transport.base import InProcess
    from toolwire_dialects.compare import Change

UPDATE_FLAG = "--toolwire-update-tools"  # as `toolwire_pytest.py` adds it

_SEMVER = {
    "major": "breaking: a new major version",
    "unknown": "possibly breaking: review it",
    "minor": "compatible: a new minor version",
    "patch": "texts only: a new patch version",
}


class SnapshotMismatch(AssertionError):
    """The tools of a server are not those of its snapshot. `changes` has what is different, the
    worst first.
    """

    def __init__(self, sentence: str, changes: Sequence[Change] = ()) -> None:
        super().__init__(sentence)
        self.changes = list(changes)


def assert_tools_unchanged(
    server: Sequence[str] | InProcess,
    path: str | os.PathLike[str],
    *,
    update: bool = False,
    env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
) -> None:
    """Compare the tools of *server* with those in the file at *path*; with *update*, write them
    there.

    *server* is the command that starts it, or one in this process such as `toolwire.Server`. *env*
    is the whole environment of what is started, by default ours. The file is what
    `toolwire list --json` prints, so `toolwire diff` reads it.

    Raises:
        SnapshotMismatch: if something changed, or there is no such file.
    """
    # Here and below, so that pytest shows the caller's test and the changes.
    __tracebackhide__ = True
    tools = _list_tools(server, env, cwd)
    file = Path(path)
    if update:
        _write(tools, file)
        return
    if not file.exists():
        raise SnapshotMismatch(
            f"there is no {file} yet: {UPDATE_FLAG} writes it, with {len(tools)} tools"
        )
    _compare(_read(file), tools, file)


def _list_tools(
    server: Sequence[str] | InProcess,
    env: Mapping[str, str] | None,
    cwd: str | os.PathLike[str] | None,
) -> list[Any]:
    __tracebackhide__ = True
    try:
        with connect(server, env=env, inherit_env=env is None, cwd=cwd) as client:
            return [tool.raw for tool in client.list_tools()]
    except ClientError as error:
        raise SnapshotMismatch(f"the server cannot be asked for its tools: {error}") from None


def _write(tools: list[Any], file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"tools": tools}, indent=2, ensure_ascii=False) + "\n"
    file.write_text(text, encoding="utf-8")


def _read(file: Path) -> list[Any]:
    __tracebackhide__ = True
    with suppress(ValueError, TypeError, KeyError):
        tools = json.loads(file.read_text(encoding="utf-8"))["tools"]
        if isinstance(tools, list):
            return tools
    raise SnapshotMismatch(
        f'{file} holds no tools, which is {{"tools": [...]}}: {UPDATE_FLAG} writes it anew'
    )


def _compare(old: list[Any], new: list[Any], file: Path) -> None:
    __tracebackhide__ = True
    from toolwire_dialects.compare import BadList, compare_lists, judge_changes

    try:
        changes = compare_lists(old, new)
    except BadList as error:
        raise SnapshotMismatch(
            f"the tools cannot be compared with those in {file}: {error}"
        ) from None
    if not changes:
        return
    lines = [f"the tools are not those in {file}; {_SEMVER[judge_changes(changes)]}"]
    lines += map(_format_change, changes)
    lines.append(f"If that is meant, {UPDATE_FLAG} writes the file anew.")
    raise SnapshotMismatch("\n".join(lines), changes)


def _format_change(change: Change) -> str:
    where = " ".join(filter(None, (change.tool, change.place))) or "all tools"
    return f"  {change.level}: {where}: {change}"
