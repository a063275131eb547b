"""Put values into the messages of a case: `${name}`, where dots lead into objects."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, Any

from toolwire_schemas.wire import codec

if TYPE_CHECKING:
    from collections.abc import Mapping

    RawText = str | dict[str, Any] | list[Any]
    """A text; `{"base64": ...}`; `{"repeat": ..., "times": ...}`; or a list of these."""

_PLACEHOLDER = re.compile(r"\$\{([\w.]+)\}")


def fill_in(value: Any, values: Mapping[str, Any]) -> Any:
    """Return *value* with each string `${name}` in it replaced by the value of that name."""
    if isinstance(value, str):
        found = _PLACEHOLDER.fullmatch(value)
        return _look_up(found[1], values) if found else value
    if isinstance(value, list):
        return [fill_in(item, values) for item in value]
    if isinstance(value, dict):
        return {key: fill_in(item, values) for key, item in value.items()}
    return value


def to_bytes(text: RawText, values: Mapping[str, Any]) -> bytes:
    """Return the bytes that *text* describes, with `${name}` replaced by the JSON of that value."""

    def encode_value(found: re.Match[str]) -> str:
        return codec.encode(_look_up(found[1], values)).decode()

    match text:
        case str():
            return _PLACEHOLDER.sub(encode_value, text).encode()
        case {"base64": encoded}:
            return base64.b64decode(encoded)
        case {"repeat": part, "times": times}:
            return to_bytes(part, values) * int(times)
        case list():
            return b"".join(to_bytes(part, values) for part in text)
    raise ValueError(f"not a description of text: {text!r}")


def _look_up(path: str, values: Mapping[str, Any]) -> Any:
    value: Any = values
    for name in path.split("."):
        value = value[name]
    return value
