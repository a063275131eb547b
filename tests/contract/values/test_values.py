"""Values generated for schemas: jsonschema judges each of them, and takes no part in choosing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, assume, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample, Unsatisfiable
from jsonschema import Draft7Validator, Draft202012Validator, FormatChecker
from jsonschema.exceptions import ValidationError
from support.examples import examples
from support.schema_strategies import documents
from toolwire_check.values import NoValues, invalid_values, valid_values

# Some generated schemas want what is rare, and each example makes a schema and then a value of it.
PATIENT = settings(suppress_health_check=list(HealthCheck), max_examples=examples(80))
SEARCH = settings(PATIENT, max_examples=3000, database=None, phases=[Phase.generate])
BRIEF_SEARCH = settings(SEARCH, max_examples=20)  # one example would be one too many
NO_VALUE = object()

DRAFT7 = "http://json-schema.org/draft-07/schema#"


@PATIENT
@given(st.data(), documents())
def test_valid_values_fit_any_schema(data: st.DataObject, schema: Any) -> None:
    value = data.draw(make_strategy(valid_values, schema))
    assert list(Draft202012Validator(schema).iter_errors(value)) == []


@PATIENT
@given(st.data(), documents())
def test_invalid_values_do_not_fit_their_schema(data: st.DataObject, schema: Any) -> None:
    value = data.draw(make_strategy(invalid_values, schema))
    assert not Draft202012Validator(schema).is_valid(value)


@PATIENT
@given(st.data(), documents())
def test_invalid_values_fit_the_schema_within_which_they_are_made(
    data: st.DataObject, schema: Any
) -> None:
    value = data.draw(
        make_strategy(lambda each: invalid_values(each, within={"type": "object"}), schema)
    )
    assert isinstance(value, dict)


def make_strategy(
    values: Callable[[Any], st.SearchStrategy[Any]], schema: Any
) -> st.SearchStrategy[Any]:
    try:
        return values(schema)
    except NoValues:
        assume(False)
        raise


def breaches(errors: Iterable[ValidationError]) -> Iterator[tuple[tuple[Any, ...], str]]:
    """Each place, any item being the first, with each word that leads to what is wrong there."""
    for error in errors:
        for word in (*error.absolute_schema_path, error.validator or "false schema"):
            yield (
                tuple(0 if isinstance(step, int) else step for step in error.absolute_path),
                str(word),
            )
        yield from breaches(error.context or ())


# Rare values, each with a claim about some value of a schema.
RARE: dict[str, tuple[Any, Callable[[Any], bool]]] = {
    "integers beyond 64 bits": ({"type": "integer"}, lambda value: value > 2**64),
    "integral floats as integers": ({"type": "integer"}, lambda value: isinstance(value, float)),
    "minus zero": ({"type": "number"}, lambda value: str(value) == "-0.0"),
    "almost the largest number": ({"type": "number"}, lambda value: value == 1e308),
    "the smallest fraction": ({"type": "number"}, lambda value: value == 5e-324),
    "a bound that is a huge float": (
        {"type": "integer", "exclusiveMinimum": 1e300},
        lambda value: value > 1e300,
    ),
    "a bound beyond all floats": (
        {"type": "number", "minimum": 10**400},
        lambda value: value >= 10**400,
    ),
    "a tenth of a tenth": ({"type": "number", "multipleOf": 0.01}, lambda value: value % 1 != 0),
    "empty strings": ({"type": "string"}, lambda value: value == ""),
    "long strings": ({"type": "string"}, lambda value: len(value) == 10_000),
    "characters beyond 16 bits": (
        {"type": "string", "maxLength": 1},
        lambda value: value > "\uffff",
    ),
    "combining characters": ({"type": "string"}, lambda value: "\u0301" in value),
    "text from right to left": ({"type": "string"}, lambda value: "\u202e" in value),
    "control characters": ({"type": "string"}, lambda value: "\x00" in value),
    "a long string of a pattern": (
        {"type": "string", "pattern": "^[a-f]+$", "minLength": 200},
        lambda _: True,
    ),
    "members of strange names": (
        {"type": "object"},
        lambda value: "__proto__" in value and "" in value,
    ),
    "what is optional": (
        {"type": "object", "properties": {"a": {"type": "null"}}, "additionalProperties": False},
        lambda value: "a" in value,
    ),
    "recursion": (
        {"type": "array", "items": {"$ref": "#"}},
        lambda value: value and value[0] and value[0][0],
    ),
    "members that depend on others": (
        {"type": "object", "properties": {"a": True}, "dependentRequired": {"a": ["b"]}},
        lambda value: {"a", "b"} <= set(value),
    ),
    "each branch": (
        {"oneOf": [{"type": "integer"}, {"type": "string"}]},
        lambda value: isinstance(value, str),
    ),
    "what is not the condition": (
        {"type": "integer", "if": {"minimum": 0}, "then": {"multipleOf": 2}},
        lambda value: value < 0 and value % 2 == 1,
    ),
    "hundreds of alternatives": (
        {"anyOf": [{"const": n} for n in range(300)]},
        lambda value: value > 200,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", RARE)
def test_rare_values_are_generated(what: str) -> None:
    schema, claim = RARE[what]
    assert Draft202012Validator(schema).is_valid(
        find(valid_values(schema), lambda v: bool(claim(v)), settings=SEARCH)
    )


# Each schema with every word of it that can be broken, and where.
BROKEN: list[tuple[Any, set[tuple[tuple[Any, ...], str]]]] = [
    ({"type": "integer", "minimum": 3}, {((), "type"), ((), "minimum")}),
    (
        {"type": "string", "minLength": 1, "maxLength": 2},
        {((), "type"), ((), "minLength"), ((), "maxLength")},
    ),
    ({"enum": ["a", "b"]}, {((), "enum")}),
    ({"const": None}, {((), "const")}),
    ({"not": {"type": "string"}}, {((), "not")}),
    ({"type": "string", "format": "date"}, {((), "type")}),
    (
        {
            "type": "object",
            "properties": {"a": {"type": "null"}},
            "required": ["a"],
            "additionalProperties": False,
        },
        {((), "type"), ((), "required"), ((), "additionalProperties"), (("a",), "type")},
    ),
    (
        {
            "type": "array",
            "items": {"type": "integer"},
            "uniqueItems": True,
            "maxItems": 2,
            "contains": {"const": 1},
        },
        {((), "type"), ((), "uniqueItems"), ((), "maxItems"), ((), "contains"), ((0,), "type")},
    ),
    ({"type": "object", "properties": {"a": False}}, {((), "type"), ((), "false schema")}),
    ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, {((), "anyOf")}),
    ({"oneOf": [{"multipleOf": 2}, {"multipleOf": 3}]}, {((), "oneOf")}),
    (
        {"anyOf": [{"type": "array", "items": {"minimum": 0}}, {"type": "null"}]},
        {((), "anyOf"), ((0,), "minimum")},
    ),
    ({"propertyNames": {"maxLength": 5}}, {((), "propertyNames")}),
    ({"patternProperties": {"^A": False}}, {((), "patternProperties")}),
    ({"dependentRequired": {"a": ["b"]}}, {((), "dependentRequired")}),
    ({"$ref": "#/$defs/n", "$defs": {"n": {"type": "null"}}}, {((), "type")}),
    (
        {"if": {"type": "integer"}, "then": {"minimum": 0}, "else": {"type": "null"}},
        {((), "minimum"), ((), "type")},
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("schema", "words"), BROKEN, ids=[", ".join(schema) for schema, _ in BROKEN]
)
def test_every_keyword_is_broken(schema: Any, words: set[Any]) -> None:
    seen = set()

    @settings(SEARCH, max_examples=100)  # enough to see every word
    @given(invalid_values(schema))
    def collect(value: Any) -> None:
        found = set(breaches(Draft202012Validator(schema).iter_errors(value)))
        assert found
        seen.update(found)

    collect()
    assert seen >= words


UNSUPPORTED: dict[str, tuple[Any, str]] = {
    "a pattern of JavaScript": (
        {"properties": {"a": {"pattern": "\\p{L}"}}},
        "schema.properties.a: the pattern \\p{L}",
    ),
    "a pattern of Python": ({"pattern": "\\Aa"}, "schema: the pattern \\Aa"),
    "a reference to elsewhere": ({"items": {"$ref": "https://example.com/s"}}, "schema.items"),
    "a reference to nothing": ({"$ref": "#/$defs/no"}, "schema"),
    "an $id that leads references elsewhere": (
        {"items": {"$id": "urn:x", "$ref": "#"}},
        "schema.items.$id",
    ),
    "a word with a value it cannot have": (
        {"type": "object", "properties": {"a": {"type": "text"}}},
        "properties.a",
    ),
    "a string of a billion": ({"minLength": 10**9}, "schema.minLength"),
    "what refers to itself alone": ({"anyOf": [{"$ref": "#"}, {"type": "null"}]}, "schema"),
    "what refers to itself through others": (
        {
            "$ref": "#/$defs/a",
            "$defs": {"a": {"not": {"$ref": "#/$defs/b"}}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}},
        },
        "schema",
    ),
    "a bound of draft-04": ({"exclusiveMinimum": True}, "exclusiveMinimum"),
}


@pytest.mark.parametrize("what", UNSUPPORTED)
def test_unsupported_part_is_an_error_with_its_place(what: str) -> None:
    schema, where = UNSUPPORTED[what]
    for values in (valid_values, invalid_values):
        with pytest.raises(NoValues) as error:
            values(schema)
        assert error.value.where.startswith(where)


@pytest.mark.slow
def test_circle_of_references_is_found_at_any_depth_of_the_stack() -> None:
    circle, _ = UNSUPPORTED["what refers to itself through others"]

    def below(levels: int) -> None:
        if levels:
            below(levels - 1)
        else:
            with pytest.raises(NoValues):
                valid_values(circle)

    for levels in range(60):  # the interpreter's limit is reached in other code for each
        below(levels)


@pytest.mark.parametrize(
    "schema",
    [
        False,
        {"type": "integer", "minimum": 1, "maximum": 0},
        {"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        {"type": "object", "required": ["a"], "properties": {"a": False}},
        {"type": "object", "required": ["next"], "properties": {"next": {"$ref": "#"}}},
        {"type": "array", "items": {"type": "boolean"}, "uniqueItems": True, "minItems": 3},
        {"type": "string", "enum": [1, 2]},
        {"allOf": [{"type": "string"}, {"type": "integer"}]},
    ],
    ids=str,
)
def test_schema_without_values_is_an_error(schema: Any) -> None:
    # Without other values, Hypothesis would give up only after 459 of the schema.
    others = st.integers().map(lambda _: NO_VALUE)
    with pytest.raises((NoValues, NoSuchExample)):
        find(
            valid_values(schema) | others,
            lambda value: value is not NO_VALUE,
            settings=BRIEF_SEARCH,
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    "schema", [True, {}, {"title": "anything"}, {"type": "string", "minLength": 0}], ids=str
)
def test_schema_that_accepts_everything_has_no_invalid_values(schema: Any) -> None:
    with pytest.raises((NoValues, Unsatisfiable)):
        find(
            invalid_values(schema, within={"type": "string"}),
            lambda _: True,
            settings=SEARCH,
        )


OLDER = {
    "$schema": DRAFT7,
    "definitions": {"n": {"type": "integer"}},
    "type": "object",
    "properties": {
        "pair": {
            "type": "array",
            "items": [{"type": "string"}, {"$ref": "#/definitions/n"}],
            "additionalItems": False,
        },
        "alone": {"$ref": "#/definitions/n", "minimum": 10**6},
    },
    "dependencies": {"pair": ["alone"], "alone": {"required": ["pair"]}},
}


@PATIENT
@given(valid_values(OLDER))
def test_valid_values_fit_draft_07(value: Any) -> None:
    assert Draft7Validator(OLDER).is_valid(value)


@PATIENT
@given(invalid_values(OLDER))
def test_invalid_values_break_draft_07(value: Any) -> None:
    assert not Draft7Validator(OLDER).is_valid(value)


def test_keywords_next_to_a_reference_are_ignored_in_draft_07() -> None:
    found = find(
        valid_values(OLDER),
        lambda value: value.get("alone", 10**6) < 10**6,
        settings=SEARCH,
    )
    assert Draft7Validator(OLDER).is_valid(found)


# Formats that jsonschema judges without other packages.
@pytest.mark.parametrize("name", ["date", "email", "ipv4", "ipv6", "regex", "uuid"])
def test_strings_have_their_format(name: str) -> None:
    schema = {"type": "string", "format": name}
    validator = Draft202012Validator(schema, format_checker=FormatChecker())

    @settings(max_examples=examples(30))
    @given(valid_values(schema))
    def check(value: str) -> None:
        validator.validate(value)

    check()


def test_values_do_not_share_objects_with_the_schema() -> None:
    schema = {"enum": [[]]}

    @settings(max_examples=3)
    @given(valid_values(schema))
    def change(value: list[int]) -> None:
        assert value == []
        value.append(1)

    change()
    assert schema == {"enum": [[]]}


@pytest.mark.process
def test_hypothesis_and_pytest_are_imported_at_first_use() -> None:
    import subprocess

    code = "import sys, toolwire_check; print({'hypothesis', 'pytest'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.slow
def test_long_enum_is_not_searched_for_each_of_its_values() -> None:  # which would take minutes
    listed = [f"city {number}" for number in range(20_000)]
    schema = {"enum": listed, "minLength": 9}

    @settings(max_examples=3)
    @given(valid_values(schema))
    def check(value: str) -> None:
        assert value in listed[1000:]

    check()


def test_multiples_beyond_floats_are_exact() -> None:
    halves = {"type": "integer", "multipleOf": 0.5, "minimum": 10**400}

    @settings(max_examples=3)
    @given(valid_values(halves))
    def check(value: int) -> None:
        assert value >= 10**400

    check()


def test_object_with_too_many_members_is_an_error() -> None:
    wide = {"properties": {f"member {number}": {"type": "integer"} for number in range(501)}}
    with pytest.raises(NoValues, match="more than 500 members"):
        valid_values(wide).example()


@pytest.mark.parametrize("word", ["anyOf", "oneOf", "allOf"])
def test_choice_with_too_many_alternatives_is_an_error(word: str) -> None:
    wide = {word: [{"minimum": number} for number in range(501)]}
    with pytest.raises(NoValues, match="more than 500 members or alternatives"):
        valid_values(wide).example()
