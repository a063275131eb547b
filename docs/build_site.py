"""Builds the site of docs/ into site/, with zensical: `pip install -e '.[docs]'`, then
`python docs/build_site.py`.

Links that leave docs/ are relative, so that they work in a checkout and in a fork. A site has no
such files, so they become addresses of the repository here. Its address is written in
`pyproject.toml` and nowhere else.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

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
    shutil.copytree(DOCS, into, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    for page in DOCS.rglob("*.md"):
        text = link_to_repository(page, page.read_text("utf-8"), address)
        (into / page.relative_to(DOCS)).write_text(text, "utf-8")


def configure(address: str) -> str:
    """Return zensical's configuration with the *address* of the repository."""
    settings = (ROOT / "zensical.toml").read_text("utf-8")
    return settings.replace("[project]\n", f'[project]\nrepo_url = "{address}"\n', 1)


def build() -> int:
    """Build the site and return zensical's exit status."""
    address = repository()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        copy_docs(work / "docs", address)
        (work / "zensical.toml").write_text(configure(address), "utf-8")
        command = [sys.executable, "-m", "zensical", "build", "--strict"]
        status = subprocess.run(command, cwd=work, check=False).returncode
        if status == 0:
            shutil.rmtree(ROOT / "site", ignore_errors=True)
            shutil.move(work / "site", ROOT / "site")
        return status


if __name__ == "__main__":
    sys.exit(build())
