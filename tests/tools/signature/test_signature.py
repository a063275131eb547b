from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import pydantic
import pytest
from support.recording_caller import RecordingCaller
from toolwire_tools import Context, make_tool
from toolwire_tools.errors import ArgumentsError, RegistrationError
from toolwire_tools.signature import EMPTY, Signature, read_parameters, read_signature
from toolwire_tools.tool import make_function_handler

if TYPE_CHECKING:
    from elsewhere import Context as OnlyForTheChecker
    from elsewhere import Unknown


class Special(Context): ...


def read(function: Callable[..., Any], **options: Any) -> Signature:
    return read_signature(function, tool="tool", **options)


def schema_of(function: Callable[..., Any]) -> dict[str, Any]:
    return read(function).arguments.input_schema


def test_a_function_becomes_a_description_and_a_schema() -> None:
    def search(
        query: str, limit: Annotated[int, "How many."] = 5, *, exact: bool = False
    ) -> list[str]:
        """Search the web.

        Args:
            query: What to look for.
            limit: Not shown: the annotation has its own text.
            missing: A parameter that is not there.
        """
        return []

    found = read(search)
    assert found.description == "Search the web."
    assert found.arguments.input_schema == {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What to look for."},
            "limit": {"type": "integer", "description": "How many.", "default": 5},
            "exact": {"type": "boolean", "default": False},
        },
        "required": ["query"],
        "additionalProperties": False,
    }
    assert found.returns.wraps
    assert found.returns.output_schema == {
        "type": "object",
        "properties": {"result": {"type": "array", "items": {"type": "string"}}},
        "required": ["result"],
        "additionalProperties": False,
    }


def test_a_function_without_parameters_takes_an_empty_object() -> None:
    def now() -> str:
        return ""

    assert schema_of(now) == {"type": "object", "properties": {}, "additionalProperties": False}
    assert read(now).arguments.bind({}) == ((), {})


def test_a_parameter_without_annotation_takes_anything() -> None:
    def tool(x, y=1):  # type: ignore[no-untyped-def]
        """Do."""

    assert schema_of(tool)["properties"]["x"] == {"description": "Any JSON value."}
    assert read(tool).arguments.bind({"x": [1]}) == ((), {"x": [1]})


def test_a_parameter_without_annotation_has_the_type_its_docstring_tells() -> None:
    def tool(a, b=None, c="x", **others):  # type: ignore[no-untyped-def]
        """Do.

        Args:
            a (List[int]): of numbers
            b (int, optional): may be left out
            c (Tensor): of a type nobody knows
            **others (dict): not the type of each, but of all
        """

    found = read(tool).arguments
    assert found.input_schema == {
        "type": "object",
        "properties": {
            "a": {"type": "array", "items": {"type": "integer"}, "description": "of numbers"},
            "b": {
                "anyOf": [{"type": "integer"}, {"type": "null"}],
                "description": "may be left out",
                "default": None,
            },
            "c": {"description": "of a type nobody knows", "default": "x"},
        },
        "required": ["a"],
    }
    assert found.bind({"a": [1], "c": 5, "d": "e"}) == ((), {"a": [1], "c": 5, "d": "e"})
    with pytest.raises(ArgumentsError):
        found.bind({"a": ["one"]})


def test_a_default_made_by_pydantic_takes_its_type_from_the_docstring_too() -> None:
    def tool(a=pydantic.Field(5, ge=0)):  # type: ignore[no-untyped-def]  # noqa: B008
        """Do.

        Args:
            a (int): a number
        """

    schema = {"type": "integer", "minimum": 0, "description": "a number", "default": 5}
    assert schema_of(tool)["properties"]["a"] == schema


def test_further_keywords_are_additional_properties() -> None:
    def tool(a: int, **others: float) -> None: ...

    found = read(tool).arguments
    assert found.input_schema["additionalProperties"] == {"type": "number"}
    assert found.bind({"a": 1, "b": 2, "c": 2.5}) == ((), {"a": 1, "b": 2.0, "c": 2.5})
    with pytest.raises(ArgumentsError) as caught:
        found.bind({"a": 1, "b": "x"})
    assert caught.value.faults == [("arguments.b", '"x" is not a number')]


def test_untyped_further_keywords_take_anything() -> None:
    def tool(**others) -> None: ...  # type: ignore[no-untyped-def]

    assert "additionalProperties" not in schema_of(tool)
    assert read(tool).arguments.bind({"a": [None]}) == ((), {"a": [None]})


def test_further_positions_are_refused_with_the_remedy() -> None:
    def tool(*paths: str) -> None: ...

    with pytest.raises(RegistrationError) as caught:
        read(tool)
    assert caught.value.parameter == "parameter '*paths'"
    assert "list" in caught.value.remedy


def test_positional_parameters_are_passed_in_order() -> None:
    def tool(a: int, b: int = 2, c: int = 3, /, d: int = 4) -> list[int]:
        return [a, b, c, d]

    bind = read(tool).arguments.bind
    assert bind({"a": 1}) == ((1,), {})
    assert bind({"a": 1, "c": 5, "d": 6}) == ((1, 2, 5), {"d": 6})


@pytest.mark.parametrize(
    "annotation",
    [Context, Special, Context | None, "Context", "Context | None", "Annotated[Context, 'x']"],
)
def test_the_context_is_found_by_its_type_and_hidden(annotation: Any) -> None:
    def tool(a: int, ctx: Any = None) -> None: ...

    tool.__annotations__["ctx"] = annotation
    found = read(tool)
    assert found.context == "ctx"
    assert list(found.arguments.input_schema["properties"]) == ["a"]


def test_the_context_may_be_imported_for_the_type_checker_only() -> None:
    def tool(ctx: OnlyForTheChecker) -> None: ...

    tool.__annotations__["ctx"] = "Context"
    del_context = {k: v for k, v in globals().items() if k != "Context"}
    hidden = type(tool)(tool.__code__, del_context)
    hidden.__annotations__ = tool.__annotations__
    assert read(hidden).context == "ctx"


def test_two_contexts_are_refused() -> None:
    def tool(a: Context, b: Context) -> None: ...

    with pytest.raises(RegistrationError, match="two"):
        read(tool)


def test_a_name_that_exists_for_the_type_checker_only_is_refused_with_the_remedy() -> None:
    def tool(a: int, b: list[Unknown]) -> None: ...

    with pytest.raises(RegistrationError) as caught:
        read(tool)
    assert caught.value.parameter == "parameter 'b'"
    assert "TYPE_CHECKING" in caught.value.remedy


def test_methods_partials_and_callable_objects_are_read() -> None:
    class Searcher:
        """Searches."""

        def find(self, query: str, limit: int = 5) -> str:
            """Find it."""
            return ""

        def __call__(self, query: str) -> str:
            """Call it."""
            return ""

    def power(base: int, exponent: int, modulus: int | None = None) -> int:
        """Raise."""
        return pow(base, exponent, modulus)

    find = read(Searcher().find)
    assert (find.description, list(find.arguments.input_schema["properties"])) == (
        "Find it.",
        ["query", "limit"],
    )
    call = read(Searcher())
    assert (call.description, call.arguments.input_schema["required"]) == ("Call it.", ["query"])
    of_two = read(functools.partial(power, 2))
    assert of_two.description == "Raise."
    assert list(of_two.arguments.input_schema["properties"]) == ["exponent", "modulus"]
    squared = read(functools.partial(power, exponent=2)).arguments
    assert squared.input_schema["properties"]["exponent"] == {"type": "integer", "default": 2}
    assert squared.bind({"base": 3}) == ((), {"base": 3})


def test_a_wrapped_function_is_read_through_its_wrapper() -> None:
    def tool(a: int) -> int:
        return a

    @functools.wraps(tool)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return tool(*args, **kwargs)

    assert schema_of(wrapper)["required"] == ["a"]
    assert read(wrapper).returns.wraps


def test_asynchronous_functions_and_generators_are_distinguished() -> None:
    async def coroutine() -> int:
        return 1

    def generator() -> Iterator[str]:
        yield ""

    async def stream() -> AsyncIterator[int]:
        yield 1

    found = [read(each) for each in (coroutine, generator, stream)]
    assert [(each.is_async, each.is_generator) for each in found] == [
        (True, False),
        (False, True),
        (True, True),
    ]
    assert [each.returns.kind for each in found] == ["structured", "text", "structured"]
    assert found[2].returns.builtins([1, 2]) == [1, 2]


def test_a_generator_answers_with_its_return_value_if_it_declares_one() -> None:
    def final() -> Generator[str, None, int]:
        yield ""
        return 1

    def perhaps() -> Generator[str, None, int | None]:
        yield ""
        return None

    def yields() -> Generator[int, None, None]:
        yield 1

    assert read(final).returns.builtins(3) == 3
    assert read(perhaps).returns.kind == "undeclared"
    assert read(yields).returns.builtins([3]) == [3]


def test_results_are_text_blocks_structured_or_undeclared() -> None:
    class Picture:
        def to_content(self) -> dict[str, Any]:
            return {}

    kinds = {}
    for hint in (str, bytes, Picture, list[Picture], Picture | None, int, dict, Any, object):

        def tool() -> Any: ...

        tool.__annotations__["return"] = hint
        kinds[hint] = read(tool).returns.kind
    assert list(kinds.values()) == [
        "text",
        "blocks",
        "blocks",
        "blocks",
        "blocks",
        "structured",
        "structured",
        "undeclared",
        "undeclared",
    ]


def test_a_result_without_annotation_is_still_made_plain() -> None:
    def tool():  # type: ignore[no-untyped-def]
        """Do."""

    found = read(tool).returns
    assert (found.kind, found.output_schema, found.builtins({"a": (1, {2})})) == (
        "undeclared",
        None,
        {"a": [1, [2]]},
    )


def test_a_default_made_by_pydantic_is_shown_and_filled_in() -> None:
    def tool(
        a: int = pydantic.Field(5, ge=0, description="count"),
        b: list[int] = pydantic.Field(default_factory=list),  # noqa: B008
        c: int = pydantic.Field(),
    ) -> None: ...

    found = read(tool).arguments
    assert found.input_schema["properties"]["a"] == {
        "type": "integer",
        "minimum": 0,
        "description": "count",
        "default": 5,
    }
    assert found.input_schema["required"] == ["c"]
    assert found.bind({"c": 1}) == ((), {"c": 1, "a": 5, "b": []})
    with pytest.raises(ArgumentsError):
        found.bind({"c": 1, "a": -1})


def test_pydantics_further_means_go_through_pydantic() -> None:
    def tool(
        a: Annotated[str, pydantic.StringConstraints(to_upper=True, max_length=3)],
    ) -> None: ...

    found = read(tool).arguments
    assert found.input_schema["properties"]["a"] == {"type": "string", "maxLength": 3}
    assert found.bind({"a": "abc"}) == ((), {"a": "ABC"})


SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def test_a_schema_written_by_hand_is_published_and_obeyed() -> None:
    def tool(**arguments: Any) -> None: ...

    found = read(tool, input_schema=SCHEMA).arguments
    assert found.input_schema == SCHEMA
    assert found.bind({"n": 1, "other": 2}) == ((), {"n": 1, "other": 2})
    assert found.bind({"n": "1"}) == ((), {"n": 1})
    with pytest.raises(ArgumentsError) as caught:
        found.bind({"n": "1"}, strict=True)
    assert caught.value.faults == [("arguments.n", '"1" is not an integer')]


def test_an_output_schema_written_by_hand_is_obeyed() -> None:
    from toolwire_tools.errors import OutputError

    def tool() -> Any: ...

    direct = read(tool, output_schema=SCHEMA).returns
    assert (direct.wraps, direct.builtins({"n": 1})) == (False, {"n": 1})
    wrapped = read(tool, output_schema={"type": "integer"}).returns
    assert (wrapped.wraps, wrapped.builtins(1)) == (True, 1)
    for returns, value in ((direct, {"n": "1"}), (wrapped, "1")):
        with pytest.raises(OutputError):
            returns.builtins(value)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "objekt"},
        {"type": "object", "properties": []},
        {"type": "array"},
        {"properties": {}},
        {"type": "object", "properties": {"a": {"$ref": "https://example.com/a.json"}}},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/nowhere"}}},
        {"type": "object", "properties": {"a": {"pattern": "("}}},
        [],
    ],
)
def test_a_bad_schema_written_by_hand_is_refused_at_registration(schema: Any) -> None:
    def tool(**arguments: Any) -> None: ...

    with pytest.raises(RegistrationError) as caught:
        read(tool, input_schema=schema)
    assert caught.value.parameter == "the input schema"


def test_a_function_whose_parameters_cannot_be_read_is_refused() -> None:
    with pytest.raises(RegistrationError):
        read(print.__class__)


def test_a_function_that_returns_the_generator_of_another_one_answers_as_that() -> None:
    def numbers() -> Iterator[int]:
        return iter((1, 2))

    def words() -> Iterator[str]:
        return map(str, (1, 2))

    assert make_tool(numbers).call({}, RecordingCaller())["structuredContent"] == {"result": [1, 2]}
    assert make_tool(words).call({}, RecordingCaller())["content"] == [
        {"type": "text", "text": "12"}
    ]


def test_words_in_the_place_of_a_type_are_reported_where_they_belong() -> None:
    def count(limit: "how many") -> None: ...  # type: ignore[valid-type]  # noqa: F722

    with pytest.raises(
        RegistrationError, match=r"the annotation 'how many' is no type; .*Annotated\[int, "
    ):
        read_signature(count, tool="count")


def test_a_generic_function_is_called_as_its_dispatch_wants_it() -> None:
    @functools.singledispatch
    def kind(value: Any, times: int = 1) -> str:
        return "thing" * times

    @kind.register
    def _(value: int, times: int = 1) -> str:
        return "number" * times

    assert [
        make_function_handler(make_tool(kind)).run({"value": value, "times": 2}, RecordingCaller())
        for value in ("a", 5)
    ] == [
        "thingthing",
        "numbernumber",
    ]


def test_a_generator_in_a_wrapper_notices_that_it_is_cancelled() -> None:
    def numbers() -> Iterator[int]:
        yield 1

    @functools.wraps(numbers)
    def wrapped() -> Iterator[int]:
        return numbers()

    assert make_tool(wrapped).handler.notices_cancellation


def test_a_default_of_pydantics_that_json_cannot_show_is_not_shown() -> None:
    def tool(thing: Any = pydantic.Field(default=object())) -> None: ...  # noqa: B008

    assert "default" not in schema_of(tool)["properties"]["thing"]


def _plain(a, b: int, /, c: str = "x", *, d: float, e: list[int] | None = None) -> None:  # type: ignore[no-untyped-def]
    local = a
    del local


def _open(a: int, *rest: str, b: bool = True, **more: float) -> None: ...


@functools.wraps(_plain)
def _wrapping(*positional: Any, **keywords: Any) -> None: ...


@pytest.mark.parametrize(
    "function", [_plain, _open, _wrapping, functools.partial(_plain, 1), len, lambda: None]
)
def test_a_function_declares_the_parameters_that_inspect_finds(function: Any) -> None:
    found = [
        (p.name, int(p.kind), p.default, p.annotation)
        for p in inspect.signature(function).parameters.values()
    ]
    every = read_parameters(function).every
    empty = inspect.Parameter.empty
    declared = [
        (p.name, p.kind, *(empty if x is EMPTY else x for x in (p.default, p.annotation)))
        for p in every
    ]
    assert declared == found
