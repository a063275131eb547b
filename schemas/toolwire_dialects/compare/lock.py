"""Keeps what a model reads of a server, so that tools that change after their approval can be
refused.

Strategy. A lock has every entry of the server's lists as a person approved it, and the server's
instructions. A later entry is compared byte by byte, as JSON with sorted members. Texts are taken
apart from behaviour: texts are `title`, `description`, `examples` and `$comment` where JSON Schema
or MCP has them, icons and metadata. If nothing but texts differs, the approved texts can take their
place. Everything else is behaviour, unknown keywords and members included: a new optional argument
can carry data to the server, and a hint decides whether a host asks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence  # noqa: TC003 (msgspec reads them)
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from toolwire_schemas.json_schema.subschemas import map_subschemas
from toolwire_schemas.output import make_printable

if TYPE_CHECKING:
    from collections.abc import Iterator

Entry = dict[str, Any]
Kind = Literal["tools", "prompts", "resources", "resourceTemplates"]
Texts = Literal["approved", "refuse", "report"]
"""What becomes of an entry whose texts have changed: it is shown with the approved ones, refused,
or shown as it is.
"""

KEYS: dict[Kind, str] = {
    "tools": "name",
    "prompts": "name",
    "resources": "uri",
    "resourceTemplates": "uriTemplate",
}
"""The member by which an entry of each list is known."""

_NOUNS = {
    "tools": "tool",
    "prompts": "prompt",
    "resources": "resource",
    "resourceTemplates": "resource template",
}
_SCHEMAS = ("inputSchema", "outputSchema")
_TEXTS_OF_ENTRY = ("title", "description", "icons", "_meta")
_TEXTS_OF_SCHEMA = ("title", "description", "examples", "$comment")
_SETS = ("required", "type")
"""Lists of a schema whose order says nothing."""

_OF_LATER_REVISIONS = frozenset(("title", "outputSchema", "icons", "execution", "_meta"))
"""Members that a server leaves out for hosts of older revisions, such as 2025-03-26. No host trusts
a tool for them.
"""

_BEHAVIOUR_OF_LATER_REVISIONS = _OF_LATER_REVISIONS.difference(_TEXTS_OF_ENTRY)

INSTRUCTIONS = "instructions"
"""The place of the server's instructions in differences and refusals."""

MAX_DIFFERENCES = 100
"""How many differences of one entry are found; a server can make as many as it likes."""

_TOO_DEEP = "it cannot be written as JSON, or is nested too deeply"

_MAX_SHOWN = 3
"""How many differences the sentence about an entry names."""

_ABSENT = "(absent)"


class BadLock(ValueError):
    """The text is not a lock, or a list cannot be locked. The message says why."""


class Offer(msgspec.Struct, frozen=True):
    """The entries of a server's lists as they came, and its instructions."""

    entries: Mapping[Kind, Sequence[Any]]
    instructions: str = ""


class Lock(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True
):
    """The approved entries, each list in the order of its keys, and instructions (the schema
    `tools-lock`).

    *servers* has the mounted server of each resource and template, by its key: their names do not
    tell it.
    """

    version: Literal[2]
    tools: list[Entry]
    prompts: list[Entry] = []
    resources: list[Entry] = []
    resourceTemplates: list[Entry] = []  # noqa: N815 (MCP's name)
    instructions: str = ""
    servers: dict[str, str] = {}

    def __str__(self) -> str:
        """Return the text of the file: the same for the same entries in any order."""
        import json  # which no server needs

        plain = msgspec.to_builtins(self)
        return json.dumps(plain, indent=2, ensure_ascii=False, sort_keys=True) + "\n"

    def list_entries(self, kind: Kind) -> dict[str, Entry]:
        """Return the approved entries of a list, by their keys."""
        approved: list[Entry] = getattr(self, kind)
        return {entry[KEYS[kind]]: entry for entry in approved}


class Difference(msgspec.Struct, frozen=True):
    """One place in which an entry is not as approved. *was* and *now* are JSON, or say that nothing
    is there.
    """

    kind: str
    key: str
    path: str
    was: str
    now: str
    is_text: bool = False

    @property
    def place(self) -> str:
        """Where it is, for people."""
        return " ".join(filter(None, (self.key, self.path)))

    def __str__(self) -> str:
        return f"{self.path or 'it'}: {self.was} -> {self.now}"


class Checked(msgspec.Struct, frozen=True):
    """The part of an `Offer` that a lock allows, and why the rest is refused."""

    allowed: set[tuple[str, str]]
    """By list and key."""
    replaced: dict[tuple[str, str], Entry]
    """The allowed entries that are shown with their approved texts."""
    refused: dict[tuple[str, str], str]
    """By list and key; a sentence without a subject."""
    differences: list[Difference]
    gone: list[tuple[str, str]]
    """The approved entries that the server no longer lists."""
    instructions: str
    """The instructions that the host gets: the approved ones, those of the server, or none."""

    def write_remarks(self, texts: Texts) -> dict[tuple[str, str], str]:
        """Return a sentence for each entry that is refused, or whose texts have changed."""
        made = {}
        for (kind, key), why in self.refused.items():
            made[kind, key] = make_printable(f"{_name_entry(kind, key)} is refused: {why}")
        outcome = "the new text is shown"
        if texts == "approved":
            outcome = "the approved text is shown"
        for one in self.differences:
            entry = (one.kind, one.key)
            if not one.is_text or entry in made:
                continue
            name = _name_entry(one.kind, one.key)
            made[entry] = make_printable(f"{name}: {outcome}; the server changed {one.path}")
        return made


def lock_offer(offer: Offer) -> Lock:
    """Return the lock of what a server offers.

    Raises:
        BadLock: if an entry has no key, or is nested too deeply, or two have the same key.
    """
    lists: dict[str, Any] = {}
    for kind in KEYS:
        entries, faults = _index(kind, offer.entries.get(kind, ()))
        if faults:
            sentences = [f"{key}: {why}" for key, why in faults.items()]
            raise BadLock("; ".join(sentences))
        lists[kind] = [entries[key] for key in sorted(entries)]
    return Lock(version=2, instructions=offer.instructions, **lists)


def read(text: bytes) -> Lock:
    """Return the lock of a file's *text*.

    Raises:
        BadLock: if it is not one.
    """
    try:
        found = msgspec.json.decode(text, type=Lock)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadLock(f"it is not a lock: {error}") from None
    for kind in KEYS:
        entries = getattr(found, kind)
        if not _have_own_keys(kind, entries):
            raise BadLock(f"it is not a lock: each of its {kind} needs a {KEYS[kind]} of its own")
    return found


def _have_own_keys(kind: Kind, entries: Sequence[Entry]) -> bool:
    """Return whether each of *entries* has a key that no other one has."""
    known = set()
    for entry in entries:
        key = entry.get(KEYS[kind])
        if not isinstance(key, str) or key in known:
            return False
        known.add(key)
    return True


def check(approved: Lock, offer: Offer, texts: Texts = "approved") -> Checked:
    """Return what *approved* allows of an *offer*. Never raises, whatever the offer is."""
    checking = _Checking(texts)
    for kind in KEYS:
        checking.check_list(kind, approved.list_entries(kind), offer.entries.get(kind, ()))
    checking.check_instructions(approved.instructions, offer.instructions)
    return Checked(
        checking.allowed,
        checking.replaced,
        checking.refused,
        checking.differences,
        checking.gone,
        checking.instructions,
    )


class _Checking:
    """Collects the members of `Checked`."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self.allowed: set[tuple[str, str]] = set()
        self.replaced: dict[tuple[str, str], Entry] = {}
        self.refused: dict[tuple[str, str], str] = {}
        self.differences: list[Difference] = []
        self.gone: list[tuple[str, str]] = []
        self.instructions = ""

    def check_list(self, kind: Kind, known: dict[str, Entry], entries: Sequence[Any]) -> None:
        """Check the *entries* of a list whose approved ones are *known*."""
        listed, faults = _index(kind, entries)
        for key, why in faults.items():
            self.refused[kind, key] = why
        for key in known:
            if key not in listed and key not in faults:
                self.gone.append((kind, key))
        for key, entry in listed.items():
            if key in known:
                self._check_entry(kind, key, known[key], entry)
            else:
                self.refused[kind, key] = "it is not in the lock"

    def _check_entry(self, kind: Kind, key: str, approved: Entry, entry: Entry) -> None:
        try:
            found = compare_entries(kind, key, approved, entry)
        except RecursionError:
            self.refused[kind, key] = _TOO_DEEP
            return
        self.differences += found
        why = _refuse(found, self._texts)
        if why:
            self.refused[kind, key] = why
            return
        self.allowed.add((kind, key))
        if found and self._texts == "approved":
            self.replaced[kind, key] = _without_absent(approved, entry)

    def check_instructions(self, approved: str, offered: str) -> None:
        """Decide which instructions the host gets."""
        self.instructions = offered
        if approved == offered:
            return
        was, now = approved or _ABSENT, offered or _ABSENT
        change = Difference(INSTRUCTIONS, "", INSTRUCTIONS, was, now, is_text=True)
        self.differences.append(change)
        if self._texts == "approved":
            self.instructions = approved
        elif self._texts == "refuse":
            self.instructions = ""


def compare_entries(kind: Kind, key: str, was: Entry, now: Entry) -> list[Difference]:
    """Return where an entry is not as approved: differences in behaviour first, `MAX_DIFFERENCES`
    at most.
    """
    found: list[Difference] = []
    if "execution" not in was:
        # Only lists of 2025-11-25 have it: a lock that was read in a newer revision has none.
        now = {name: value for name, value in now.items() if name != "execution"}
    behaviour = _compare(_without_texts(was), _without_texts(now, was), "")
    for change in islice(behaviour, MAX_DIFFERENCES):
        found.append(Difference(kind, key, change.path, change.was, change.now))
    if len(found) == MAX_DIFFERENCES:
        return found
    for change in _compare(_without_absent(was, now), now, ""):
        if _is_within(change.path, found):
            continue
        found.append(Difference(kind, key, change.path, change.was, change.now, is_text=True))
        if len(found) == MAX_DIFFERENCES:
            break
    return found


def _is_within(path: str, found: Sequence[Difference]) -> bool:
    """Return whether *path* is the place of a difference that was *found*, or within it."""
    paths = [known.path for known in found]
    return any(path == known or path.startswith(f"{known}.") for known in paths)


def _refuse(found: Sequence[Difference], texts: Texts) -> str:
    """Return why an entry with these differences is refused; "" if it is not."""
    reasons = [str(one) for one in found if texts == "refuse" or not one.is_text]
    shown = "; ".join(reasons[:_MAX_SHOWN])
    more = len(reasons) - _MAX_SHOWN
    if more > 0:
        return f"{shown}; and {more} more changes"
    return shown


def _name_entry(kind: str, key: str) -> str:
    if kind not in _NOUNS:
        return f"the {kind}"
    return f"the {_NOUNS[kind]} {key}"


def _index(kind: Kind, entries: Sequence[Any]) -> tuple[dict[str, Entry], dict[str, str]]:
    """Return the entries of a list in canonical form by their keys, and the reasons why others have
    none.
    """
    member, noun = KEYS[kind], _NOUNS[kind]
    counts: Counter[str] = Counter()
    for entry in entries:
        key = _find_key(entry, member)
        if key is not None:
            counts[key] += 1
    found: dict[str, Entry] = {}
    faults: dict[str, str] = {}
    for key, count in counts.items():
        if count > 1:
            faults[key] = f"{count} {noun}s have this {member}"
    for place, entry in enumerate(entries, 1):
        key = _find_key(entry, member)
        if key is None:
            faults[f"#{place}"] = f"it is not a {noun} with a {member}"
            continue
        if key in faults:
            continue
        try:
            found[key] = _normalize_entry(entry)
            encode(found[key])
        except (RecursionError, ValueError):
            faults[key] = _TOO_DEEP
    return found, faults


def _find_key(entry: Any, member: str) -> str | None:
    if not isinstance(entry, dict):
        return None
    key = entry.get(member)
    if not isinstance(key, str):
        return None
    return key


def _normalize_entry(entry: Entry) -> Entry:
    """Return *entry* with one form for what hosts do not tell apart."""
    made = {name: _normalize(value) for name, value in entry.items() if value is not None}
    if isinstance(made.get("inputSchema"), dict):
        made["inputSchema"] = {"type": "object", **made["inputSchema"]}
    for name in _SCHEMAS:
        if isinstance(made.get(name), dict):
            made[name] = _sort_sets(made[name])
    return made


def _normalize(value: Any) -> Any:
    """Return *value* with one form for each number: 1.0 is 1 in JSON."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, list):
        return list(map(_normalize, value))
    if isinstance(value, dict):
        return {name: _normalize(inner) for name, inner in value.items()}
    return value


def _sort_sets(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return schema
    made = map_subschemas(schema, _sort_sets)
    for word in _SETS:
        if isinstance(made.get(word), list):
            made[word] = sorted(made[word], key=encode)
    return made


def encode(value: Any) -> bytes:
    """Return *value* as JSON with sorted members: equal bytes mean equal values."""
    return msgspec.json.encode(value, order="sorted")


def _without_texts(entry: Entry, approved: Entry | None = None) -> Entry:
    """Return the behaviour of *entry*; what it lacks only for an older revision is as
    *approved*.
    """
    made = {name: value for name, value in entry.items() if name not in _TEXTS_OF_ENTRY}
    for name, value in (approved or {}).items():
        if name in _BEHAVIOUR_OF_LATER_REVISIONS and name not in entry:
            made[name] = value
    if isinstance(made.get("annotations"), dict):
        annotations = dict(made["annotations"])
        annotations.pop("title", None)
        made["annotations"] = annotations
    for name in _SCHEMAS:
        if name in made:
            made[name] = _strip_texts(made[name])
    return made


def _strip_texts(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return schema
    kept = {word: value for word, value in schema.items() if word not in _TEXTS_OF_SCHEMA}
    return map_subschemas(kept, _strip_texts)


def _without_absent(approved: Entry, entry: Entry) -> Entry:
    """Return the *approved* entry without what the server leaves out of *entry* for the host's
    revision.
    """
    absent = _OF_LATER_REVISIONS - entry.keys()
    return {name: value for name, value in approved.items() if name not in absent}


class _Change(msgspec.Struct, frozen=True):
    """The place in which two JSON values differ, with what each has there."""

    path: str
    was: str
    now: str


def _compare(was: Any, now: Any, path: str) -> Iterator[_Change]:
    """Yield the places in which two JSON values differ."""
    if isinstance(was, dict) and isinstance(now, dict):
        yield from _compare_members(was, now, path)
    elif isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        for place, before in enumerate(was):
            yield from _compare(before, now[place], f"{path}[{place}]")
    elif encode(was) != encode(now):
        yield _Change(path, _show(was), _show(now))


def _compare_members(was: Entry, now: Entry, path: str) -> Iterator[_Change]:
    for name in sorted(was.keys() | now.keys()):
        inner = f"{path}.{name}" if path else name
        if name not in now:
            yield _Change(inner, _show(was[name]), _ABSENT)
        elif name not in was:
            yield _Change(inner, _ABSENT, _show(now[name]))
        else:
            yield from _compare(was[name], now[name], inner)


_MAX_VALUE_CHARACTERS = 2_000
"""How much of a value is shown: a long description, and not a whole schema of thousands of lines.
"""


def _show(value: Any) -> str:
    text = value if isinstance(value, str) else encode(value).decode()
    if len(text) <= _MAX_VALUE_CHARACTERS:
        return text
    return f"{text[:_MAX_VALUE_CHARACTERS]}… ({len(text):,} characters)"
