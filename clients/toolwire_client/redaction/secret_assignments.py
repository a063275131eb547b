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

from .secret_names import PART, is_plain_word, is_secret_name, is_secret_number

if TYPE_CHECKING:
    from collections.abc import Iterator

_QUOTE = r"\\{0,15}[\"'`]"  # in JSON within JSON, quotes are escaped up to four times
_TYPE = r":[ \t]{0,4}(?:str|string|text|bytes|SecretStr)\b[^=\n\"']{0,20}"
_CANDIDATE = re.compile(
    rf"(?i){PART}[\w.-]{{0,60}}+(?P<quote>{_QUOTE})?\]?"
    rf"(?:\s{{0,8}}(?P<assigns>(?:{_TYPE})?={{1,3}}>?|:=|:)(?:\s{{0,20}}(?={_QUOTE})|[ \t]{{0,8}})"
    rf"|(?P<pairs>[\s,]{{1,8}}(?:{_QUOTE})?value(?:{_QUOTE})?\s{{0,8}}[:=]\s{{0,8}})"
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
_WORDS_OF_JSON = frozenset({"true", "false", "null", "none"})
_IN_NAMES = re.compile(r"[\w.-]")
_SHORTEST = 4  # of values without quotes: shorter words are prose


class Secret(msgspec.Struct, frozen=True):
    """The place of a secret in a text, and the text that takes its place."""

    start: int
    end: int
    replacement: str = HIDDEN


def hide_assignments(text: str) -> str:
    """Return *text* without the values that are assigned to names of secrets."""
    if _MARK.search(text) is None:
        return text
    for find in (_find_contained, _find_assigned, _find_options, _find_elements):
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
        opening = _OBJECT_OR_LIST if found["quote"] else _LIST
        if (
            not found["assigns"]
            or not opening.match(text, at)
            or not is_secret_name(_name_at(text, found))
        ):
            continue
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


def _find_assigned(text: str) -> Iterator[Secret]:
    at = 0
    while found := _CANDIDATE.search(text, at):
        at = found.end()
        name = _name_at(text, found)
        secret = _find_value(text, name, found) if is_secret_name(name) else None
        if secret is not None:
            yield secret
            at = secret.end


def _name_at(text: str, found: re.Match[str]) -> str:
    """Return the whole name of which *found* has a part, and `-` of an option."""
    return text[_start_of_name(text, found.start()) : _end_of_name(text, found.start())]


def _find_value(text: str, name: str, found: re.Match[str]) -> Secret | None:
    is_option = name.startswith("-")
    if found["gap"] and not (is_option or _is_password(name)):
        return None
    quoted = _find_quoted(text, found.end())
    if quoted is not None:
        return quoted
    if found["gap"] and not is_option:
        return None
    if name.lower().endswith(("authorization", "cookie")) and not found["gap"]:
        return _find_header(text, found.end())
    return _find_run(text, name, found)


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
def _end_of_quoted(quote: str) -> re.Pattern[str]:
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
    end = _end_of_quoted(opening[0]).search(text, first)
    if end is None and opening[0] == "'":  # an apostrophe
        return None
    last = len(text) if end is None else end.end()
    return Secret(first, last, HIDDEN if last > first else "")


def _find_header(text: str, start: int) -> Secret | None:
    scheme = _SCHEME.match(text, start)
    if scheme is not None:
        start = scheme.end()
    rest = _REST_OF_LINE.match(text, start)
    if rest is None:
        return None
    return Secret(start, rest.end())


def _find_run(text: str, name: str, found: re.Match[str]) -> Secret | None:
    """Return the value without quotes after *found*."""
    start = found.end()
    bare_name = name.lstrip("-.")
    run = text[start : _end_of_run(text, name, found)]
    kept = run.rstrip(_CLOSERS)
    if _is_no_value(run, kept, found):
        return None
    if kept.removeprefix("-").replace(".", "", 1).isdecimal():
        if not is_secret_number(bare_name):
            return None
        mark = found["quote"] or ""  # so that JSON stays JSON
        return Secret(start, start + len(kept), mark + HIDDEN + mark)
    is_call = is_plain_word(bare_name) and "(" in run
    if is_call or len(kept) < _SHORTEST:
        return None
    return Secret(start, start + len(kept))


def _is_no_value(run: str, kept: str, found: re.Match[str]) -> bool:
    """Return whether *run*, without its closing brackets *kept*, is hidden already, a word of JSON
    or another name.
    """
    rest = run.removeprefix(HIDDEN)
    if rest != run and (rest.startswith("\\") or not rest.strip(_CLOSERS)):
        return True
    if kept.lower() in _WORDS_OF_JSON:
        return True
    if found["gap"] is not None:
        return run.startswith("-")
    is_name = run.endswith(":") and is_secret_name(run)
    is_address = found["assigns"] == ":" and run.startswith("//")
    return is_name or is_address


def _end_of_run(text: str, name: str, found: re.Match[str]) -> int:
    start = found.end()
    is_option = name.startswith("-")
    if not is_option and not is_plain_word(name) and _begins_line(text, found.start()):
        rest = _REST_OF_WHOLE_LINE.match(text, start)
        return start if rest is None else rest.end()
    if found["assigns"] == "=" and not is_option:
        value = _UP_TO_SEMICOLON.match(text, start)
        if value is not None:
            return value.end()
    run = _RUN.match(text, start)
    return start if run is None else run.end()


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
        is_harmless = (
            value.isdigit() if found["login"] else _PORT_OR_PATH.fullmatch(value) is not None
        )
        if not is_harmless and value != HIDDEN:
            yield Secret(found.start("value"), found.end("value"))


def _find_elements(text: str) -> Iterator[Secret]:
    for found in _ELEMENT.finditer(text):
        if found["value"].strip() and is_secret_name(found[0][1:].split(">")[0].split()[0]):
            yield Secret(found.start("value"), found.end("value"))
