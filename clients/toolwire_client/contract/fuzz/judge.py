"""Judge the response to a generated call by the tool's description. No I/O."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.json_schema.error_text import worded
from toolwire_schemas.wire.messages import INVALID_PARAMS

from ...validation import LenientValidator, join_errors
from ..cases.conversation import ProcessEnded, answers, is_answer, messages
from ..cases.expectations import Unmet, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..cases.conversation import Event


class Asked(msgspec.Struct, frozen=True):
    """A call, the probe after it, and the events of both. *trouble* says why a response is missing."""

    call: str
    probe: str
    events: Sequence[Event]
    trouble: str = ""


HARM = 3
"""The gravity of a call without a proper response; 2 breaks a must, 1 a should, and 0 nothing."""


class Judgement(msgspec.Struct, frozen=True):
    """The judgement of a call, and its gravity; *unmet* is `None` if it passed."""

    arguments: dict[str, Any]
    events: Sequence[Event]
    unmet: Unmet | None
    gravity: int

    @property
    def failure(self) -> str:
        """The kind of failure; empty if it passed."""
        return "" if self.unmet is None else self.unmet.came.partition(":")[0]


class Judge:
    """Knows what one *tool*, an entry of tools/list whose `inputSchema` is one of an object, promises.

    Raises:
        NoValues: if values are not made for its `inputSchema`.
    """

    def __init__(self, tool: dict[str, Any]) -> None:
        from ..values.document import Document

        self.name: str = tool["name"]
        self.input_schema: dict[str, Any] = tool["inputSchema"]
        self._input = Document(self.input_schema)
        output = tool.get("outputSchema")
        self._output = LenientValidator(output) if isinstance(output, dict) else None

    def accepts(self, arguments: dict[str, Any]) -> bool:
        """Whether *arguments* are valid. Formats are not judged."""
        return self._input.is_valid(self.input_schema, arguments)

    def judgement(self, asked: Asked, arguments: dict[str, Any], kind: str) -> Judgement:
        """Judge what came of *arguments*, which are of this *kind*: `valid` or `invalid`."""
        expected, severity = "one answer to valid arguments", ""
        if kind == "invalid":
            errors = list(self._input.errors(arguments))
            expected = f"a refusal, since {join_errors(worded(errors, 'arguments')[:3])}"
            # As in the case calls/unknown-argument: many servers drop what they do not know.
            if all(error.validator in ("additionalProperties", "unevaluatedProperties") for error in errors):
                severity = "should"
        breach = came = _breach(asked)
        if came is None:
            answer = answers(asked.events, asked.call)[0]
            came = self._misfit(answer) if kind == "valid" else _acceptance(answer)
        unmet = None if came is None else Unmet(expected, came, severity="" if breach else severity)
        gravity = 0 if unmet is None else HARM if breach else 1 if severity else 2
        return Judgement(arguments, asked.events, unmet, gravity)

    def _misfit(self, answer: dict[str, Any]) -> str | None:
        """What in an *answer* to valid arguments is not as described."""
        result = answer.get("result")
        if "error" in answer or self._output is None:
            return None
        if not isinstance(result, dict):
            return f"a result that is no object: {shown(answer)}"
        if result.get("isError") is True:
            return None
        if "structuredContent" not in result:
            return f"a result without structuredContent, though there is an outputSchema: {shown(answer)}"
        faults = self._output.faults(result["structuredContent"], "structuredContent")
        return f"not what the outputSchema says: {join_errors(faults[:3])} - {shown(answer)}" if faults else None


def _breach(asked: Asked) -> str | None:
    """The fault of a call that is a fault for any arguments."""
    found = answers(asked.events, asked.call)
    ended = next((event for event in asked.events if isinstance(event, ProcessEnded)), None)
    strays = [
        message
        for message in messages(asked.events)
        if is_answer(message) and message.get("id") not in (asked.call, asked.probe)
    ]
    if ended is not None:
        words = ended.stderr.strip().rpartition("\n")[2]
        return f"it {ended.how}{' after it had answered' if found else ''}" + (f": {words[:300]}" if words else "")
    if not found:
        return f"no answer: {asked.trouble}"
    if len(found) > 1:
        return f"{len(found)} answers"
    if strays:
        return f"an answer to nothing: {shown(strays[0])}"
    if asked.trouble:
        return f"after its answer it did not answer any more: {asked.trouble}"
    if ("result" in found[0]) == ("error" in found[0]):
        return f"an answer that is neither a result nor an error: {shown(found[0])}"
    return None


def _acceptance(answer: dict[str, Any]) -> str | None:
    """What in an *answer* to invalid arguments is no refusal with a reason."""
    error, result = answer.get("error"), answer.get("result")
    if isinstance(error, dict):
        if error.get("code") != INVALID_PARAMS:
            return f"an error with another code than {INVALID_PARAMS}: {shown(answer)}"
        return None if error.get("message") else f"an error without a message: {shown(answer)}"
    if not isinstance(result, dict) or result.get("isError") is not True:
        return f"they were accepted: {shown(answer)}"
    content = result.get("content")
    texts = [block.get("text") for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    return None if any(texts) else f"a refusal without a reason: {shown(answer)}"
