"""The published schemas, each by itself: its words, its examples, and what is refused of those when
changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from support.json_mutations import REGISTRY, Place, mutants, places, written
from support.tool_entry_strategies import JSON
from toolwire_schemas.json_schema.subschemas import follow_pointer, walk
from toolwire_schemas.published import (
    PREFIX,
    UnknownSchema,
    bundle,
    list_names,
    list_references,
    load,
    load_validator,
    read_text,
)

DIALECT = Draft202012Validator.META_SCHEMA["$id"]

# Where a schema says nothing of a value, and cannot: by the schema, the place in its examples, and
# whose affair it is.
ANYTHING = {
    (
        r"jsonrpc-.*",
        r"/(params|result)/.+",
    ): "what methods take and give is said by the schemas of each",
    (r"tools-call-params.*|messages-.*", r"(/params)?/arguments/\w+"): "arguments are the tool's",
    (
        r"tools-call-result|messages-(?!2026).*",
        r"(/result)?/structuredContent/\w+",
    ): "results are the tool's",
    (
        r".*2026-07-28|tasks-notification-params",
        r"(/result){0,2}/structuredContent(/\w+)*",
    ): "they need not even be objects any more",
    (r"react-reply", r"/params/\w+"): "arguments are the tool's",
    (r"react-message", r"/result"): "results are the tool's",
    (
        r"transcript-event",
        r"(/action)?/params/\w+|/reply/tool_calls/\d/arguments/\w+",
    ): "arguments are the tool's",
    (r"transcript-event", r"/result(/\w+)?"): "results are the tool's",
    (
        r"transcript-event",
        r"/tools/\d/.*",
    ): "what a server says of its tools is written down as it is",
    (
        r"message-params|messages-plain",
        r"(/params)?/data(/\w+)?",
    ): "what a tool logs is its own affair",
    (r"transcript-event", r"/form/.*|/content/\w+"): "what a tool asks is its own affair",
    (r"transcript-event", r"/messages/\d/tool_calls/\d/.*|.*/echo/\w+"): "it is the vendor's",
    (r".*", r"(/_meta|/meta)?/example\.com~1\w+"): "whoever chose the name knows",
    (r"json-schema", r"/(type|items).*"): "this example is of another dialect",
    (
        r"json-schema",
        r"(/properties/.*)?/(default|const|(enum|examples)/\d)",
    ): "values of a type that others tell",
    (r"tool|tool-2026-07-28", r"/inputSchema/.*/default"): "values of a type that others tell",
    (
        r"tool-library",
        r"/parameters/\d/(default|const|(enum|examples)/\d)",
    ): "values of a type that others tell",
    (r"tool-changes", r"/changes/\d/example"): "values of a type that others tell",
    (
        r"tools-lock",
        r"/(tools|prompts|resources|resourceTemplates)/\d/.*",
    ): "entries of a foreign server may be wrong",
    (r"recording-entry", r"/message/.*"): "a foreign server's message may be wrong",
    (r"saved-calls", r"/calls/\w+/arguments/\w+"): "arguments are the tool's",
    (r"tool-library", r"/parameters/1/x-unit"): "whoever chose the name knows",
    (r"contract-case", r"/steps/.*/?send/.+"): "messages are said by the schemas of each",
    (
        r"contract-case",
        r"/steps/\d+/(result|some|none|every)/.+",
    ): "JSON Schemas are said by json-schema",
    (r"lagent-tool", r"/parameters/0/\$ref"): "behind Lagent's members stand words of JSON Schema",
}

# Changes that make one valid value another: by the schema, the place and the change.
CHANGELINGS = {
    ("jsonrpc-batch", "/0/id", "removed"): "a request without its id is a notification",
    **{
        (
            name,
            place,
            "removed",
        ): "answers do not say what they answer, and one without members answers a ping"
        for name in list_names()
        if re.fullmatch(r"messages-(plain|20(24|25).*)", name)
        for place in (
            *("/result/tools", "/1/result/tools", "/result/resources", "/result/resourceTemplates"),
            *("/result/contents", "/result/prompts", "/result/messages", "/result/completion"),
            *("/result/task", "/result/tasks"),
        )
    },
    **{
        (
            "messages-2026-07-28",
            place,
            change,
        ): "what remains acknowledges tasks/update or tasks/cancel"
        for place, change in (
            ("/result/completion", "removed"),
            ("/result/messages", "removed"),
            ("/result/_meta", "removed"),
            *(
                ("/result/_meta/io.modelcontextprotocol~1subscriptionId", change)
                for change in ("removed", "null", "boolean", "number", "array", "object")
            ),
        )
    },
    **{
        (
            name,
            "/result/content",
            "array",
        ): "with a list as its content the user's answer is that of a tool"
        for name in ("messages-2025-06-18", "messages-2025-11-25")
    },
}


def published() -> Iterator[tuple[str, dict[str, Any]]]:
    for name in list_names():
        yield name, load(name)


def test_every_schema_is_valid_names_itself_and_says_what_it_is_for() -> None:
    for name, schema in published():
        Draft202012Validator.check_schema(schema)
        assert list(schema)[:4] == ["$schema", "$id", "title", "description"], name
        assert (schema["$schema"], schema["$id"]) == (DIALECT, PREFIX + name)
        assert read_text(name).endswith("}\n")


def test_no_two_parts_have_the_same_title() -> None:
    """Titles become the names of types."""
    titles = [
        re.sub(r"\W", "", inner["title"]).lower()
        for name, schema in published()
        for _, inner in walk(schema, name)
        if "title" in inner
    ]
    assert sorted(titles) == sorted(set(titles))


def test_whatever_has_a_title_has_a_description_that_is_a_sentence() -> None:
    for name, schema in published():
        for where, inner in walk(schema, name):
            if "title" in inner:
                assert re.fullmatch(r"[A-Z`$].*[.)]", inner["description"], re.DOTALL), where


def test_every_member_of_an_object_is_described() -> None:
    """Those excepted whose name says it all to whoever knows JSON Schema, from which a form has its
    words.
    """
    for name, schema in published():
        for where, inner in walk(schema, name):
            for member, word in inner.get("properties", {}).items():
                told = (
                    not isinstance(word, dict)
                    or {"description", "$ref", "const"} & set(word)
                    or "properties" in word
                )
                assert told or where.startswith("elicitation-create-params.$defs."), (
                    f"{where}: {member}"
                )


def test_every_reference_leads_somewhere_and_none_to_an_address() -> None:
    for name, schema in published():
        resolver = REGISTRY.resolver(base_uri=PREFIX + name)
        for _, inner in walk(schema, name):
            if "$ref" in inner:
                assert inner["$ref"].startswith(("#", PREFIX))
                resolver.lookup(inner["$ref"])


def test_every_schema_has_examples_that_it_takes() -> None:
    for name, schema in published():
        assert schema["examples"], name
        for example in schema["examples"]:
            assert [error.message for error in load_validator(name).iter_errors(example)] == [], (
                name
            )


@cache
def places_of_examples() -> dict[str, list[Place]]:
    """Return the parts of all examples by the name of their schema."""
    found: dict[str, list[Place]] = {}
    for name in list_names():
        for example in REGISTRY.contents(PREFIX + name)["examples"]:
            found.setdefault(name, []).extend(places(name, example))
    return found


def test_every_member_that_a_schema_knows_is_in_an_example() -> None:
    seen = {
        id(schema)
        for found in places_of_examples().values()
        for place in found
        for schema in place.schemas
    }
    for name in list_names():
        for where, inner in walk(REGISTRY.contents(PREFIX + name), name):
            members = inner.get("properties", {}) if not where.endswith(".if") else {}
            for member, word in members.items():
                elsewhere = isinstance(word, dict) and word.get("$ref", "").endswith(
                    f"/properties/{member}"
                )
                assert id(word) in seen or word is False or elsewhere, f"{where}: {member}"


@pytest.mark.slow
@pytest.mark.parametrize("name", list_names())
def test_a_required_member_cannot_be_missing_and_no_value_be_of_another_type(name: str) -> None:
    judge = load_validator(name)
    taken = {
        (name, written(mutant.path), mutant.change)
        for example in load(name)["examples"]
        for mutant in mutants(name, example)
        if mutant.must_fail and judge.is_valid(mutant.value)
    }
    assert taken <= set(CHANGELINGS)


def test_anything_goes_only_where_it_has_to() -> None:
    used = set()
    for name, of_schema in places_of_examples().items():
        for place in of_schema:
            if place.types is None:
                found = [rule for rule in ANYTHING if _about(rule, name, written(place.path))]
                assert found, f"{name}: nothing is said of {written(place.path)}"
                used |= set(found)
    assert used == set(ANYTHING)


def _about(rule: tuple[str, str], name: str, place: str) -> bool:
    return re.fullmatch(rule[0], name) is not None and re.fullmatch(rule[1], place) is not None


# --- schemas of schemas ---

_META = Draft202012Validator(Draft202012Validator.META_SCHEMA)
# With another dialect's name in $schema, ours says nothing more.
_KEYWORDS = sorted(load("json-schema")["$defs"]["keywords"]["properties"].keys() - {"$schema"})
_VALUES = JSON | st.sampled_from(
    [-1, 0, 1, 1.5, "object", ["object"], ["object", "object"], [], {}, "#", "a"]
)


def _schemas(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several, named = (
        st.lists(inner, max_size=2),
        st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    )
    return st.dictionaries(
        st.sampled_from(_KEYWORDS), _VALUES | inner | several | named, max_size=3
    )


@given(st.recursive(st.booleans() | _schemas(_VALUES), _schemas, max_leaves=4))
def test_a_json_schema_is_what_the_standard_says_it_is(schema: Any) -> None:
    """Ours needs no address and no dynamic reference, which many validators and editors lack."""
    assert load_validator("json-schema").is_valid(schema) == _META.is_valid(schema)


@pytest.mark.slow
def test_every_change_of_a_json_schema_is_judged_as_by_the_standard() -> None:
    full = load("json-schema")["examples"][0]
    for mutant in mutants("json-schema", full):
        if mutant.path != ("$schema",):
            assert load_validator("json-schema").is_valid(mutant.value) == _META.is_valid(
                mutant.value
            ), mutant


# --- finding them ---


def test_an_unknown_name_is_reported_with_the_closest_ones_first() -> None:
    with pytest.raises(UnknownSchema) as caught:
        load("tool-anotations")
    assert str(caught.value).startswith(
        "no schema 'tool-anotations', did you mean 'tool-annotations'? Known: tool-annotations,"
        " content-annotations, "
    )
    assert all(name in str(caught.value) for name in list_names())


@pytest.mark.parametrize("name", ["", "../v1/tool", "tool.schema.json", "zzz"])
def test_a_name_like_no_other_is_an_error_that_lists_all(name: str) -> None:
    with pytest.raises(UnknownSchema, match=f"no schema '{name}'"):
        load_validator(name)


def test_a_validator_may_be_for_a_part_of_a_schema() -> None:
    sent = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    assert load_validator("messages-plain#/$defs/client-message").is_valid(sent)
    assert not load_validator("messages-plain#/$defs/server-message").is_valid(sent)
    with pytest.raises(
        UnknownSchema,
        match="no place in jsonrpc-error '/\\$defs/eror', did you mean '/\\$defs/error'",
    ):
        load_validator("jsonrpc-error#/$defs/eror")


def test_a_loaded_schema_is_the_callers_own() -> None:
    load("tool")["properties"].clear()
    assert load("tool")["properties"]


def test_a_bundle_of_one_schema_is_that_schema_and_needs_nothing_else() -> None:
    for name in list_names():
        alone = Draft202012Validator(bundle(name))
        for example in load(name)["examples"]:
            assert alone.is_valid(example), name
        assert bundle(name)["$id"] == PREFIX + name


def test_a_bundle_refers_only_to_itself() -> None:
    for made in (bundle(), *map(bundle, list_names())):
        for where, inner in walk(made, ""):
            if "$ref" in inner:
                assert inner["$ref"].startswith("#"), where
                follow_pointer(made, inner["$ref"])


def test_a_bundle_holds_what_is_chosen_and_what_that_refers_to() -> None:
    assert list(bundle("jsonrpc-error")["$defs"]) == ["error", "unsupported-version", "jsonrpc-id"]
    assert set(bundle("tools-list-result")["$defs"]) == {"tool", *_beneath("tool"), "meta"}
    assert list(bundle("icon", "meta")["$defs"]) == ["icon", "meta"]
    assert bundle("icon", "icon") == bundle("icon")
    assert list(bundle()["$defs"]) == list(list_names())


def test_nothing_that_a_bundle_holds_hides_something_else() -> None:
    for name in list_names():
        assert not set(load(name).get("$defs", {})) & set(list_names()), name


def _beneath(name: str) -> set[str]:
    return {found for other in list_references(load(name)) for found in (other, *_beneath(other))}
