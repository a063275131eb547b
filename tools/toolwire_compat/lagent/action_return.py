"""The outcome of a call of an action, in Lagent's terms."""

from __future__ import annotations

import binascii
import os
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from toolwire_tools.content import Audio, Content, File, Image, ResourceLink, Text, encode_base64
from toolwire_tools.errors import ToolError


class ActionStatusCode(IntEnum):
    """How a call of an action went; the failures are negative."""

    ING = 1
    SUCCESS = 0
    HTTP_ERROR = -1000
    ARGS_ERROR = -1001
    API_ERROR = -1002


class ActionValidCode(IntEnum):
    """The consequence of a call for the conversation: continue, stop, or correct the model."""

    FINISH = 1
    OPEN = 0
    CLOSED = -1
    INVALID = -2
    ABSENT = -3


@dataclass
class ActionReturn:
    """The outcome of one call of an action.

    *args* is what it was called with, *type* the name of the action. *result* is a list of
    `{"type": "text", "content": ...}`, with other types for images and the like, and None if the
    call failed; then *errmsg* says why.

    A tool that returns one is answered with content blocks, or with an error answer.
    """

    args: dict[str, Any] | None = None
    url: str | None = None
    type: str | None = None
    result: list[dict[str, Any]] | None = None
    errmsg: str | None = None
    state: ActionStatusCode | int = ActionStatusCode.SUCCESS
    thought: str | None = None
    valid: ActionValidCode | int | None = ActionValidCode.OPEN

    def format_result(self) -> str:
        """Return the texts of the result, a line for each, and `[image](plot.png)` for an item that
        is no text.
        """
        lines = []
        for kind, content in self.list_items():
            lines.append(str(content) if kind == "text" else f"[{kind}]({content})")
        return "\n".join(lines)

    @property
    def failure(self) -> str:
        """Why the call failed; empty if it did not."""
        if self.errmsg:
            return self.errmsg
        if (self.state or 0) >= ActionStatusCode.SUCCESS:
            return ""
        return f"{self.type or 'The action'} failed with the code {int(self.state)}."

    def to_content(self) -> Any:
        """Return the same outcome as a tool would: text, pictures and files, or plain data.

        Raises:
            ToolError: if the call failed.
        """
        if self.failure:
            raise ToolError(self.failure)
        items = [to_block(kind, content) for kind, content in self.list_items()]
        if len(items) == 1:
            return items[0]
        return items or ""

    def list_items(self) -> list[tuple[str, Any]]:
        """Return the kind and the content of each item; anything else is a text or data."""
        result: Any = self.result or []
        if isinstance(result, dict) and "content" not in result:
            # As before Lagent 0.2: {"text": ...}
            return [(str(kind), content) for kind, content in result.items()]
        items = result if isinstance(result, list | tuple) else [result]
        return list(map(_read_item, items))


def _read_item(item: Any) -> tuple[str, Any]:
    if isinstance(item, dict) and "content" in item:
        return str(item.get("type", "text")), item["content"]
    if isinstance(item, str):
        return "text", item
    return "data", item


_MEDIA: dict[str, type[Image] | type[Audio]] = {"image": Image, "audio": Audio}
_FILES = frozenset((*_MEDIA, "video", "file"))


def to_block(kind: str, content: Any) -> Any:
    """Return the content block for *content*, or *content* itself if it is plain data.

    Of an image, sound, video or file, *content* may be the path, a URL, a `data:` URI, Base64 or
    the bytes. Text of any other kind (`text`, `html`, `code`) is text.
    """
    if isinstance(content, bytes | bytearray) and kind in _MEDIA:
        return _MEDIA[kind](data=bytes(content))
    if not isinstance(content, str | os.PathLike):
        return content
    text = os.fspath(content)
    if kind not in _FILES:
        return Text(text=text)
    return _find_file(kind, text) or Text(text=text)


def to_item(output: Any) -> dict[str, Any]:
    """Return the item of a result for one content block, or for another value in the same list."""
    if isinstance(output, Image | Audio):
        data = encode_base64(output.data or b"")
        return {"type": output.family, "content": f"data:{output.media_type};base64,{data}"}
    if isinstance(output, File | ResourceLink):
        return {"type": "file", "content": output.uri}
    if isinstance(output, Text):
        return {"type": "text", "content": output.text}
    return {"type": "text", "content": str(output)}


def _find_file(kind: str, text: str) -> Content | None:
    """Return the content at *text*, a URL, path or data; None if there is nothing."""
    if text.startswith(("https://", "http://")):
        return ResourceLink(uri=text)
    if kind not in _MEDIA:
        return File(path=text) if os.path.isfile(text) else None
    try:
        if os.path.isfile(text):
            return _MEDIA[kind](path=text)
        media_type, data = _decode(text)
        return _MEDIA[kind](data=data, media_type=media_type) if data else None
    except ValueError:  # bytes that are no such picture or sound
        return None


def _decode(text: str) -> tuple[str | None, bytes]:
    """Return the media type, if it is given, and the bytes of a `data:` URI or of plain Base64; no
    bytes if it is neither.
    """
    media_type = None
    head, comma, rest = text.partition(",")
    if comma and head.startswith("data:") and head.endswith(";base64"):
        media_type = head.removeprefix("data:").removesuffix(";base64") or None
        text = rest
    try:
        return media_type, binascii.a2b_base64(text, strict_mode=True)
    except (binascii.Error, ValueError):
        return None, b""
