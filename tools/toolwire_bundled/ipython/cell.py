"""Turns the messages of a kernel that runs code into texts and pictures. No I/O.

The messages are those of Jupyter's protocol:
https://jupyter-client.readthedocs.io/en/stable/messaging.html.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

_PICTURES = ("image/png", "image/jpeg")
_MAX_PICTURE_CHARACTERS = 6 * 1024 * 1024
"""In all: clients take answers of 10 MiB."""

_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\].*?(?:\x07|\x1b\\)")
"""Colours and the like, for terminals (ECMA-48)."""


class Picture(msgspec.Struct, frozen=True):
    """A picture in Base64."""

    media_type: str
    data: str


class Cell:
    """The output of one piece of code so far. Of its text, *max_characters* are kept, from both of
    its ends.
    """

    def __init__(self, max_characters: int) -> None:
        self.pictures: list[Picture] = []
        self.failed = False
        self.finished = False
        self._half = max(1, max_characters // 2)
        self._start = self._end = ""
        self._left_out = 0
        self._clears_next = False

    @property
    def text(self) -> str:
        """Everything printed, shown and raised, in order."""
        if not self._left_out:
            return self._start + self._end
        return f"{self._start}\n[... {self._left_out:,} characters left out ...]\n{self._end}"

    def add(self, message: dict[str, Any]) -> str:
        """Take one message of the channel `iopub`; return the text in it."""
        content = message.get("content", {})
        kind = message.get("msg_type")
        text = ""
        if kind == "stream":
            text = str(content.get("text", ""))
        elif kind in ("execute_result", "display_data", "update_display_data"):
            text = self._show(content.get("data", {}))
        elif kind == "error":
            self.failed = True
            text = "\n".join(
                content.get("traceback") or [f"{content.get('ename')}: {content.get('evalue')}"]
            )
        elif kind == "clear_output":
            self._clears_next = bool(content.get("wait"))
            if not self._clears_next:
                self._forget()
        elif kind == "status":
            self.finished = content.get("execution_state") == "idle"
        return self.add_text(_ESCAPES.sub("", text))

    def add_text(self, text: str) -> str:
        """Take *text*, and return it."""
        if text and self._clears_next:
            self._forget()
        room = self._half - len(self._start)
        self._start += text[:room]
        end = self._end + text[room:]
        self._end = end[-self._half :]
        self._left_out += len(end) - len(self._end)
        return text

    def _show(self, data: dict[str, Any]) -> str:
        """The text of what has several forms, unless one is a picture."""
        for media_type in _PICTURES:
            if media_type in data:
                if self._clears_next:
                    self._forget()
                picture = "".join(str(data[media_type]).split())  # Base64 may come in lines
                if (
                    sum(len(kept.data) for kept in self.pictures) + len(picture)
                    > _MAX_PICTURE_CHARACTERS
                ):
                    return f"\n[... a picture of {len(picture) * 3 // 4:,} bytes left out ...]\n"
                self.pictures.append(Picture(media_type, picture))
                return ""
        return str(data.get("text/plain", ""))

    def _forget(self) -> None:
        self._start = self._end = ""
        self._left_out = 0
        self._clears_next = False
        self.pictures.clear()
