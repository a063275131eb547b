"""The answer to a call whose tool failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import ArgumentsError, OutputError, ToolError, in_sentences

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_TEXT = 8192
"""Characters of an exception's text that travel: enough for what people read, and a model pays for each."""


def failure(exception: BaseException, *, mask: bool, tool: str) -> dict[str, Any]:
    """The answer to a call that ended in *exception*: an MCP result with `isError`.

    A `ToolError` speaks for itself, word for word. Of anything else the type and the message are given, or
    with *mask* only that the tool failed, or which argument it refused. Never the traceback.
    """
    return {"content": [{"type": "text", "text": _text(exception, mask, tool)}], "isError": True}


def _text(exception: BaseException, mask: bool, tool: str) -> str:
    masked = f"The tool {tool} failed."
    if isinstance(exception, BaseExceptionGroup):
        # An async tool's task group wraps even a single ToolError.
        texts = [_text(leaf, mask, tool) for leaf in _leaves(exception)]
        if mask or all(isinstance(leaf, ToolError) for leaf in _leaves(exception)):
            return "\n".join(dict.fromkeys(texts))
        return _bounded("\n".join([_named(exception), *(f"- {text}" for text in texts)]))
    if isinstance(exception, ArgumentsError):
        if mask and exception.private:
            return _bounded(in_sentences((place, "the tool refuses this value") for place, _ in exception.faults))
        return _bounded(text_of(exception)) or masked
    if isinstance(exception, ToolError):
        return text_of(exception) or masked
    if mask:
        return masked
    if isinstance(exception, OutputError):
        return _bounded(f"The tool {tool} ran, but its result cannot be sent:\n{text_of(exception)}")
    return _bounded(_named(exception))


def _named(exception: BaseException) -> str:
    name, message = type(exception).__name__, text_of(exception)
    return f"{name}: {message}" if message else name


def text_of(exception: BaseException) -> str:
    """The message of *exception*, also if that cannot be shown."""
    try:
        return str(exception)
    except BaseException as error:  # the tool author's __str__, which may do anything: an outer edge
        return f"(its message cannot be shown: {type(error).__name__} in __str__)"


def _bounded(text: str) -> str:
    rest = len(text) - MAX_TEXT
    return text if rest <= 0 else f"{text[:MAX_TEXT]}\n({rest:,} more characters were cut)"


def _leaves(group: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    for exception in group.exceptions:
        if isinstance(exception, BaseExceptionGroup):
            yield from _leaves(exception)
        else:
            yield exception
