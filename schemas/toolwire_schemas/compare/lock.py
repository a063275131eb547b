"""Keeps the meaning of a list of tools, to refuse tools that change after their approval.

Strategy. A lock has the entries of `tools/list` in a normal form: texts are replaced by a digest, and the order of
tools and of the members of sets is fixed. A later list is brought into the same form, and `between` compares the two.
All changes but those of texts have to be approved again, even if they break no caller: a new optional argument can
carry data to the server, and a host may ask less often for a tool that declares itself harmless.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec

from ..json_schema.subschemas import children
from ..output import printable
from .nodes import ASSERTIONS, HOLDING
from .tool_lists import HINTS, Change, between

if TYPE_CHECKING:
    from collections.abc import Sequence

Entry = dict[str, Any]

_SETS = ("required", "enum", "type")
_KEPT = frozenset(
    (
        *(*ASSERTIONS, *HOLDING, "default", "deprecated", "$schema", "$id", "$anchor"),
        *("$dynamicRef", "$dynamicAnchor", "$recursiveRef", "dependencies"),
    )
)
"""The keywords that a lock keeps. All others are texts for models and people."""

_SHOWN = 3
"""How many changes of a tool the sentence about it names."""


class BadLock(ValueError):
    """The text is not a lock, or a list of tools cannot be locked. The message says why."""


class Lock(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A list of tools in normal form (the schema `tools-lock`)."""

    version: Literal[1]
    tools: list[Entry]

    def __str__(self) -> str:
        """Return the text of the file: the same for lists that mean the same."""
        return json.dumps(msgspec.to_builtins(self), indent=2, ensure_ascii=False, sort_keys=True) + "\n"


class Checked(NamedTuple):
    """A list of tools, checked by a lock: the entries that it allows, why others are refused, and what has changed."""

    allowed: list[Entry]
    refused: dict[str, str]
    changes: list[Change]

    def remarks(self) -> dict[str, str]:
        """Return a sentence for each tool that is refused, and for each allowed one that changed, by name."""
        told = {name: printable(f"{name}: refused: {why}") for name, why in self.refused.items()}
        names = dict.fromkeys(change.tool for change in self.changes if change.tool not in self.refused)
        return told | {name: printable(f"{name}: {_sentence(self.changes, name)}") for name in names}


def needs_approval(change: Change) -> bool:
    """Return whether *change* has to be approved: people see titles where they approve calls."""
    is_absent = change.change == "tool-removed"
    return not is_absent and (change.level != "patch" or change.place in ("title", "annotations.title"))


def locked(entries: Sequence[Any]) -> Lock:
    """Return the lock of the *entries* of a `tools/list`.

    Raises:
        BadLock: if one of them is not a tool or nested too deeply, or two have the same name.
    """
    forms, faults = _forms(entries)
    if faults:
        raise BadLock("; ".join(f"{name}: {why}" for name, why in faults.items()))
    return Lock(1, sorted(forms.values(), key=lambda form: str(form["name"])))


def read(text: bytes) -> Lock:
    """Return the lock of a file's *text*.

    Raises:
        BadLock: if it is not one.
    """
    try:
        lock = msgspec.json.decode(text, type=Lock)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadLock(f"it is not a lock: {error}") from None
    names = [tool.get("name") for tool in lock.tools]
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise BadLock("it is not a lock: each of its tools needs a name of its own")
    return lock


def check(lock: Lock, entries: Sequence[Any]) -> Checked:
    """Return which of the *entries* of a `tools/list` the *lock* allows. Never raises, whatever they are."""
    forms, refused = _forms(entries)
    changes = between(lock.tools, list(forms.values()))
    for name in dict.fromkeys(change.tool for change in changes if needs_approval(change)):
        refused[name] = _sentence([change for change in changes if needs_approval(change)], name)
    allowed = [entry for entry in entries if isinstance(entry, dict) and entry.get("name") in forms.keys() - refused]
    return Checked(allowed, refused, changes)


def _sentence(changes: Sequence[Change], name: str) -> str:
    found = [change for change in changes if change.tool == name]
    if found[0].change == "tool-added":
        return "it is not in the lock"
    told = [": ".join(filter(None, (change.place, str(change)))) for change in found[:_SHOWN]]
    more = f"; and {len(found) - _SHOWN} more changes" if len(found) > _SHOWN else ""
    return f"{'; '.join(told)}{more}"


def _forms(entries: Sequence[Any]) -> tuple[dict[str, Entry], dict[str, str]]:
    """Return the normal forms by name, and the reasons why other entries have none."""
    names = [entry.get("name") if isinstance(entry, dict) else None for entry in entries]
    counts = Counter(name for name in names if isinstance(name, str))
    forms: dict[str, Entry] = {}
    faults = {name: f"{count} tools have this name" for name, count in counts.items() if count > 1}
    for place, (name, entry) in enumerate(zip(names, entries, strict=True)):
        if not isinstance(name, str):
            faults[f"#{place + 1}"] = "it is not a tool with a name"
        elif name not in faults:
            try:
                forms[name] = _form(entry)
            except (RecursionError, ValueError):
                faults[name] = "it cannot be written as JSON, or is nested too deeply"
    return forms, faults


def _form(entry: Entry) -> Entry:
    """Return what a lock keeps of *entry*; what has the wrong type says nothing."""
    form = {member: entry[member] for member in ("name", "title") if isinstance(entry.get(member), str)}
    form |= {member: _digest(entry[member]) for member in ("description", "icons", "_meta") if entry.get(member)}
    for member, kinds in _MEMBERS.items():
        given = entry.get(member)
        found = given.items() if isinstance(given, dict) else ()
        if kept := {name: value for name, value in found if type(value) is kinds.get(name)}:
            form[member] = kept
    schemas = {member: entry[member] for member in ("inputSchema", "outputSchema") if member in entry}
    return form | {member: _schema(schema) for member, schema in schemas.items()}


_MEMBERS: dict[str, dict[str, type]] = {
    "annotations": {"title": str, **dict.fromkeys(HINTS, bool)},
    "execution": {"taskSupport": str},
}


def _schema(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return schema
    made = children({word: value for word, value in schema.items() if word in _KEPT}, _schema)
    for word in _SETS:
        if isinstance(made.get(word), list):
            made[word] = sorted(made[word], key=_canonical)
    texts = {word: value for word, value in schema.items() if word not in _KEPT}
    return made | ({"description": _digest(texts)} if texts else {})


def _digest(value: Any) -> str:
    return f"sha256:{hashlib.sha256(_canonical(value)).hexdigest()}"


def _canonical(value: Any) -> bytes:
    return msgspec.json.encode(value, order="sorted")
