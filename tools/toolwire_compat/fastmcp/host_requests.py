"""The requests of a context to the host, apart from forms: a sample of its model, its folders, a
link to open.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from toolwire_tools.errors import CannotAsk

from .mcp_types import Record, TextContent, make_data_type, make_plain, read_block

if TYPE_CHECKING:
    from toolwire_tools.context.context import Caller

DEFAULT_MAX_TOKENS = 512
"""That of fastmcp's `sample`."""


class SamplingResult(Record):
    """The text of the host's model, which is also the `result`, and its content as the protocol has
    it.
    """

    text: str | None = None
    result: Any = None
    content: Any = None
    model: str | None = None
    role: str | None = None


class Roots(list[Any]):
    """What `list_roots` returns: a list in FastMCP, an object with `roots` in the SDK."""

    @property
    def roots(self) -> list[Any]:
        """The list itself."""
        return self


async def request(caller: Caller, method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return the result of a request to the host.

    Raises:
        CannotAsk: if the host has not declared that it answers such requests.
        NotAnswered: if it answers with an error.
    """
    host = getattr(caller, "host", None)
    if host is None:  # a test without a server, or a program
        raise CannotAsk(f"{method} needs a call of a host")
    answer: dict[str, Any] = await host.get_elicitations().ask_async(
        caller, params, "answer", method
    )
    return answer


def make_sampling_params(
    messages: Any, max_tokens: int | None, options: dict[str, Any]
) -> dict[str, Any]:
    """Return the parameters of `sampling/createMessage`.

    *messages* are a text, one message, or a list of both; *options* are members in Python's
    spelling, of which those that are None are left out.
    """
    if isinstance(messages, str) or not isinstance(messages, Sequence):
        messages = [messages]
    params: dict[str, Any] = {
        "messages": [_make_message(message) for message in messages],
        "maxTokens": DEFAULT_MAX_TOKENS if max_tokens is None else max_tokens,
    }
    given = {name: value for name, value in options.items() if value is not None}
    preferences = given.get("model_preferences")
    if isinstance(preferences, str):
        preferences = [preferences]
    if isinstance(preferences, list):  # names of models, as fastmcp takes them
        given["model_preferences"] = {"hints": [{"name": name} for name in preferences]}
    return params | make_data_type("CreateMessageRequestParams")(**given).to_mcp()


def _make_message(message: Any) -> Any:
    if isinstance(message, str):
        return {"role": "user", "content": {"type": "text", "text": message}}
    return make_plain(message)


def read_sample(answer: dict[str, Any]) -> Any:
    """Return the SDK's `CreateMessageResult` of an *answer*."""
    content = answer.get("content")
    if isinstance(content, list):
        content = [read_block(block) for block in content]
    else:
        content = read_block(content)
    return make_data_type("CreateMessageResult")(**{**answer, "content": content})


def read_text(sample: Any) -> SamplingResult:
    """Return fastmcp's result of a *sample*."""
    blocks = sample.content if isinstance(sample.content, list) else [sample.content]
    texts = [block.text for block in blocks if isinstance(block, TextContent)]
    text = "\n".join(texts) if texts else None
    return SamplingResult(
        text=text, result=text, content=sample.content, model=sample.model, role=sample.role
    )


def read_roots(answer: dict[str, Any]) -> Roots:
    """Return the folders in an *answer*, each with `uri` and `name`."""
    root = make_data_type("Root")
    roots = Roots()
    found = answer.get("roots")
    if not isinstance(found, list):
        return roots
    for each in found:
        if isinstance(each, dict):
            roots.append(root(**each))
    return roots
