"""The sections of a docstring: parameters, results, notes. Imported for the first docstring of more
than a sentence.

Strategy. The style is recognised by the first section. Google's is read here, since it is by far
the most frequent; the others are read by docstring-parser, which takes longer to import than
Google's takes to read.
"""

from __future__ import annotations

import msgspec

_PARAMETERS = {
    "args",
    "arguments",
    "parameters",
    "params",
    "keyword args",
    "keyword arguments",
    "other parameters",
}
_RESULTS = {"return", "returns", "yield", "yields", "raise", "raises"}
_SECTIONS = _PARAMETERS | _RESULTS | {"attributes", "except", "exceptions"}
_FIELDS = _RESULTS | {"param", "parameter", "arg", "argument", "key", "keyword", "type", "rtype"}
"""Of reST and Epydoc."""
_KEPT = ("example", "examples", "note", "notes", "warning", "warnings")
_BULLETS = ("-", "*", "+", "•", "#")
_TYPES = {"str", "int", "float", "bool", "list", "dict", "tuple", "set", "bytes", "None"}


class DocEntry(msgspec.Struct, frozen=True):
    """A parameter, or one thing that is returned: then *text* may have several lines. *type* is as
    it is written.
    """

    name: str | None = None
    type: str | None = None
    text: str = ""


def taken_apart(text: str) -> tuple[str, dict[str, DocEntry], tuple[DocEntry, ...]]:
    """Return the description, the parameters and the results in *text*; if it cannot be read, all
    is description.
    """
    text = dedented(text)
    style = _style(text)
    found = (
        None
        if style is None
        else _google(text)
        if style == "GOOGLE"
        else _by_docstring_parser(text, style)
    )
    if found is None:
        return text, {}, ()
    description, parameters, returns = found
    return (
        description.strip(),
        {str(parameter.name): parameter for parameter in parameters},
        tuple(returns),
    )


_Found = tuple[str, list[DocEntry], list[DocEntry]]


def _style(text: str) -> str | None:
    """The style that the first marked section of *text* is written in. (Regular expressions would
    cost start-up.)
    """
    lines = [line.strip() for line in text.split("\n")]
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if _is_title(line):
            return "GOOGLE"
        if len(following) > 2 and set(following) == {"-"} and line.lower() in _SECTIONS:
            return "NUMPYDOC"
        if line[:1] in (":", "@") and ":" in line[1:]:
            word = line[1:].partition(":")[0].partition(" ")[0]
            if word in _FIELDS:
                return "REST" if line[0] == ":" else "EPYDOC"
    return None


def _is_title(line: str) -> bool:
    return line.endswith((":", "：")) and line[:-1].rstrip().lower() in _SECTIONS


def dedented(text: str) -> str:
    """*text* without its margin, and without the roles of reST."""
    if (
        ":`" in text
    ):  # `:class:`~typing.List`` is `typing.List`, and ``:ref:`text <place>`` is `text`
        import re

        text = re.sub(
            r"(?<![\w`]):[a-zA-Z][\w:.+-]*:`[~!]?([^`<]+?)(?:\s*<[^`<>]*>)?`", r"\1", text
        )
    first, *rest = text.expandtabs().split("\n")
    margins = [len(line) - len(line.lstrip()) for line in rest if line.strip()]
    margin = min(margins, default=0)
    if (
        margins and margins[0] == margin and _is_title(first.strip())
    ):  # its own margin is unknown, but smaller
        margin = max(margin - 4, 0)
    return "\n".join([first.strip(), *(line[margin:].rstrip() for line in rest)]).strip("\n")


def _google(text: str) -> _Found | None:
    head: list[str] = []
    sections: dict[str, list[str]] = {}
    # What belongs to the description although it stands below: notes, examples, and text outside of
    # sections.
    below: list[list[str]] = []
    into, margin = (
        head,
        None,
    )  # where lines go; in a section, the margin of its entries: 0 before the first one
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip())
        is_title = line.endswith((":", "：")) and not (margin and indent >= margin)
        title = line.strip()[:-1].rstrip().lower() if is_title else ""
        if title in _SECTIONS:
            into, margin = (
                sections.setdefault(
                    "args" if title in _PARAMETERS else title.removesuffix("s"), []
                ),
                0,
            )
        elif title in _KEPT and sections:
            into, margin = [f"{title.capitalize()}:"], 0
            below.append(into)
        elif line and margin and not indent:
            into, margin = [line], None
            below.append(into)
        else:
            if line and margin == 0:
                margin = indent
            into.append(line)
    parameters = _google_parameters(_flush(sections.get("args", [])))
    if parameters is None:
        return None
    blocks = [f"{lines[0]}\n{_flush(lines[1:])}".strip() for lines in below]
    description = "\n\n".join(["\n".join(head).strip(), *blocks])
    return description, parameters, entries(_flush(sections.get("return", [])))


def _flush(lines: list[str]) -> str:
    """The lines without their common margin."""
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join([line[margin:] for line in lines]).strip("\n")


def _google_parameters(section: str) -> list[DocEntry] | None:
    """Return the entries of *section*, each `name (type): text`; None if it does not begin with
    one.
    """
    found: list[tuple[str, str, str]] = []
    for line in section.split("\n") if section else ():
        entry = None if line[:1].isspace() else _split(line)
        if entry is not None:
            found.append(entry)
        elif not found:
            return None
        else:
            names, type_, text = found.pop()
            found.append((names, type_, f"{text} {line}"))
    return [
        DocEntry(name.strip(" `*"), type_ or None, " ".join(text.split()))
        for names, type_, text in found
        for name in names.split(",")
    ]


def _by_docstring_parser(text: str, style: str) -> _Found | None:
    import docstring_parser

    try:
        found = docstring_parser.parse("\n" + text, style=docstring_parser.DocstringStyle[style])
    except (docstring_parser.ParseError, ValueError, IndexError):
        return None
    parameters = [
        DocEntry(name.strip(" *"), item.type_name, " ".join((item.description or "").split()))
        for item in found.params
        if item.args and item.args[0] != "attribute"
        for name in item.arg_name.split(",")
    ]
    gap = "\n\n" if found.blank_after_short_description else "\n"
    described = gap.join(part for part in (found.short_description, found.long_description) if part)
    examples = [
        meta for meta in found.meta if meta.args and meta.args[0] in _KEPT
    ]  # NumPy's, and its notes
    below = [
        f"{meta.args[0].capitalize()}:\n{meta.description or getattr(meta, 'snippet', '')}"
        for meta in examples
    ]
    returns = [
        DocEntry(item.return_name, item.type_name, item.description or "")
        for item in found.many_returns
    ]
    return "\n\n".join([described, *below]), parameters, returns


def entries(section: str) -> list[DocEntry]:
    """The entries of Google's Returns section: each `name (type): text`, without indentation.

    `word: text` is a type if Python has one by that name, and else a name.
    """
    found: list[list[str]] = []
    for line in section.split("\n"):
        begins = not line[:1].isspace() and unbulleted(line) is None and cut(line) is not None
        if begins or not found:
            found.append([])
        found[-1].append(line)
    made: list[DocEntry] = []
    for first, *further in filter(any, found):
        word, type_, text = (unbulleted(first) is None and cut(first)) or ("", "", first)
        if not type_ and (word in _TYPES or not word.isidentifier()):
            word, type_ = "", word
        made.append(DocEntry(word or None, type_ or None, "\n".join([text, *further]).rstrip()))
    return made


def unbulleted(line: str) -> str | None:
    """The line without its bullet or number; None if it has none."""
    line = line.strip()
    number, _, item = line.partition(" ")
    if number[:-1].isdigit() and number[-1] in ".)":
        return item.strip()
    bullet, item = line[:1], line.lstrip("#") if line[:1] == "#" else line[1:]
    # -1 is a number, and ** begins what is bold.
    return (
        item.strip()
        if bullet in _BULLETS and item and item[0] != bullet and not item[0].isdigit()
        else None
    )


def cut(line: str) -> tuple[str, str, str] | None:
    """The word, the type in parentheses and the text of `word (type): text`; None if *line* is no
    such thing.
    """
    found = _split(line)
    return None if found is None or " " in found[0].partition("[")[0] else found


def _split(line: str) -> tuple[str, str, str] | None:
    """As `cut`, with any number of words."""
    depth = 0
    for index, character in enumerate(line):
        depth += (character in "[({<") - (character in "])}>")
        if character in ":：" and depth <= 0:
            words, parenthesis, type_ = line[:index].strip().partition("(")
            if not index or (parenthesis and not type_.endswith(")")):
                return None
            return words.strip(" `*'\""), type_.removesuffix(")").strip(), line[index + 1 :].strip()
    return None
