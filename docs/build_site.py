"""Builds the site of docs/ into site/, with zensical: `pip install -e '.[docs]'`, then
`python docs/build_site.py`.

Links that leave docs/ are relative, so that they work in a checkout and in a fork. A site has no
such files, so they become addresses of the repository here. Its address is written in
`pyproject.toml` and nowhere else; that of the site follows from it, or is `TOOLWIRE_SITE_URL`.

No page loads anything from elsewhere. So zensical does not know the repository's address: its
script would ask GitHub for the stars of the repository.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
_LINK = re.compile(r"(?<=\]\()(?P<target>\.\./[^)\s#]+)(?P<anchor>#[^)\s]*)?(?=\))")


def repository() -> str:
    """Return the address of the repository."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    address: str = project["urls"]["Source"]
    return address


def link_to_repository(page: Path, text: str, address: str) -> str:
    """Return the *text* of a *page* of docs/ in which links out of that folder lead to the
    repository.
    """

    def replace(link: re.Match[str]) -> str:
        target = (page.parent / link["target"]).resolve()
        if target.is_relative_to(DOCS):
            return link[0]
        kind = "tree" if target.is_dir() else "blob"
        anchor = link["anchor"] or ""
        return f"{address}/{kind}/main/{target.relative_to(ROOT).as_posix()}{anchor}"

    return _LINK.sub(replace, text)


def copy_docs(into: Path, address: str) -> None:
    """Copy docs/ to the folder *into*, with the links of the site."""
    ignored = shutil.ignore_patterns("*.py", "__pycache__", "overrides", "make")
    shutil.copytree(DOCS, into, ignore=ignored)
    for page in DOCS.rglob("*.md"):
        text = link_to_repository(page, page.read_text("utf-8"), address)
        (into / page.relative_to(DOCS)).write_text(text, "utf-8")


def site_address(repository_address: str) -> str:
    """Return the address of the site: that of GitHub's pages of the repository, unless
    `TOOLWIRE_SITE_URL` names another.
    """
    given = os.environ.get("TOOLWIRE_SITE_URL")
    if given:
        return given.rstrip("/") + "/"
    owner, name = repository_address.rstrip("/").split("/")[-2:]
    return f"https://{owner.lower()}.github.io/{name}/"


def configure(address: str) -> str:
    """Return zensical's configuration of the site of the repository at *address*."""
    settings = (ROOT / "zensical.toml").read_text("utf-8")
    settings = settings.replace(
        "[project]\n", f'[project]\nsite_url = "{site_address(address)}"\n', 1
    )
    settings = settings.replace(
        "[project.theme]\n", '[project.theme]\ncustom_dir = "overrides"\n', 1
    )
    link = f'[[project.extra.social]]\nicon = "simple/git"\nlink = "{address}"\nname = "Source"\n'
    return f"{settings}\n{link}"


_RULE = re.compile(r"contract/[^/]+/[^/]+/")


def prefer_pages(index: dict[str, Any]) -> dict[str, Any]:
    """Return the *index* of the search with one entry for each rule of the contract, found by its
    name alone and after all pages: there are four times as many parts of rules as of pages.
    """
    pages, rules = [], []
    for item in index["items"]:
        if not _RULE.match(item["location"]):
            pages.append(item)
        elif item["level"] == "1":
            rules.append({**item, "text": ""})
    return {**index, "items": pages + rules}


def build() -> int:
    """Build the site and return zensical's exit status."""
    address = repository()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        copy_docs(work / "docs", address)
        shutil.copytree(DOCS / "overrides", work / "overrides")
        (work / "zensical.toml").write_text(configure(address), "utf-8")
        command = [sys.executable, "-m", "zensical", "build", "--strict"]
        status = subprocess.run(command, cwd=work, check=False).returncode
        if status == 0:
            search = work / "site" / "search.json"
            index = prefer_pages(json.loads(search.read_text("utf-8")))
            search.write_text(json.dumps(index, ensure_ascii=False), "utf-8")
            shutil.rmtree(ROOT / "site", ignore_errors=True)
            shutil.move(work / "site", ROOT / "site")
        return status


if __name__ == "__main__":
    sys.exit(build())
