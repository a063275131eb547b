"""The site of docs/: every page is in its navigation and in llms.txt. CI builds it with
`docs/build_site.py`.
"""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(
    page.relative_to(DOCS).as_posix() for page in (*DOCS.glob("*.md"), *DOCS.glob("decisions/*.md"))
)


def pages_in(navigation: Any) -> list[str]:
    match navigation:
        case str():
            return [navigation]
        case dict():
            return pages_in(list(navigation.values()))
        case _:
            return [page for part in navigation for page in pages_in(part)]


def test_the_navigation_has_every_page_once() -> None:
    project = tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))["project"]
    assert sorted(pages_in(project["nav"])) == PAGES


def test_llms_txt_has_every_page_once_with_its_title_and_one_sentence() -> None:
    listed = re.findall(
        r"^- \[(.+?)\]\((.+?)\): [^.]+\.$", (DOCS / "llms.txt").read_text("utf-8"), re.MULTILINE
    )
    titles = [
        ((DOCS / page).read_text("utf-8").partition("\n")[0].removeprefix("# "), page)
        for page in PAGES
    ]
    assert sorted(listed, key=lambda entry: entry[1]) == titles


@pytest.fixture(scope="module")
def build_site() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_site", DOCS / "build_site.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_search_finds_pages_before_rules_and_rules_by_their_names(build_site: ModuleType) -> None:
    page = {"location": "contract/#cases", "level": "2", "title": "Cases", "text": "A batch."}
    rule = {"location": "contract/batch/answered/", "level": "1", "title": "a", "text": "A batch."}
    part = {"location": "contract/batch/answered/#why", "level": "2", "title": "Why", "text": "b"}

    index = build_site.prefer_pages({"config": {}, "items": [rule, part, page]})

    assert index == {"config": {}, "items": [page, {**rule, "text": ""}]}


def test_the_address_of_the_site_follows_from_that_of_the_repository(
    build_site: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TOOLWIRE_SITE_URL", raising=False)
    assert build_site.site_address("https://github.com/Some/name") == "https://some.github.io/name/"
    settings = tomllib.loads(build_site.configure("https://github.com/Some/name"))["project"]
    assert settings["site_url"] == "https://some.github.io/name/"
    monkeypatch.setenv("TOOLWIRE_SITE_URL", "https://docs.example.org")
    assert build_site.site_address("https://github.com/a/b") == "https://docs.example.org/"


def test_pages_of_the_site_load_nothing_from_elsewhere(build_site: ModuleType) -> None:
    settings = tomllib.loads(build_site.configure("https://github.com/a/b"))["project"]
    assert settings["theme"]["font"] is False  # else it is Google's
    assert "repo_url" not in settings  # else GitHub is asked for the stars
    for page in PAGES:
        text = (DOCS / page).read_text("utf-8")
        assert not re.search(r"!\[[^]]*\]\(https?:|(?:src|srcset)=\"https?:", text), page
        assert "```mermaid" not in text, page  # its script comes from a network


def test_the_gallery_has_every_picture() -> None:
    shown = (DOCS / "gallery.md").read_text("utf-8")
    pictures = {path.name for path in (DOCS / "pictures").iterdir() if path.suffix != ""}
    assert {name for name in pictures if f"pictures/{name}" not in shown} == {"card.png"}
    assert "pictures/card.png" in (DOCS / "overrides" / "main.html").read_text("utf-8")


MOST_WORDS = 1800
LONG_PAGES = {
    "commands.md": "what `--help` prints, one block for each command",
}


def test_pages_are_short() -> None:
    lengths = {page: len((DOCS / page).read_text("utf-8").split()) for page in PAGES}
    assert {page for page, length in lengths.items() if length > MOST_WORDS} == set(LONG_PAGES)
