"""Values in texts that language models write: JSON, Python's literals, and the fences around them.

Strategy. Nothing is guessed. A fence, and prose around it, is removed only where the rest is the
whole value; other text is refused with the place of the error, so that the model can write it
again.
"""

from __future__ import annotations

import ast
import json
import math
import re
from typing import Any

from toolwire_schemas.language import describe_json_error, say

MAX_LITERAL = 100_000
"""Characters of a Python literal: its syntax tree takes some 500 bytes for each."""

_OPENING = re.compile(r"(?:\A`+|`{3,}|~{3,})(?:[A-Za-z][\w.+-]*)?")
_SURROGATE = re.compile("[\ud800-\udfff]")


class NotALiteral(ValueError):
    """A text that is not the value it should be; the sentence says why."""


def read_json(text: str) -> Any:
    """Return the value of JSON text, numbers exact; raises `NotALiteral`, for NaN and doubled names
    as well.
    """
    try:
        value = JSON.decode(remove_fence(text))
        refuse_unsayable(value)
        return value
    except RecursionError:
        raise NotALiteral(say("nested too deeply")) from None
    except json.JSONDecodeError as error:
        raise NotALiteral(describe_json_error(error)) from None
    except ValueError as error:
        raise NotALiteral(str(error)) from None


def read_literal(text: str) -> Any:
    """Return the value of a Python literal, without evaluating anything; raises `NotALiteral`."""
    text = remove_fence(text)
    if len(text) > MAX_LITERAL:
        many = say(
            "{count:,} characters exceed the limit of {most:,}", count=len(text), most=MAX_LITERAL
        )
        raise NotALiteral(many)
    try:
        # Python itself reads no more than 200 nested brackets.
        return ast.literal_eval(text)
    except SyntaxError as error:
        place = ""
        if error.lineno:
            place = say(": line {line} column {column}", line=error.lineno, column=error.offset)
        raise NotALiteral(f"{error.msg}{place}") from None
    except (ValueError, TypeError, MemoryError, RecursionError):
        problem = say("not a literal: names, calls and arithmetic are not supported")
        raise NotALiteral(problem) from None


def remove_fence(text: str) -> str:
    """Return *text* without the Markdown fence around the value, and without prose around the
    fence.

    From a text that begins like a value, only a fence at its end is removed: others belong to its
    strings.
    """
    text = text.strip().removeprefix("\ufeff").strip()
    if text.startswith(("{", "[", "(", '"', "'")):
        return _without_fence(text)
    opening = _OPENING.search(text)
    if opening is None:
        return text
    mark = re.match(r"`+|~+", opening[0])[0]  # type: ignore[index]
    inside, _, _ = text[opening.end() :].rpartition(mark)
    return (inside or text[opening.end() :]).strip()


def _without_fence(text: str) -> str:
    bare = text.rstrip("`") if text.endswith("`") else text.rstrip("~")
    return bare.rstrip() if len(text) - len(bare) >= 3 else text


def refuse_unsayable(value: Any) -> None:
    """Raise `NotALiteral` if there are NaN, infinities or unpaired surrogates in *value*."""
    if isinstance(value, float) and not math.isfinite(value):
        raise NotALiteral(say("{value} is not a number in JSON", value=value))
    if isinstance(value, str) and not value.isascii() and _SURROGATE.search(value):
        raise NotALiteral(say("a text has unpaired surrogates"))
    if isinstance(value, dict):
        for name, member in value.items():
            refuse_unsayable(name)
            refuse_unsayable(member)
    elif isinstance(value, tuple | list):
        for member in value:
            refuse_unsayable(member)


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, value in pairs:
        if name in made:
            shown = json.dumps(name, ensure_ascii=False)
            raise ValueError(say("{name} occurs twice in one object", name=shown))
        made[name] = value
    return made


JSON = json.JSONDecoder(object_pairs_hook=_refuse_duplicates)
"""Decodes JSON and refuses names that occur twice, with a ValueError."""
