"""The text of pages, also of those that were made to harm whoever reads them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.recording_caller import RecordingCaller
from toolwire_bundled.web import page_text as reading
from toolwire_bundled.web.call import Call
from toolwire_bundled.web.charsets import decode_body
from toolwire_bundled.web.errors import Unusable
from toolwire_bundled.web.extract_process import extract_texts
from toolwire_bundled.web.page_text import Text, read
from toolwire_bundled.web.pages import Page
from toolwire_tools import Cancelled, Context, ToolError

HTML = "text/html; charset=utf-8"

ARTICLE = """<!DOCTYPE html><html lang="en"><head><title>How to make\n tea</title>
<style>p { color: red }</style></head><body>
<nav><a href="/">Home</a> <a href="/shop">Shop</a></nav>
<main><article><h1>How to make tea</h1>
<p>Tea is made of <a href="../leaves?kind=green">dried leaves</a> and of water, which has to be hot, though not
as hot for green tea as it has to be for black tea, or the tea turns bitter.</p>
<h2>Steps</h2><ul><li>Boil the water in a kettle.</li><li>Wait for three minutes.</li></ul>
<table><tr><th>Tea</th><th>Minutes</th></tr><tr><td>green</td><td>2</td></tr></table>
<p>Whoever likes it takes milk or sugar with it, which some people think a sin, and others think the point of it.</p>
</article></main><footer>All rights reserved</footer>
<script>document.write("<p>never seen</p>")</script></body></html>"""  # noqa: E501


def page(body: str | bytes, content_type: str = HTML) -> Page:
    return Page(
        "https://tea.example/a/b", content_type, body.encode() if isinstance(body, str) else body
    )


def extracted(body: str | bytes, content_type: str = HTML) -> list[Text]:
    """What the process would write, without one."""
    told = page(body, content_type)
    return [
        Text(title, text) for title, text in extract_texts(told.body, told.content_type, told.url)
    ]


@pytest.mark.process
def test_an_article_is_reported_in_markdown_with_its_links_and_without_what_is_around_it() -> None:
    found = read(page(ARTICLE), Call())
    assert found.title == "How to make tea"
    assert "[dried leaves](https://tea.example/leaves?kind=green) and of water" in found.text
    assert "- Boil the water in a kettle." in found.text
    assert "| green | 2 |" in found.text
    assert "## Steps" in found.text
    assert not any(word in found.text for word in ("Shop", "rights", "never seen", "color"))
    assert "made of dried leaves and of water" in found.without_links


def test_all_that_is_seen_is_reported_before_the_article_is_looked_for() -> None:
    first, *_ = extracted(
        "<title>Tea</title><body><div>green<div>black</div></div><select>no</select><br>white<!--"
        " no -->"
    )
    assert (first.title, first.text.split()) == ("Tea", ["green", "black", "white"])


def test_what_is_left_of_a_form_is_no_article() -> None:
    cells = "".join(f"<td><a href='/{number}'>Cup {number}</a></td>" for number in range(60))
    body = (
        f"<body><div>{cells}</div><table><tr>{cells}</tr></table><article><p>Buy"
        " tea</p></article></body>"
    )
    assert "[Cup 59](https://tea.example/59)" in extracted(body)[-1].text


def test_a_page_of_links_is_reported_with_all_of_them() -> None:
    links = "".join(
        f"<li><a href='/leaves/{number} (x)?a=1&amp;b=2'>Leaf {number}</a></li>"
        for number in range(60)
    )
    around = (
        "<base href='//cups.example/b/'><a href='c'> <img></a><p>All</p><ul>{}</ul><a"
        " href='http://[::1'>?</a>"
    )
    found = extracted(around.format(links))
    text = found[-1].text
    assert text.startswith("All")
    assert "[Leaf 7](https://cups.example/leaves/7%20%28x%29?a=1&b=2)" in text
    assert "[Leaf 59](" in text
    assert [line for line in found[-1].without_links.splitlines() if line][:2] == ["All", "Leaf 0"]


@pytest.mark.parametrize(
    ("body", "content_type", "told"),
    [
        ("tea & <b>cake</b>", "text/plain", "tea & <b>cake</b>"),
        ('{"tea": "green"}', "application/json", '{"tea": "green"}'),
        ("Grüntee".encode("latin-1"), "text/plain; charset=iso-8859-1", "Grüntee"),
        ("<html><body><p>Tee</p></body></html>", "", "Tee"),
        ("tea", "", "tea"),
        ("<p>a\0b\x1b[31mc\u0085</p>", HTML, "ab[31mc"),
        (
            (
                '<?xml version="1.0" encoding="utf-16"?><!DOCTYPE'
                " html><html><body><p>Tee</p></body></html>"
            ),
            HTML,
            "Tee",
        ),
    ],
)
def test_other_text_is_reported_as_it_is(body: str | bytes, content_type: str, told: str) -> None:
    assert extracted(body, content_type)[-1].text == told


@pytest.mark.parametrize(
    "body", ["", "   ", "<!-- nothing -->", "<title>App</title><div></div><script>start()</script>"]
)
def test_a_page_without_text_has_none(body: str) -> None:
    assert [found.text for found in extracted(body)] == [""]


@pytest.mark.process
def test_a_page_without_text_is_reported_as_empty() -> None:
    with pytest.raises(
        Unusable, match="has no text; perhaps it is made by scripts, which do not run here"
    ):
        read(page(""), Call())


# What is a bomb where entities are known, or parsers recurse.
HARMLESS = {
    "depth": "<div>" * 200_000 + "tea",
    "nested tables": "<table><tr><td>" * 20_000 + "tea",
    "entities": (
        '<!DOCTYPE x [<!ENTITY a "tea"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]><html><body>tea'
        " &b;</body></html>"
    ),
    "files": (
        '<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]><html><body>tea &f;</body></html>'
    ),
    "tags that do not end": "<a " * 500_000,
    "brackets": "<" * 1_000_000,
    "brackets of links": "<p>" + "[" * 1_000_000,
}


@pytest.mark.process
def test_a_page_that_keeps_the_parser_busy_is_given_up_on() -> None:
    with pytest.raises(Unusable, match="its markup takes too long, or too much memory"):
        read(
            page("<p " + " ".join(f"a{number}=1" for number in range(300_000)) + ">tea"),
            Call(),
            max_seconds=1,
        )


@pytest.mark.process
def test_a_page_that_crashes_the_extractor_is_reported_as_it_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "trafilatura.py").write_text(
        "import os\n\ndef extract(*page, **options):\n    os.abort()\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    assert read(page(ARTICLE), Call()).text.startswith(
        "[Home](https://tea.example/) [Shop](https://tea.example/shop)"
    )


@pytest.mark.parametrize("body", HARMLESS.values(), ids=HARMLESS)
def test_a_hostile_page_is_reported_without_what_it_wanted(body: str) -> None:
    for found in extracted(body):
        assert "root:" not in found.text
        assert len(found.without_links) <= len(found.text) <= len(body)


@pytest.mark.process
def test_the_process_that_reads_a_page_knows_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERPER_API_KEY", "secret")
    started: list[dict[str, str]] = []

    class Watched(subprocess.Popen[bytes]):
        def __init__(self, *arguments: Any, env: dict[str, str], **options: Any) -> None:
            started.append(env)
            super().__init__(*arguments, env=env, **options)

    monkeypatch.setattr(subprocess, "Popen", Watched)
    assert read(page("tea", "text/plain"), Call()).text == "tea"
    assert "secret" not in started[0].values()


@pytest.mark.process
def test_a_cancelled_call_ends_the_process_that_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    processes: list[subprocess.Popen[bytes]] = []

    class Watched(subprocess.Popen[bytes]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            processes.append(self)

    class Caller(RecordingCaller):
        @property
        def cancelled(self) -> bool:
            return bool(processes)

    monkeypatch.setattr(subprocess, "Popen", Watched)
    with pytest.raises(Cancelled):
        read(page("<p>tea</p>" * 300_000), Call(Context(Caller())))
    assert processes[0].wait(60) != 0


def test_a_missing_extractor_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ToolError, match=r"needs trafilatura.*pip install .*'toolwire\[web\]'"):
        read(page("tea"), Call())


@pytest.mark.parametrize(
    ("body", "content_type", "told"),
    [
        ("茶".encode(), "", "茶"),
        ("茶".encode("gb18030"), "text/html; charset=gb2312", "茶"),
        ("“tea”".encode("cp1252"), "text/html; charset=ISO-8859-1", "“tea”"),
        ("“tea”".encode("cp1252"), "text/html; charset=us-ascii", "“tea”"),
        ("お茶".encode("shift_jis"), 'text/html; charset="Shift_JIS"; x=y', "お茶"),
        (
            b'<meta charset="euc-jp">' + "お茶".encode("euc-jp"),
            "text/html",
            '<meta charset="euc-jp">お茶',
        ),
        (
            b"<meta http-equiv=x content='text/html; charset=koi8-r'>" + "чай".encode("koi8-r"),
            "text/html",
            "<meta http-equiv=x content='text/html; charset=koi8-r'>чай",
        ),
        (b"<meta charset=utf-16>" + "é".encode(), "text/html", "<meta charset=utf-16>é"),
        (b"\xef\xbb\xbftea", "text/html; charset=latin-1", "tea"),
        (b"\xff\xfe" + "tea".encode("utf-16-le"), "", "tea"),
        (b"tea\xff", "text/html; charset=utf-8", "tea\ufffd"),
        (b"+ADw-script+AD4-", "text/html; charset=utf-7", "+ADw-script+AD4-"),
        (b"rrrr", "text/html; charset=rot13", "rrrr"),
        (rb"\u003cb\u003e", "text/html; charset=unicode_escape", r"\u003cb\u003e"),
        (b"tea\r\nand\rcake\x00", "text/plain; charset=nonsense", "tea\nand\ncake"),
    ],
)
def test_text_is_read_in_the_encoding_that_a_browser_would_take(
    body: bytes, content_type: str, told: str
) -> None:
    assert decode_body(body, content_type) == told


def test_a_missing_encoding_is_guessed() -> None:
    body = "Чай делают из сухих листьев и горячей воды, и пьют его во всём мире.".encode("cp1251")
    assert decode_body(body, "text/html").startswith("Чай делают")


@given(st.binary(max_size=200), st.text(max_size=60))
def test_all_bytes_can_be_read_as_text_of_some_kind(body: bytes, charset: str) -> None:
    found = decode_body(body, f"text/html; charset={charset}")
    assert not any(ord(c) < 32 and c not in "\t\n" for c in found)
    assert reading.Text("", found).without_links is not None
