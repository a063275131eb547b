from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING

import pytest
from toolwire.cli.printing.layout import format_table, format_tools
from toolwire.cli.printing.progress import ProgressLine, format_progress
from toolwire.cli.printing.result_content import format_content, save_data
from toolwire_schemas.output import BOLD, Output, emphasize, remove_emphasis

if TYPE_CHECKING:
    from pathlib import Path


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


SEARCH = {
    "name": "search",
    "description": "Find\npassages.\n\nMore about it.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "fields": {"type": "array", "items": {"enum": ["title", "body"]}, "default": ["title"]},
            "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
            "near": {
                "type": "object",
                "properties": {"x": {"type": "number"}, "y": {}},
                "required": ["x"],
            },
        },
        "required": ["text"],
    },
    "outputSchema": {
        "type": "object",
        "properties": {"result": {"type": "integer"}},
        "required": ["result"],
    },
}


@pytest.mark.parametrize(
    ("columns", "lines"),
    [
        (
            40,
            [
                "search(",
                "        text: str,",
                '        fields: list[Literal["title",',
                '        "body"]] = ["title"],',
                "        limit: int | None = None,",
                "        near?: {x: float, y?: Any})",
                "        -> int",
                "    Find passages.",
                "ping()",
            ],
        ),
        (
            80,
            [
                "search(",
                "        text: str,",
                '        fields: list[Literal["title", "body"]] = ["title"],',
                "        limit: int | None = None,",
                "        near?: {x: float, y?: Any}) -> int",
                "    Find passages.",
                "ping()",
            ],
        ),
    ],
)
def test_tools_are_listed_with_the_types_of_arguments_and_result(
    columns: int, lines: list[str]
) -> None:
    assert remove_emphasis(format_tools([SEARCH, {"name": "ping"}], columns)).splitlines() == lines


def test_two_parameters_stay_in_one_line() -> None:
    tool = {"name": "add", "inputSchema": {"properties": {"a": {}, "b": {}}, "required": ["a"]}}

    assert remove_emphasis(format_tools([tool], 80)) == "add(a: Any, b?: Any)"


def test_a_type_of_any_size_takes_a_few_lines() -> None:
    huge = {
        "type": "object",
        "properties": {f"member_{number}": {"type": "string"} for number in range(500)},
    }
    tool = {
        "name": "send",
        "inputSchema": {"type": "object", "properties": {"body": huge}},
        "outputSchema": huge,
    }

    lines = remove_emphasis(format_tools([tool], 80)).splitlines()

    assert len(lines) < 8
    assert max(map(len, lines)) <= 80
    assert "send(body?: {member_0?: str, member_1?: str," in " ".join(
        line.strip() for line in lines
    )


def test_a_table_is_wrapped_to_the_width_it_is_given() -> None:
    lines = remove_emphasis(format_table(("a", "b"), [("name", "word " * 40)], 50)).splitlines()
    assert len(lines) > 4
    assert max(map(len, lines)) <= 50
    assert " ".join(line[6:] for line in lines[1:]).split() == ["word"] * 40


def test_columns_stay_in_line_when_letters_are_wide() -> None:
    lines = remove_emphasis(
        format_table(("a", "b"), [("加法", "x"), ("add", "y")], 80)
    ).splitlines()
    assert lines == ["a     b", "加法  x", "add   y"]


def test_a_server_cannot_steer_the_terminal() -> None:
    assert "\x1b" not in remove_emphasis(format_table(("a",), [("\x1b[2Jhello",)], 80))


def test_colour_is_for_terminals_and_for_those_who_want_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    streams = {"terminal": Terminal(), "pipe": io.StringIO()}
    for stream in streams.values():
        Output(stream).write_line(emphasize(BOLD, "x"))
    assert {name: stream.getvalue() for name, stream in streams.items()} == {
        "terminal": "\x1b[1mx\x1b[0m\n",
        "pipe": "x\n",
    }
    monkeypatch.setenv("NO_COLOR", "1")
    Output(without := Terminal()).write_line(emphasize(BOLD, "x"))
    assert without.getvalue() == "x\n"


def test_progress_is_a_bar_if_the_end_is_known_and_a_count_if_not() -> None:
    assert (
        format_progress(1, 4, "half\x1b way ") == "[######..................]  25%  half\\u001b way"
    )
    assert format_progress(9, 4, None) == f"[{'#' * 24}] 100%"
    assert format_progress(3, None, "found") == "3  found"
    assert format_progress(0, None, "a status") == "a status"


def test_the_progress_line_is_taken_away_and_never_shown_outside_a_terminal() -> None:
    terminal, pipe = Terminal(), io.StringIO()
    for stream in (terminal, pipe):
        line = ProgressLine(stream)
        line(1, 2, None)
        line.clear()
    assert terminal.getvalue().endswith("\r\x1b[K")
    assert pipe.getvalue() == ""


def test_data_is_described_or_saved(tmp_path: Path) -> None:
    data = base64.b64encode(b"\x89PNG").decode()
    image = {"type": "image", "mimeType": "image/png", "data": data}
    blob = {
        "type": "resource",
        "resource": {"uri": "file:///x", "mimeType": "application/zip", "blob": data},
    }
    link = {"type": "resource_link", "uri": "file:///y", "name": "y"}
    text = {"type": "text", "text": "hello"}
    assert format_content([text, image, link], hint="; saved by -o").splitlines() == [
        "hello",
        "[image/png, 4 bytes; saved by -o]",
        "[resource_link: file:///y]",
    ]
    files = save_data([image, text, blob], str(tmp_path / "a.png"))
    assert files == [tmp_path / "a.png", tmp_path / "a-2.png"]
    assert format_content([image, text, blob], files).splitlines() == [
        f"[image/png, 4 bytes, saved to {files[0]}]",
        "hello",
        f"[application/zip, 4 bytes, saved to {files[1]}]",
    ]
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
        "a.png": b"\x89PNG",
        "a-2.png": b"\x89PNG",
    }
