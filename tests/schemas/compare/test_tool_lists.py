"""What changed between two lists of tools: each kind of change, where it is told, and whom it
breaks.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.schema_pairs import pairs
from support.tool_entry_strategies import ENTRIES
from toolwire_dialects.compare import BadList, compare_lists, judge_changes, takes_all
from toolwire_dialects.compare.subset import MAX_STEPS

INTEGER, NUMBER, STRING = {"type": "integer"}, {"type": "number"}, {"type": "string"}
NONE = msgspec.UNSET


def tool(
    name: str = "t", *, output: Any = None, closed: bool = False, **members: Any
) -> dict[str, Any]:
    """A tool with arguments of these schemas, those with a trailing underscore required."""
    properties = {member.rstrip("_"): schema for member, schema in members.items()}
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required := [member.rstrip("_") for member in members if member.endswith("_")]:
        schema["required"] = required
    if closed:
        schema["additionalProperties"] = False
    entry = {"name": name, "inputSchema": schema}
    return entry if output is None else {**entry, "outputSchema": output}


def data(closed: bool = False, **members: Any) -> dict[str, Any]:
    schema: dict[str, Any] = tool(closed=closed, **members)["inputSchema"]
    return schema


def told(old: dict[str, Any], new: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    """Place, kind, level and whom it concerns, of every change from one tool to the other."""
    return [
        (change.place, change.change, change.level, change.concerns)
        for change in compare_lists([old], [new])
    ]


def test_nothing_changed_if_nothing_changed() -> None:
    assert compare_lists([tool(a=INTEGER)], [tool(a=INTEGER)]) == []
    assert judge_changes([]) == "none"


# --- the list ---


def test_a_removed_tool_breaks_callers_and_a_new_one_does_not() -> None:
    found = compare_lists([tool("old", a=INTEGER)], [tool("unlike", b=STRING)])
    assert [(change.tool, change.change, change.level) for change in found] == [
        ("old", "tool-removed", "major"),
        ("unlike", "tool-added", "minor"),
    ]


def test_another_order_is_a_patch() -> None:
    one, other = tool("one"), tool("other")
    found = compare_lists([one, other], [other, one])
    assert [(change.tool, change.change, change.level) for change in found] == [
        ("", "tools-reordered", "patch")
    ]
    assert not compare_lists([tool(a=INTEGER, b=STRING)], [tool(b=STRING, a=INTEGER)])


@pytest.mark.parametrize("bad", [["tool"], [{}], [{"name": 1}], [{"name": "a"}, {"name": "a"}]])
def test_what_is_no_list_of_tools_is_refused_with_the_reason(bad: list[Any]) -> None:
    with pytest.raises(BadList, match="the new list"):
        compare_lists([], bad)


# --- arguments ---

NULLABLE = {"anyOf": [STRING, {"type": "null"}]}
MAP = {"type": "object", "additionalProperties": INTEGER}
SAFE = {"minimum": -(2**53) + 1, "maximum": 2**53 - 1}


def others(schema: Any, **members: Any) -> dict[str, Any]:
    """An object with these members, and others that fit *schema*."""
    return {**data(**members), "additionalProperties": schema}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (tool(), tool(a_=INTEGER), ("arguments.a", "member-added", "major")),
        (tool(), tool(a=INTEGER), ("arguments.a", "member-added", "minor")),
        (tool(a=INTEGER), tool(), ("arguments.a", "member-removed", "unknown")),
        (tool(b=data(a=INTEGER)), tool(b=data()), ("arguments.b.a", "member-removed", "unknown")),
        (
            tool(a=INTEGER, closed=True),
            tool(closed=True),
            ("arguments.a", "member-removed", "major"),
        ),
        (tool(a=INTEGER), tool(a_=INTEGER), ("arguments.a", "member-required", "major")),
        (tool(a_=INTEGER), tool(a=INTEGER), ("arguments.a", "member-optional", "minor")),
        (tool(a=NUMBER), tool(a=INTEGER), ("arguments.a", "narrowed", "major")),
        (tool(a=INTEGER), tool(a=NUMBER), ("arguments.a", "widened", "minor")),
        (tool(a=INTEGER), tool(a=STRING), ("arguments.a", "changed", "major")),
        (
            tool(a={"enum": ["x", "y"]}),
            tool(a={"enum": ["x"]}),
            ("arguments.a", "narrowed", "major"),
        ),
        (
            tool(a={"enum": ["x"]}),
            tool(a={"enum": ["y", "x"]}),
            ("arguments.a", "widened", "minor"),
        ),
        (tool(a={**STRING, "pattern": "^a{3}$"}), tool(a={**STRING, "pattern": "^a{3,4}$"}), None),
        (tool(a={**STRING, "format": "date"}), tool(a={**STRING, "format": "uri"}), None),
        (tool(a=STRING), tool(a={**STRING, "format": "uri"}), None),
        (tool(a=NULLABLE), tool(a=STRING), ("arguments.a", "narrowed", "major")),
        (
            tool(a=NULLABLE),
            tool(a={"anyOf": [INTEGER, {"type": "null"}]}),
            ("arguments.a", "changed", "major"),
        ),
        (
            tool(a=INTEGER),
            tool(a={**INTEGER, "default": 1}),
            ("arguments.a", "default-changed", "minor"),
        ),
        (
            tool(a=INTEGER),
            tool(a={**INTEGER, "description": "A."}),
            ("arguments.a", "text-changed", "patch"),
        ),
        (tool(a=INTEGER), tool(a=INTEGER, closed=True), ("arguments", "narrowed", "major")),
        (tool(a=INTEGER, closed=True), tool(a=INTEGER), ("arguments", "widened", "minor")),
        (
            tool(a=data(x=INTEGER)),
            tool(a=data(x=INTEGER, closed=True)),
            ("arguments.a", "narrowed", "major"),
        ),
        (
            tool(a=data(x=INTEGER)),
            tool(a=others(STRING, x=INTEGER)),
            ("arguments.a", "narrowed", "major"),
        ),
        (
            tool(a=data(x=INTEGER, closed=True)),
            tool(a=data(x=INTEGER)),
            ("arguments.a", "widened", "minor"),
        ),
        (
            tool(a={"type": "array", "items": data(b=data(x=INTEGER))}),
            tool(a={"type": "array", "items": data(b=data(x=INTEGER, closed=True))}),
            ("arguments.a[].b", "narrowed", "major"),
        ),
        (
            tool(a={"anyOf": [data(x_=INTEGER), STRING]}),
            tool(a={"anyOf": [data(x_=INTEGER, closed=True), STRING]}),
            ("arguments.a", "narrowed", "major"),
        ),
        (
            tool(a={"anyOf": [data(x_=INTEGER), STRING]}),
            tool(a={"anyOf": [data(x_=INTEGER, y=STRING), STRING]}),
            ("arguments.a", "narrowed", "minor"),
        ),
        (
            tool(a=data(x=INTEGER)),
            tool(a={**data(x=INTEGER), "maxProperties": 3}),
            ("arguments.a", "narrowed", "major"),
        ),
        (tool(a=MAP), tool(a={**MAP, "maxProperties": 3}), ("arguments.a", "narrowed", "major")),
        (tool(a={**MAP, "maxProperties": 3}), tool(a=MAP), ("arguments.a", "widened", "minor")),
        (tool(a=MAP), tool(a={**MAP, "maxProperties": 500}), ("arguments.a", "narrowed", "major")),
        (tool(a=INTEGER), tool(a={**INTEGER, **SAFE}), ("arguments.a", "narrowed", "minor")),
        (tool(a={**INTEGER, **SAFE}), tool(a=INTEGER), ("arguments.a", "widened", "minor")),
        (
            tool(a=INTEGER),
            tool(a={**INTEGER, "maximum": 2**53 - 2}),
            ("arguments.a", "narrowed", "major"),
        ),
        (tool(a=NUMBER), tool(a={**NUMBER, **SAFE}), ("arguments.a", "narrowed", "major")),
        (
            tool(a={"type": "array", "items": data(count=NUMBER)}),
            tool(a={"type": "array", "items": data(count=INTEGER)}),
            ("arguments.a[].count", "narrowed", "major"),
        ),
        (
            tool(a={"type": "object", "additionalProperties": NUMBER}),
            tool(a={"type": "object", "additionalProperties": INTEGER}),
            ("arguments.a.*", "narrowed", "major"),
        ),
        (
            tool(a={"type": "array", "items": INTEGER}),
            tool(a={"type": "array", "items": INTEGER, "maxItems": 3}),
            ("arguments.a", "narrowed", "major"),
        ),
    ],
)
def test_a_change_of_arguments_is_reported_where_it_is(old: Any, new: Any, expected: Any) -> None:
    found = [change for change in told(old, new) if change[0] != "result"]
    place, kind, level = expected or ("arguments.a", "undecided", "unknown")
    concerns = "models" if kind == "text-changed" else "callers"
    assert found == [(place, kind, level, concerns)]


def test_what_is_refused_now_is_shown_by_an_example() -> None:
    (change,) = compare_lists([tool(a={"enum": ["x", "y"]})], [tool(a={"enum": ["x"]})])
    assert (change.example, change.text) == ("y", 'enum "y" removed')
    (change,) = compare_lists([tool(a=NULLABLE)], [tool(a=STRING)])
    assert (change.example, change.text) == (None, "may not be null any more")
    (change,) = compare_lists([tool(a=INTEGER)], [tool(a=NUMBER)])
    assert change.example is NONE


def test_a_schema_that_contains_itself_is_reported_once() -> None:
    def tree(value: Any) -> Any:
        node = {**data(value_=value), "properties": {"value": value}}
        node["properties"]["children"] = {"type": "array", "items": {"$ref": "#/$defs/Node"}}
        return {
            "name": "t",
            "inputSchema": {**data(root={"$ref": "#/$defs/Node"}), "$defs": {"Node": node}},
        }

    assert told(tree(NUMBER), tree(INTEGER)) == [
        ("arguments.root.value", "narrowed", "major", "callers")
    ]


def test_a_change_in_an_unreachable_part_breaks_no_caller() -> None:
    old, new = (tool(a=data(x=kind, y_=False)) for kind in (NUMBER, INTEGER))
    assert told(old, new) == []


def test_each_change_of_several_is_reported() -> None:
    old = tool(a=NUMBER, b=STRING, c={"type": "array", "items": INTEGER})
    new = tool(a=INTEGER, b_=STRING, c={"type": "array", "items": NUMBER}, d=STRING)
    assert set(told(old, new)) == {
        ("arguments.a", "narrowed", "major", "callers"),
        ("arguments.b", "member-required", "major", "callers"),
        ("arguments.c[]", "widened", "minor", "callers"),
        ("arguments.d", "member-added", "minor", "callers"),
    }


# --- results ---


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (data(x_=INTEGER), data(x_=NUMBER), ("result.x", "widened", "major")),
        (data(x_=NUMBER), data(x_=INTEGER), ("result.x", "narrowed", "minor")),
        (data(x_=INTEGER), data(x=INTEGER), ("result.x", "member-optional", "major")),
        (data(x=INTEGER), data(x_=INTEGER), ("result.x", "member-required", "minor")),
        (data(x_=INTEGER), data(), ("result.x", "member-removed", "major")),
        (data(x=INTEGER), data(), ("result.x", "member-removed", "minor")),
        (data(), data(x=INTEGER), ("result.x", "member-added", "minor")),
        (data(closed=True), data(x=INTEGER, closed=True), ("result.x", "member-added", "major")),
        (data(x=data(closed=True)), data(x=data()), ("result.x", "widened", "major")),
        (data(x=data()), data(x=data(closed=True)), ("result.x", "narrowed", "minor")),
        (data(x={**INTEGER, **SAFE}), data(x=INTEGER), ("result.x", "widened", "minor")),
        (data(x=INTEGER), None, ("result", "output-removed", "major")),
        (None, data(x=INTEGER), ("result", "output-added", "minor")),
        (data(x={**STRING, "pattern": "^a{3}$"}), data(x={**STRING, "pattern": "^a{3,4}$"}), None),
    ],
)
def test_results_may_be_narrower_but_not_wider_than_before(
    old: Any, new: Any, expected: Any
) -> None:
    place, kind, level = expected or ("result.x", "undecided", "unknown")
    assert told(tool(output=old), tool(output=new)) == [(place, kind, level, "readers")]


# --- everything else ---


def hinted(**hints: bool) -> dict[str, Any]:
    return {**tool(), "annotations": hints}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (hinted(readOnlyHint=True), hinted(), [("readOnlyHint", "major")]),
        (hinted(), hinted(readOnlyHint=True), [("readOnlyHint", "minor")]),
        (hinted(destructiveHint=False), hinted(), [("destructiveHint", "major")]),
        (
            hinted(destructiveHint=False),
            hinted(destructiveHint=True),
            [("destructiveHint", "major")],
        ),
        (hinted(idempotentHint=True), hinted(idempotentHint=False), [("idempotentHint", "major")]),
        (hinted(openWorldHint=False), hinted(), [("openWorldHint", "major")]),
        (hinted(openWorldHint=True), hinted(), []),
        (hinted(readOnlyHint=True), hinted(readOnlyHint=True, destructiveHint=True), []),
        (tool(), hinted(destructiveHint=False), [("destructiveHint", "minor")]),
    ],
)
def test_a_hint_that_needs_more_care_is_reported(old: Any, new: Any, expected: Any) -> None:
    assert told(old, new) == [
        (f"annotations.{hint}", "hint-changed", level, "approval") for hint, level in expected
    ]


@pytest.mark.parametrize(
    ("old", "new", "level"),
    [
        (None, "optional", "minor"),
        (None, "required", "major"),
        ("optional", None, "major"),
        ("required", "optional", "minor"),
    ],
)
def test_a_change_of_task_support_is_reported(old: Any, new: Any, level: str) -> None:
    one, other = (
        {**tool(), "execution": {"taskSupport": support} if support else {}}
        for support in (old, new)
    )
    assert told(one, other) == [("execution.taskSupport", "tasks-changed", level, "callers")]


def test_words_and_pictures_are_patches() -> None:
    new = {
        **tool(),
        "title": "T",
        "description": "D",
        "icons": [{"src": "x"}],
        "annotations": {"title": "T"},
    }
    assert {(place, level) for place, _, level, _ in told(tool(), new)} == {
        (place, "patch") for place in ("title", "description", "icons", "annotations.title")
    }


def test_what_is_unknown_counts_for_more_than_what_is_new_and_less_than_what_breaks() -> None:
    unknown = compare_lists([tool(a=STRING)], [tool(a={**STRING, "format": "uri"}, b=STRING)])
    assert judge_changes(unknown) == "unknown"
    assert judge_changes([*unknown, *compare_lists([tool()], [])]) == "major"


# --- many changes ---


def test_many_changes_of_one_tool_end_with_their_number() -> None:
    old = tool(**{f"m{number}": STRING for number in range(250)})
    found = compare_lists(
        [old], [tool(**{f"m{number}": {"type": "integer"} for number in range(250)})]
    )
    assert [change.change for change in found] == [*["changed"] * 100, "more-changes"]
    assert (found[-1].level, found[-1].concerns, found[-1].text) == (
        "major",
        "callers",
        "and 150 more",
    )
    assert found[-1].count == 150


@pytest.mark.slow
def test_what_is_found_before_the_steps_are_spent_is_reported() -> None:
    names = [f"m{number}" for number in range(MAX_STEPS)]
    new = tool(
        first={"type": "integer"}, **{name: {"type": "string", "maxLength": 1} for name in names}
    )
    found = compare_lists([tool(first=STRING, **dict.fromkeys(names, STRING))], [new])
    assert judge_changes(found) in ("unknown", "major")
    assert "arguments.first" in [change.place for change in found]
    more = [change for change in found if "more of it may have changed" in change.text]
    assert [(change.place, change.level) for change in more] == [("arguments", "unknown")]


# --- any tools ---


@settings(max_examples=examples(40))
@given(st.lists(ENTRIES, max_size=3, unique_by=lambda entry: entry["name"]))
def test_no_list_differs_from_itself(entries: list[Any]) -> None:
    assert compare_lists(entries, entries) == []


@settings(max_examples=examples(80))
@given(pairs())
def test_every_change_that_breaks_a_valid_call_is_reported(
    pair: tuple[Any, Any],
) -> None:
    """A schema that takes all that was described has no breaking difference from it, and one that
    does not has one.
    """
    old, new = pair
    found = compare_lists([{"name": "t", "inputSchema": old}], [{"name": "t", "inputSchema": new}])
    answers = {takes_all(new, old).answer, takes_all(new, old, is_described=True).answer}
    if answers == {"yes"}:
        refused = [
            change
            for change in found
            if change.change != "member-removed" or change.level == "major"
        ]
        assert judge_changes(refused) in ("none", "patch", "minor")
    if answers == {"no"}:
        assert judge_changes(found) in ("major", "unknown")
    if answers == {"unknown"}:
        assert judge_changes(found) != "none"


@settings(max_examples=examples(150))
@given(pairs())
def test_nothing_is_said_to_have_changed_only_if_no_value_tells_the_schemas_apart(
    pair: tuple[Any, Any],
) -> None:
    old, new = pair
    for member in ("inputSchema", "outputSchema"):
        blank = {"name": "t", "inputSchema": {"type": "object"}}
        if not compare_lists([{**blank, member: old}], [{**blank, member: new}]):
            assert "no" not in (takes_all(new, old).answer, takes_all(old, new).answer)
