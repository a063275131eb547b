"""Links of the project: relative in every page, absolute in the metadata of the wheel, one address
in one file. Paths in the packages' READMEs lead to files.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
from toolwire_schemas import project_links

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
_LINK = re.compile(r"\]\((?P<target>[^)\s]+)\)|(?:src|srcset)=\"(?P<picture>[^\"]+)\"")
_PATH = re.compile(r"`(?P<path>[a-z_][a-z_/.]*(?:\.py|/))`")
_PLACEHOLDER = re.compile(r"\bOWNER\b.{0,3}toolwire")


def tracked_files() -> list[Path]:
    names = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, stdout=subprocess.PIPE, check=True
    ).stdout
    return [ROOT / name for name in names.decode().split("\0") if name]


@pytest.mark.process
def test_the_address_of_the_repository_stands_in_one_file() -> None:
    # Go demands that a module's file names its own address; the next test compares it.
    allowed = {ROOT / "pyproject.toml", ROOT / "clients/go/go.mod", Path(__file__)}
    holders = set()
    for path in tracked_files():
        if path.is_file() and _PLACEHOLDER.search(path.read_text("utf-8", errors="replace")):
            holders.add(path)
    assert holders <= allowed


def test_paths_in_readmes_of_packages_are_those_of_files() -> None:
    packages = [ROOT / name for name in ("server", "tools", "schemas", "clients")]
    readmes = set()
    known = set()
    for folder in (*packages, ROOT / "tests", ROOT / "docs"):
        for path in folder.rglob("*"):
            known.add(f"/{path.relative_to(ROOT)}")
            if path.name == "README.md" and folder in packages:
                readmes.add(path)
    missing = []
    for readme in readmes:
        if "node_modules" in readme.parts:
            continue
        for found in _PATH.finditer(readme.read_text("utf-8")):
            ending = "/" + found["path"].rstrip("/")
            if not any(path.endswith(ending) for path in known):
                missing.append(f"{readme.relative_to(ROOT)}: {found['path']}")
    assert missing == []


def test_the_go_module_has_the_address_of_the_repository() -> None:
    first, *_ = (ROOT / "clients/go/go.mod").read_text("utf-8").splitlines()
    address = PROJECT["urls"]["Source"].removeprefix("https://")
    assert first == f"module {address}/clients/go"


def test_reports_link_to_the_repository_of_the_installed_distribution() -> None:
    assert project_links.find_repository_url() == PROJECT["urls"]["Source"]


def test_links_in_the_metadata_of_the_wheel_are_absolute_and_lead_to_files_of_the_tree() -> None:
    from hatchling.metadata.core import ProjectMetadata
    from hatchling.plugin.manager import PluginManager

    text = ProjectMetadata(str(ROOT), PluginManager()).core.readme
    links = [found["target"] or found["picture"] for found in _LINK.finditer(text)]
    repository = PROJECT["urls"]["Source"]
    raw = repository.replace("github.com", "raw.githubusercontent.com")
    files = []
    for link in links:
        assert link.startswith(("https://", "#")), link
        for base in (f"{repository}/blob/main/", f"{raw}/main/"):
            if link.startswith(base):
                files.append(link.removeprefix(base).partition("#")[0])
    assert len(files) > 20
    assert all((ROOT / file).exists() for file in files)


def site_builder() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_site", ROOT / "docs" / "build_site.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("page", "text", "on_the_site"),
    [
        ("hosts.md", "[a](wrap.md#top)", "[a](wrap.md#top)"),
        ("hosts.md", "[a](../README.md#install)", "[a](https://x/y/blob/main/README.md#install)"),
        ("hosts.md", "[a](../examples)", "[a](https://x/y/tree/main/examples)"),
        ("contract/ids/zero.md", "[a](../../ci.md)", "[a](../../ci.md)"),
        ("contract/ids/zero.md", "[a](../../../README.md)", "[a](https://x/y/blob/main/README.md)"),
    ],
)
def test_on_the_site_only_links_out_of_the_docs_lead_to_the_repository(
    page: str, text: str, on_the_site: str
) -> None:
    builder = site_builder()
    assert builder.link_to_repository(ROOT / "docs" / page, text, "https://x/y") == on_the_site
