"""The items of an action's result: from content that a tool can answer with, and back."""

from __future__ import annotations

import binascii
import os
from typing import Any

from ..content.blocks import Audio, Content, File, Image, ResourceLink, Text, base64_of

_MEDIA: dict[str, type[Image] | type[Audio]] = {"image": Image, "audio": Audio}
_FILES = frozenset((*_MEDIA, "video", "file"))


def shown(kind: str, content: Any) -> Any:
    """The content block for *content*, or *content* itself if it is plain data.

    Of an image, sound, video or file, *content* may be the path, a URL, a `data:` URI, Base64 or the bytes. Text of
    any other kind (`text`, `html`, `code`) is text.
    """
    if isinstance(content, bytes | bytearray) and kind in _MEDIA:
        return _MEDIA[kind](data=bytes(content))
    if not isinstance(content, str | os.PathLike):
        return content
    text = os.fspath(content)
    return (_of_file(kind, text) if kind in _FILES else None) or Text(text=text)


def item_of(output: Any) -> dict[str, Any]:
    """The item of a result for one content block, or for whatever stands beside one."""
    if isinstance(output, Image | Audio):
        return {"type": output.family, "content": f"data:{output.media_type};base64,{base64_of(output.data or b'')}"}
    if isinstance(output, File | ResourceLink):
        return {"type": "file", "content": output.uri}
    return {"type": "text", "content": output.text if isinstance(output, Text) else str(output)}


def _of_file(kind: str, text: str) -> Content | None:
    """What *text* leads to; None if that is nowhere."""
    if text.startswith(("https://", "http://")):
        return ResourceLink(uri=text)
    if kind not in _MEDIA:
        return File(path=text) if os.path.isfile(text) else None
    try:
        if os.path.isfile(text):
            return _MEDIA[kind](path=text)
        media_type, data = _embedded(text)
        return _MEDIA[kind](data=data, media_type=media_type) if data else None
    except ValueError:  # bytes that are no such picture or sound
        return None


def _embedded(text: str) -> tuple[str | None, bytes]:
    """The media type, if it is told, and the bytes of a `data:` URI or of plain Base64; no bytes if it is neither."""
    head, comma, rest = text.partition(",")
    is_uri = head.startswith("data:") and head.endswith(";base64") and comma
    try:
        data = binascii.a2b_base64(rest if is_uri else text, strict_mode=True)
    except (binascii.Error, ValueError):
        return None, b""
    return (head[len("data:") : -len(";base64")] or None) if is_uri else None, data
