"""Typed final answers: the text of an answer, read as a value of any type that an argument of a
tool may have.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_client.redaction.hidden import repair_surrogates
from toolwire_schemas.wire import codec

from ..react import Unreadable
from ..react.replies.reply_parser import find_only_object
from ..react.replies.reply_schema import wrap_result_schema
from ..toolbox.local_tools import build_typed_tool

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .events import Outcome


_FENCE = re.compile(r"\s*```\w*\n(.*)\n```\s*", re.DOTALL)


class ResultType:
    """Reads answers of the type *kind*, or those that fit the JSON Schema *kind*.

    Raises:
        TypeError: if JSON has no form for the type.
    """

    def __init__(self, kind: object) -> None:
        self._value: Any = None

        def final_answer(result: Any) -> None:
            self._value = result

        if isinstance(kind, dict):
            kind = wrap_result_schema(kind)
        self._tool = build_typed_tool(final_answer, "result", kind)
        described = self._tool.describe()["inputSchema"]
        self.schema: dict[str, Any] = dict(described["properties"]["result"])
        if "$defs" in described:
            self.schema["$defs"] = described["$defs"]

    def find_fault(self, text: str) -> str:
        """Return what is wrong with the answer *text*; empty if it is a value of the type, which is
        kept.
        """
        faults = []
        for value in _iterate_readings(repair_surrogates(text)):
            try:
                self._tool.call({"result": value}, None)
            except Exception as error:  # a type may be any user's code
                found = getattr(error, "faults", None) or [
                    ("result", f"{type(error).__name__}: {error}")
                ]
                faults.append(
                    "; ".join(
                        f"{place.removeprefix('arguments.')}: {wrong}" for place, wrong in found
                    )
                )
            else:
                return ""
        return faults[0]

    def convert_outcome(self, outcome: Outcome[str]) -> Outcome[Any]:
        """Return *outcome* with the value of the type as its result; an explanation becomes a part
        of the reason.
        """
        if outcome.ok:
            return msgspec.structs.replace(outcome, result=self._value)
        reason = ": ".join(filter(None, (outcome.reason, outcome.result)))
        return msgspec.structs.replace(outcome, result=None, reason=reason)


def _iterate_readings(text: str) -> Iterator[Any]:
    """Return what *text* may mean, the most likely first: JSON, an object within prose, text, a
    plain value.
    """
    if not text:
        yield from ("", None)
        return
    inner = text
    fence = _FENCE.fullmatch(text)
    if fence is not None:
        inner = fence[1]
    try:
        value = codec.decode(inner)
    except codec.DecodingError:
        with suppress(Unreadable):
            yield find_only_object(text)
        yield text
        return
    if isinstance(value, dict | list):
        yield from (value, text)
    else:
        yield from (text, value)
