"""Formats output for the terminal: tables, results and progress, with colour only where
supported.
"""

from __future__ import annotations

import base64
import binascii
import errno
import json
import os
import shutil
import sys
import unicodedata
from itertools import zip_longest
from pathlib import Path
from textwrap import wrap
from typing import IO, TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.output import BOLD, DIM, Output, emphasize, printable

from ..errors import Failed, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_WIDTH = 100
"""The width of text that does not go to a terminal."""

_BAR = 24

_UNBROKEN = "\N{NO-BREAK SPACE}"
"""A space at which lines are not wrapped."""


def find_width() -> int:
    """The terminal's width, or that of a page."""
    return shutil.get_terminal_size((_WIDTH, 24)).columns


def format_tools(tools: Sequence[dict[str, Any]], columns: int | None = None) -> str:
    """Return the tools, given as their entries in `tools/list`: arguments and result of each, and
    what it does.
    """
    from toolwire_dialects.python_stub import signature

    lines: list[str] = []
    for tool in tools:
        name = printable(str(tool["name"]))
        size = (columns or find_width()) - 8
        parts = [
            part.replace(" ", _UNBROKEN) if len(part) < min(50, size) else part
            for part in signature(tool)
        ]
        first, *others = _wrapped(name + printable(" ".join(parts)), size)
        about = _wrapped(printable(summarize(tool)), (columns or find_width()) - 4)
        about += _wrapped(printable(_question(tool)), (columns or find_width()) - 4)
        lines += [
            first.replace(name, emphasize(BOLD, name), 1),
            *(f"{' ' * 8}{line}" for line in others),
        ]
        lines += [f"    {line}" for line in about if line]
    return "\n".join(lines).replace(_UNBROKEN, " ")


def format_count(number: int, what: str) -> str:
    """Return a count of *what*: `no tools`, `1 tool`, `2 tools`."""
    return f"{number or 'no'} {what}{'' if number == 1 else 's'}"


def format_table(
    head: Sequence[str], rows: Sequence[Sequence[str]], columns: int | None = None
) -> str:
    """Return *rows* below *head*, wrapped to *columns* (by default the terminal's) as far as
    possible.
    """
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = _widths([head, *rows], columns or find_width())
    header = "  ".join(_padded(cell, size) for cell, size in zip(head, widths, strict=True))
    lines = [emphasize(DIM, header.rstrip())]
    for row in rows:
        cells = [_wrapped(cell, size) for cell, size in zip(row, widths, strict=True)]
        for parts in zip_longest(*cells, fillvalue=""):
            first, *others = map(_padded, parts, widths)
            lines.append("  ".join([emphasize(BOLD, first), *others]).rstrip())
    return "\n".join(lines)


def format_result(
    content: Sequence[dict[str, Any]], save_to: str | None = None, *, hint: str = ""
) -> str:
    """Return the content of a result as text; binary data is saved to *save_to*, or described with
    a *hint*.
    """
    lines: list[str] = []
    saved = 0
    for block in content:
        data = _binary(block)
        if data is None:
            lines.append(_as_text(block))
            continue
        kind = printable(str(_inner(block).get("mimeType") or block.get("type")))
        if save_to is not None:
            saved += 1
            path = (
                Path(save_to)
                if saved == 1
                else Path(save_to).with_stem(f"{Path(save_to).stem}-{saved}")
            )
            path.write_bytes(data)
            hint = f", saved to {path}"
        lines.append(f"[{kind}, {len(data):,} bytes{hint}]")
    return "\n".join(lines)


def has_data(content: Sequence[dict[str, Any]]) -> bool:
    """Return whether the content of a result has binary data."""
    return any(_binary(block) is not None for block in content)


def _inner(block: dict[str, Any]) -> dict[str, Any]:
    resource = block.get("resource")
    return resource if isinstance(resource, dict) else block


def _binary(block: dict[str, Any]) -> bytes | None:
    inner = _inner(block)
    data = inner.get("data") if inner is block else inner.get("blob")
    try:
        return base64.b64decode(data) if isinstance(data, str) else None
    except binascii.Error:
        return None


def _as_text(block: dict[str, Any]) -> str:
    inner = _inner(block)
    if block.get("type") == "text" or (inner is not block and "text" in inner):
        return str(inner.get("text"))
    return f"[{block.get('type')}: {block.get('uri') or block.get('name') or 'not readable'}]"


class ProgressLine:
    """A bar on a terminal's last line that shows how far a call is. Elsewhere it shows nothing."""

    def __init__(self, stream: IO[str]) -> None:
        self._output = Output(stream)
        self._on = stream.isatty()

    def __call__(self, done: float, total: float | None, message: str | None) -> None:
        if self._on:
            text = format_progress(done, total, message).replace("\n", " ")
            while _columns_of(text) >= find_width():
                text = text[:-2] + "…"
            self._output.status(text)

    def clear(self) -> None:
        """Take the bar away."""
        if self._on:
            self._output.status()


def format_progress(done: float, total: float | None, message: str | None) -> str:
    """Return a bar, or a count if the total is unknown, followed by *message*."""
    if total:
        part = min(max(done / total, 0.0), 1.0)
        full = round(_BAR * part)
        text = f"[{'#' * full}{'.' * (_BAR - full)}] {part:4.0%}"
    else:
        text = f"{done:g}"
    return f"{text}  {printable(message.strip())}" if message else text


def summarize(tool: dict[str, Any]) -> str:
    text = tool.get("description") or tool.get("title") or ""
    return " ".join(str(text).strip().partition("\n\n")[0].split())


def _question(tool: dict[str, Any]) -> str:
    """Return what the listing says of the question that *tool* asks before each call; an empty text
    without one.
    """
    from toolwire_dialects.lint.audit import META_CONFIRM

    meta = tool.get("_meta")
    asks = meta.get(META_CONFIRM) if isinstance(meta, dict) else None
    if not asks:
        return ""
    return f"asks first: {' '.join(asks.split())}" if isinstance(asks, str) else "asks first"


def _widths(rows: Sequence[Sequence[str]], columns: int) -> list[int]:
    """How wide each column is: as its content wants, and where that is too much the last ones give
    way.
    """
    widths = [max(_columns_of(row[number]) for row in rows) for number in range(len(rows[0]))]
    for number in reversed(range(1, len(widths))):
        surplus = sum(widths) + 2 * (len(widths) - 1) - columns
        if surplus > 0:
            widths[number] = max(widths[number] - surplus, min(widths[number], 24))
    return widths


def _wrapped(text: str, size: int) -> list[str]:
    # textwrap counts letters, and some are two columns wide.
    wide = max(1, _columns_of(text) // max(1, len(text)))
    return wrap(text, max(size // wide, 1), break_on_hyphens=False) or [""]


def _padded(text: str, size: int) -> str:
    return text + " " * (size - _columns_of(text))


def _columns_of(text: str) -> int:
    if text.isascii():
        return len(text)
    wide = {letter for letter in set(text) if unicodedata.east_asian_width(letter) in "WF"}
    return sum(0 if unicodedata.combining(letter) else 1 + (letter in wide) for letter in text)


def print_data(text: str) -> None:
    """Write *text* to standard output: data that another program may read."""
    Output(sys.stdout).data(text)


def print_report(text: str) -> None:
    """Write *text*, with its emphasis, to standard output: a report for a reader."""
    Output(sys.stdout).line(text)


def print_remark(sentence: str) -> None:
    """Write *sentence* to standard error, unless it is empty."""
    if sentence:
        print_error(f"toolwire: {sentence}")


def print_error(text: str) -> None:
    """Write *text* to standard error."""
    Output(sys.stderr).line(text)


def write_text(name: str, text: str) -> None:
    """Write the file *name* at once, or not at all."""
    temporary = Path(f"{name}.{os.getpid()}.new")
    try:
        temporary.write_text(text, "utf-8", newline="\n")
        temporary.replace(name)
    except OSError as error:
        folder = Path(name).parent
        why = (
            (error.strerror or str(error)).lower()
            if folder.is_dir()
            else f"there is no folder {folder}"
        )
        raise Failed(f"{name} cannot be written: {why}", 2) from None
    finally:
        temporary.unlink(missing_ok=True)


def check_folders(options: dict[str, Any], *names: str) -> None:
    """Refuse files that cannot be written, before a long run whose results go there.

    Raises:
        UsageError: if an option of these *names* has a folder, a file without one, or a file that
            may not be written.
    """
    for name in names:
        path = Path(options.get(name, "-"))
        option = f"--{name.replace('_', '-')} {path}"
        if not path.parent.is_dir():
            raise UsageError(f"{option}: there is no folder {path.parent}")
        if path.is_dir():
            raise UsageError(f"{option}: this is a folder, and no file")
        if str(path) != "-" and not os.access(path if path.exists() else path.parent, os.W_OK):
            raise UsageError(f"{option}: permission denied")


def write_pages(options: dict[str, Any], **pages: Callable[[], str]) -> bool:
    """Write the *pages* that the options of their names ask for; return whether one went to
    standard output (`-`).
    """
    asked = {name: make() for name, make in pages.items() if name in options}
    for name, text in asked.items():
        if options[name] == "-":
            print_data(text.removesuffix("\n"))
        else:
            write_text(options[name], text)
    return any(options[name] == "-" for name in asked)


def explain_os_error(error: OSError) -> tuple[str, int]:
    """Return a sentence about a file that cannot be used, or about a full disk, and the exit
    status.

    The sentence is empty if the reader of the output has gone.

    Raises:
        OSError: if it is another error.
    """
    if error.filename is not None:
        return f"cannot open {error.filename}: {error.strerror}", 2
    if error.errno not in (errno.EPIPE, errno.ENOSPC):
        raise error
    os.dup2(
        os.open(os.devnull, os.O_WRONLY), 1
    )  # else Python reports the error again, when it flushes stdout at exit
    is_full = error.errno == errno.ENOSPC
    return "the output cannot be written: no space is left on the device" if is_full else "", 1


def as_json(value: Any) -> str:
    """Return *value* as JSON that is laid out for reading."""
    return json.dumps(value, ensure_ascii=False, indent=2, default=msgspec.to_builtins)
