"""JSON on the wire: exact numbers in, always-valid UTF-8 JSON out.

Strategy. msgspec decodes, because it keeps integers exact (orjson turns those of 2**64 and more
into floats). orjson encodes, because it is strict and fast, and msgspec takes over where orjson
gives up: on integers beyond 64 bits. Until orjson is needed for something else, msgspec encodes
plain data, too: a server of simple tools never imports orjson. Both would write NaN and infinities
as `null`, silently; here they are errors.
"""

from __future__ import annotations

import math
from typing import Any

import msgspec

_decode = msgspec.json.Decoder().decode
_encode_anything = msgspec.json.Encoder().encode
_pack = msgspec.msgpack.Encoder().encode

# How deep a value may be nested to be sent: orjson stops at 254 levels, and the envelope takes a
# few.
MAX_DEPTH = 200


# Digits of an integer, a minus sign counted as one. It is the limit of msgspec and, by default, of
# Python: to read digits takes quadratic time.
MAX_DIGITS = 4300


class DecodingError(ValueError):
    """The text cannot be read as JSON. The message says why and, if known, at which byte."""


class EncodingError(ValueError):
    """The value cannot be written as JSON. The message says which part, as a path from the root."""


def decode(text: bytes | str) -> Any:
    """Return the value of one JSON text, integers exact.

    Raises:
        DecodingError: for malformed JSON, invalid UTF-8, unpaired surrogates, NaN, numbers too
            large for a double, integers of more than 4,300 digits, and nesting beyond what Python
            allows (1,000 levels or more).
    """
    try:
        return _decode(text)
    except UnicodeDecodeError as error:
        raise DecodingError(f"not UTF-8: {error.reason} (byte {error.start})") from None
    except msgspec.DecodeError as error:
        raise DecodingError(_explain(text, str(error))) from None
    except RecursionError:
        raise DecodingError("nested too deeply") from None


def _explain(text: bytes | str, problem: str) -> str:
    try:
        from .json_problems import explain
    except (ImportError, OSError):  # as in `_import_and_dump`
        return problem
    return explain(text, problem, _TOO_LONG)


def encode(value: Any, replaced: list[str] | None = None) -> bytes:
    """Return *value* as compact JSON in UTF-8. Unpaired surrogates become U+FFFD; *replaced*
    receives their places.

    Raises:
        EncodingError: for NaN and infinities, types JSON has no form for, integers of more than
            4,300 digits, and nesting beyond `MAX_DEPTH`.
    """
    try:
        data = _dumps(value)
    except TypeError:  # orjson.JSONEncodeError is one
        return _encode_the_unusual(value, [] if replaced is None else replaced)
    # orjson writes NaN as null, so that only a written null can be one. (`in` would first try
    # whether the bytes it looks for are an integer, by way of an exception.)
    if data.find(b"null") >= 0:
        _refuse_non_finite(value)
    return b"%b" % data if len(data) < _SPARE_BYTES else data  # a copy, which takes its own length


# How much memory orjson allocates at least for its result, and does not give back, however short
# that is.
_SPARE_BYTES = 4096


def encode_plain(value: Any, replaced: list[str] | None = None) -> bytes:
    """As `encode`, for plain JSON data: it imports orjson only for what msgspec cannot encode, or
    not as strictly.

    Other types, such as bytes, sets or decimals, are encoded, too, as strings and arrays.
    """
    if _dumps is not _import_and_dump:
        return encode(value, replaced)
    try:
        data = _encode_anything(value)
        # 200 levels take more than 400 bytes.
        if len(data) > 400 and data.count(b"[") + data.count(b"{") > MAX_DEPTH:
            from .nesting import check_depth  # takes less time than orjson, which judges it, too

            check_depth(value, MAX_DEPTH)
    except (ValueError, TypeError, RecursionError, ImportError, OSError):
        return encode(value, replaced)
    if data.find(b"null") >= 0:
        _refuse_non_finite(value)
    return data


def _import_and_dump(value: Any) -> bytes:
    """Import orjson. With what it imports, that takes a third of a server's start-up time, and 1.5
    MB.
    """
    global _dumps
    try:
        from orjson import dumps
    except (
        ImportError,
        OSError,
    ) as error:  # a tool has used up the descriptors; msgspec needs no more of them
        raise TypeError("orjson cannot be imported") from error
    _dumps = dumps
    return dumps(value)


_dumps = _import_and_dump


def _encode_the_unusual(value: Any, replaced: list[str]) -> bytes:
    """JSON of what orjson refuses: integers beyond 64 bits, unpaired surrogates, integers as
    keys.
    """
    plain = _make_plain(value, "", 0, replaced)
    try:
        return msgspec.json.encode(plain)
    except ValueError as error:  # a tool has lowered Python's own limit of digits
        raise EncodingError(str(error)) from None


def _make_plain(value: Any, path: str, depth: int, replaced: list[str]) -> Any:
    if depth > MAX_DEPTH:
        raise EncodingError(f"nested more than {MAX_DEPTH} levels deep")
    match value:
        case None | bool():
            return value
        case int():
            if not _LEAST < value < _LARGEST:
                raise EncodingError(f"{_format_place(path)} has {_TOO_LONG}; send it as text")
            return value
        case str():
            return _pair_surrogates(value, path, replaced)
        case float():
            return _make_finite(value, path)
        case dict():
            return {
                _make_key(key, path, replaced): _make_plain(
                    item, f"{path}.{key}", depth + 1, replaced
                )
                for key, item in value.items()
            }
        case list() | tuple():
            return [
                _make_plain(item, f"{path}[{index}]", depth + 1, replaced)
                for index, item in enumerate(value)
            ]
    raise EncodingError(
        f"{_format_place(path)} is of type {type(value).__name__}, which JSON cannot express"
    )


_TOO_LONG = f"more than {MAX_DIGITS:,} digits, the limit for integers"
_LEAST, _LARGEST = -(10 ** (MAX_DIGITS - 1)), 10**MAX_DIGITS


def _pair_surrogates(text: str, path: str, replaced: list[str]) -> str:
    """*text* with surrogate pairs joined and unpaired ones replaced: UTF-16 knows the
    difference.
    """
    if text.isascii():
        return text
    utf_16 = text.encode("utf-16-le", "surrogatepass")
    try:
        return utf_16.decode("utf-16-le")
    except UnicodeDecodeError:
        replaced.append(_format_place(path))
        return utf_16.decode("utf-16-le", "replace")


def _make_finite(number: float, path: str) -> float:
    if not math.isfinite(number):
        raise EncodingError(f"{_format_place(path)} is {number}, which JSON cannot express")
    return number


def _make_key(key: object, path: str, replaced: list[str]) -> str:
    if isinstance(key, str):
        return _pair_surrogates(key, path, replaced)
    if isinstance(key, int) and not isinstance(key, bool):
        return str(key)
    raise EncodingError(
        f"{_format_place(path)} has the key {key!r}, and JSON knows only text as keys"
    )


def _refuse_non_finite(value: Any) -> None:
    if _may_be_non_finite(value):
        _refuse_non_finite_at("", value)


def _may_be_non_finite(value: Any) -> bool:
    """Return whether a number in *value* may be NaN or infinite."""
    # MessagePack can write them. To pack a value and search the bytes takes a tenth of a walk in
    # Python, and every result of None pays for it.
    try:
        packed = _pack(value)
    except (TypeError, ValueError, OverflowError, RecursionError, msgspec.EncodeError):
        return True
    return packed.find(_POSITIVE) >= 0 or packed.find(_NEGATIVE) >= 0


_POSITIVE, _NEGATIVE = b"\xcb\x7f", b"\xcb\xff"
"""How doubles with the largest exponents start in MessagePack; NaN and infinities are among
them.
"""


def _refuse_non_finite_at(path: str, value: Any) -> None:
    if isinstance(value, float):
        _make_finite(value, path)
    elif isinstance(value, dict):
        for key, item in value.items():
            _refuse_non_finite_at(f"{path}.{key}", item)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            _refuse_non_finite_at(f"{path}[{index}]", item)


def _format_place(path: str) -> str:
    return path.removeprefix(".") or "the value"
