"""Refuses mounted tools that differ from a lock."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolwire_schemas.compare.lock import BadLock, check, read
from toolwire_schemas.output import printable
from toolwire_tools import Tool, ToolError

from .. import log
from ..errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolwire_schemas.compare.lock import Lock
    from toolwire_tools import Caller

    from .mounted_tool import MountedTool


def read_lock(name: str) -> Lock:
    """Return the lock in the file *name*.

    Raises:
        UsageError: if it cannot be read, or is no lock.
    """
    try:
        return read(Path(name).read_bytes())
    except OSError as error:
        raise UsageError(f"the lock {name} cannot be read: {(error.strerror or str(error)).lower()}") from None
    except BadLock as error:
        raise UsageError(f"{name}: {error}; `toolwire lock FILE -- COMMAND` writes one") from None


_MAX_REMARKS = 1000
"""How many remarks are logged in all, since a server may change its tools again and again."""


class LockedTools:
    """The lock in the file *name*, which refuses tools; raises what `read_lock` raises. Each remark is logged once."""

    def __init__(self, name: str) -> None:
        self._name, self._lock = name, read_lock(name)
        self._logged: set[str] = set()

    def checked(self, tools: Sequence[MountedTool]) -> tuple[list[MountedTool], list[RefusedTool]]:
        """Return the *tools* that the lock allows, and for each other one a tool that says why it is refused."""
        checked = check(self._lock, [tool.describe() for tool in tools if tool.kind == "tools"])
        names, allowed = {tool.name for tool in tools}, {entry["name"] for entry in checked.allowed}
        remarks = {remark for name, remark in checked.remarks().items() if name in names}
        new = sorted(remarks - self._logged)[: _MAX_REMARKS - len(self._logged)]
        for remark in new:
            log.warning(f"{self._name}: {remark}")
        self._logged.update(new)
        refused = [RefusedTool(name, f"{self._name}: {why}") for name, why in checked.refused.items()]
        return [tool for tool in tools if tool.kind != "tools" or tool.name in allowed], refused


class RefusedTool(Tool):
    """A tool that is not listed, and whose calls fail; `why` is a sentence."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(lambda: None, name=name)
        self.why = printable(f"{name} is refused, since it is not what was approved: {why}")

    def call(self, arguments: Any, caller: Caller, strict_arguments: bool = False) -> dict[str, Any]:
        """Raise a `ToolError`."""
        raise ToolError(self.why)
