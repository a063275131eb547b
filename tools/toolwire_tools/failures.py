"""The answer to a call that failed. Imported for the first one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .errors import ArgumentsError, OutputError, ToolError, read_message, write_sentences

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_TEXT = 8192
"""Characters of an exception's text that travel: enough for what people read, and a model pays for
each.
"""


def make_failure(exception: BaseException, *, mask: bool, tool: str) -> dict[str, Any]:
    """The answer to a call that ended in *exception*: an MCP result with `isError`.

    A `ToolError` speaks for itself, word for word. Of anything else the type and the message are
    given, or with *mask* only that the tool failed, or which argument it refused. Never the
    traceback.
    """
    return {
        "content": [{"type": "text", "text": write_failure(exception, mask, f"The tool {tool}")}],
        "isError": True,
    }


def write_failure(exception: BaseException, mask: bool, subject: str) -> str:
    """The text of `failure`; its sentences begin with *subject*."""
    masked = f"{subject} failed."
    if isinstance(exception, BaseExceptionGroup):
        # An async tool's task group wraps even a single ToolError.
        texts = [write_failure(leaf, mask, subject) for leaf in _iterate_leaves(exception)]
        if mask or all(isinstance(leaf, ToolError) for leaf in _iterate_leaves(exception)):
            return "\n".join(dict.fromkeys(texts))
        return _shorten("\n".join([_name_of(exception), *(f"- {text}" for text in texts)]))
    if isinstance(exception, ArgumentsError):
        if mask and exception.private:
            return _shorten(
                write_sentences(
                    (place, "the tool refuses this value") for place, _ in exception.faults
                )
            )
        return _shorten(read_message(exception)) or masked
    if isinstance(exception, ToolError):
        return read_message(exception) or masked
    if mask:
        return masked
    if isinstance(exception, OutputError):
        return _shorten(f"{subject} ran, but its result cannot be sent:\n{read_message(exception)}")
    return _shorten(_name_of(exception))


def _name_of(exception: BaseException) -> str:
    name, message = type(exception).__name__, read_message(exception)
    if message:
        return f"{name}: {message}"
    return name


def _shorten(text: str) -> str:
    rest = len(text) - MAX_TEXT
    if rest <= 0:
        return text
    return f"{text[:MAX_TEXT]}\n({rest:,} more characters were cut)"


def _iterate_leaves(group: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    for exception in group.exceptions:
        if isinstance(exception, BaseExceptionGroup):
            yield from _iterate_leaves(exception)
        else:
            yield exception
