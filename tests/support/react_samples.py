"""Tools and messages for tests of the ReAct protocols, and strategies for any of them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from toolwire_agent.react import Action, Ask, Error, FinalAnswer, Question, UserResponse
from toolwire_agent.react.messages import ActionResult


def tool(
    name: str, properties: dict[str, Any] | None = None, required: list[str] | None = None
) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": properties or {},
        "required": required if required is not None else list(properties or {}),
        "additionalProperties": False,
    }
    return {"name": name, "description": f"This is {name}.", "inputSchema": schema}


NUMBERS = {"a": {"type": "integer"}, "b": {"type": "integer"}}
ADD = tool("add", NUMBERS)
MULTIPLY = tool("multiply", NUMBERS)
PING = tool("ping")
FIND = tool("find", {"text": {"type": "string"}, "limit": {"type": "integer"}}, ["text"])
TOOLS = [ADD, MULTIPLY, PING, FIND]

# Text that UTF-8 has a form for, control characters and quotation marks of every kind included.
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    [
        "",
        '"',
        "'",
        "“”",
        "\\",
        "\n",
        "{",
        "}",
        "```",
        "</think>",
        "<think>",
        '{"type": "ACTION"}',
        "，：｛｝",
        "é中😀",
    ]
)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(TEXTS, JSON, max_size=3)

TO_MODEL = st.one_of(
    st.builds(Question, TEXTS),
    st.builds(ActionResult, st.booleans(), JSON, TEXTS),
    st.builds(UserResponse, TEXTS),
    st.builds(Error, TEXTS),
)
WORDS = TEXTS.filter(str.strip)
FROM_MODEL = st.one_of(
    st.builds(Ask, TEXTS, WORDS),
    st.builds(Action, TEXTS, WORDS, OBJECTS),
    st.builds(FinalAnswer, TEXTS, st.booleans(), TEXTS),
)
