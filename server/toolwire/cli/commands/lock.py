"""`toolwire lock`: keeps what a server's tools mean, so that tools that change later can be refused."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ...errors import Failed, UsageError
from ..open_client import client_of, is_mounting, limit_of
from ..options import EXCLUDE, INCLUDE, LOADING, Option
from ..output import counted, show, table, write_text
from . import Command

if TYPE_CHECKING:
    from toolwire_schemas.compare.lock import Lock

    from ..options import Words

COMMAND = Command(
    usage=("toolwire lock FILE TARGET... [OPTIONS]", "toolwire lock FILE [OPTIONS] -- COMMAND"),
    details="Writes the tools of a target, or of any MCP server, to FILE: their schemas and hints in a form that does "
    "not depend on the order, and digests of all texts. `wrap --lock FILE` refuses a tool whose schema, hints or title "
    "have changed since then, and every new tool; it reports a changed description. If FILE exists, the changes are "
    "printed, and the exit status is 1 if there are any; --update accepts them.",
    options=(
        Option("--update", "accept the changes: write FILE anew"),
        INCLUDE,
        EXCLUDE,
        *LOADING,
        Option("--timeout SECONDS", "time limit, including the start of the server"),
    ),
    examples=(
        "toolwire lock github.lock.json -- npx -y some-mcp-server",
        "toolwire wrap --lock github.lock.json -- npx -y some-mcp-server",
        "toolwire lock github.lock.json --update -- npx -y some-mcp-server",
    ),
)


def run(words: Words) -> int:
    """Write the lock or print what it would change, and return 1 in the second case."""
    from toolwire_client import RequestFailed
    from toolwire_schemas.compare.lock import BadLock, locked

    from ...upstream.locking import read_lock
    from ...upstream.mounts import META_WHOLE

    if not words.words:
        raise UsageError("name the file of the lock first: toolwire lock FILE TARGET, or toolwire lock FILE -- COMMAND")
    name, *targets = words.words
    old = read_lock(name) if os.path.exists(name) else None
    limit = limit_of(words)
    with client_of(words, targets, limit=limit) as client:
        try:
            if is_mounting(words.options):
                client.request("tools/list", {"_meta": {META_WHOLE: True}}, timeout_seconds=limit.left())
            entries = client.list_entries(timeout_seconds=limit.left())
        except RequestFailed as error:
            raise Failed(f"{name} is not written: {error.message}") from None
    try:
        new = locked(entries)
    except BadLock as error:
        raise Failed(f"the tools cannot be locked: {error}") from None
    is_known = old is not None and _show_changes(name, old, entries)
    if not is_known and (old is None or words.options.get("update")):
        write_text(name, str(new))
        show(f"Locked {counted(len(new.tools), 'tool')} in {name}.")
        return 0
    return 0 if is_known else 1


def _show_changes(name: str, old: Lock, entries: list[object]) -> bool:
    """Print what changed since the *old* lock; return whether nothing did."""
    from toolwire_schemas.compare.lock import check, needs_approval

    changes = check(old, entries).changes
    if not changes:
        show(f"{name} is up to date: {counted(len(old.tools), 'tool')}.")
        return True
    rows = [("refused" if needs_approval(change) else "reported", change.where, str(change)) for change in changes]
    show(table(("", "where", "what changed"), rows) + "\n")
    refused = len({change.tool for change in changes if needs_approval(change)})
    show(f"{counted(refused, 'tool')} would be refused; `toolwire lock --update` accepts the changes.")
    return False
