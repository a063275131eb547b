"""Reads the final answer while its reply, an object in JSON, still arrives.

Strategy. The text is for display; the protocol reads the reply again when it is complete. So
nothing is repaired or refused, and each character is read once. A reply in another form than plain
JSON has no text until it is complete.
"""

from __future__ import annotations

import json
import re

from toolwire_client.redaction.hidden import repair_surrogates

_TEXT = re.compile(r'[^"\\]+')
_ESCAPE = re.compile(r"\\(?:u....|[^u])", re.DOTALL)
_MARK = re.compile(r'[{}\[\]",]|[^{}\[\]",:\s]+')
_HELD = re.compile(r"[\r\ud800-\udbff]\Z")
"""A last character that belongs to the next one."""


class AnswerReader:
    """Takes a reply piece by piece; all of its text is the answer. `thought` is what came before
    the answer.
    """

    thought = ""

    def feed(self, piece: str) -> str:
        """Return the text of the final answer that *piece* adds."""
        return piece


class JsonAnswerReader(AnswerReader):
    """Takes a reply of the structured protocol."""

    def __init__(self) -> None:
        self._is_answer = self._is_over = self._is_string = False
        self._open: list[str] = []
        self._base = 1  # how deep the members of the reply are
        self._member: str | None = None
        self._read: list[str] = []  # of a name, a type or a thought
        self._escape = self._held = ""

    def feed(self, piece: str) -> str:
        made: list[str] = []
        at = 0
        while at < len(piece) and not self._is_over:
            if self._is_string:
                at = self._read_string(piece, at, made)
            else:
                at = self._read_between(piece, at)
        text = self._held + "".join(made)
        self._held = ""
        held = _HELD.search(text)
        if held and not self._is_over:
            self._held = held[0]
        return repair_surrogates(text.removesuffix(self._held))

    def _read_between(self, piece: str, at: int) -> int:
        mark = _MARK.search(piece, at)
        if mark is None:
            return len(piece)
        is_member = len(self._open) == self._base
        match mark[0]:
            case "{" | "[" as bracket if self._open or bracket == "{":
                is_wrapped = self._member == "reply" and len(self._open) == self._base == 1
                if is_wrapped and bracket == "{":  # strict mode
                    self._base, self._member = 2, None
                self._open.append(bracket)
            case "}" | "]" if self._open:
                self._open.pop()
                self._is_over = len(self._open) < self._base
            case '"' if self._open:
                self._is_string = True
                self._read = []
            case "," if is_member:
                self._member = None
            case "false" | "fals" | "fal" | "fa" | "f" if is_member and self._member == "ok":
                self._is_over = True  # an explanation, and no answer
        return mark.end()

    def _read_string(self, piece: str, at: int, made: list[str]) -> int:
        is_member = len(self._open) == self._base
        is_result = is_member and self._is_answer and self._member == "result"
        to = made if is_result else self._read
        if not self._escape and (escape := _ESCAPE.match(piece, at)):
            to.append(_unescape(escape[0]))
            return escape.end()
        if self._escape or piece[at] == "\\":  # in two pieces
            self._escape += piece[at]
            if len(self._escape) == (6 if self._escape[1:2] == "u" else 2):
                to.append(_unescape(self._escape))
                self._escape = ""
            return at + 1
        if text := _TEXT.match(piece, at):
            to.append(text[0])
            return text.end()
        self._is_string = False
        if is_member:
            self._end_of_string("".join(self._read))
        return at + 1

    def _end_of_string(self, text: str) -> None:
        match self._member:
            case None:
                self._member = text
            case "type":
                self._is_answer = text == "FINAL_ANSWER"
            case "thought":
                self.thought = repair_surrogates(text)
            case "result":
                self._is_over = True


def _unescape(escape: str) -> str:
    try:
        return str(json.loads(f'"{escape}"'))
    except ValueError:
        return ""
