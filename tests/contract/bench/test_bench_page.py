"""Measurements as a page, as Markdown and as pictures: foreign texts stay texts."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from contract.bench.test_measurement import make_measurement
from toolwire_check.pages.bars import PAGE_LOOK, draw_bars
from toolwire_check.pages.bench_page import write_bench_markdown, write_bench_page

HOSTILE = "<script>alert(1)</script>|`\x1b[2J"
"""More than a label has room for."""


def test_a_page_shows_numbers_pictures_and_what_was_measured() -> None:
    measurements = [make_measurement("bare loop", 1), make_measurement("mine", 2)]
    page = write_bench_page(measurements, 'add {"a": 1}', ["a remark"])
    summary = "It starts in 400 ms, answers a call in 2 ms, and 500 pipelined calls in a second."
    for text in (summary, 'add {"a": 1}', "a remark"):
        assert text in page
    assert page.count('class="own"') == 5


def test_foreign_names_are_texts_in_a_page() -> None:
    measurements = [make_measurement("bare loop", 1), make_measurement(HOSTILE, 2)]
    page = write_bench_page(measurements, HOSTILE, [HOSTILE])
    assert "<script" not in page
    assert "\x1b" not in page


def test_foreign_names_are_code_in_markdown() -> None:
    measurements = [make_measurement("bare loop", 1), make_measurement(HOSTILE, 2)]
    text = write_bench_markdown(measurements, HOSTILE, [HOSTILE])
    assert "<script" not in text.replace("`<script", "")
    assert "\x1b" not in text


def test_bars_are_as_long_as_their_numbers_and_the_own_one_stands_out() -> None:
    numbers = {"other": {"p50_seconds": 0.002}, "mine": {"p50_seconds": 0.001}}
    picture = ET.fromstring(draw_bars(numbers, "mine", PAGE_LOOK))
    bars = picture.findall("{*}rect")
    assert [(bar.get("class"), bar.get("width")) for bar in bars] == [
        ("other", "190.0"),
        ("own", "95.0"),
    ]


def test_a_server_without_a_number_has_no_bar_in_its_panel() -> None:
    numbers = {"other": {"p50_seconds": 0.002}, "mine": {"p50_seconds": 0.0, "memory_bytes": 1}}
    picture = ET.fromstring(draw_bars(numbers, "mine", PAGE_LOOK))
    assert [bar.get("width") for bar in picture.findall("{*}rect")] == ["190.0", "2.0", "190.0"]
