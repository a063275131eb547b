"""Hides secrets in what is recorded: the one place that decides what a secret is, with the two
files that it uses.

Strategy. Three nets, since none catches all: values of environment variables, what has a name like
that of a secret (see `secret_names.py`; `secret_assignments.py` finds such names in texts), and
texts that look like keys of well-known services. Hiding twice changes nothing more.
"""

from __future__ import annotations

import json
import os
import re
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, quote_plus

import msgspec

from toolwire_client.redaction.hidden import HIDDEN, repair_surrogates

from .password_options import find_program, has_password, takes_next
from .secret_assignments import hide_assignments
from .secret_names import is_ordinary_variable, is_secret_name, is_secret_number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

T = TypeVar("T", bound=msgspec.Struct)

_SHORTEST_NAMED, _SHORTEST_UNNAMED = 4, 8
"""Characters of a variable's value that is hidden, if the name is that of a secret, and if not."""

_KEPT_OF_SCHEMA = ("enum", "const", "pattern", "format", "$ref")
_TYPES = ("string", "integer", "number", "boolean", "array", "object", "null")
_HEADER = re.compile(
    r"(?i)(?:proxy-)?authorization|(?:set-)?cookie|[a-z]{1,20}(?:-[a-z]{1,20}){1,5}"
)
_HIDES = (
    # Each with the texts of which one is in all that it finds, in lower case: to look for them is
    # twenty times faster. No pattern may look far ahead from everywhere: what a tool returns may be
    # anything, and all of it is looked at.
    (("bearer",), re.compile(r"(?i)(?P<before>\bbearer\s+)[a-z0-9._~+/=-]{8,}")),
    (
        ("://",),
        re.compile(
            r"(?P<before>\b[a-z][a-z0-9+.-]{0,30}://[^\s/:@\"'\\]{0,1000}:)[^\s/@\"'\\]{1,1000}(?=@)"
        ),
    ),
    (
        ("-----begin",),
        re.compile(
            r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
        ),
    ),
    # OpenAI and those who do the same, Stripe; AWS; Google; GitHub, GitLab; Slack; Hugging Face,
    # npm; JSON web tokens
    (("sk-", "sk_", "rk-", "rk_"), re.compile(r"\b[sr]k[-_][A-Za-z0-9_-]{16,}")),
    (("akia", "asia"), re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b")),
    (("aiza",), re.compile(r"\bAIza[0-9A-Za-z_-]{35}")),
    (
        ("gho_", "ghp_", "ghr_", "ghs_", "ghu_", "github_pat_", "glpat-"),
        re.compile(
            r"\b(?:gh[oprsu]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}|glpat-[A-Za-z0-9_-]{20,})"
        ),
    ),
    (("xox",), re.compile(r"\bxox[a-z]-[A-Za-z0-9-]{10,}")),
    (("hf_", "npm_"), re.compile(r"\b(?:hf|npm)_[A-Za-z0-9]{30,}")),
    (
        (".eyj",),
        re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),
    ),
)


class Redactor:
    """Hides secrets, including those of *environ*, by default the process's own.

    With *hides_all*, every value of *environ* is one, apart from paths and those that a system sets
    itself.
    """

    def __init__(
        self, environ: Mapping[str, str] | None = None, *, hides_all: bool = False
    ) -> None:
        if environ is None:
            environ = os.environ
        known = set[str]()
        for name, value in environ.items():
            if _is_hidden_variable(name, value.strip(), hides_all=hides_all):
                known.update(_list_ways_to_write(value.strip()))
        longest_first = sorted(known, key=lambda value: (-len(value), value))
        self._known: re.Pattern[str] | None = None
        if longest_first:
            self._known = re.compile("|".join(map(_as_pattern, longest_first)))
        # Records have the same names many thousand times.
        self._redact_name = lru_cache(1024)(self.redact_text)

    def redact_text(self, text: str) -> str:
        """Return *text* without secrets, and without lone surrogates, which no file can hold."""
        text = repair_surrogates(text)
        if self._known is not None:
            text = self._known.sub(HIDDEN, text)
        lowered = text.lower()
        for marks, pattern in _HIDES:
            if any(mark in lowered for mark in marks):
                text = pattern.sub(_hide, text)
        return self._hide_within_json(hide_assignments(text))

    def redact_value(self, value: Any) -> Any:
        """Return a JSON value without secrets."""
        return self._redact_value(value, "")

    def redact_event(self, event: T) -> T:
        """Return an event without secrets."""
        plain = msgspec.to_builtins(event)
        ours = {name: plain[name] for name in ("type", "at") if name in plain}
        return msgspec.convert(self.redact_value(plain) | ours, type(event))

    def _redact_value(self, value: Any, parent: str) -> Any:
        """Return *value*, the member *parent* of an object, without secrets."""
        match value:
            case str():
                return self.redact_text(value)
            case list() | tuple():
                return self._redact_items(value)
            case dict():
                return self._redact_members(
                    value, is_of_schemas=parent in ("properties", "patternProperties")
                )
        return value

    def _redact_items(self, items: Sequence[Any]) -> list[Any]:
        """Return *items* without secrets; they may be a command line, or the name and the value of
        a header.
        """
        hidden = []
        is_secret = False
        program = ""
        is_header = (
            len(items) == 2
            and isinstance(items[0], str)
            and _HEADER.fullmatch(items[0]) is not None
        )
        for item in items:
            is_value = is_secret and isinstance(item, str) and not item.startswith("-")
            if isinstance(item, str) and has_password(program, item):
                hidden.append(item[:2] + HIDDEN)
            else:
                hidden.append(HIDDEN if is_value and item else self._redact_value(item, ""))
            names_secret = isinstance(item, str) and is_secret_name(item)
            is_secret = isinstance(item, str) and (
                item == "-p"
                or takes_next(program, item)
                or (names_secret and (is_header or item[:1] == "-"))
            )
            program = program or (find_program(item) if isinstance(item, str) else "")
        return _without_logins(hidden)

    def _redact_members(self, members: dict[str, Any], *, is_of_schemas: bool) -> dict[str, Any]:
        """Return *members* without secrets. They may be the schemas of members of an object, by
        name.
        """
        named = members.get("name", members.get("key"))
        if not isinstance(named, str):
            named = ""
        is_pair = "value" in members and is_secret_name(named)
        hidden = {}
        for name, value in members.items():
            if is_pair and name == "value":
                hidden[name] = self._redact_secret(named, value)
            elif not is_secret_name(name) or (is_pair and name == "key"):
                hidden[self._redact_name(name)] = self._redact_value(value, name)
            elif is_of_schemas:
                hidden[self._redact_name(name)] = self._redact_schema(name, value)
            else:
                hidden[self._redact_name(name)] = self._redact_secret(name, value)
        return hidden

    def _redact_secret(self, name: str, value: Any) -> Any:
        """Return what is kept of *value* under the *name* of a secret: no text, and no number that
        may be one.
        """
        match value:
            case str() if value:
                return HIDDEN
            case list() | tuple():
                return [self._redact_secret(name, item) for item in value]
            case dict():
                return {
                    self.redact_text(inner): self._redact_secret(name, item)
                    for inner, item in value.items()
                }
            case int() | float() if not isinstance(value, bool) and is_secret_number(name):
                return HIDDEN
        return value

    def _redact_schema(self, name: str, schema: Any) -> Any:
        """Return the *schema* of the member *name* without values that may be secrets; it still is
        a schema.
        """
        if not isinstance(schema, dict):
            return self._redact_secret(name, schema)
        hidden = {}
        for word, value in schema.items():
            if word in ("title", "description") or word in _KEPT_OF_SCHEMA:
                hidden[word] = self._redact_value(value, word)
            elif word == "type" and (value in _TYPES or isinstance(value, list)):
                hidden[word] = _keep_types(value)
            elif word in ("anyOf", "oneOf", "allOf") and isinstance(value, list):
                hidden[word] = [self._redact_schema(name, item) for item in value]
            elif word == "items":
                hidden[word] = self._redact_schema(name, value)
            elif word == "properties":
                hidden[word] = self._redact_value(value, word)
            elif word in ("default", "examples"):
                hidden[word] = self._redact_secret(name, value)
            elif isinstance(value, str):
                hidden[self.redact_text(word)] = HIDDEN
            else:
                hidden[self.redact_text(word)] = self._redact_value(value, word)
        return hidden

    def _hide_within_json(self, text: str) -> str:
        """Return *text* without secrets in lists and objects, if all of it is JSON.

        It is written anew only if it has such a secret, so that any other text keeps its form.
        """
        if not text.startswith(("{", "[")):
            return text
        try:
            value = msgspec.json.decode(text)
            hidden = self.redact_value(value)
        except (ValueError, RecursionError):
            return text
        if hidden == value:
            return text
        return json.dumps(hidden, ensure_ascii=False)


def _keep_types(value: Any) -> Any:
    """Return a type of JSON Schema, or those in a list of them."""
    if isinstance(value, list):
        return [item for item in value if item in _TYPES]
    return value


def _is_hidden_variable(name: str, value: str, *, hides_all: bool) -> bool:
    if is_ordinary_variable(name) or value in HIDDEN:
        return False
    if is_secret_name(name):
        return len(value) >= _SHORTEST_NAMED
    is_path = value.startswith(("/", "./", "~")) or value[1:3] in (":\\", ":/")
    return hides_all and len(value) >= _SHORTEST_UNNAMED and not is_path


def _list_ways_to_write(value: str) -> set[str]:
    """Return *value* as it stands in texts, in JSON once and within JSON, in addresses and in Basic
    authentication.
    """
    once = {json.dumps(value, ensure_ascii=is_ascii)[1:-1] for is_ascii in (True, False)}
    twice = {json.dumps(text, ensure_ascii=False)[1:-1] for text in once}
    return {value, *once, *twice, quote(value, safe=""), quote_plus(value)}


def _as_pattern(value: str) -> str:
    """Return what matches *value*; a short one only as a word, since its letters stand in
    others.
    """
    pattern = re.escape(value)
    if len(value) >= _SHORTEST_UNNAMED:
        return pattern
    return rf"(?<!\w){pattern}(?!\w)"


def _hide(found: re.Match[str]) -> str:
    return (found.groupdict().get("before") or "") + HIDDEN


def _without_logins(words: list[Any]) -> list[Any]:
    """Return *words* of a command line without the password in `-u name:password`."""
    for place, (option, login) in enumerate(pairwise(words), start=1):
        if option in ("-u", "--user", "--proxy-user") and isinstance(login, str) and ":" in login:
            words[place] = login.partition(":")[0] + ":" + HIDDEN
    return words
