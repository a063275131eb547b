"""The sections of a docstring: parameters, results, notes. Imported for the first docstring of more
than a sentence.

Strategy. The style is recognised by the first section. Google's is read here, since it is by far
the most frequent, the usual forms of NumPy's and reST in `docstring_styles.py`; the rest is read by
docstring-parser, which takes longer to import than all others take to read.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from .docstring_entries import DocEntry, Sections, indent_of, without_margin

if TYPE_CHECKING:
    from docstring_parser import Docstring as ParsedDocstring

_PARAMETER_TITLES = {
    "args",
    "arguments",
    "parameters",
    "params",
    "keyword args",
    "keyword arguments",
    "other parameters",
}
_RESULT_TITLES = {"return", "returns", "yield", "yields", "raise", "raises"}
_TITLES = _PARAMETER_TITLES | _RESULT_TITLES | {"attributes", "except", "exceptions"}
_FIELDS = _RESULT_TITLES | {"param", "parameter", "arg", "argument", "key", "keyword"}
_FIELDS |= {"type", "rtype"}
"""The fields of reST and Epydoc, as in `:param name: text`."""
_KEPT_TITLES = ("example", "examples", "note", "notes", "warning", "warnings")
"""Sections that stay in the description."""

_BULLETS = ("-", "*", "+", "•", "#")
_COLONS = (":", "：")
_TYPE_NAMES = {"str", "int", "float", "bool", "list", "dict", "tuple", "set", "bytes", "None"}


def split_sections(text: str) -> Sections:
    """Return the parts of *text*; if it cannot be read, all of it is description."""
    text = dedent(text)
    style = _find_style(text)
    found = None
    if style == "GOOGLE":
        found = _read_google(text)
    elif style is not None:
        found = _read_other_style(text, style)
    return found or Sections(text)


def _find_style(text: str) -> str | None:
    """Return the style that the first marked section of *text* is written in."""
    # Regular expressions would cost start-up.
    lines = [line.strip() for line in text.split("\n")]
    for line, next_line in zip(lines, [*lines[1:], ""], strict=True):
        if _is_title(line):
            return "GOOGLE"
        is_underlined = len(next_line) > 2 and set(next_line) == {"-"}
        if is_underlined and line.lower() in _TITLES:
            return "NUMPYDOC"
        if line[:1] in (":", "@") and ":" in line[1:]:
            field = line[1:].partition(":")[0].partition(" ")[0]
            if field in _FIELDS:
                if line[0] == ":":
                    return "REST"
                return "EPYDOC"
    return None


def _is_title(line: str) -> bool:
    return line.endswith(_COLONS) and line[:-1].rstrip().lower() in _TITLES


def dedent(text: str) -> str:
    """Return *text* without its margin, and without the roles of reST."""
    if ":`" in text:
        text = _without_roles(text)
    first, *rest = text.expandtabs().split("\n")
    margins = [indent_of(line) for line in rest if line.strip()]
    margin = min(margins, default=0)
    if margins and margins[0] == margin and _is_title(first.strip()):
        # The first line is the title of a section, and all others are in it: the margin of the
        # docstring is smaller than what can be seen.
        margin = max(margin - 4, 0)
    lines = [first.strip(), *(line[margin:].rstrip() for line in rest)]
    return "\n".join(lines).strip("\n")


def _without_roles(text: str) -> str:
    """Return `typing.List` for `:class:`~typing.List``, and `text` for ``:ref:`text <place>``."""
    import re

    return re.sub(r"(?<![\w`]):[a-zA-Z][\w:.+-]*:`[~!]?([^`<]+?)(?:\s*<[^`<>]*>)?`", r"\1", text)


# --- Google's style -------------------------------------------------------------------------------


class _GoogleLines:
    """The lines of a docstring in Google's style, each in the section it belongs to."""

    def __init__(self, text: str) -> None:
        self.head: list[str] = []
        self.parameters: list[str] = []
        self.returns: list[str] = []
        self.below: list[list[str]] = []
        """What belongs to the description although it stands below a section: notes, examples, and
        text outside of sections.
        """
        self._has_sections = False
        self._section = self.head
        self._margin: int | None = None
        """In a section, the margin of its entries: 0 before the first one."""
        for line in text.split("\n"):
            self._add(line)

    def _add(self, line: str) -> None:
        title = self._read_title(line)
        if title in _TITLES:
            self._has_sections = True
            self._begin(self._find_section(title))
        elif title in _KEPT_TITLES and self._has_sections:
            self._begin_below(f"{title.capitalize()}:", 0)
        elif line and self._margin and not indent_of(line):
            self._begin_below(line, None)
        else:
            if line and self._margin == 0:
                self._margin = indent_of(line)
            self._section.append(line)

    def _read_title(self, line: str) -> str:
        """Return the title that *line* is, in lower case; empty for an entry that ends in a
        colon.
        """
        is_entry = bool(self._margin) and indent_of(line) >= (self._margin or 0)
        if is_entry or not line.endswith(_COLONS):
            return ""
        return line.strip()[:-1].rstrip().lower()

    def _find_section(self, title: str) -> list[str]:
        if title in _PARAMETER_TITLES:
            return self.parameters
        if title in ("return", "returns"):
            return self.returns
        return []  # errors and attributes are for other readers than models

    def _begin(self, section: list[str]) -> None:
        self._section, self._margin = section, 0

    def _begin_below(self, first_line: str, margin: int | None) -> None:
        self._section, self._margin = [first_line], margin
        self.below.append(self._section)


def _read_google(text: str) -> Sections | None:
    lines = _GoogleLines(text)
    parameters = _read_google_parameters(without_margin(lines.parameters))
    if parameters is None:
        return None
    description = ["\n".join(lines.head).strip()]
    for title, *block in lines.below:
        description.append(f"{title}\n{without_margin(block)}".strip())
    returns = read_returns(without_margin(lines.returns))
    return Sections("\n\n".join(description), parameters, returns)


def _read_google_parameters(section: str) -> list[DocEntry] | None:
    """Return the entries of *section*, each `name (type): text`; None if it does not begin with
    one.
    """
    if not section:
        return []
    found: list[tuple[str, str, str]] = []
    for line in section.split("\n"):
        entry = None
        if not line[:1].isspace():
            entry = _split_entry(line)
        if entry is not None:
            found.append(entry)
        elif found:
            names, type_, text = found.pop()
            found.append((names, type_, f"{text} {line}"))
        else:
            return None
    parameters = []
    for names, type_, text in found:
        for name in names.split(","):
            entry_text = " ".join(text.split())
            parameters.append(DocEntry(name.strip(" `*"), type_ or None, entry_text))
    return parameters


def read_returns(section: str) -> list[DocEntry]:
    """Return the entries of Google's Returns section, each `name (type): text`, without
    indentation.

    `word: text` is a type if Python has one by that name, and else a name.
    """
    blocks: list[list[str]] = []
    for line in section.split("\n"):
        is_continued = line[:1].isspace() or without_bullet(line) is not None
        if not blocks or (not is_continued and split_entry(line) is not None):
            blocks.append([])
        blocks[-1].append(line)
    return [_read_return(block) for block in blocks if any(block)]


def _read_return(lines: list[str]) -> DocEntry:
    first, *further = lines
    word, type_, text = "", "", first
    if without_bullet(first) is None:
        word, type_, text = split_entry(first) or (word, type_, text)
    is_type = word in _TYPE_NAMES or not word.isidentifier()
    if is_type and not type_:
        word, type_ = "", word
    return DocEntry(word or None, type_ or None, "\n".join([text, *further]).rstrip())


def without_bullet(line: str) -> str | None:
    """Return *line* without its bullet or number; None if it has none."""
    line = line.strip()
    number, _, item = line.partition(" ")
    if number[:-1].isdigit() and number[-1] in ".)":
        return item.strip()
    bullet = line[:1]
    if bullet not in _BULLETS:
        return None
    item = line.lstrip("#") if bullet == "#" else line[1:]
    # -1 is a number, and ** begins what is bold.
    if not item or item[0] == bullet or item[0].isdigit():
        return None
    return item.strip()


def split_entry(line: str) -> tuple[str, str, str] | None:
    """Return the word, the type in parentheses and the text of `word (type): text`; None if *line*
    is no such thing.
    """
    found = _split_entry(line)
    if found is None:
        return None
    word_before_brackets = found[0].partition("[")[0]
    if " " in word_before_brackets:
        return None
    return found


def _split_entry(line: str) -> tuple[str, str, str] | None:
    """As `split_entry`, with any number of words."""
    colon = _find_colon(line)
    if not colon:  # none, or at the start
        return None
    words, parenthesis, type_ = line[:colon].strip().partition("(")
    if parenthesis and not type_.endswith(")"):
        return None
    return words.strip(" `*'\""), type_.removesuffix(")").strip(), line[colon + 1 :].strip()


def _find_colon(line: str) -> int | None:
    """Return the place of the first colon outside of brackets."""
    depth = 0
    for place, character in enumerate(line):
        if character in "[({<":
            depth += 1
        elif character in "])}>":
            depth -= 1
        elif character in _COLONS and depth <= 0:
            return place
    return None


# --- other styles ---------------------------------------------------------------------------------


def _read_other_style(text: str, style: str) -> Sections | None:
    if style != "EPYDOC":
        from .docstring_styles import NotUsual, read_numpy, read_rest

        with suppress(NotUsual):
            if style == "NUMPYDOC":
                return read_numpy(text)
            return read_rest(text)
    return _read_by_docstring_parser(text, style)


def _read_by_docstring_parser(text: str, style: str) -> Sections | None:
    import docstring_parser

    try:
        found = docstring_parser.parse("\n" + text, style=docstring_parser.DocstringStyle[style])
    except (docstring_parser.ParseError, ValueError, IndexError):
        return None
    parameters = []
    for item in found.params:
        if not item.args or item.args[0] == "attribute":
            continue
        for name in item.arg_name.split(","):
            description = " ".join((item.description or "").split())
            parameters.append(DocEntry(name.strip(" *"), item.type_name, description))
    returns = [
        DocEntry(item.return_name, item.type_name, item.description or "")
        for item in found.many_returns
    ]
    return Sections(_read_description(found), parameters, returns)


def _read_description(found: ParsedDocstring) -> str:
    gap = "\n\n" if found.blank_after_short_description else "\n"
    parts = filter(None, (found.short_description, found.long_description))
    description = [gap.join(parts)]
    for meta in found.meta:
        if meta.args and meta.args[0] in _KEPT_TITLES:  # NumPy's examples and notes
            text = meta.description or getattr(meta, "snippet", "")
            description.append(f"{meta.args[0].capitalize()}:\n{text}")
    return "\n\n".join(description)
