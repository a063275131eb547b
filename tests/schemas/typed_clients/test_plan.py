"""The plan of a client: names that are unique and lead back, types for every reference, circles,
bounded work.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from support.examples import examples
from support.tool_entry_strategies import ENTRIES, JSON
from toolwire_dialects.name_mapping import (
    NameRule,
    split_words,
    to_camel_case,
    to_pascal_case,
    to_snake_case,
)
from toolwire_dialects.shapes import (
    ArrayShape,
    Definition,
    ObjectShape,
    ReferenceShape,
    ScalarShape,
    Shape,
    UnionShape,
    ValuesShape,
)
from toolwire_dialects.typed_clients import LANGUAGES, generate, list_languages, plan, read_runtime

ROOT = Path(__file__).parents[3]
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_").__contains__
PASCAL = NameRule(_LETTERS, may_begin=str.isupper, convention=to_pascal_case, prefix="X")
STRICT = plan.Naming(
    functions=PASCAL,
    types=PASCAL,
    members=PASCAL,
    taken_types=frozenset({"Client"}),
    names_objects=True,
    names_unions=True,
    names_arguments=True,
)
"""As a language wants it where every type has a name."""


def parts_of(shape: Shape) -> list[Shape]:
    """Every shape within *shape*, with itself."""
    match shape:
        case UnionShape(parts=inner):
            pass
        case ArrayShape(first=first, rest=rest) | ObjectShape(members=first, rest=rest):
            inner = [getattr(each, "shape", each) for each in first] + (
                [] if rest is None else [rest]
            )
        case _:
            inner = []
    return [shape, *(part for each in inner for part in parts_of(each))]


def read(*entries: Any, naming: plan.Naming = STRICT) -> plan.Plan:
    return plan.read(entries, naming)


def entry(name: str, arguments: Any = None, result: Any = None, **more: Any) -> dict[str, Any]:
    made = {"name": name, "inputSchema": arguments or {"type": "object"}, **more}
    return made if result is None else {**made, "outputSchema": result}


def wrapped(schema: Any, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"result": schema}, "required": ["result"], **more}


# Names


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("getHTTPStatus", ["get", "HTTP", "Status"]),
        ("list-items.v2", ["list", "items", "v2"]),
        ("__init__", ["init"]),
        ("查找 größe", ["查找", "größe"]),
        ("", []),
    ],
)
def test_words_of_a_name(name: str, expected: list[str]) -> None:
    assert split_words(name) == expected


def test_conventions() -> None:
    assert [
        form("getHTTPStatus_of-me") for form in (to_snake_case, to_pascal_case, to_camel_case)
    ] == [
        "get_http_status_of_me",
        "GetHttpStatusOfMe",
        "getHttpStatusOfMe",
    ]


@given(
    st.lists(
        st.text(max_size=8) | st.sampled_from(["a-b", "a_b", "aB", "AB", "-", "_", "client"]),
        max_size=8,
    )
)
@settings(max_examples=examples(200))
def test_names_are_unique_and_the_tools_own_names_are_kept(names: list[str]) -> None:
    made = read(
        *(
            entry(name, {"type": "object", "properties": {other: {} for other in names}})
            for name in names
        )
    )
    assert [each.wire_name for each in made.functions] == sorted({name for name in names if name})
    assert len({each.name for each in made.functions}) == len(made.functions)
    for function in made.functions:
        fields = made.plan_fields(function.arguments)
        assert {field.wire_name for field in fields} == set(names)
        assert len({field.name for field in fields}) == len(fields)
        assert all(re.fullmatch("[A-Z][A-Za-z0-9_]*", field.name) for field in fields)


def test_a_tool_more_changes_no_name_of_another() -> None:
    def names(*tools: str) -> dict[str, str]:
        return {each.wire_name: each.name for each in read(*map(entry, tools)).functions}

    assert (
        names("get-user", "add").items() <= names("get-user", "add", "remove", "get-users").items()
    )
    assert names("get-user", "get_user")["get-user"].startswith("GetUser_")


def test_the_order_of_the_list_changes_nothing() -> None:
    tools = [
        entry(name, wrapped({"enum": [name, "x"]}), wrapped({"title": "A", "enum": [name]}))
        for name in "cab"
    ]
    assert read(*tools) == read(*reversed(tools))


def test_malformed_entries_are_left_out_and_the_first_of_a_name_counts() -> None:
    made = read(
        entry("a", description="first"),
        None,
        {"name": 1},
        {},
        "x",
        entry("a", description="second"),
    )
    assert [(each.wire_name, each.docs) for each in made.functions] == [
        ("a", ["first", "", 'Tool "a".'])
    ]


# Types


@given(st.lists(ENTRIES, max_size=2))
@settings(max_examples=examples(100))
def test_every_reference_has_a_type_and_what_needs_a_name_has_one(
    entries: list[dict[str, Any]],
) -> None:
    made = read(*entries)
    names = [each.name for each in made.types]
    assert len(set(names)) == len(names)
    assert "Client" not in names
    shapes = [*(each.result for each in made.functions if each.result)]
    inner = [
        each
        for whole in [
            *(each.shape for each in made.types),
            *(each.arguments for each in made.functions),
        ]
        for each in parts_of(whole)[1:]
    ]
    for shape in [*inner, *(part for each in shapes for part in parts_of(each))]:
        match shape:
            case ReferenceShape(name=name):
                assert name in names
            case UnionShape(parts=parts):
                assert len(parts) == 2
                assert parts[1] == ScalarShape("null")
            case ObjectShape(members=members):
                assert not members
            case ValuesShape(values=values):
                assert not values
    for definition in made.types:
        if isinstance(definition.shape, ValuesShape):
            assert all(isinstance(value, str) for value in definition.shape.values)
        if isinstance(definition.shape, UnionShape):
            variants = made.plan_variants(definition.shape)
            assert len({each.name for each in variants}) == len(variants)


def test_unions_enums_and_nullables_of_a_language_that_names_them() -> None:
    mode = {"enum": ["fast", "slow", None]}
    either = {
        "anyOf": [
            {"type": "string"},
            {"type": "array", "items": {"type": "integer"}},
            {"type": "null"},
        ]
    }
    made = read(
        entry(
            "run",
            {
                "type": "object",
                "properties": {"mode": mode, "either": either},
                "required": ["mode"],
            },
        )
    )
    assert made.types == [
        Definition("RunMode", ValuesShape(["fast", "slow"]), ""),
        Definition(
            "RunEither",
            UnionShape([ScalarShape("string"), ArrayShape([], ScalarShape("integer"))]),
            "",
        ),
        Definition("RunArguments", made.functions[0].arguments, 'The arguments of the tool "run".'),
    ]
    assert [
        (field.name, field.shape, field.is_required)
        for field in made.plan_fields(made.functions[0].arguments)
    ] == [
        ("Mode", UnionShape([ReferenceShape("RunMode"), ScalarShape("null")]), True),
        ("Either", UnionShape([ReferenceShape("RunEither"), ScalarShape("null")]), False),
    ]
    assert isinstance(made.types[1].shape, UnionShape)
    assert [each.name for each in made.plan_variants(made.types[1].shape)] == [
        "String",
        "IntegerList",
    ]


def type_names(*tools: Any) -> list[str]:
    naming = structs.replace(STRICT, names_arguments=False)
    return [each.name for each in read(*tools, naming=naming).types]


def takes(name: str, members: dict[str, Any], **definitions: Any) -> dict[str, Any]:
    return entry(name, {"type": "object", "properties": members, "$defs": definitions})


def test_types_without_a_name_are_called_after_the_tool_and_what_they_are_within() -> None:
    where = {"type": "object", "properties": {"mode": {"enum": ["x"]}}}
    one, other = takes("a", {"where": where}), takes("b", {"where": where})
    assert type_names(one) == ["AWhereMode", "AWhere"]
    assert type_names(one, other) == ["AWhereMode", "AWhere", "BWhereMode", "BWhere"]


def test_equal_arguments_and_results_of_a_tool_are_one_type() -> None:
    where = {"type": "object", "properties": {"x": {}}}
    tool = entry("a", {"type": "object", "properties": {"where": where}}, wrapped(where))
    assert type_names(tool) == ["AWhere"]


def test_types_that_the_server_names_are_shared_by_all_tools() -> None:
    place = {"type": "object", "properties": {"kind": {"enum": ["x"]}}}
    link = {"$ref": "#/$defs/Place"}
    tools = [takes(name, {"where": link}, Place=place) for name in "ab"]
    assert type_names(*tools) == ["PlaceKind", "Place"]


def test_different_types_that_the_servers_name_alike_are_called_after_their_tools() -> None:
    link = {"$ref": "#/$defs/Place"}
    tools = [
        takes(name, {"where": link}, Place={"type": "object", "properties": {name: {}}})
        for name in "ab"
    ]
    assert type_names(*tools) == ["APlace", "BPlace"]


@pytest.mark.parametrize("name", ["0", "b", "z"])
@pytest.mark.parametrize("member", ["where", "mode", "client"])
def test_a_tool_more_changes_no_type_of_another(name: str, member: str) -> None:
    place = {"type": "object", "properties": {"kind": {"enum": ["x"]}}}
    link = {"$ref": "#/$defs/Place"}
    mode = {"enum": ["x"]}
    members = {"where": link, "mode": mode, "client": {"type": "object", "properties": {"m": mode}}}
    tools = [takes(tool, members, Place=place) for tool in "ac"]
    new = takes(name, {member: {"enum": ["x"]}, "where place": link}, Place=place)
    assert set(type_names(*tools)) <= set(type_names(*tools, new))


def test_names_of_types_have_a_limit_and_stay_different() -> None:
    schema: Any = {"enum": ["x"]}
    for letter in "abcdefgh":
        name = letter * 40
        schema = {"type": "object", "properties": {name: schema, f"{name}2": schema}}
    names = type_names(takes("a", {"x": schema}))
    assert max(map(len, names)) == 100
    assert len(set(names)) == len(names)


def test_alternatives_are_called_after_what_distinguishes_them() -> None:
    naming = structs.replace(STRICT, names_arguments=False)

    def alternatives(*shapes: Any) -> tuple[list[str], list[str]]:
        made = read(takes("a", {"shape": {"anyOf": [*shapes]}}), naming=naming)
        union = made.types[-1]
        assert isinstance(union.shape, UnionShape)
        variants = made.plan_variants(union.shape, union.name)
        return [each.name for each in made.types], [each.name for each in variants]

    def kinds(*values: Any) -> list[Any]:
        return [{"type": "object", "properties": {"kind": each, "size": {}}} for each in values]

    def members(*names: str) -> list[Any]:
        return [{"type": "object", "properties": {each: {}, "size": {}}} for each in names]

    titles = [{"title": f"Big {letter}", **members(letter)[0]} for letter in "xy"]
    types, variants = alternatives(*kinds({"const": "circle"}, {"const": "square"}))
    assert types[-1] == "AShape"
    assert {"AShapeCircle", "AShapeSquare"} < set(types)
    assert variants == ["Circle", "Square"]
    expected = ["AShapeWithX", "AShapeWithY", "AShape"]
    assert alternatives(*members("x", "y")) == (expected, ["WithX", "WithY"])
    expected = ["AShapeBigX", "AShapeBigY", "AShape"]
    assert alternatives(*titles) == (expected, ["BigX", "BigY"])


def test_a_result_is_wrapped_only_if_result_is_its_only_member() -> None:
    whole = {"type": "object", "properties": {"result": {}, "more": {}}, "required": ["result"]}
    made = read(
        entry("a", result=wrapped({"type": "integer"})), entry("b", result=whole), entry("c")
    )
    assert [(each.is_wrapped, each.result) for each in made.functions] == [
        (True, ScalarShape("integer")),
        (False, ReferenceShape("BResult")),
        (False, None),
    ]


def test_the_types_of_a_circle_are_known() -> None:
    node = {
        "type": "object",
        "properties": {"next": {"$ref": "#/$defs/Node"}, "end": {"$ref": "#/$defs/End"}},
    }
    pair = {"type": "object", "properties": {"other": {"$ref": "#/$defs/Twin"}}}
    twin = {
        "type": "object",
        "properties": {"other": {"anyOf": [{"$ref": "#/$defs/Pair"}, {"type": "null"}]}},
    }
    tree = {
        "type": "object",
        "properties": {"all": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}},
    }
    end = {"type": "object", "properties": {"x": {}}}
    definitions = {"Node": node, "End": end, "Pair": pair, "Twin": twin, "Tree": tree}
    members = {name.lower(): {"$ref": f"#/$defs/{name}"} for name in definitions}
    made = read(entry("get", {"type": "object", "properties": members, "$defs": definitions}))
    assert made.find_circles() == {
        "Node": {"Node"},
        "End": set(),
        "Pair": {"Twin"},
        "Twin": {"Pair"},
        "Tree": set(),
        "GetArguments": set(),
    }


@given(st.integers(2, 400))
@settings(max_examples=examples(5))
def test_a_long_circle_is_found_whole(size: int) -> None:
    definitions = {
        f"N{number}": {
            "type": "object",
            "properties": {"next": {"$ref": f"#/$defs/N{(number + 1) % size}"}},
        }
        for number in range(size)
    }
    start = {
        "type": "object",
        "properties": {"first": {"$ref": "#/$defs/N0"}},
        "$defs": definitions,
    }
    circles = read(entry("get", start)).find_circles()
    assert circles.pop("GetArguments") == frozenset()
    assert len(circles) == size
    assert all(len(others) == 1 for others in circles.values())


# Any server


@given(st.lists(ENTRIES | JSON, max_size=3))
@settings(max_examples=examples(100))
def test_any_list_of_tools_has_a_client_that_can_be_written(entries: list[Any]) -> None:
    def write(language: str) -> str:
        return generate(language, entries, command=["server", "'\"*/"], head=["*/ ]] \"\"\" '''"])

    for language in list_languages():
        text = write(language)
        text.encode("utf-8")
        assert text == write(language)


def wide() -> list[Any]:
    """Five thousand objects with the same name."""
    members = {
        f"m{number}": {"type": "object", "properties": {f"x{number}": {}}} for number in range(5000)
    }
    return [
        entry(
            "wide",
            {"type": "object", "properties": {**members, "same": {"title": "M", **members["m1"]}}},
        )
    ]


def nested() -> list[Any]:
    schema: Any = {"type": "string"}
    for _ in range(400):
        schema = {
            "type": "object",
            "properties": {"a": schema, "b": {"anyOf": [schema, {"type": "null"}]}},
        }
        if len(json.dumps(schema)) > 100_000:
            break
    return [entry("nested", {"type": "object", "properties": {"x": schema}}, wrapped(schema))]


def doubling() -> list[Any]:
    """Each definition has two references to the next: 2^100 paths."""
    definitions: dict[str, Any] = {
        f"D{number}": {
            "allOf": [{"$ref": f"#/$defs/D{number + 1}"}] * 2,
            "properties": {f"p{number}": {}},
        }
        for number in range(100)
    }
    definitions["D100"] = {"type": "object", "properties": {"x": {}}}
    return [
        entry(
            "doubling",
            {"type": "object", "properties": {"x": {"$ref": "#/$defs/D0"}}, "$defs": definitions},
        )
    ]


def many() -> list[Any]:
    return [entry(f"tool-{number}", wrapped({"enum": [f"{number}"]})) for number in range(2000)]


def colliding() -> list[Any]:
    """Names that differ only in what no language keeps."""
    return [entry("a" + "-" * number) for number in range(1, 1000)]


@pytest.mark.slow
@pytest.mark.parametrize("language", list_languages())
@pytest.mark.parametrize("make", [wide, nested, doubling, many, colliding])
def test_a_hostile_list_costs_bounded_work(language: str, make: Any) -> None:
    entries = make()
    text = generate(language, entries, command=["server"], head=[])
    assert len(text) < 200 * len(json.dumps(entries)) + 100_000


# Runtimes


def test_the_wheel_has_the_runtime_of_each_language() -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"][
        "targets"
    ]["wheel"]
    expected = {}
    for language in list_languages():
        if read_runtime(language):
            [path] = [
                each for each in build["force-include"] if each.startswith(f"clients/{language}/")
            ]
            assert (ROOT / path).read_text("utf-8") == read_runtime(language)
            expected[path] = path.replace("clients/", "toolwire_dialects/typed_clients/runtimes/")
    assert build["force-include"] == {
        **expected,
        "clients/toolwire_pytest.py": "toolwire_pytest.py",
    }


def test_languages_are_offered_in_one_order() -> None:
    assert [language for language in LANGUAGES if language in list_languages()] == list(
        list_languages()
    )
