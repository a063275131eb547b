"""What is served, what Lagent's description says and what a call takes agree, for any function."""

from __future__ import annotations

import functools
import keyword
from inspect import Parameter
from typing import Any, NamedTuple

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from support.examples import examples
from support.recording_caller import RecordingCaller
from support.type_strategies import FORMATS, HINTS, JSON, fitting
from toolwire_tools import ArgumentsError, Context, Tool, make_tool, tool_api
from toolwire_tools.signature.docstring_types import hint_of

WRITTEN = (
    *(
        "str",
        "int, optional",
        "float",
        "number",
        "bool",
        "List[int]",
        "list of str",
        "Optional[int]",
        "dict[str, float]",
    ),
    *(
        "{'a', 'b'}",
        "Literal[1, 2]",
        "int or None",
        "tuple(int, str)",
        "set of int",
        "Any",
        "Tensor",
        "np.ndarray",
    ),
)
NAMES = st.from_regex("[a-z_][a-z0-9_]{0,5}", fullmatch=True).filter(
    lambda name: not keyword.iskeyword(name) and name not in ("self", "cls")
)
KINDS = st.sampled_from(
    (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
)
NOTHING = Parameter.empty
ABSENT = object()
"""A default that has no form in JSON."""


class Drawn(NamedTuple):
    """One parameter of a function to be; a *hint* or a type *written* in the docstring may be
    `NOTHING`.
    """

    name: str
    kind: Any
    hint: Any
    written: Any
    default: Any
    hidden: bool


@st.composite
def drawn(draw: st.DrawFn, name: str) -> Drawn:
    hint = draw(st.just(NOTHING) | HINTS)
    written = draw(st.just(NOTHING) | st.sampled_from(WRITTEN))
    is_typed = hint is not NOTHING or written is not NOTHING  # then a default has to fit
    default = draw(st.just(NOTHING) | (st.sampled_from((None, ABSENT)) if is_typed else JSON))
    return Drawn(
        name,
        draw(KINDS),
        hint,
        written,
        default,
        default is not NOTHING and draw(st.integers(0, 4)) == 0,
    )


PARAMETERS = (
    st.lists(NAMES, max_size=4, unique=True)
    .flatmap(lambda names: st.tuples(*map(drawn, names)))
    .map(
        # As Python wants them: by kind, and required ones first where the place counts.
        lambda found: sorted(
            found,
            key=lambda p: (
                p.kind,
                p.kind is not Parameter.KEYWORD_ONLY and p.default is not NOTHING,
            ),
        )
    )
)
# Python wants the defaults of both kinds that have a place to come last.
PARAMETERS = PARAMETERS.map(
    lambda found: [
        p._replace(default=NOTHING, hidden=False)
        if p.kind is Parameter.POSITIONAL_ONLY
        and any(q.kind is Parameter.POSITIONAL_OR_KEYWORD and q.default is NOTHING for q in found)
        else p
        for p in found
    ]
)


def google(found: list[Drawn]) -> str:
    entries = [
        f"    {p.name}{'' if p.written is NOTHING else f' ({p.written})'}: about {p.name}"
        for p in found
    ]
    return "\n".join(["Args:", *entries])


def numpy(found: list[Drawn]) -> str:
    entries = [
        f"{p.name}{'' if p.written is NOTHING else f' : {p.written}'}\n    about {p.name}"
        for p in found
    ]
    return "\n".join(["Parameters", "----------", *entries])


def fields(mark: str, found: list[Drawn]) -> str:
    texts = [f"{mark}param {p.name}: about {p.name}" for p in found]
    types = [f"{mark}type {p.name}: {p.written}" for p in found if p.written is not NOTHING]
    return "\n".join([*texts, *types])


STYLES = st.sampled_from(
    (google, numpy, functools.partial(fields, ":"), functools.partial(fields, "@"))
)


def function_of(found: list[Drawn], docstring: str, is_method: bool) -> Any:
    """A function with these parameters that returns what it was given."""
    names = {f"default{index}": p.default for index, p in enumerate(found)}
    written = [
        p.name if p.default is NOTHING else f"{p.name}=default{index}"
        for index, p in enumerate(found)
    ]
    places = [
        sum(p.kind <= kind for p in found)
        for kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    ]
    if places[1] < len(found):
        written.insert(places[1], "*")
    if places[0]:
        written.insert(places[0], "/")
    if is_method:
        written.insert(0, "self")
    given = ", ".join(f"{p.name!r}: {p.name}" for p in found)
    exec(f"def tool({', '.join(written)}): given.append({{{given}}})", names)
    names["given"] = []
    function: Any = names["tool"]
    function.__annotations__ = {p.name: p.hint for p in found if p.hint is not NOTHING}
    function.__doc__ = docstring
    function.given = names["given"]
    return function


def tool_of(function: Any, is_method: bool) -> Tool:
    return make_tool(type("Kit", (), {"tool": function})().tool if is_method else function)


JSON_TYPES = {
    "STRING": "string",
    "NUMBER": "integer",
    "FLOAT": "number",
    "BOOLEAN": "boolean",
    "Array": "array",
}


def types_in(schema: dict[str, Any], root: dict[str, Any]) -> set[str]:
    """The JSON types that a generated schema allows, null aside."""
    if "$ref" in schema:
        return types_in(root["$defs"][schema["$ref"].rpartition("/")[2]], root)
    if "anyOf" in schema:
        return {type_ for member in schema["anyOf"] for type_ in types_in(member, root)}
    return {*JSON_TYPES.values(), "object"} if "type" not in schema else {schema["type"]} - {"null"}


@settings(max_examples=examples(200), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(PARAMETERS, STYLES, st.booleans(), st.data())
def test_schema_description_and_calls_agree(
    found: list[Drawn], style: Any, is_method: bool, data: st.DataObject
) -> None:
    function = function_of(found, "Do.\n\n" + style(found), is_method)
    tool_api(exclude_arguments=[p.name for p in found if p.hidden])(function)
    tool = tool_of(function, is_method)
    described = function.api_description
    schema = tool.describe()["inputSchema"]

    shown = [p.name for p in found if not p.hidden]
    assert (
        [parameter["name"] for parameter in described["parameters"]]
        == list(schema["properties"])
        == shown
    )
    assert described["required"] == schema.get("required", [])
    for parameter in described["parameters"]:
        allowed = types_in(schema["properties"][parameter["name"]], schema)
        # Objects, and what is nothing but null, go by the name of STRING.
        assert JSON_TYPES[parameter["type"]] in allowed or (
            parameter["type"] == "STRING" and allowed <= {"object"}
        )

    arguments = data.draw(fitting(schema, schema), "arguments")
    if isinstance(arguments, dict) and data.draw(st.integers(0, 3)) == 0:
        arguments = {
            **arguments,
            data.draw(st.sampled_from([p.name for p in found] or ["x"])): data.draw(JSON),
        }
    try:
        tool.call(arguments, RecordingCaller(), strict_arguments=True)
    except ArgumentsError:
        assert function.given == []
    else:
        assert set(described["required"]) <= arguments.keys() <= set(shown)
        [given] = function.given
        assert all(given[p.name] is p.default for p in found if p.name not in arguments)
    judge = Draft202012Validator(schema, format_checker=FORMATS)
    assert judge.is_valid(arguments) == bool(function.given)


@given(PARAMETERS, STYLES)
def test_type_in_the_docstring_counts_as_a_hint(found: list[Drawn], style: Any) -> None:
    docstring = "Do.\n\n" + style(found)
    written = function_of([p._replace(hint=NOTHING) for p in found], docstring, False)
    hints = [NOTHING if p.written is NOTHING else hint_of(p.written) or Any for p in found]
    hinted = function_of(
        [p._replace(hint=hint) for p, hint in zip(found, hints, strict=True)], docstring, False
    )
    assert make_tool(written).describe() == make_tool(hinted).describe()
    assert tool_api(written).api_description == tool_api(hinted).api_description


@given(NAMES, HINTS)
def test_context_is_in_neither_schema_nor_description(name: str, hint: Any) -> None:
    function = function_of(
        [
            Drawn(name, 1, hint, NOTHING, NOTHING, False),
            Drawn("_ctx", 3, Context, NOTHING, None, False),
        ],
        "",
        False,
    )
    assert [
        parameter["name"] for parameter in tool_api(function).api_description["parameters"]
    ] == [name]
    assert list(make_tool(function).describe()["inputSchema"]["properties"]) == [name]
