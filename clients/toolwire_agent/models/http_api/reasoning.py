"""Splits thoughts in tags at the start of an answer from the answer, also within a stream.

Only the start counts: the same tags later may be part of the answer, for instance in a JSON string.
"""

from __future__ import annotations

# DeepSeek, Qwen and most others; some imitators; Doubao's Seed-OSS; Kimi (as the parsers of SGLang
# and vLLM list them); Mistral's Magistral.
_TAGS = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<seed:think>": "</seed:think>",
    "◁think▷": "◁/think▷",
    "[THINK]": "[/THINK]",
}


class ReasoningSplitter:
    """Takes a reply in pieces and separates its thoughts."""

    def __init__(self) -> None:
        self._undecided = ""
        self._closing = ""  # the tag that ends the thought under way
        self._is_answering = False
        self._thoughts: list[str] = []
        self._answer: list[str] = []

    def feed(self, piece: str) -> str:
        """Add *piece* and return the text that is now known to be answer."""
        if not self._is_answering:
            piece = self._skip_thoughts(self._undecided + piece)
        self._answer.append(piece)
        return piece

    def finish(self) -> tuple[str, str]:
        """Return the whole answer and the thoughts before it."""
        if self._closing:  # it was cut off while it was thinking
            self._thoughts.append(self._undecided)
        elif not self._is_answering:
            self._answer.append(self._undecided.lstrip() if self._thoughts else self._undecided)
        thought, answer = _without_opening("".join(self._answer))
        return answer, "\n".join(filter(None, ["".join(self._thoughts).strip(), thought]))

    def _skip_thoughts(self, text: str) -> str:
        """Return the start of the answer, or "" if *text* does not reach it."""
        while True:
            if self._closing:
                thought, found, rest = text.partition(self._closing)
                if not found:  # perhaps a part of the tag has come
                    kept = len(self._closing) - 1
                    self._thoughts.append(text[:-kept])
                    self._undecided = text[-kept:]
                    return ""
                self._thoughts += [thought.rstrip(), "\n"]
                text, self._closing = rest, ""
            start = text.lstrip()
            opening = next(filter(start.startswith, _TAGS), None)
            if opening is None:
                break
            text, self._closing = start.removeprefix(opening), _TAGS[opening]
        self._undecided = text
        self._is_answering = not any(tag.startswith(start) for tag in _TAGS)
        if self._is_answering:
            return start if self._thoughts else text
        return ""


def _without_opening(answer: str) -> tuple[str, str]:
    """Split an *answer* whose opening tag was part of the prompt, as DeepSeek-R1's may be, into
    thoughts and rest.
    """
    if not answer.lstrip().startswith(("{", "[", "`")):
        for opening, closing in _TAGS.items():
            thought, found, rest = answer.partition(closing)
            if found and opening not in thought:
                return thought.strip(), rest.lstrip()
    return "", answer
