"""The history of a git repository, for reading.

    REPOSITORY=~/src/project toolwire serve git_history.py
    toolwire config vscode git_history.py --env REPOSITORY=/path/to/project --write

No argument can become an option of git: revisions follow --end-of-options and must be commits,
paths follow -- and are names, not patterns. Programs that a repository's settings name (diff
drivers, gpg) are not started.
"""

import os
import subprocess
from typing import Annotated

import anyio
from msgspec import Meta
from toolwire import ToolError, tool_api

GIT = (
    "git",
    "--no-pager",
    "--literal-pathspecs",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "log.showSignature=false",
)
QUIET = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1"}
PATCH = ("--no-ext-diff", "--no-textconv")
MAX_BYTES = 100_000

Revision = Annotated[str, "a commit: a hash, branch, tag, or HEAD~2"]
Path = Annotated[str, "a file, relative to the repository"]
Part = Annotated[str | None, "only this file or folder, relative to the repository"]
Limit = Annotated[int, Meta(ge=1, le=200, description="list at most this many")]
Line = Annotated[int, Meta(ge=1, description="the number of a line")]


@tool_api(read_only=True, timeout_seconds=30)
async def log(revision: Revision = "HEAD", path: Part = None, limit: Limit = 20) -> str:
    """List commits, the newest first: hash, day, author, subject."""
    form = "--format=%h %as %an: %s"
    return await git(
        "log", form, f"--max-count={limit}", await commit(revision), "--", *([path] if path else [])
    )


@tool_api(read_only=True, timeout_seconds=30)
async def show(revision: Revision) -> str:
    """Show one commit: message and changes."""
    return await git("show", "--stat", "--patch", *PATCH, await commit(revision), "--")


@tool_api(read_only=True, timeout_seconds=30)
async def diff(old: Revision, new: Revision = "HEAD", path: Part = None) -> str:
    """Show what changed between two commits."""
    return await git(
        "diff", *PATCH, await commit(old), await commit(new), "--", *([path] if path else [])
    )


@tool_api(read_only=True, timeout_seconds=30)
async def blame(path: Path, first: Line = 1, last: Line = 50, revision: Revision = "HEAD") -> str:
    """Show who last changed each of some lines of a file, and when."""
    return await git(
        "blame",
        "--no-textconv",
        "--date=short",
        f"-L{first},{last}",
        await commit(revision),
        "--",
        path,
    )


async def commit(revision: str) -> str:
    """Return the hash of a commit; raises a ToolError if *revision* names none."""
    return await git(
        "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
    )


async def git(*arguments: str) -> str:
    """Return the first part of what git prints. A cancelled call, or one that takes too long, kills
    it.
    """
    folder = os.path.expanduser(os.environ.get("REPOSITORY", "."))
    command = [*GIT, "-C", folder, *arguments]
    errors = subprocess.STDOUT  # one stream needs no second reader
    async with await anyio.open_process(
        command, stdin=subprocess.DEVNULL, stderr=errors, env=os.environ | QUIET
    ) as process:
        assert process.stdout is not None
        output = b""
        async for part in process.stdout:
            output += part
            if len(output) > MAX_BYTES:
                process.kill()
                return (
                    output[:MAX_BYTES].decode("utf-8", "replace")
                    + "\n(There is more: ask for less at a time.)"
                )
        status = await process.wait()
    text = output.decode("utf-8", "replace").strip()
    if status:
        raise ToolError(
            text or f"There is no such commit: {arguments[-1].removesuffix('^{commit}')}"
        )
    return text
