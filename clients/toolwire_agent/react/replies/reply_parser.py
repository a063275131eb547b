"""Finds the one JSON object in a model's reply.

Strategy: three steps, none of which guesses. The whole text is JSON; or it holds one object, with
prose, fences or tags around it and thoughts before it; or that object becomes JSON by unambiguous
changes (`repair`). Anything else is refused with its position, because a reply may order or pay
for something. General repairers (such as json_repair 0.64.5) close a reply that was cut off, and
take the last of two actions.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any

from toolwire_schemas.language import describe_json_error
from toolwire_schemas.wire.codec import EncodingError, encode

from ..prompts import Unreadable

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
    | (?P<stray>[{{\[｛［]{BLANK}*+[,，])  # a comma after nothing: kept, so that it stays invalid
    | (?P<trailing>[,，](?={BLANK}*+[}}\]｝］]))
    | (?P<wide>[，：｛｝［］])
    | (?P<blank>{BLANK}++)
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_JSON_FOR = dict(zip("，：｛｝［］", ",:{}[]", strict=True)) | {
    "True": "true",
    "False": "false",
    "None": "null",
}


def repair(text: str, start: int) -> tuple[str, int] | None:
    """Return the object from the brace at *start*, repaired, and its end in *text*; None if it is
    not closed.
    """
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
            return "".join(parts), token.end()
    return None


def _requote(string: str) -> str:
    inside = re.sub(
        r"\\.|\"", lambda found: _ESCAPES.get(found[0], found[0]), string[1:-1], flags=re.DOTALL
    )
    return f'"{inside}"'


_ESCAPES = {"\\'": "'", '"': '\\"'}
_CHANGES: dict[str, Callable[[str], str]] = {
    "single": _requote,
    "curly": lambda string: f'"{string[1:-1]}"',
    "word": _JSON_FOR.__getitem__,
    "trailing": lambda comma: "",
    "wide": _JSON_FOR.__getitem__,
    "blank": lambda blank: " ",
}


# Tags of reasoning models: DeepSeek, Qwen and others; Seed; Magistral; Kimi.
_TAG = re.compile(
    r"(?:<(?=/?(?:seed:)?(?:think|thinking|thoughts?|reasoning)>)|\[(?=/?think\])|◁(?=/?think▷))(?P<closing>/?)[\w:]+.",
    re.IGNORECASE,
)
_MARK = re.compile(
    rf"{_TAG.pattern}|(?P<object>[{{｛](?={BLANK}*+[\"'“”＂]))|(?P<opening>[{{\[])|(?P<end>[}}\]])",
    re.IGNORECASE,
)
_BLANK = re.compile(f"{BLANK}*")
_NEAR = 20


def find_only_object(text: str) -> dict[str, Any]:
    """Return the one JSON object in *text*, or in a list of one.

    Raises:
        Unreadable: if there is not exactly one, or it is incomplete or invalid.
    """
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise Unreadable("empty")
    try:
        value = _DECODER.decode(text.strip())
    except (ValueError, RecursionError):
        found = _find_objects(text)  # finds the fault again, if it is in an object
    else:
        found = value if isinstance(value, list) else [value]
    match found:
        case [dict()]:
            return check_sendable(found[0])
        case [dict(), *_]:
            raise Unreadable("several")
    raise Unreadable("no_object")


def read_object_at(text: str, start: int) -> tuple[dict[str, Any], int]:
    """Return the object whose brace is at *start* in *text*, and its end.

    Raises:
        Unreadable: if it is incomplete or invalid.
    """
    try:
        return _decode_object(text, start)
    except json.JSONDecodeError as error:
        fault = error
    made = repair(text, start)
    if made is None:
        raise Unreadable("unfinished", **_locate(text, start), fault=describe_json_error(fault))
    try:
        return _decode_object(made[0], 0)[0], made[1]
    except json.JSONDecodeError:
        raise _make_malformed(text, fault) from None


def _decode_object(text: str, start: int) -> tuple[dict[str, Any], int]:
    try:
        value, end = _DECODER.raw_decode(text, start)
    except RecursionError:
        raise Unreadable("too_deep") from None
    return check_sendable(value), end


def find_end_of_thoughts(text: str) -> int:
    """Return the start of the reply proper, after any thoughts.

    Raises:
        Unreadable: if the thoughts do not end.
    """
    blank = _BLANK.match(text)
    opening = _TAG.match(text, blank.end() if blank else 0)
    if opening and not opening["closing"]:
        return _end_of_thoughts(text, opening)
    return 0


def check_sendable(value: dict[str, Any]) -> dict[str, Any]:
    """Return *value* itself, if every JSON decoder accepts it.

    Raises:
        Unreadable: if it has a lone surrogate or is nested too deeply.
    """
    try:
        encode(value)
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise Unreadable("surrogate") from None
    except EncodingError:
        raise Unreadable("too_deep") from None
    return value


def _find_objects(text: str) -> list[dict[str, Any]]:
    """Return all objects in *text* outside thoughts and outside one another."""
    found: list[dict[str, Any]] = []
    first_brace: int | None = None
    unclosed: list[int] = []
    at = 0
    while mark := _MARK.search(text, at):
        at = mark.end()
        match mark.lastgroup:
            case "object":
                value, at = read_object_at(text, mark.start())
                found.append(value)
            case "opening":
                unclosed.append(mark.start())
                first_brace = (
                    mark.start() if first_brace is None and mark[0] == "{" else first_brace
                )
            case "end":
                del unclosed[-1:]
            case _ if mark["closing"]:  # thoughts whose opening tag was part of the prompt
                found, first_brace, unclosed = [], None, []
            case _:
                at = _end_of_thoughts(text, mark)
    if found and unclosed:  # the object may be part of a larger value
        raise Unreadable("unclosed", **_locate(text, unclosed[0]))
    if (
        not found and first_brace is not None
    ):  # perhaps an object that does not start like one, as `{type: "ASK"}`
        try:
            _DECODER.raw_decode(text, first_brace)
        except json.JSONDecodeError as error:
            raise _make_malformed(text, error) from None
    return found


def _end_of_thoughts(text: str, opening: re.Match[str]) -> int:
    for tag in _TAG.finditer(text, opening.end()):
        if tag["closing"]:
            return tag.end()
    raise Unreadable("unfinished_thoughts", tag=opening[0])


def _locate(text: str, at: int) -> dict[str, int]:
    return {"line": text.count("\n", 0, at) + 1, "column": at - text.rfind("\n", 0, at)}


def _make_malformed(text: str, error: json.JSONDecodeError) -> Unreadable:
    near = text[max(error.pos - _NEAR, 0) : error.pos + _NEAR]
    return Unreadable(
        "malformed", fault=describe_json_error(error), near=json.dumps(near, ensure_ascii=False)
    )


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, value in pairs:
        if name in made:
            raise Unreadable("duplicate", name=json.dumps(name, ensure_ascii=False))
        made[name] = value
    return made


def _refuse_infinite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise Unreadable("number", number=text)
    return number


def _read_integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:  # of more digits than Python reads
        raise Unreadable("number", number=f"{text[:_NEAR]}…") from None


# strict=False: line breaks and tabs within strings, which many models write as they are, can mean
# nothing else.
_DECODER = json.JSONDecoder(
    object_pairs_hook=_refuse_duplicates,
    parse_float=_refuse_infinite,
    parse_int=_read_integer,
    parse_constant=_refuse_infinite,
    strict=False,
)
