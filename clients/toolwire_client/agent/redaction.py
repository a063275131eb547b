"""Hides secrets before events are recorded.

Strategy. Three nets, since none catches all: values of environment variables named like keys, members named like
secrets, and texts that look like keys of well-known services. Hiding never makes a text longer, so that limits still
hold, and hiding twice changes nothing more.
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from ..react.messages import HIDDEN, whole

if TYPE_CHECKING:
    from collections.abc import Mapping

T = TypeVar("T", bound=msgspec.Struct)

_NAME_OF_VARIABLE = re.compile(r"(?i)(?:key|token|secret|passw(?:or)?d|passphrase|credentials?|auth)$")
_NAMES = (
    r"(?:x[-_]?)?(?:[a-z0-9]+[-_])*(?:api[-_]?key|access[-_]?key|secret[-_]?key|private[-_]?key|client[-_]?secret|secret"
    r"|passw(?:or)?d|passphrase|(?:access|refresh|auth|bearer|id|session)[-_]?token|token|authorization|(?:set[-_])?cookie)"
)
_MEMBER = re.compile(rf"(?i){_NAMES}")
_HIDES = (
    # No pattern may look far ahead from everywhere: what a tool returns may be anything, and all of it is looked at.
    # In JSON or a Python literal within a text, escaped up to four times.
    re.compile(
        rf"(?i)(?P<before>(?P<quote>\\{{0,15}}[\"']){_NAMES}(?P=quote)\s*:\s*(?P=quote))(?:(?!(?P=quote))[\s\S]){{1,}}"
    ),
    re.compile(
        r"(?i)(?P<before>\b(?:proxy-)?authorization\s*[:=]\s*(?:(?:basic|bearer|token|digest)\s+)?)[^\s\"'\\,;]{4,}"
    ),
    re.compile(r"(?i)(?P<before>\bbearer\s+)[a-z0-9._~+/=-]{8,}"),
    re.compile(r"(?P<before>\b[a-z][a-z0-9+.-]{0,30}://[^\s/:@\"'\\]{0,1000}:)[^\s/@\"'\\]{1,1000}(?=@)"),
    re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"),
    # OpenAI and those who do the same, Stripe; AWS; Google; GitHub, GitLab; Slack; Hugging Face, npm; JSON web tokens
    re.compile(r"\b[sr]k[-_][A-Za-z0-9_-]{16,}"),
    re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    re.compile(r"\bAIza[0-9A-Za-z_-]{35}"),
    re.compile(r"\b(?:gh[oprsu]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}|glpat-[A-Za-z0-9_-]{20,})"),
    re.compile(r"\bxox[a-z]-[A-Za-z0-9-]{10,}"),
    re.compile(r"\b(?:hf|npm)_[A-Za-z0-9]{30,}"),
    re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),
)


class Redactor:
    """Hides secrets, including those of *environ*, by default the process's own."""

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        environ = os.environ if environ is None else environ
        known = {value.strip() for name, value in environ.items() if _NAME_OF_VARIABLE.search(name)}
        known = {value for value in known if len(value) >= len(HIDDEN)}
        written = {json.dumps(value, ensure_ascii=False)[1:-1] for value in known}  # as it stands within JSON
        longest_first = sorted(known | written, key=lambda value: (-len(value), value))
        self._known = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None

    def text(self, text: str) -> str:
        """Return *text* without secrets, and without lone surrogates, which no file can hold."""
        text = whole(text)
        if self._known is not None:
            text = self._known.sub(HIDDEN, text)
        for pattern in _HIDES:
            text = pattern.sub(lambda found: (found.groupdict().get("before") or "") + HIDDEN, text)
        return text

    def value(self, value: Any) -> Any:
        """Return a JSON value without secrets."""
        match value:
            case str():
                return self.text(value)
            case list() | tuple():
                return [self.value(item) for item in value]
            case dict():
                return {self.text(name): self._member(name, item) for name, item in value.items()}
        return value

    def event(self, event: T) -> T:
        """Return an event without secrets."""
        plain = msgspec.to_builtins(event)
        ours = {name: plain[name] for name in ("type", "at") if name in plain}
        return msgspec.convert(self.value(plain) | ours, type(event))

    def _member(self, name: str, value: Any) -> Any:
        if isinstance(value, str) and value and _MEMBER.fullmatch(name):
            return HIDDEN
        return self.value(value)
