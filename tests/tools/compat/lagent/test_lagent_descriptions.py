"""`api_description`: what `tool_api` says of a function in Lagent's words.

The literals of Lagent's documents are compared whole, the order of keys included. Those of
whole actions, and Groot's, are in `test_originals.py`.
"""

from __future__ import annotations

import collections
import dataclasses
import datetime as dt
import enum
import functools
import json
import pathlib
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, NewType, TypedDict, TypeVar

import msgspec
import orjson
import pydantic
import pytest
from toolwire_tools import AsyncContext, Context, RegistrationError, make_tool, tool_api
from toolwire_tools.api_description import describe_api, name_type


def describe(function: Any) -> dict[str, Any]:
    found: dict[str, Any] = function.api_description
    return found


def assert_same(found: Any, wanted: Any) -> None:
    """Equal, and in the same order: what a model reads is the text."""
    assert json.dumps(found, indent=1) == json.dumps(wanted, indent=1)


# What the documents show


def test_types_and_texts_come_from_hints_and_docstring() -> None:
    @tool_api
    def bold(text: str) -> str:
        """make text bold

        Args:
            text (str): input text

        Returns:
            str: bold text
        """
        return "**" + text + "**"

    assert_same(
        describe(bold),
        {
            "name": "bold",
            "description": "make text bold",
            "parameters": [{"name": "text", "type": "STRING", "description": "input text"}],
            "required": ["text"],
        },
    )
    assert bold(text="x") == bold("x") == "**x**"


def test_a_named_result_becomes_return_data() -> None:
    @tool_api(returns_named_value=True)
    def bold(text: str) -> str:
        """make text bold

        Args:
            text (str): input text

        Returns:
            bold_text (str): bold text
        """
        return "**" + text + "**"

    assert_same(
        describe(bold),
        {
            "name": "bold",
            "description": "make text bold",
            "parameters": [{"name": "text", "type": "STRING", "description": "input text"}],
            "required": ["text"],
            "return_data": [{"name": "bold_text", "description": "bold text", "type": "STRING"}],
        },
    )


def test_the_members_of_a_result_become_return_data() -> None:
    @tool_api(explode_return=True)
    def list_args(a: str, b: int, c: float = 0.0) -> dict:  # type: ignore[type-arg]
        """Return arguments in dict format

        Args:
            a (str): a
            b (int): b
            c (float): c

        Returns:
            dict: input arguments
                - a (str): a
                - b (int): b
                - c: c
        """
        return {"a": a, "b": b, "c": c}

    assert_same(
        describe(list_args),
        {
            "name": "list_args",
            "description": "Return arguments in dict format",
            "parameters": [
                {"name": "a", "type": "STRING", "description": "a"},
                {"name": "b", "type": "NUMBER", "description": "b"},
                {"name": "c", "type": "FLOAT", "description": "c"},
            ],
            "required": ["a", "b"],
            "return_data": [
                {"name": "a", "description": "a", "type": "STRING"},
                {"name": "b", "description": "b", "type": "NUMBER"},
                {"name": "c", "description": "c"},
            ],
        },
    )


def test_a_run_that_is_not_decorated_is_described_on_demand() -> None:
    class Bold:
        def run(self, text: str) -> str:
            """make text bold

            Args:
                text (str): input text

            Returns:
                str: bold text
            """
            return "**" + text + "**"

    assert_same(
        describe_api(Bold.run, name="Bold"),
        {
            "name": "Bold",
            "description": "make text bold",
            "parameters": [{"name": "text", "type": "STRING", "description": "input text"}],
            "required": ["text"],
        },
    )
    assert describe_api(Bold().run) == {**describe_api(Bold.run, name="Bold"), "name": "run"}
    assert not hasattr(Bold.run, "api_description")


def test_description_of_arxiv_matches_lagents_documentation() -> None:
    class ArxivSearch:
        @tool_api(explode_return=True)
        def get_arxiv_article_information(self, query: str) -> dict[str, str]:
            """Run Arxiv search and get the article meta information.

            Args:
                query (str): the content of search query

            Returns:
                :class:`dict`: article information
                    * content (str): a list of 3 arxiv search papers
            """
            return {"content": ""}

    assert_same(
        describe_api(
            ArxivSearch.get_arxiv_article_information,
            name="ArxivSearch.get_arxiv_article_information",
        ),
        {
            "name": "ArxivSearch.get_arxiv_article_information",
            "description": "Run Arxiv search and get the article meta information.",
            "parameters": [
                {"name": "query", "type": "STRING", "description": "the content of search query"}
            ],
            "required": ["query"],
            "return_data": [
                {
                    "name": "content",
                    "description": "a list of 3 arxiv search papers",
                    "type": "STRING",
                }
            ],
        },
    )


def test_optional_arguments_have_no_optional_types() -> None:
    class IPythonInterpreter:
        @tool_api
        def run(self, command: str, timeout: int | None = None) -> str:
            """When you send a message containing Python code to python, it will be executed.

            Args:
                command (:class:`str`): Python code
                timeout (:class:`Optional[int]`): Upper bound of waiting time for Python script
                    execution.
            """
            return ""

    assert_same(
        {key: describe(IPythonInterpreter.run)[key] for key in ("parameters", "required")},
        {
            "parameters": [
                {"name": "command", "type": "STRING", "description": "Python code"},
                {
                    "name": "timeout",
                    "type": "NUMBER",
                    "description": "Upper bound of waiting time for Python script execution.",
                },
            ],
            "required": ["command"],
        },
    )


# Types


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1


class Shade(enum.Enum):
    LIGHT = (1, 2)


@dataclasses.dataclass
class Waypoint:
    playlist: list[int]


class Movie(TypedDict):
    year: int


class Pair(NamedTuple):
    left: int


class Item(msgspec.Struct):
    year: int


class Names(pydantic.RootModel[list[str]]): ...


class Model(pydantic.BaseModel):
    year: int


UserId = NewType("UserId", int)
Whole = TypeVar("Whole", bound=int)
Either = TypeVar("Either", int, float)

TYPES: list[tuple[Any, str]] = [
    *((hint, "STRING") for hint in (str, bytes, Any, object, dt.datetime, pathlib.Path)),
    (int, "NUMBER"),
    (float, "FLOAT"),
    (bool, "BOOLEAN"),
    *((hint, "Array") for hint in (list, tuple, set, frozenset, collections.deque, Sequence[str])),
    *(
        (hint, "Array")
        for hint in (list[int], list[list[int]], tuple[int, str], set[float], list[str] | None)
    ),
    # The model reads no sixth name for objects anywhere in Lagent.
    *(
        (hint, "STRING")
        for hint in (dict, dict[str, int], Mapping[str, bool], Waypoint, Movie, Pair, Item, Model)
    ),
    *((hint, "NUMBER") for hint in (int | None, UserId, Level, Whole)),
    (int | float, "FLOAT"),
    (Either, "FLOAT"),
    (int | str, "STRING"),
    (list[str] | str, "STRING"),
    (int | list[int], "NUMBER"),
    *(
        (int | hint, "NUMBER")
        for hint in (dict[str, int], Waypoint, Movie, Pair, Item, Model, collections.Counter)
    ),
    (Literal["interest", "fee"], "STRING"),
    (Literal["list", "map"], "STRING"),
    (Literal[1, 2], "NUMBER"),
    (Literal[1, None], "NUMBER"),
    (Literal[True], "BOOLEAN"),
    (Literal[Level.LOW], "NUMBER"),
    (Color, "STRING"),
    (Shade, "STRING"),
    (Names, "Array"),
    (Annotated[list[int], "text"], "Array"),
    (None, "STRING"),
    ("int", "NUMBER"),
    ("list[int]", "Array"),
]


def test_types_have_one_of_five_names() -> None:
    assert [(hint, name_type(hint, globals())) for hint, _ in TYPES] == TYPES


@pytest.mark.parametrize(
    "hint",
    ["Unknown", "list[Unknown] | None", "1 / 0", "(", [int], {1: 2}, 5, "Union[str, 'Loop']"],
)
def test_unresolvable_hint_is_no_error(hint: Any) -> None:
    def tool(a: Any, b: int) -> None:
        """Do it."""

    tool.__annotations__["a"] = hint
    assert describe(tool_api(tool))["parameters"] == [
        {"name": "a", "type": "STRING", "description": ""},
        {"name": "b", "type": "NUMBER", "description": ""},
    ]


def test_a_hint_wins_over_the_docstring() -> None:
    @tool_api
    def tool(
        a: Annotated[int, "from the hint"],
        b: Annotated[int, ""],
        c: Annotated[int, "inside"] | None,
    ) -> None:
        """Do it.

        Args:
            a (list): from the docstring
            b (list): from the docstring
            c (list): from the docstring
        """

    assert describe(tool)["parameters"] == [
        {"name": "a", "type": "NUMBER", "description": "from the hint"},
        {"name": "b", "type": "NUMBER", "description": "from the docstring"},
        {"name": "c", "type": "NUMBER", "description": "inside"},
    ]


def test_annotations_may_have_several_texts() -> None:
    @tool_api
    def tool(
        a: Annotated[int, msgspec.Meta(ge=0), "how many", 5],
        b: Annotated[str, pydantic.Field(description="b")],
    ):  # type: ignore[no-untyped-def]
        """Do it."""

    assert [parameter["description"] for parameter in describe(tool)["parameters"]] == [
        "how many",
        "b",
    ]


# Parameters


def test_the_object_the_context_and_open_ends_are_left_out() -> None:
    class Kit:
        @tool_api
        def plain(
            self, a: int, context: Context, *rest: int, flag: bool = False, **others: Any
        ) -> None: ...

        @tool_api
        @classmethod
        def of_class(cls, a: int, context: AsyncContext | None = None) -> None: ...

        @classmethod
        @tool_api
        def of_class_too(cls, a: int) -> None: ...

        @tool_api
        @staticmethod
        def static(a: int) -> None: ...

        @tool_api
        async def later(self, a: int) -> None: ...

    for method in (Kit.of_class, Kit.of_class_too, Kit.static, Kit.later):
        assert (describe(method)["parameters"], describe(method)["required"]) == (
            [{"name": "a", "type": "NUMBER", "description": ""}],
            ["a"],
        )
    names = [parameter["name"] for parameter in describe(Kit.plain)["parameters"]]
    assert (names, describe(Kit.plain)["required"]) == (["a", "flag"], ["a"])


def test_only_a_method_has_a_cls() -> None:
    @tool_api
    def classify(cls: str) -> None: ...

    assert describe(classify)["required"] == ["cls"]


def test_falsy_defaults_are_defaults_also_in_fields() -> None:
    @tool_api
    def tool(
        a: int, b: int = 0, c: Any = None, d: int = pydantic.Field(), e: int = pydantic.Field(1)
    ) -> None: ...

    assert describe(tool)["required"] == ["a", "d"]


def test_partials_and_callable_objects_are_described() -> None:
    def power(base: int, exponent: int, modulus: int | None = None) -> int:
        """Raise.

        Args:
            exponent: how often
        """
        return pow(base, exponent, modulus)

    class Searcher:
        """Searches."""

        def __call__(self, query: str) -> str:
            """Call it."""
            return query

    assert describe(tool_api(functools.partial(power, 2))) == {
        "name": "power",
        "description": "Raise.",
        "parameters": [
            {"name": "exponent", "type": "NUMBER", "description": "how often"},
            {"name": "modulus", "type": "NUMBER", "description": ""},
        ],
        "required": ["exponent"],
    }
    assert describe(tool_api(Searcher())) == {
        "name": "Searcher",
        "description": "Call it.",
        "parameters": [{"name": "query", "type": "STRING", "description": ""}],
        "required": ["query"],
    }


def test_function_without_a_signature_is_described_without_parameters() -> None:
    assert describe_api(min)["parameters"] == []
    assert describe(tool_api(lambda a: a))["name"] == "<lambda>"


def test_decorator_sets_name_and_description() -> None:
    @tool_api(name="plus", description="Adds.")
    def add(a: int) -> int:
        """Another text."""
        return a

    assert (describe(add)["name"], describe(add)["description"]) == ("plus", "Adds.")
    assert describe(tool_api(add))["description"] == "Another text."


def test_handwritten_schema_is_described() -> None:
    schema = {
        "type": "object",
        "properties": {
            "n": {"type": "integer", "description": "how many", "minimum": 1},
            "filter": {"type": "object"},
            "mixed": {"type": ["integer", "string"]},
        },
        "required": ["n"],
    }

    @tool_api(input_schema=schema)
    def tool(**arguments: Any) -> None:
        """Do it."""

    assert describe(tool) == {
        "name": "tool",
        "description": "Do it.",
        "parameters": [
            {"name": "n", "type": "NUMBER", "description": "how many"},
            {"name": "filter", "type": "STRING", "description": ""},
            {"name": "mixed", "type": "STRING", "description": ""},
        ],
        "required": ["n"],
    }


# Docstrings that Lagent stumbles over


STYLES = {
    "glued": (
        """Do it.
        Args:
            a: first
            b (int): second"""
    ),
    "Chinese colons": (
        """Do it.

        Args：
            a：first
            b (int)：second"""
    ),
    "NumPy": (
        """Do it.

        Parameters
        ----------
        a
            first
        b : int, optional
            second"""
    ),
    "reST": (
        """Do it.

        :param a: first
        :param int b: second"""
    ),
    "Epydoc": (
        """Do it.

        @param a: first
        @param b: second
        @type b: int"""
    ),
}


@pytest.mark.parametrize("text", STYLES.values(), ids=STYLES)
def test_docstrings_of_any_style_are_understood(text: str) -> None:
    def tool(a, b=1):  # type: ignore[no-untyped-def]
        pass

    tool.__doc__ = text
    assert describe(tool_api(tool)) == {
        "name": "tool",
        "description": "Do it.",
        "parameters": [
            {"name": "a", "type": "STRING", "description": "first"},
            {"name": "b", "type": "NUMBER", "description": "second"},
        ],
        "required": ["a"],
    }


# Results


def returned(text: str | None, **options: bool) -> Any:
    def tool() -> Any: ...

    tool.__doc__ = text
    return describe(tool_api(**options)(tool)).get("return_data")


def test_result_is_not_described_without_the_options() -> None:
    assert returned("Do.\n\n    Returns:\n        a (int): b") is None


@pytest.mark.parametrize(
    "text", [None, "", "Do.", "Do.\n\n    Returns:\n        dict: without a list"]
)
def test_result_without_listed_members_has_no_return_data(text: str | None) -> None:
    assert returned(text, explode_return=True) is None


def test_lists_of_any_kind_are_flattened() -> None:
    text = """Do.

        Returns:
            dict: input arguments
                - a (List[int]): the first,
                  note: over two lines
                    * inner (Optional[float]): nested
                1. w (bool): numbered
                2) `v` (Waypoint)：of a type of one's own
                + **u**: without a type
                **s** (str): bold is no bullet
                -t: close to its bullet
                # h (int): a heading
                ## i: a heading below
                - -1: a number is not, either
                ... and so on
                - only a text
        """
    assert returned(text, explode_return=True) == [
        {"name": "a", "description": "the first, note: over two lines", "type": "Array"},
        {"name": "inner", "description": "nested", "type": "FLOAT"},
        {"name": "w", "description": "numbered", "type": "BOOLEAN"},
        {"name": "v", "description": "of a type of one's own", "type": "STRING"},
        {"name": "u", "description": "without a type"},
        {"name": "s", "description": "bold is no bullet", "type": "STRING"},
        {"name": "t", "description": "close to its bullet"},
        {"name": "h", "description": "a heading", "type": "NUMBER"},
        {"name": "i", "description": "a heading below"},
        {"name": "-1", "description": "a number is not, either ... and so on"},
        {"description": "only a text"},
    ]


def test_list_of_results_needs_neither_bullets_nor_a_first_line() -> None:
    wanted = [
        {"name": "a", "description": "first", "type": "NUMBER"},
        {"name": "b", "description": "second: more"},
    ]
    plain = (
        "Do.\n\n    Returns:\n        dict: these\n            a (int): first\n            b:"
        " second: more"
    )
    direct = "Do.\n\n    Returns:\n        - a (int): first\n        - b: second: more"
    rest = (
        "Do.\n\n    :returns: these\n        - a (int): first\n        - b: second: more\n   "
        " :rtype: dict"
    )
    assert [returned(text, explode_return=True) for text in (plain, direct, rest)] == [wanted] * 3


def test_several_results_have_their_names_and_types() -> None:
    google = """Do.

        Returns:
            hits (list[str]): what was found,
                best first
            total: how many there are
            (bool): whether that is all
            str: a word on it
        """
    assert returned(google, returns_named_value=True) == [
        {"name": "hits", "description": "what was found,\n    best first", "type": "Array"},
        {"name": "total", "description": "how many there are"},
        {"description": "whether that is all", "type": "BOOLEAN"},
        {"description": "a word on it", "type": "STRING"},
    ]
    numpy = (
        "Do.\n\n    Returns\n    -------\n    hits : list[str]\n        what was found\n    int\n  "
        "      how many"
    )
    assert returned(numpy, returns_named_value=True) == [
        {"name": "hits", "description": "what was found", "type": "Array"},
        {"description": "how many", "type": "NUMBER"},
    ]


def test_listed_results_have_precedence_over_a_named_one() -> None:
    text = "Do.\n\n    Returns:\n        d (dict): these\n            - a (int): first"
    assert returned(text, explode_return=True, returns_named_value=True) == [
        {"name": "a", "description": "first", "type": "NUMBER"}
    ]


# Arguments that are not for callers


def test_arguments_can_be_chosen() -> None:
    def tool(a: int, b: int = 1, c: int = 2) -> None: ...

    def names(**options: Any) -> list[str]:
        return [
            parameter["name"] for parameter in describe(tool_api(**options)(tool))["parameters"]
        ]

    assert names(exclude_arguments="b") == ["a", "c"]
    assert names(exclude_arguments=["self", "b", "c"]) == ["a"]
    assert names(include_arguments=(name for name in ("c", "a"))) == ["a", "c"]
    assert names(include_arguments="a", exclude_arguments="a") == ["a"]
    assert names(include_arguments=[]) == []


@pytest.mark.parametrize("option", ["include_arguments", "exclude_arguments"])
def test_unknown_argument_is_refused_at_its_definition(option: str) -> None:
    with pytest.raises(RegistrationError, match="no parameter 'sesion', did you mean 'session'"):

        @tool_api(**{option: ["sesion"]})
        def tool(query: str, session: str = "") -> None: ...


def test_parameters_can_be_left_to_the_docstring() -> None:
    @tool_api(explode_param=False)
    def run(command: str, timeout: int = 20) -> str:
        """Run Python code.

        Args:
            command (str): the code, in a fence
              or not
            timeout: in seconds

        Returns:
            str: what it printed
        """
        return ""

    assert_same(
        describe(run),
        {
            "name": "run",
            "description": (
                "Run Python code.\n\nArgs:\n    command (str): the code, in a fence\n      or not\n"
                "    timeout: in seconds\n\nReturns:\n    str: what it printed"
            ),
            "parameters": [{"name": "command"}, {"name": "timeout"}],
            "required": ["command"],
        },
    )
    assert make_tool(run).describe() == make_tool(tool_api(run)).describe()


@pytest.mark.process
def test_describing_imports_no_more_than_registering() -> None:
    script = (
        "import sys; from toolwire_tools import tool_api, make_tool\n"
        "def f(a, b: list[int] = []):\n    '''Do.\\n\\n    Args:\\n        a (int): x\\n    '''\n"
        "before = set(sys.modules); make_tool(f); known = set(sys.modules)\n"
        "tool_api(f); new = set(sys.modules) - known\n"
        "print(*(name for name in new if not name.startswith('toolwire_tools.')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=30, check=False
    )
    assert (done.stdout.strip(), done.stderr) == ("", "")


# Made when it is read


def decorated_in_a_new_process(code: str) -> str:
    start = (
        "import copy, json, sys; from toolwire_tools.decorator import tool_api; f = tool_api(lambda"
        " a: a)\n"
    )
    return subprocess.run(
        [sys.executable, "-c", start + code], capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.process
def test_description_is_made_when_it_is_first_read() -> None:
    code = (
        "m = 'toolwire_tools.api_description'; print(m in sys.modules, f.api_description['name'], m"
        " in sys.modules)"
    )
    assert decorated_in_a_new_process(code) == "False <lambda> True\n"


@pytest.mark.process
@pytest.mark.parametrize(
    "reading",
    [
        "json.loads(json.dumps(d))",
        "json.loads(json.dumps(d, indent=1))",
        "copy.deepcopy(d)",
        "d.copy()",
        "{**d}",
        "dict(d)",
        "d | {}",
        "{} | d",
        "eval(repr(d))",
        "dict(zip(d.keys(), d.values()))",
        "{name: d[name] for name in d}",
    ],
)
def test_first_read_of_a_description_completes_it(reading: str) -> None:
    written = decorated_in_a_new_process(f"d = f.api_description; print(json.dumps({reading}))")
    assert list(json.loads(written)) == ["name", "description", "parameters", "required"]


@pytest.mark.parametrize("encode", [msgspec.json.encode, orjson.dumps])
def test_encoders_that_bypass_dict_methods_get_whole_descriptions(
    encode: Any,
) -> None:
    description = tool_api(lambda a: a).api_description  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match=r"encode dict\(...\) of it"):
        encode(description)
    assert json.loads(encode(dict(description))) == description
