"""What changed between two lists of tools, and whom that breaks.

Arguments go from callers to tools: a tool must accept what it accepted before. Results go the other
way: a tool must return only what its schema promised before. Its hints decide how carefully users
approve calls.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from toolwire_schemas.json_schema.bounded_validator import Budget
from toolwire_schemas.json_schema.error_text import format_value

from .nodes import equal
from .schema_diff import SchemaDifference, find_differences
from .subset import MAX_STEPS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .subset import SubsetVerdict

Entry = dict[str, Any]
Level = Literal["none", "patch", "minor", "unknown", "major"]
Concerns = Literal["callers", "readers", "approval", "models", "people"]

LEVELS: tuple[Level, ...] = ("none", "patch", "minor", "unknown", "major")
"""In ascending order: `major` breaks users, `unknown` may break them."""

_MAX_STEPS = 10 * MAX_STEPS
_MAX_CHANGES = 100
"""Changes of one tool with one level and the same concerns reported one by one; others are only
counted.
"""


class Change(msgspec.Struct, frozen=True):
    """One change of one *tool* (of the list, if that is ""), at a *place* in it such as
    `arguments.items[].count`.

    `concerns` says who notices: `callers` send arguments, `readers` get results, `approval` is by
    hints, `models` choose by descriptions, `people` see names and pictures. The `example` is a
    value that was taken and is refused now, or that may be given now and was not before. A
    `more-changes` reports only the *count* of further ones.
    """

    tool: str
    place: str
    change: str
    level: Level
    concerns: Concerns
    text: str
    example: Any = msgspec.UNSET
    count: int | msgspec.UnsetType = msgspec.UNSET

    @property
    def where(self) -> str:
        """The tool and the place in it; `all` for a change of the list."""
        return " ".join(filter(None, (self.tool, self.place))) or "all"

    def __str__(self) -> str:
        """Return what changed, in words and with the example."""
        if self.example is msgspec.UNSET:
            return self.text
        effect = "may be given now"
        if self.concerns == "callers":
            effect = "is not taken any more"
        return f"{self.text}; {format_value(self.example)} {effect}"


class BadList(ValueError):
    """The given value is not a list of tools. The message says where."""


def judge_changes(changes: Sequence[Change]) -> Level:
    """Return what all *changes* together ask of a version's number; `unknown` if that may have to
    be `major`.
    """
    return max((change.level for change in changes), key=LEVELS.index, default="none")


def compare_lists(old: Sequence[Any], new: Sequence[Any]) -> list[Change]:
    """Return what changed from the *old* entries of `tools/list` to the *new* ones, breaking
    changes first.

    Raises:
        BadList: if an entry is no tool, or two tools have one name.
    """
    before, after = _index_by_name(old, "the old list"), _index_by_name(new, "the new list")
    budget = Budget(_MAX_STEPS)
    found = list(_compare_entries(before, after))
    for name in before:
        if name in after:
            changes = _compare_tools(before[name], after[name], budget)
            found += _limit_changes(list(changes))
    order = {name: place for place, name in enumerate([*before, *after])}

    def make_sort_key(change: Change) -> tuple[int, int]:
        return -LEVELS.index(change.level), order.get(change.tool, -1)

    return sorted(found, key=make_sort_key)


def _limit_changes(changes: list[Change]) -> Iterator[Change]:
    """Yield the *changes* of one tool, and instead of the last ones, if they are many, how many
    these are.
    """
    counts: Counter[tuple[Level, Concerns]] = Counter()
    for change in changes:
        counts[change.level, change.concerns] += 1
        if counts[change.level, change.concerns] <= _MAX_CHANGES:
            yield change
    for (level, concerns), count in counts.items():
        if (more := count - _MAX_CHANGES) > 0:
            yield Change(
                changes[0].tool,
                "",
                "more-changes",
                level,
                concerns,
                f"and {more:,} more",
                count=more,
            )


def _index_by_name(entries: Sequence[Any], what: str) -> dict[str, Entry]:
    found: dict[str, Entry] = {}
    for place, entry in enumerate(entries):
        name = None
        if isinstance(entry, dict):
            name = entry.get("name")
        if not isinstance(name, str):
            raise BadList(f"entry {place + 1} of {what} is not a tool: it has no name")
        if name in found:
            raise BadList(f"{what} has two tools called {name!r}")
        found[name] = entry
    return found


def _compare_entries(before: dict[str, Entry], after: dict[str, Entry]) -> Iterator[Change]:
    for name in before:
        if name not in after:
            yield Change(name, "", "tool-removed", "major", "callers", "removed")
    for name in after:
        if name not in before:
            yield Change(name, "", "tool-added", "minor", "models", "new")
    common = [
        [name for name in names if name in before and name in after] for names in (before, after)
    ]
    if common[0] != common[1]:
        yield Change("", "", "tools-reordered", "patch", "models", "the tools are in another order")


def _compare_tools(old: Entry, new: Entry, budget: Budget) -> Iterator[Change]:
    if equal(old, new):
        return
    yield from _compare_arguments(old, new, budget)
    yield from _compare_results(old, new, budget)
    yield from _compare_hints(old, new)
    yield from _compare_task_support(old, new)
    for member, concerns in _REMARKS.items():
        if not equal(old.get(member), new.get(member)):
            yield Change(
                str(old["name"]), member, "text-changed", "patch", concerns, f"{member} changed"
            )


_REMARKS: dict[str, Concerns] = {
    "title": "people",
    "description": "models",
    "icons": "people",
    "_meta": "people",
}


def _compare_arguments(old: Entry, new: Entry, budget: Budget) -> Iterator[Change]:
    before, after = _get_input_schema(old), _get_input_schema(new)
    for found in _find_differences(before, after, "arguments", budget):
        change = _change(old, found, found.new_takes_old, "callers")
        # To what effect are values of what was removed still taken? Most tools drop what they do
        # not know.
        if found.kind == "member-removed" and change.level == "minor":
            change = msgspec.structs.replace(change, level="unknown")
        yield change


def _get_input_schema(entry: Entry) -> Any:
    schema = _get_schema(entry, "inputSchema")
    if schema is None:
        return {"type": "object"}
    return schema


def _compare_results(old: Entry, new: Entry, budget: Budget) -> Iterator[Change]:
    name, before, after = (
        str(old["name"]),
        _get_schema(old, "outputSchema"),
        _get_schema(new, "outputSchema"),
    )
    if before is not None and after is not None:
        for found in _find_differences(before, after, "result", budget):
            yield _change(old, found, found.old_takes_new, "readers")
    elif before is not None:
        text = "results are not described any more, and may be without data"
        yield Change(name, "result", "output-removed", "major", "readers", text)
    elif after is not None:
        yield Change(
            name,
            "result",
            "output-added",
            "minor",
            "readers",
            "results have data now, and a schema",
        )


def _find_differences(old: Any, new: Any, place: str, budget: Budget) -> list[SchemaDifference]:
    """Return what `find_differences` finds with steps from the *budget* of the whole list.

    One schema gets a part of them, so that some are left for the others.
    """
    most = min(MAX_STEPS, budget.left)
    part = Budget(most)
    found = find_differences(old, new, place, part)
    budget.left -= most - max(part.left, 0)
    return found


def _get_schema(entry: Entry, member: str) -> Any:
    """Return the schema under *member*, or `None`."""
    if not isinstance(schema := entry.get(member), dict | bool):
        return None
    return schema


def _change(
    entry: Entry, found: SchemaDifference, decides: SubsetVerdict, concerns: Concerns
) -> Change:
    level: Level = _LEVELS[decides.answer]
    if found.kind == "text-changed":
        level, concerns = "patch", "models"
    return Change(
        str(entry["name"]), found.place, found.kind, level, concerns, found.text, decides.witness
    )


_LEVELS: dict[str, Level] = {"yes": "minor", "no": "major", "unknown": "unknown"}


def _compare_hints(old: Entry, new: Entry) -> Iterator[Change]:
    before, after = _read_hints(old), _read_hints(new)
    hints = list(HINTS)
    if before["readOnlyHint"] != after["readOnlyHint"]:  # which implies the others
        hints = ["readOnlyHint"]
    for hint in hints:
        if before[hint] == after[hint]:
            continue
        safe, worse, better = HINTS[hint]
        level: Level = "minor"
        meaning = better
        if before[hint] == safe:
            level = "major"
            meaning = worse
        text = f"{before[hint]} -> {after[hint]}".lower() + f": {meaning}"
        place = f"annotations.{hint}"
        yield Change(str(old["name"]), place, "hint-changed", level, "approval", text)
    if _get_object(old, "annotations").get("title") != _get_object(new, "annotations").get("title"):
        yield Change(
            str(old["name"]),
            "annotations.title",
            "text-changed",
            "patch",
            "people",
            "title changed",
        )


HINTS = {
    "readOnlyHint": (True, "it may change something now", "it changes nothing now"),
    "destructiveHint": (
        False,
        "it may remove or overwrite something now",
        "it removes and overwrites nothing now",
    ),
    "idempotentHint": (True, "a second call may do more now", "a second call does no more now"),
    "openWorldHint": (
        False,
        "it deals with the world outside now",
        "it stays within its own world now",
    ),
}
"""The hints of MCP with the value that allows less care, and texts for its loss and its gain; its
absence is a loss.
"""


def _get_object(entry: Entry, member: str) -> dict[str, Any]:
    found = entry.get(member)
    if not isinstance(found, dict):
        return {}
    return found


def _read_hints(entry: Entry) -> dict[str, bool]:
    given = _get_object(entry, "annotations")
    hints = {}
    for hint, (safe, *_) in HINTS.items():
        hints[hint] = not safe
        if isinstance(given.get(hint), bool):
            hints[hint] = given[hint]
    if hints["readOnlyHint"]:  # then there is nothing to remove, and nothing to do twice
        hints |= {"destructiveHint": False, "idempotentHint": True}
    return hints


def _read_task_support(entry: Entry) -> str:
    support = _get_object(entry, "execution").get("taskSupport")
    if support in ("optional", "required"):
        return str(support)
    return "forbidden"


def _compare_task_support(old: Entry, new: Entry) -> Iterator[Change]:
    """Whether a call may, or has to, run as a task (MCP 2025-11-25)."""
    before, after = _read_task_support(old), _read_task_support(new)
    if before != after:
        level: Level = "major"
        if after == "optional":
            level = "minor"
        text = f"{before} -> {after}"
        yield Change(
            str(old["name"]), "execution.taskSupport", "tasks-changed", level, "callers", text
        )
