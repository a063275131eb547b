"""Finds the values of secrets in texts: what is assigned to a name, or given to an option or a
header.

Strategy. A regular expression finds the parts of secrets' names, which are few, so a long text is
read once. Code then decides from the whole name, what is between it and the value, and the form of
the value, where the value ends. No search looks far ahead from everywhere, since what a tool
returns may be anything.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from toolwire_client.redaction.hidden import HIDDEN

from .password_options import find_passwords
from .secret_names import (
    PART,
    is_plain_word,
    is_secret_name,
    is_secret_number,
    may_name_secret,
)

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

_QUOTE = r"\\{0,15}[\"'`]"  # in JSON within JSON, quotes are escaped up to four times
_TYPE = r":[ \t]{0,4}(?:str|string|text|bytes|SecretStr)\b[^=\n\"']{0,20}"
_CANDIDATE = re.compile(
    rf"(?i){PART}[\w.-]{{0,60}}+(?P<quote>{_QUOTE})?\]?"
    rf"(?:\s{{0,8}}(?P<assigns>(?:{_TYPE})?={{1,3}}>?|:=|:)(?:\s{{0,20}}(?={_QUOTE})|[ \t]{{0,8}})"
    rf"|(?P<pairs>[\s,]{{1,8}}(?:{_QUOTE})?value(?:{_QUOTE})?\s{{0,8}}[:=]\s{{0,8}})"
    rf"|(?P<listed>\s{{0,8}},\s{{0,8}}(?={_QUOTE}[^-]))"  # in JSON, the words of a command line
    r"|(?P<gap>[ \t]{1,8}))"
)
_OPTION = re.compile(
    rf"(?<![\w-])(?:(?P<login>-u|--user|--proxy-user)(?:[ \t=]{{1,8}}|(?=[^\s-]))"
    rf"(?:{_QUOTE})?[^\s:\"'\\]{{1,100}}:"
    rf"|-p[ \t]{{1,8}}(?:{_QUOTE})?)(?P<value>[^\s\"'\\]{{1,1000}})"
)
_MARK = re.compile(r"[=:<\"'`-]")
"""One of these is at every value that is found; most short texts have none, which saves four
searches.
"""

_PORT_OR_PATH = re.compile(r"\d{1,5}(?::\d{1,5})?(?:/\w+)?|[./~].*|-.*")
_ELEMENT = re.compile(
    rf"(?i)<[\w.:-]{{0,40}}{PART}[\w.:-]{{0,40}}(?:\s[^<>]{{0,200}})?>(?P<value>[^<>]{{1,10000}}+)<"
)
_SCHEME = re.compile(r"(?i)(?:basic|bearer|token|digest|negotiate|apikey)[ \t]+")
_REST_OF_LINE = re.compile(r"[^\r\n\"'\\]+")
_REST_OF_WHOLE_LINE = re.compile(
    r"(?:[^\r\n\"\\]|\\(?!\\{0,15}\"))+"
)  # which no shell and no header has in quotes
_UP_TO_SEMICOLON = re.compile(r"[^;=\r\n\"'\\]{1,200}(?=;)")
# A comma, `;` or `&` is part of a value unless a blank or another assignment follows.
_RUN = re.compile(
    r"(?:[^\s\"'`\\,;&<>]|\\(?!\\{0,15}[\"'`])|,(?!\s|$|[\w.-]{1,60}[=:])|[;&](?!\s|$|[\w."
    r" -]{1,60}=))+"
)
_CLOSERS = ")]}>.,;:!?"
_LIST = re.compile(rf"\[\s{{0,20}}{_QUOTE}")
_OBJECT_OR_LIST = re.compile(r"[\[{]")
_BRACKET_OR_QUOTE = re.compile(rf"[\[\]{{}}]|{_QUOTE}")
_COLON = re.compile(r"\s{0,20}:")
_NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)")
_WORDS_OF_JSON = frozenset({"true", "false", "null", "none"})
_LONGEST_WORD = max(map(len, _WORDS_OF_JSON))
_LONGEST_NAME = 200
_IN_NAMES = re.compile(r"[\w.-]")
_SHORTEST = 4  # of values without quotes: shorter words are prose


class Secret(msgspec.Struct, frozen=True):
    """The place of a secret in a text, and the text that takes its place."""

    start: int
    end: int
    replacement: str = HIDDEN


def hide_assignments(text: str) -> str:
    """Return *text* without the values that are assigned to names of secrets."""
    if _MARK.search(text.rstrip("=")) is None:  # which stand at the end of Base64
        return text
    searches = [_find_options, _find_passwords]
    if may_name_secret(text):
        searches = [_find_contained, _find_assigned, *searches, _find_elements]
    for find in searches:
        parts = []
        done = 0
        for secret in find(text):
            parts += [text[done : secret.start], secret.replacement]
            done = secret.end
        text = "".join([*parts, text[done:]])
    return text


def _find_contained(text: str) -> Iterator[Secret]:
    """Yield the values in quotes within lists and objects that are assigned.

    All of such a container is read, also one without an end, so it is not searched for further
    ones.
    """
    at = 0
    while found := _CANDIDATE.search(text, at):
        at = found.end()
        opening = _LIST
        if found["quote"]:
            opening = _OBJECT_OR_LIST
        if not found["assigns"] or not opening.match(text, at):
            continue
        if not is_secret_name(_name_at(text, found)):
            continue
        at = yield from _find_in_container(text, at)


def _find_in_container(text: str, start: int) -> Generator[Secret, None, int]:
    """Yield the values in quotes within the container that begins at *start*; return its end."""
    at = start
    depth = 0
    while token := _BRACKET_OR_QUOTE.search(text, at):
        at = token.end()
        if token[0] in "[{":
            depth += 1
        elif token[0] in "]}":
            depth -= 1
        elif quoted := _find_quoted(text, token.start()):
            at = min(len(text), quoted.end + len(token[0]))
            if not _COLON.match(text, at):
                yield quoted
        if depth == 0:
            break
    return at


def _find_assigned(text: str) -> Iterator[Secret]:
    at = 0
    runs = _Runs(text)
    while found := _CANDIDATE.search(text, at):
        at = found.end()
        name = _name_at(text, found)
        if not is_secret_name(name):
            continue
        secret = _find_value(runs, name, found)
        if secret is not None:
            yield secret
            at = secret.end


def _name_at(text: str, found: re.Match[str]) -> str:
    """Return the whole name of which *found* has a part, and `-` of an option."""
    return text[_start_of_name(text, found.start()) : _end_of_name(text, found.start())]


class _Runs:
    """The values without quotes in *text*.

    A value that is no secret may have others in it (`key=(key=(…`). All of them end at the same
    place, which is searched once, so that the whole text is read once.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._end = self._kept_end = 0
        self._parenthesis = -1
        """The first one from the latest start on, or the end of the text."""

    def find_end(self, start: int) -> int:
        """Return where the value at *start* ends."""
        if start >= self._end:
            run = _RUN.match(self.text, start)
            self._end = start
            if run is not None:
                self._end = run.end()
            self._kept_end = self._end
            while self._kept_end > start and self.text[self._kept_end - 1] in _CLOSERS:
                self._kept_end -= 1
        return self._end

    def find_kept_end(self, start: int, end: int) -> int:
        """Return where the value from *start* to *end* ends without its closing brackets."""
        if end == self._end:
            return max(start, self._kept_end)
        while end > start and self.text[end - 1] in _CLOSERS:
            end -= 1
        return end

    def has_parenthesis(self, start: int, end: int) -> bool:
        """Whether there is a `(` from *start* to *end*."""
        if self._parenthesis < start:
            found = self.text.find("(", start)
            if found < 0:
                found = len(self.text)
            self._parenthesis = found
        return self._parenthesis < end


def _find_value(runs: _Runs, name: str, found: re.Match[str]) -> Secret | None:
    text = runs.text
    is_option = name.startswith("-")
    if found["gap"] and not (is_option or _is_password(name)):
        return None
    if found["listed"] and not (is_option and found["quote"]):
        return None
    quoted = _find_quoted(text, found.end())
    if quoted is not None:
        return quoted
    if found["gap"] and not is_option:
        return None
    if name.lower().endswith(("authorization", "cookie")) and not found["gap"]:
        return _find_header(text, found.end())
    return _find_run(runs, name, found)


def _start_of_name(text: str, at: int) -> int:
    least = max(0, at - 60)
    while at > least and _IN_NAMES.match(text[at - 1]):
        at -= 1
    return at


def _end_of_name(text: str, at: int) -> int:
    while at < len(text) and _IN_NAMES.match(text[at]):
        at += 1
    return at


def _is_password(name: str) -> bool:
    return name.lower().startswith(("pass", "pwd")) and name.lower() != "pass"


_OPENING = re.compile(_QUOTE)


@lru_cache(64)
def _find_end_of_quoted(quote: str) -> re.Pattern[str]:
    """Return what finds the end of a text that *quote*, with its backslashes, has opened.

    A quote at the same depth of JSON has as many backslashes; escaped backslashes of the text can
    stand before them.
    """
    depth = len(quote) - 1
    return re.compile(rf"(?<!\\)(?:\\{{{2 * (depth + 1)}}})*(?=\\{{{depth}}}{quote[-1]})")


def _find_quoted(text: str, start: int) -> Secret | None:
    """Return what stands in quotes at *start*; it ends with the whole text if the quote does not
    end.
    """
    opening = _OPENING.match(text, start)
    if opening is None:
        return None
    first = opening.end()
    end = _find_end_of_quoted(opening[0]).search(text, first)
    if end is None and opening[0] == "'":  # an apostrophe
        return None
    last = len(text)
    if end is not None:
        last = end.end()
    if last == first:
        return Secret(first, last, "")
    return Secret(first, last)


def _find_header(text: str, start: int) -> Secret | None:
    scheme = _SCHEME.match(text, start)
    if scheme is not None:
        start = scheme.end()
    rest = _REST_OF_LINE.match(text, start)
    if rest is None:
        return None
    return Secret(start, rest.end())


def _find_run(runs: _Runs, name: str, found: re.Match[str]) -> Secret | None:
    """Return the value without quotes after *found*."""
    start = found.end()
    bare_name = name.lstrip("-.")
    end = _end_of_run(runs, name, found)
    kept_end = runs.find_kept_end(start, end)
    if _is_no_value(runs.text, end, kept_end, found):
        return None
    number = _NUMBER.match(runs.text, start, kept_end)
    if number is not None and number.end() == kept_end:
        if not is_secret_number(bare_name):
            return None
        mark = found["quote"] or ""  # so that JSON stays JSON
        return Secret(start, kept_end, mark + HIDDEN + mark)
    is_call = is_plain_word(bare_name) and runs.has_parenthesis(start, end)
    if is_call or kept_end - start < _SHORTEST:
        return None
    return Secret(start, kept_end)


def _is_no_value(text: str, end: int, kept_end: int, found: re.Match[str]) -> bool:
    """Return whether what follows *found* up to *end*, or *kept_end* without closing brackets, is
    hidden already, a word of JSON or another name.
    """
    start = found.end()
    if text.startswith(HIDDEN, start, end):
        rest = start + len(HIDDEN)
        if text.startswith("\\", rest, end) or kept_end <= rest:
            return True
    if kept_end - start <= _LONGEST_WORD and text[start:kept_end].lower() in _WORDS_OF_JSON:
        return True
    if found["gap"] is not None:
        return text.startswith("-", start, end)
    is_short = end - start <= _LONGEST_NAME
    is_name = is_short and text.endswith(":", start, end) and is_secret_name(text[start:end])
    is_address = found["assigns"] == ":" and text.startswith("//", start, end)
    return is_name or is_address


def _end_of_run(runs: _Runs, name: str, found: re.Match[str]) -> int:
    text, start = runs.text, found.end()
    is_option = name.startswith("-")
    if not is_option and not is_plain_word(name) and _begins_line(text, found.start()):
        rest = _REST_OF_WHOLE_LINE.match(text, start)
        if rest is None:
            return start
        return rest.end()
    if found["assigns"] == "=" and not is_option:
        value = _UP_TO_SEMICOLON.match(text, start)
        if value is not None:
            return value.end()
    return runs.find_end(start)


def _begins_line(text: str, at: int) -> bool:
    """Return whether the name at *at* is the first in its line, as in YAML and in files of
    variables.
    """
    first = _start_of_name(text, at)
    before = text[max(0, first - 20) : first].rpartition("\n")
    is_cut = first > 20 and not before[1]
    return not is_cut and before[2].strip(" \t-") in ("", "export", "set", "ENV")


def _find_options(text: str) -> Iterator[Secret]:
    """Yield the values of `-p`, and the passwords of `-u name:password`."""
    for found in _OPTION.finditer(text):
        value = found["value"]
        if found["login"]:
            is_harmless = value.isdigit()
        else:
            is_harmless = _PORT_OR_PATH.fullmatch(value) is not None
        if not is_harmless and value != HIDDEN:
            yield Secret(found.start("value"), found.end("value"))


def _find_passwords(text: str) -> Iterator[Secret]:
    for start, end in find_passwords(text):
        if not text.startswith(HIDDEN, start, end):
            yield Secret(start, end)


def _find_elements(text: str) -> Iterator[Secret]:
    for found in _ELEMENT.finditer(text):
        if found["value"].strip() and is_secret_name(found[0][1:].split(">")[0].split()[0]):
            yield Secret(found.start("value"), found.end("value"))
