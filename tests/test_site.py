"""The site of docs/: every page is in its navigation and in llms.txt. CI builds it with
`docs/build_site.py`.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

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
