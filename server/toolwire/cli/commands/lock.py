"""`toolwire lock`: keeps what a model reads of a server, so that what changes later has no effect
or is refused.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, cast

import msgspec

from ...errors import Failed, UsageError
from ..open_client import is_mounting, make_client, make_limit
from ..options import EXCLUDE, INCLUDE, LOADING, Option, Words
from ..printing.layout import format_count, format_table
from ..printing.output_files import write_text
from ..printing.terminal import print_remark, print_report
from . import Command

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolwire_client import Client
    from toolwire_dialects.compare.lock import Checked, Kind, Lock, Offer
    from toolwire_schemas.deadline import Deadline

    from ...mounting.mounts import ServerReport

COMMAND = Command(
    usage=(
        "toolwire lock FILE TARGET... [OPTIONS]",
        "toolwire lock FILE [OPTIONS] -- COMMAND",
        "toolwire lock [FILE] --config FILE [OPTIONS]",
    ),
    details=(
        "Writes what a model reads of a target, or of any MCP server, to FILE: the entries of its"
        " tools, prompts and resources, and its instructions. `wrap --lock FILE` shows these texts"
        " whatever the server says later. It refuses an entry whose schema, hints or other members"
        " have changed, and every new one. If FILE exists, old and new are printed side by side,"
        " and the exit status is 1 if they differ; --update accepts the changes. With --config,"
        " each server of a host's config file is started once; `serve --mount-config FILE --lock`"
        " starts none of them before its first call."
    ),
    options=(
        Option("--update", "accept the changes: write FILE anew"),
        Option(
            "--config FILE",
            "lock all servers of a host's config file; those that do not start keep their entries",
        ),
        INCLUDE,
        EXCLUDE,
        *LOADING,
        Option("--timeout SECONDS", "time limit, including the start of the server"),
    ),
    examples=(
        "toolwire lock github.lock.json -- npx -y some-mcp-server",
        "toolwire wrap --lock github.lock.json -- npx -y some-mcp-server",
        "toolwire lock github.lock.json --update -- npx -y some-mcp-server",
        "toolwire lock --config .mcp.json",
    ),
)


def run(words: Words) -> int:
    """Write the lock or print what it would change, and return 1 in the second case."""
    from toolwire_dialects.compare.lock import BadLock, lock_offer

    from ...mounting.locking import read_lock

    name, *targets = words.words or [_name_lock(words)]
    if "config" in words.options:
        words.options["mount_config"] = [words.options["config"]]
    old = read_lock(name) if os.path.exists(name) else None
    found = _read_servers(words, name, targets)
    kept = _list_kept(old, found)
    offer = _add_entries(found.offer, kept)
    try:
        new = lock_offer(offer)
    except BadLock as error:
        raise Failed(f"the lists cannot be locked: {error}") from None
    new = msgspec.structs.replace(new, servers=_find_owners(old, found))
    still_locked = {entry.server for entry in kept}
    for report in found.failed:
        is_locked = report.prefix in still_locked
        outcome = "its entries in the lock stay" if is_locked else "it is not in the lock"
        print_remark(f"{report.problem}; {outcome}")
    status = 1 if found.failed else 0
    if old is not None:
        is_update = "update" in words.options
        is_unchanged = _show_changes(name, old, offer, will_update=is_update)
        if is_unchanged and old.servers == new.servers:
            return status
        if not is_update and not is_unchanged:
            return 1
    write_text(name, str(new))
    if old is None or "update" in words.options:
        print_report(f"Locked {_count_entries(new)} in {name}.")
    return status


def lock_config(name: str, config: str, options: Mapping[str, Any]) -> dict[str, str]:
    """Write the lock *name* of all servers of a host's file *config*, which are started once;
    return why each that does not start fails, and "" for others. Servers that cannot be mounted are
    left out.

    Raises:
        Failed: if none starts, or what they list cannot be locked.
    """
    from toolwire_dialects.compare.lock import BadLock, lock_offer

    chosen = {"config": config, "mount_config": [config]}
    if "timeout" in options:
        chosen["timeout"] = options["timeout"]
    found = _read_servers(Words(chosen, [name]), name, [])
    try:
        lock = lock_offer(found.offer)
    except BadLock as error:
        raise Failed(f"the lists cannot be locked: {error}") from None
    write_text(name, str(msgspec.structs.replace(lock, servers=_find_owners(None, found))))
    return {report.name: report.problem for report in found.mounted}


def _name_lock(words: Words) -> str:
    """Return the name of the lock of a config file, next to it."""
    config = words.options.get("config")
    if config is None:
        raise UsageError(
            "name the file of the lock first: toolwire lock FILE TARGET, or toolwire lock FILE --"
            " COMMAND"
        )
    return f"{os.path.splitext(config)[0]}.lock.json"


class _Found(msgspec.Struct, frozen=True):
    """What servers offer, and the reports of mounted ones."""

    offer: Offer
    mounted: list[ServerReport] = []

    @property
    def failed(self) -> list[ServerReport]:
        return [report for report in self.mounted if report.problem]


def _read_servers(words: Words, name: str, targets: list[str]) -> _Found:
    """Return what the servers that a command line names offer.

    Raises:
        Failed: if one fails, unless others of the same config file do not.
    """
    from toolwire_client import RequestFailed

    limit = make_limit(words)
    with make_client(words, targets, limit=limit) as client:
        try:
            if is_mounting(words.options):
                found = _list_mounted(client, limit)
            else:
                found = _Found(_list_everything(client, limit))
        except RequestFailed as error:
            raise Failed(f"{name} is not written: {error.message}") from None
    may_fail = "config" in words.options and len(found.failed) < len(found.mounted)
    if found.failed and not may_fail:
        problems = "; ".join(report.problem for report in found.failed)
        raise Failed(f"{name} is not written: {problems}")
    return found


def _list_mounted(client: Client, limit: Deadline) -> _Found:
    """Return what our own server lists after each mounted one was started once."""
    from toolwire_dialects.compare.lock import Offer

    from ...mounting.mounts import META_REPORT, ServerReport
    from ...protocol.catalog import LIST_METHODS

    entries: dict[Kind, list[Any]] = {}
    reports: list[ServerReport] = []
    for method, kind in LIST_METHODS.items():
        is_first = not entries
        params = {"_meta": {META_REPORT: is_first}}
        result = client.request(method, params, timeout_seconds=limit.seconds_left)
        entries[cast("Kind", kind)] = result[kind]
        if is_first:
            reports = msgspec.convert(result["_meta"][META_REPORT], list[ServerReport])
    return _Found(Offer(entries, client.instructions or ""), reports)


class _LockedEntry(msgspec.Struct, frozen=True):
    """An entry in a lock of the mounted server with the prefix *server*."""

    server: str
    kind: Kind
    entry: Any


def _list_kept(old: Lock | None, found: _Found) -> list[_LockedEntry]:
    """Return the entries in the *old* lock of the servers that failed."""
    from toolwire_dialects.compare.lock import KEYS

    from ...mounting.locking import find_owner

    if old is None or not found.failed:
        return []
    prefixes = frozenset(report.prefix for report in found.mounted)
    failed = {report.prefix for report in found.failed}
    kept = []
    for kind in KEYS:
        for entry in old.list_entries(kind).values():
            server = find_owner(old, kind, entry, prefixes)
            if server in failed:
                kept.append(_LockedEntry(server, kind, entry))
    return kept


def _add_entries(offer: Offer, kept: list[_LockedEntry]) -> Offer:
    """Return *offer* with the entries of a lock that are *kept*."""
    from toolwire_dialects.compare.lock import Offer

    entries: dict[Kind, list[Any]] = {}
    for kind, listed in offer.entries.items():
        entries[kind] = list(listed)
    for each in kept:
        entries.setdefault(each.kind, []).append(each.entry)
    return Offer(entries, offer.instructions)


def _find_owners(old: Lock | None, found: _Found) -> dict[str, str]:
    """Return the mounted server of each resource and template, by its key."""
    owners = {}
    for report in reversed(found.mounted):  # the first of two with one URI is read
        for key in report.resources:
            owners[key] = report.prefix
    if old is not None:
        failed = {report.prefix for report in found.failed}
        for key, owner in old.servers.items():
            if owner in failed:
                owners.setdefault(key, owner)
    return owners


def _list_everything(client: Client, limit: Deadline) -> Offer:
    from toolwire_dialects.compare.lock import Offer

    entries: dict[Kind, list[Any]] = {
        "tools": client.list_entries(timeout_seconds=limit.seconds_left)
    }
    if "prompts" in client.capabilities:
        prompts = client.list_prompts(timeout_seconds=limit.seconds_left)
        entries["prompts"] = [prompt.raw for prompt in prompts]
    if "resources" in client.capabilities:
        resources = client.list_resources(timeout_seconds=limit.seconds_left)
        templates = client.list_resource_templates(timeout_seconds=limit.seconds_left)
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
