"""URI templates: `notes://{name}`, `files://{path*}`, `logs://{day}{?level,limit}` (a part of RFC
6570).

Strategy. Both the template and a URI are split at their slashes, and each part of the URI is
matched by itself: its fixed texts are searched from the left, as in a file pattern. This needs
linear time for every URI, which a regular expression with several groups does not.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

_EXPRESSION = re.compile(r"\{([^{}]*)\}")
_VARIABLE = re.compile(r"(\+?)([A-Za-z_]\w*)(\*?)", re.ASCII)
_QUERY = re.compile(r"\{\?([^{}]*)\}$")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[!-~]+")
_MAX_QUERY_FIELDS = 100


class _Part(msgspec.Struct, frozen=True):
    """A part of a template between two slashes: fixed texts, with one variable between each two of
    them.
    """

    texts: list[str]
    names: list[str]
    spans: bool = False
    """Whether its one variable takes slashes as well."""

    def match(self, given: str) -> dict[str, str] | None:
        """Return the variables as they are spelled in the URI, none of them empty."""
        if not self.names:
            if given == self.texts[0]:
                return {}
            return None
        first, *middle, last = self.texts
        if not given.startswith(first):
            return None
        start, values = len(first), []
        for text in middle:
            end = given.find(text, start + 1)
            if end < 0:
                return None
            values.append(given[start:end])
            start = end + len(text)
        end = len(given) - len(last)
        if end <= start or not given.endswith(last):
            return None
        return dict(zip(self.names, [*values, given[start:end]], strict=True))


class UriTemplate:
    """A template, and the URIs it matches.

    `{name}` matches a part of a URI without a slash, `{path*}` and `{+path}` one that may have
    some, and `{?a,b}` at the end members of the query, each of which may be absent.

    Raises:
        ValueError: if *text* is no template; says why.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._path = text
        self.optional: list[str] = []
        """The variables of the query."""
        query = _QUERY.search(text)
        if query is not None:
            self._path = text[: query.start()]
            self.optional = [name.strip() for name in query[1].split(",")]
        self._parts = [_parse_part(part) for part in self._path.split("/")]
        self.names: list[str] = []
        """All variables, in their order."""
        for part in self._parts:
            self.names += part.names
        self.names += self.optional
        self._check()

    @property
    def is_template(self) -> bool:
        """Whether there are any variables; without them, it matches only itself."""
        return bool(self.names)

    def match(self, uri: str) -> dict[str, str] | None:
        """Return the variables, with percent-encoding decoded; `None` if *uri* does not match.

        A variable without `*` never contains a slash, not even one that the URI spells `%2F`.
        """
        if not self.names:
            if uri == self.text:
                return {}
            return None
        path, mark, query = uri.partition("?")
        if "#" in uri or (mark and not self.optional):
            return None
        values = self._match_path(path.split("/"))
        if values is None or not mark:
            return values
        from urllib.parse import parse_qsl

        try:
            fields = parse_qsl(
                query, keep_blank_values=True, errors="strict", max_num_fields=_MAX_QUERY_FIELDS
            )
        except ValueError:
            return None
        given = dict(fields)
        if given.keys() <= set(self.optional):
            return {**values, **given}
        return None

    def _match_path(self, given: list[str]) -> dict[str, str] | None:
        extra = len(given) - len(self._parts)
        place = next((place for place, part in enumerate(self._parts) if part.spans), None)
        if place is not None and extra > 0:
            end = place + extra + 1
            given[place:end] = ["/".join(given[place:end])]
        elif extra:
            return None
        values: dict[str, str] = {}
        for part, text in zip(self._parts, given, strict=True):
            found = part.match(text)
            if found is None:
                return None
            for name, value in found.items():
                decoded = _decode(value)
                if decoded is None or ("/" in decoded and not part.spans):
                    return None
                values[name] = decoded
        return values

    def _check(self) -> None:
        if (
            self.text.startswith("{")
            or not _URI.fullmatch(_EXPRESSION.sub("x", self.text))
            or "#" in self.text
        ):
            raise ValueError(
                'write a URI with its scheme, in ASCII and without blanks, such as "notes://{name}"'
            )
        if "?" in _EXPRESSION.sub("", self.text) and self.names:
            raise ValueError("write the query of a template as {?name,other} at its end")
        if twice := sorted({name for name in self.names if self.names.count(name) > 1}):
            raise ValueError(f"it names {', '.join(twice)} twice")
        for name in self.optional:
            if not name.isidentifier() or not name.isascii():
                raise ValueError(f"{name!r} is not the name of a variable")
        if sum(part.spans for part in self._parts) > 1:
            raise ValueError("it has two variables with a *; only one can match slashes")


def _parse_part(text: str) -> _Part:
    pieces = _EXPRESSION.split(text)
    texts, names, spans = pieces[::2], [], False
    if any("{" in fixed or "}" in fixed for fixed in texts):
        raise ValueError("its braces do not match")
    for expression in pieces[1::2]:
        variable = _VARIABLE.fullmatch(expression)
        if variable is None:
            raise ValueError(
                f"{{{expression}}} is not {{name}}, {{path*}} or, at the end, {{?name,other}}"
            )
        names.append(variable[2])
        spans = spans or bool(variable[1] or variable[3])
    _check_neighbours(texts, names, spans)
    return _Part(texts, names, spans)


def _check_neighbours(texts: Sequence[str], names: Sequence[str], spans: bool) -> None:
    if spans and len(names) > 1:
        raise ValueError("a variable with a * needs a part of its own, between slashes")
    for (_, name), text in zip(pairwise(names), texts[1:], strict=False):
        if not text:
            raise ValueError(f"write something between {{{name}}} and the variable in front of it")


def _decode(text: str) -> str | None:
    """Return *text* without percent-encoding; `None` if its bytes are no UTF-8."""
    if "%" not in text:
        return text
    from urllib.parse import unquote

    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        return None
