"""Docstrings in the styles of NumPy and reST, in their usual forms. Imported for the first of them.

Strategy. docstring-parser reads these styles, too, but to import it and to compile its expressions
takes as long as a third of a server's start. So the usual sections and fields are read here, with
the same results; what is not usual is left to it (`NotUsual`).
"""

from __future__ import annotations

from itertools import pairwise

from .docstring_entries import DocEntry, Sections, cut_margin, without_margin

_NUMPY_TITLES = {
    "parameters": (
        *("Parameters", "Params", "Arguments", "Args"),
        *("Other Parameters", "Other Params", "Other Arguments", "Other Args"),
    ),
    "returns": ("Returns", "Return", "Yields", "Yield"),
    "dropped": (
        *("Raises", "Raise", "Warns", "Warn", "Attributes", "Attribute"),
        *("See Also", "Related", "References", "Reference"),
    ),
    "notes": ("Notes", "Note"),
    "warnings": ("Warnings", "Warning"),
}
_NUMPY_KINDS: dict[str, str] = {}
for _kind, _titles in _NUMPY_TITLES.items():
    _NUMPY_KINDS |= dict.fromkeys(_titles, _kind)
_NUMPY_UNUSUAL = ("Examples", "Example", "Receives", "Receive")

_PARAMETER_FIELDS = {"param", "parameter", "arg", "argument", "key", "keyword", "attribute"}
_RESULT_FIELDS = {"return", "returns", "yield", "yields"}
_ERROR_FIELDS = {"raises", "raise", "except", "exception"}
_KEPT_FIELDS = ("example", "examples", "note", "notes", "warning", "warnings")


class NotUsual(Exception):
    """A docstring in a form that is not read here."""


# --- NumPy's style --------------------------------------------------------------------------------


def read_numpy(text: str) -> Sections:
    """Return the parts of *text*, a docstring in NumPy's style.

    Raises:
        NotUsual: if docstring-parser has to read it.
    """
    lines = text.split("\n")
    titles = _find_numpy_titles(lines)
    places = [*titles, len(lines)]
    description = [_join_description(lines[: places[0]])]
    parameters: list[DocEntry] = []
    returns: list[DocEntry] = []
    for title, end in pairwise(places):
        kind = _NUMPY_KINDS[lines[title]]
        body = lines[title + 2 : end]
        if kind == "parameters":
            parameters += _read_numpy_parameters(body)
        elif kind == "returns":
            returns += [_read_numpy_return(key, value) for key, value in _split_items(body)]
        elif kind != "dropped":
            description.append(f"{kind.capitalize()}:\n" + "\n".join(body).strip())
    return Sections("\n\n".join(description), parameters, returns)


def _find_numpy_titles(lines: list[str]) -> list[int]:
    """Return the numbers of the lines that are titles; each has its underline in the next line."""
    titles = []
    for number, line in enumerate(lines):
        if line.startswith(".."):
            raise NotUsual
        if line not in _NUMPY_KINDS and line not in _NUMPY_UNUSUAL:
            continue
        if _find_text_below(lines, number) != "-" * len(line):
            continue
        is_underline_next = bool(lines[number + 1])
        if line in _NUMPY_UNUSUAL or not is_underline_next:
            raise NotUsual
        titles.append(number)
    return titles


def _find_text_below(lines: list[str], number: int) -> str:
    """Return the first line below line *number* that is not blank; "" without one."""
    for line in lines[number + 1 :]:
        if line:
            return line
    return ""


def _split_items(body: list[str]) -> list[tuple[str, str]]:
    """Return the lines of *body* without indentation, each with the text below it."""
    items: list[tuple[str, list[str]]] = []
    for line in body:
        if line and not line[0].isspace():
            items.append((line, []))
        elif items:
            items[-1][1].append(line)
    return [(key, without_margin(value).strip()) for key, value in items]


def _read_numpy_parameters(body: list[str]) -> list[DocEntry]:
    parameters = []
    for key, value in _split_items(body):
        names, colon, type_ = key.partition(":")
        type_name = None
        if colon:
            type_name = _without_remarks(type_.lstrip())
            names = names.rstrip()
        for name in names.split(","):
            parameters.append(DocEntry(name.strip(" *"), type_name, " ".join(value.split())))
    return parameters


def _without_remarks(type_: str) -> str:
    """Return *type_* without `, optional`, and without the default value."""
    for remark in (", optional", "(optional)"):
        if type_.endswith(remark):
            type_ = type_.removesuffix(remark)
            break
    places = [type_.find(remark) for remark in (", default", "(default)")]
    found = [place for place in places if place >= 0]
    if found:
        return type_[: min(found)]
    return type_


def _read_numpy_return(key: str, value: str) -> DocEntry:
    name, colon, type_ = key.partition(":")
    if colon:
        return DocEntry(name.rstrip(), type_.lstrip(), value)
    return DocEntry(None, key, value)


# --- reST -----------------------------------------------------------------------------------------


class _Fields:
    """The fields of a docstring in reST."""

    def __init__(self) -> None:
        self.kept: list[str] = []
        self._parameters: list[DocEntry] = []
        self._returns: list[DocEntry] = []
        self._types: dict[str, str] = {}
        self._result_types: dict[str | None, str] = {}

    def add(self, words: list[str], text: str) -> None:
        """Add the field of *words*, those between its colons."""
        kind, *others = words
        if kind == "type" and len(others) == 1:
            self._types[others[0]] = text
        elif kind == "rtype" and len(others) <= 1:
            name = others[0] if others else None
            self._result_types[name] = text
        elif kind in _PARAMETER_FIELDS:
            self._add_parameter(kind, others, text)
        elif kind in _KEPT_FIELDS:
            self.kept.append(f"{kind.capitalize()}:\n{text}")
        elif kind in _RESULT_FIELDS or kind in _ERROR_FIELDS:
            if len(others) > 1:
                raise NotUsual
            if kind in _RESULT_FIELDS:
                type_ = others[0] if others else None
                self._returns.append(DocEntry(None, type_, text))

    def _add_parameter(self, kind: str, others: list[str], text: str) -> None:
        if not 1 <= len(others) <= 2:
            raise NotUsual
        if kind == "attribute":
            return
        *types, names = others
        type_ = None
        if types:
            type_ = types[0].removesuffix("?")
        self._parameters.append(DocEntry(names, type_, " ".join(text.split())))

    def list_parameters(self) -> list[DocEntry]:
        """Return the parameters, with the types of other fields."""
        parameters = []
        for given in self._parameters:
            names = given.name or ""
            type_ = given.type or self._types.get(names)
            for name in names.split(","):
                parameters.append(DocEntry(name.strip(" *"), type_, given.text))
        return parameters

    def list_returns(self) -> list[DocEntry]:
        """Return what is returned, with the types of other fields."""
        if not self._returns:
            return [DocEntry(name, type_) for name, type_ in self._result_types.items()]
        result_type = self._result_types.get(None)
        return [DocEntry(None, given.type or result_type, given.text) for given in self._returns]


def read_rest(text: str) -> Sections:
    """Return the parts of *text*, a docstring with the fields of reST.

    Raises:
        NotUsual: if docstring-parser has to read it.
    """
    lines = text.split("\n")
    starts = [number for number, line in enumerate(lines) if line.startswith(":")]
    if not starts:
        return Sections(_join_description(lines))
    fields = _Fields()
    for start, end in pairwise([*starts, len(lines)]):
        words, colon, field_text = "\n".join(lines[start:end]).lstrip(":").partition(":")
        if not colon or not words.strip():
            raise NotUsual
        fields.add(words.split(), _clean_field(field_text))
    description = [_join_description(lines[: starts[0]]), *fields.kept]
    return Sections("\n\n".join(description), fields.list_parameters(), fields.list_returns())


def _clean_field(text: str) -> str:
    """Return the text of a field; the margins of its first two lines are their own."""
    first, *rest = text.strip().split("\n")
    if not rest:
        return first
    second, *others = rest
    lines = [second.lstrip(), *cut_margin(others)]
    return f"{first}\n" + "\n".join(lines).strip("\n")


def _join_description(lines: list[str]) -> str:
    """Return the first of *lines* and the others, with at most one blank line between."""
    if not lines:
        return ""
    first, *others = lines
    gap = "\n\n" if others and not others[0] else "\n"
    rest = "\n".join(others).strip()
    return gap.join(filter(None, (first, rest)))
