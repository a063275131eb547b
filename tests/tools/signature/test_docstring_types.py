"""Types as docstrings write them become hints, without anything being evaluated."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire_tools import make_tool
from toolwire_tools.signature.docstring_types import hint_of

KNOWN: list[tuple[str, Any]] = [
    *(
        (text, str)
        for text in (
            "str",
            "String",
            "`str`",
            ":class:`str`",
            ":py:class:`~builtins.str`",
            "'str'",
            "str.",
        )
    ),
    *(
        (text, int)
        for text in (
            "int",
            "integer",
            "int, optional",
            "int, default 5",
            "int, default: 5",
            "(int)",
        )
    ),
    *((text, bool) for text in ("bool", "boolean", "bool, keyword-only", "bool, default=False")),
    ("float", float),
    ("number", int | float),
    ("None", type(None)),
    *((text, Any) for text in ("Any", "typing.Any", "object", "int or Any")),
    *((text, list) for text in ("list", "List", "array", "Sequence", "list()")),
    *(
        (text, dict)
        for text in ("dict", "Dict", "Mapping", "dict of str", "collections.abc.Mapping")
    ),
    *((text, tuple) for text in ("tuple", "Tuple")),
    *((text, set[int]) for text in ("set of int", "Set[int]", "set(int)")),
    *(
        (text, set[str | int | float | bool | None])
        for text in ("set", "Set", "set of lists", "Set[Tensor]")
    ),
    ("FrozenSet[str]", frozenset[str]),
    *(
        (text, list[str])
        for text in ("List[str]", "list of str", "list of strings", "list(str)", "array<string>")
    ),
    *(
        (text, list[str])
        for text in ("Iterable[str]", "List['str']", "typing.Sequence[builtins.str]")
    ),
    *((text, list[Any]) for text in ("List[Tensor]", "list of Tensor", "list[np.ndarray]")),
    *(
        (text, int | None)
        for text in (
            "Optional[int]",
            "int or None",
            "int | None",
            "Optional[:obj:`int`]",
            "int, None",
        )
    ),
    *((text, int | str) for text in ("int or str", "Union[int, str]", "int | str", "int, str")),
    ("int, str, or None", int | str | None),
    ("str or list of str, optional", str | list[str]),
    *(
        (text, dict[str, float])
        for text in ("dict[str, float]", "Dict[str, float]", "dict of str to float")
    ),
    ("dict of {str: float}", dict[str, float]),
    ("Dict[int, str]", dict[int, str]),
    ("Dict[Path, List[Dict[str, Any]]]", dict[str, list[dict[str, Any]]]),
    ("list of dicts of str to int", list[dict[str, int]]),
    ("Tuple[int, ...]", tuple[int, ...]),
    ("tuple of int", tuple[int, ...]),
    ("tuple(int, str)", tuple[int, str]),
    *(
        (text, Literal["a", "b"])
        for text in ("{'a', 'b'}", "Literal['a', \"b\"]", "'a' or 'b'", "{'a', 'b'}, default 'a'")
    ),
    ("{1, -2, True, None}", Literal[1, -2, True, None]),
    ("{'a, b', 'c or d', '[', \"it's\"}", Literal["a, b", "c or d", "[", "it's"]),
    ("'auto' or int", Literal["auto"] | int),
    ("list of {'a', 'b'}", list[Literal["a", "b"]]),
    ("Annotated[int, 'text']", int),
]


def test_the_types_that_people_write_are_known() -> None:
    assert [(text, hint_of(text)) for text, _ in KNOWN] == KNOWN


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            " ",
            "optional",
            ",",
            "|",
            "or",
            "Tensor",
            "np.ndarray",
            "torch.int",
            "array_like, shape (n, 3)",
        ),
        *(
            "int or Tensor",
            "Optional[Tensor]",
            "Callable[[int], str]",
            "the user's name",
            "a number of things",
        ),
        *(
            "[",
            "]",
            "Optional[",
            "[int]",
            "List[int",
            "{a, b}",
            "{}",
            "{'a': 1}",
            "{0.5}",
            "'a'b'",
            "\x00",
        ),
        # Lagent has always given text for these.
        *("datetime", "bytes", "pathlib.Path"),
        *("__import__('os').getcwd()", "List[print(1)]x", "1 / 0"),
        *("List[" * 5000, "list of " * 5000 + "int", "(" * 5000 + ")" * 5000),
    ],
)
def test_an_unknown_type_is_ignored(text: str) -> None:
    assert hint_of(text) is None


@given(st.text() | st.text("intlsdco {}[](),|'\"`:.<> "))
def test_whatever_is_known_has_a_schema(text: str) -> None:
    hint = hint_of(text)

    def tool(a: Any) -> None: ...

    tool.__annotations__["a"] = hint
    assert list(make_tool(tool).describe()["inputSchema"]["properties"]) == ["a"]
