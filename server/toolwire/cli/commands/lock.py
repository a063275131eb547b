"""`toolwire lock`: keeps what a model reads of a server, so that what changes later has no effect
or is refused.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ...errors import Failed, UsageError
from ..open_client import is_mounting, make_client, make_limit
from ..options import EXCLUDE, INCLUDE, LOADING, Option
from ..printing.layout import format_count, format_table
from ..printing.output import print_report
from ..printing.output_files import write_text
from . import Command

if TYPE_CHECKING:
    from toolwire_client import Client
    from toolwire_dialects.compare.lock import Checked, Kind, Lock, Offer
    from toolwire_schemas.deadline import Deadline

    from ..options import Words

COMMAND = Command(
    usage=("toolwire lock FILE TARGET... [OPTIONS]", "toolwire lock FILE [OPTIONS] -- COMMAND"),
    details=(
        "Writes what a model reads of a target, or of any MCP server, to FILE: the entries of its"
        " tools, prompts and resources, and its instructions. `wrap --lock FILE` shows these texts"
        " whatever the server says later. It refuses an entry whose schema, hints or other members"
        " have changed, and every new one. If FILE exists, old and new are printed side by side,"
        " and the exit status is 1 if they differ; --update accepts the changes."
    ),
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
    from toolwire_dialects.compare.lock import BadLock, lock_offer

    from ...mounting.locking import read_lock

    if not words.words:
        raise UsageError(
            "name the file of the lock first: toolwire lock FILE TARGET, or toolwire lock FILE --"
            " COMMAND"
        )
    name, *targets = words.words
    old = read_lock(name) if os.path.exists(name) else None
    offer = _read_offer(words, name, targets)
    try:
        new = lock_offer(offer)
    except BadLock as error:
        raise Failed(f"the lists cannot be locked: {error}") from None
    if old is not None:
        is_update = "update" in words.options
        is_unchanged = _show_changes(name, old, offer, will_update=is_update)
        if is_unchanged:
            return 0
        if not is_update:
            return 1
    write_text(name, str(new))
    print_report(f"Locked {_count_entries(new)} in {name}.")
    return 0


def _read_offer(words: Words, name: str, targets: list[str]) -> Offer:
    from toolwire_client import RequestFailed

    from ...mounting.mounts import META_WHOLE

    limit = make_limit(words)
    with make_client(words, targets, limit=limit) as client:
        try:
            if is_mounting(words.options):
                client.request(
                    "tools/list", {"_meta": {META_WHOLE: True}}, timeout_seconds=limit.left()
                )
            return _list_everything(client, limit)
        except RequestFailed as error:
            raise Failed(f"{name} is not written: {error.message}") from None


def _list_everything(client: Client, limit: Deadline) -> Offer:
    from toolwire_dialects.compare.lock import Offer

    entries: dict[Kind, list[Any]] = {"tools": client.list_entries(timeout_seconds=limit.left())}
    if "prompts" in client.capabilities:
        prompts = client.list_prompts(timeout_seconds=limit.left())
        entries["prompts"] = [prompt.raw for prompt in prompts]
    if "resources" in client.capabilities:
        resources = client.list_resources(timeout_seconds=limit.left())
        templates = client.list_resource_templates(timeout_seconds=limit.left())
        entries["resources"] = [resource.raw for resource in resources]
        entries["resourceTemplates"] = [template.raw for template in templates]
    return Offer(entries, client.instructions or "")


def _count_entries(lock: Lock) -> str:
    """Return what a lock has, such as `3 tools, 1 prompt`; tools always."""
    parts = [format_count(len(lock.tools), "tool")]
    others = (
        (lock.prompts, "prompt"),
        (lock.resources, "resource"),
        (lock.resourceTemplates, "resource template"),
    )
    for entries, noun in others:
        if entries:
            parts.append(format_count(len(entries), noun))
    return ", ".join(parts)


def _show_changes(name: str, old: Lock, offer: Offer, *, will_update: bool) -> bool:
    """Print what differs from the *old* lock; return whether nothing does."""
    from toolwire_dialects.compare.lock import check

    checked = check(old, offer)
    rows = _list_rows(checked)
    if not rows:
        print_report(f"{name} is up to date: {_count_entries(old)}.")
        return True
    print_report(format_table(("", "where", "approved", "now"), rows) + "\n")
    if not will_update:
        outcome = "the approved texts are shown until then"
        refused = len(checked.refused)
        if refused:
            verb = "is" if refused == 1 else "are"
            outcome = f"{refused} of the entries {verb} refused until then"
        print_report(f"`toolwire lock --update` accepts the changes; {outcome}.")
    return False


def _list_rows(checked: Checked) -> list[tuple[str, str, str, str]]:
    rows = []
    explained = set()
    for one in checked.differences:
        place = (one.kind, one.key)
        what = "text" if one.is_text else "refused"
        if not one.is_text:
            explained.add(place)
        rows.append((what, one.place, one.was, one.now))
    for (kind, key), why in checked.refused.items():
        if (kind, key) not in explained:
            rows.append(("refused", key, "", why))
    for _, key in checked.gone:
        rows.append(("gone", key, "in the lock", "not listed"))
    return rows
