"""The one JSON object in a model's reply.

Strategy: a ladder, and no rung of it guesses. The whole text is JSON; or one object stands in it, with prose, fences or
tags around it and thoughts before it; or that object becomes JSON by changes that can mean nothing else (`repaired`).
Whatever is left is refused with its place, for the model to write it again: a reply may order or pay for something, and
general repairers (json_repair 0.64.5, for one) close a reply that was cut off, and take the last of two actions.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.wire.codec import EncodingError, encode

from .prompts import Remark, Unreadable, remark

if TYPE_CHECKING:
    from collections.abc import Callable


BLANK = r"[\s\ufeff\u200b]"

_TOKEN = re.compile(
    rf"""
      (?P<string>"(?:[^"\\]++|\\.)*+")
    | (?P<single>'(?:[^'\\]++|\\.)*+')
    | (?P<curly>[“”＂][^“”＂"\\]*+[“”＂])
    | (?P<unended>["'“”＂])
    | (?P<word>\b(?:True|False|None)\b)
    | (?P<stray>[{{\[｛［]{BLANK}*+[,，])  # a comma behind nothing; as it stays, this will be no JSON
    | (?P<trailing>[,，](?={BLANK}*+[}}\]｝］]))
    | (?P<wide>[，：｛｝［］])
    | (?P<blank>{BLANK}++)
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_WIDE = dict(zip("，：｛｝［］", ",:{}[]", strict=True))
_WORDS = {"True": "true", "False": "false", "None": "null"}


class Repaired(msgspec.Struct, frozen=True):
    """An object, repaired, and where it ended in the text it was taken from."""

    text: str
    end: int


def repaired(text: str, start: int) -> Repaired | None:
    """Return what stands in *text* from the brace at *start* to the one that closes it; None if nothing closes it."""
    parts: list[str] = []
    depth = 0
    for token in _TOKEN.finditer(text, start):
        kind = token.lastgroup
        if kind == "unended":
            return None
        change = _CHANGES.get(kind or "")
        part = change(token[0]) if change else token[0]
        parts.append(part)
        depth += (part in ("{", "[")) - (part in ("}", "]"))
        if depth == 0:
            return Repaired("".join(parts), token.end())
    return None


def _requoted(string: str) -> str:
    inside = re.sub(r"\\.|\"", lambda found: _ESCAPES.get(found[0], found[0]), string[1:-1], flags=re.DOTALL)
    return f'"{inside}"'


_ESCAPES = {"\\'": "'", '"': '\\"'}
_CHANGES: dict[str, Callable[[str], str]] = {
    "single": _requoted,
    "curly": lambda string: f'"{string[1:-1]}"',
    "word": _WORDS.__getitem__,
    "trailing": lambda comma: "",
    "wide": _WIDE.__getitem__,
    "blank": lambda blank: " ",
}


# What reasoning models put around their thoughts: DeepSeek, Qwen and others; Seed; Magistral; Kimi.
_TAG = re.compile(
    r"(?:<(?=/?(?:seed:)?(?:think|thinking|thoughts?|reasoning)>)|\[(?=/?think\])|◁(?=/?think▷))(?P<closing>/?)[\w:]+.",
    re.IGNORECASE,
)
_MARK = re.compile(
    rf"{_TAG.pattern}|(?P<object>[{{｛](?={BLANK}*+[\"'“”＂]))|(?P<opening>[{{\[])|(?P<end>[}}\]])", re.IGNORECASE
)
_BLANK = re.compile(f"{BLANK}*")
_NEAR = 20


def only_object(text: str) -> dict[str, Any]:
    """Return the one JSON object in *text*. A list that holds nothing else is taken for it.

    Raises:
        Unreadable: if there is none or more than one, if it does not end, or if it is no JSON.
    """
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise Unreadable("empty")
    try:
        value = _DECODER.decode(text.strip())
    except (ValueError, RecursionError):
        found = _objects(text)  # which finds the fault again, if it is in an object
    else:
        found = value if isinstance(value, list) else [value]
    match found:
        case [dict()]:
            return sendable(found[0])
        case [dict(), *_]:
            raise Unreadable("several", count=len(found))
    raise Unreadable("no_object")


def object_at(text: str, start: int) -> tuple[dict[str, Any], int]:
    """Return the object whose brace stands at *start* in *text*, and where it ends.

    Raises:
        Unreadable: if it does not end or is no JSON.
    """
    try:
        value, end = _DECODER.raw_decode(text, start)
    except Unreadable:
        raise
    except RecursionError:
        raise Unreadable("too_deep") from None
    except json.JSONDecodeError as error:
        fault = error
    else:
        return sendable(value), end
    made = repaired(text, start)
    if made is None:
        raise Unreadable("unfinished", **_place(text, start), fault=_where(fault))
    try:
        return sendable(_DECODER.decode(made.text)), made.end
    except RecursionError:
        raise Unreadable("too_deep") from None
    except json.JSONDecodeError:
        raise Unreadable("malformed", fault=_where(fault), near=_near(text, fault)) from None


def after_thoughts(text: str) -> int:
    """Return where in *text* the reply proper begins: behind the thoughts at its beginning, if there are any.

    Raises:
        Unreadable: if the thoughts do not end.
    """
    blank = _BLANK.match(text)
    opening = _TAG.match(text, blank.end() if blank else 0)
    return _end_of_thoughts(text, opening) if opening and not opening["closing"] else 0


def sendable(value: dict[str, Any]) -> dict[str, Any]:
    """*value* itself, if UTF-8 and everybody's decoder can carry it.

    Raises:
        Unreadable: if it has half of a surrogate pair, or is nested too deeply.
    """
    try:
        encode(value)
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise Unreadable("surrogate") from None
    except EncodingError:
        raise Unreadable("too_deep") from None
    return value


def _objects(text: str) -> list[dict[str, Any]]:
    """All objects that stand in *text* outside thoughts and outside one another."""
    found: list[dict[str, Any]] = []
    first_brace: int | None = None
    unclosed: list[int] = []
    at = 0
    while mark := _MARK.search(text, at):
        at = mark.end()
        match mark.lastgroup:
            case "object":
                value, at = object_at(text, mark.start())
                found.append(value)
            case "opening":
                unclosed.append(mark.start())
                first_brace = mark.start() if first_brace is None and mark[0] == "{" else first_brace
            case "end":
                del unclosed[-1:]
            case _ if mark["closing"]:  # of thoughts whose opening tag was part of the prompt
                found, first_brace, unclosed = [], None, []
            case _:
                at = _end_of_thoughts(text, mark)
    if found and unclosed:  # what is around the object may have been meant to be more
        raise Unreadable("unclosed", **_place(text, unclosed[0]))
    if not found and first_brace is not None:
        _refuse_malformed(text, first_brace)
    return found


def _end_of_thoughts(text: str, opening: re.Match[str]) -> int:
    for tag in _TAG.finditer(text, opening.end()):
        if tag["closing"]:
            return tag.end()
    raise Unreadable("unfinished_thoughts", tag=opening[0])


def _refuse_malformed(text: str, start: int) -> None:
    """Say what is wrong with what looks like an object but does not begin like one, as in `{type: "ASK"}`."""
    try:
        _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise Unreadable("malformed", fault=_where(error), near=_near(text, error)) from None


def _place(text: str, at: int) -> dict[str, int]:
    return {"line": text.count("\n", 0, at) + 1, "column": at - text.rfind("\n", 0, at)}


def _where(error: json.JSONDecodeError) -> Remark:
    kind = next((kind for said, kind in _FAULTS.items() if error.msg.startswith(said)), "json_other")
    return remark("json_fault", line=error.lineno, column=error.colno, what=remark(kind))


# What Python's decoder says, and what we do in the language of the exchange.
_FAULTS = {
    "Expecting value": "json_value",
    "Expecting property name": "json_name",
    "Expecting ':'": "json_colon",
    "Expecting ','": "json_comma",
    "Unterminated string": "json_string",
    "Invalid \\": "json_escape",
    "Illegal trailing comma": "json_value",
}


def _near(text: str, error: json.JSONDecodeError) -> str:
    return json.dumps(text[max(error.pos - _NEAR, 0) : error.pos + _NEAR], ensure_ascii=False)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, value in pairs:
        if name in made:
            raise Unreadable("duplicate", name=json.dumps(name, ensure_ascii=False))
        made[name] = value
    return made


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise Unreadable("number", number=text)
    return number


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:  # of more digits than Python reads
        raise Unreadable("number", number=f"{text[:_NEAR]}…") from None


# strict=False: line breaks and tabs within strings, which many models write as they are, can mean nothing else.
_DECODER = json.JSONDecoder(
    object_pairs_hook=_once, parse_float=_finite, parse_int=_integer, parse_constant=_finite, strict=False
)
