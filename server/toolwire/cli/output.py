"""Formats output for the terminal: tables, results and progress, with colour only where supported."""

from __future__ import annotations

import base64
import binascii
import os
import shutil
import sys
import unicodedata
from pathlib import Path
from textwrap import wrap
from typing import IO, TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.output import BOLD, DIM, PLAIN, RED, Output, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolwire_schemas.lint.portability import Finding
    from toolwire_tools.bundled.availability import Readiness


_WIDTH = 100
"""The width of text that does not go to a terminal."""

_BAR = 24


def width() -> int:
    """The terminal's width, or that of a page."""
    return shutil.get_terminal_size((_WIDTH, 24)).columns


class Style:
    """Emphasis for what an `Output` writes to one stream: none on what is no terminal, or with `NO_COLOR`."""

    def __init__(self, stream: IO[str]) -> None:
        self._on = stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

    def bold(self, text: str) -> str:
        """*text* in bold."""
        return f"{BOLD}{text}{PLAIN}" if self._on else text

    def dim(self, text: str) -> str:
        """*text* in a dim colour."""
        return f"{DIM}{text}{PLAIN}" if self._on else text

    def red(self, text: str) -> str:
        """*text* in red."""
        return f"{RED}{text}{PLAIN}" if self._on else text


def tools_table(tools: Sequence[dict[str, Any]], columns: int, style: Style) -> str:
    """Return a table of tools, given as their entries in `tools/list`."""
    rows = [(str(tool["name"]), _signature(tool), _summary(tool)) for tool in tools]
    return table(("tool", "arguments", "what it does"), rows, columns, style)


def findings_table(findings: Sequence[Finding], tools: int, columns: int, style: Style, *, notes: bool = False) -> str:
    """Return a table of the *findings* in a number of *tools*, with counts; it shows notes only with *notes*."""
    shown = [finding for finding in findings if notes or finding.severity != "note"]
    rows = [
        (
            finding.severity,
            " ".join(filter(None, (finding.tool, finding.where))) or "all",
            f"{finding.problem}; {finding.remedy}",
            finding.concerns,
        )
        for finding in shown
    ]
    counts = [sum(finding.severity == severity for finding in findings) for severity in ("error", "warning", "note")]
    told = f"{counted(tools, 'tool')}: " + ", ".join(map(counted, counts, ("error", "warning", "note")))
    if len(shown) < len(findings):
        told += "; --notes shows the notes"
    lines = [table(("", "where", "what is wrong; what to do", "whom it concerns"), rows, columns, style), ""]
    return "\n".join([*(lines if rows else ()), f"{told}."])


def readiness_table(found: Sequence[Readiness], columns: int, style: Style) -> str:
    """Return a table of the bundled tools: what each needs, and what to do before it could run here."""
    rows = [
        (tool.name, tool.summary, ", ".join(tool.needs), "; ".join([*(tool.missing or ["ready"]), *tool.advice]))
        for tool in found
    ]
    return table(("tool", "what it does", "needs", "here"), rows, columns, style)


def counted(number: int, what: str) -> str:
    """Return a count of *what*: `no tools`, `1 tool`, `2 tools`."""
    return f"{number or 'no'} {what}{'' if number == 1 else 's'}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], columns: int, style: Style) -> str:
    """Return *rows* below *head*, wrapped so that no line is longer than *columns* as far as that can be done."""
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = _widths([head, *rows], columns)
    lines = [style.dim("  ".join(_padded(cell, size) for cell, size in zip(head, widths, strict=True)).rstrip())]
    for row in rows:
        cells = [_wrapped(cell, size) for cell, size in zip(row, widths, strict=True)]
        for number in range(max(map(len, cells))):
            parts = [
                _padded(cell[number] if number < len(cell) else "", size)
                for cell, size in zip(cells, widths, strict=True)
            ]
            parts[0] = style.bold(parts[0])
            lines.append("  ".join(parts).rstrip())
    return "\n".join(lines)


def result(content: Sequence[dict[str, Any]], save_to: str | None = None, *, hint: str = "") -> str:
    """Return the content of a result as text; binary data is saved to *save_to*, or described with a *hint*.

    Raises:
        OSError: if it cannot be saved.
    """
    lines: list[str] = []
    saved = 0
    for block in content:
        data = _binary(block)
        if data is None:
            lines.append(_in_words(block))
        elif save_to is None:
            lines.append(f"[{_kind(block)}, {len(data):,} bytes{hint}]")
        else:
            path = _numbered(save_to, saved)
            path.write_bytes(data)
            saved += 1
            lines.append(f"[{_kind(block)}, {len(data):,} bytes, saved to {path}]")
    return "\n".join(lines)


def holds_data(content: Sequence[dict[str, Any]]) -> bool:
    """Whether the content of a result has binary data."""
    return any(_binary(block) is not None for block in content)


class ProgressLine:
    """A bar on a terminal's last line that shows how far a call is. Elsewhere it shows nothing."""

    def __init__(self, stream: IO[str]) -> None:
        self._output = Output(stream)
        self._on = stream.isatty()
        self._shown = False

    def __call__(self, done: float, total: float | None, message: str | None) -> None:
        if self._on:
            self._output.status(_shortened(progress(done, total, message), width() - 1))
            self._shown = True

    def clear(self) -> None:
        """Take the bar away."""
        if self._shown:
            self._output.status()
            self._shown = False


def progress(done: float, total: float | None, message: str | None) -> str:
    """Return a bar, or a count if the total is unknown, followed by *message*."""
    if total:
        part = min(max(done / total, 0.0), 1.0)
        full = round(_BAR * part)
        text = f"[{'#' * full}{'.' * (_BAR - full)}] {part:4.0%}"
    else:
        text = f"{done:g}"
    return f"{text}  {printable(message.strip())}" if message else text


def _signature(tool: dict[str, Any]) -> str:
    schema = tool.get("inputSchema") or {}
    properties = schema.get("properties") if isinstance(schema, dict) else None
    required = schema.get("required") or [] if isinstance(schema, dict) else []
    return ", ".join(name if name in required else f"[{name}]" for name in properties or {})


def _summary(tool: dict[str, Any]) -> str:
    text = tool.get("description") or tool.get("title") or ""
    return " ".join(str(text).strip().partition("\n\n")[0].split())


def _widths(rows: Sequence[Sequence[str]], columns: int) -> list[int]:
    """How wide each column is: as its content wants, and where that is too much the last ones give way."""
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


def _shortened(text: str, columns: int) -> str:
    text = " ".join(text.split("\n"))
    while _columns_of(text) > columns:
        text = text[:-2] + "…"
    return text


def _columns_of(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(_columns_of_letter(letter) for letter in text)


def _columns_of_letter(letter: str) -> int:
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def _binary(block: dict[str, Any]) -> bytes | None:
    resource = block.get("resource")
    data = resource.get("blob") if isinstance(resource, dict) else block.get("data")
    if not isinstance(data, str):
        return None
    try:
        return base64.b64decode(data)
    except binascii.Error:
        return None


def _kind(block: dict[str, Any]) -> str:
    resource = block.get("resource")
    media = resource.get("mimeType") if isinstance(resource, dict) else block.get("mimeType")
    return printable(str(media or block.get("type")))


def _in_words(block: dict[str, Any]) -> str:
    resource = block.get("resource")
    if block.get("type") == "text":
        text = str(block.get("text"))
    elif isinstance(resource, dict) and "text" in resource:
        text = str(resource["text"])
    else:
        text = f"[{block.get('type')}: {block.get('uri') or block.get('name') or 'not readable'}]"
    return text


def _numbered(path: str, number: int) -> Path:
    whole = Path(path)
    return whole if number == 0 else whole.with_stem(f"{whole.stem}-{number + 1}")


def say(text: str) -> None:
    """Write *text* to standard output."""
    Output(sys.stdout).data(text)


def remark(sentence: str) -> None:
    """Write *sentence* to standard error, unless it is empty."""
    if sentence:
        complain(f"toolwire: {sentence}")


def complain(text: str) -> None:
    """Write *text* to standard error."""
    Output(sys.stderr).line(text)


def as_json(value: Any) -> str:
    """Return *value* as JSON that is laid out for reading."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
