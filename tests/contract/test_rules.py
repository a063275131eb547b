"""The rules of the contract cases: complete, in agreement with what is known of SDKs, and written
as pages.

`python tests/contract/test_rules.py` writes the pages in docs/contract/ and their index anew;
`broken/exchanges.py` records what they show.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from toolwire.cli.main import main
from toolwire_check.facts.sdks import load_sdks
from toolwire_schemas import project_links
from toolwire_schemas.cases import load_cases
from toolwire_schemas.cases.rules import Rule, find_rule, find_rule_url, write_rule_page
from toolwire_schemas.published import load_validator

ROOT = Path(__file__).parents[2]
INDEX = ROOT / "docs" / "contract.md"
PAGES = ROOT / "docs" / "contract"
TEXTS = ROOT / "schemas" / "toolwire_schemas" / "cases" / "rules"
_INDEX = re.compile(r"(?<=<!-- rules -->\n).*?(?=<!-- /rules -->)", re.DOTALL)
_BACK = "\n[All cases](../../contract.md#the-rules)\n"

RULES = {case.id: find_rule(case.id) for case in load_cases()}
ANEW = "run: python tests/contract/test_rules.py"


def pages() -> dict[str, str]:
    """The pages by their paths in docs/contract/."""
    return {
        f"{case}.md": write_rule_page(found) + _BACK
        for case, found in RULES.items()
        if found is not None
    }


def index() -> str:
    """A line for each area, with links to its pages."""
    areas: dict[str, list[str]] = {}
    for case in load_cases():
        area, _, name = case.id.partition("/")
        areas.setdefault(area, []).append(f"[{name}](contract/{case.id}.md)")
    return "".join(f"- `{area}`: {', '.join(links)}\n" for area, links in areas.items())


def test_each_rule_is_complete_and_fits_its_published_schema() -> None:
    for case, found in RULES.items():
        check_rule(case, found)


def check_rule(case: str, found: Rule | None) -> None:
    assert found is not None, case
    about = json.loads(msgspec.json.encode(found))
    assert list(load_validator("contract-rule").iter_errors(about)) == [], case
    for text in (found.why, *about["fix"].values()):
        assert 20 <= len(text) <= 520, text
        assert text[0].isupper() or text[0] == "`", text
        assert text[-1] == ".", text
        assert text.count("`") % 2 == 0, text
        assert "@" not in re.sub(r"`[^`]*`", "", text), text


def test_each_page_of_a_rule_is_short() -> None:
    for path, page in pages().items():
        prose = re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL)
        assert len(prose.split()) <= 250, path  # what people read in a minute
        assert len(page) <= 9_000, path


def test_every_shared_text_is_used_and_no_text_is_written_twice() -> None:
    files = {
        path.stem: json.loads(path.read_text("utf-8")) for path in sorted(TEXTS.glob("*.json"))
    }
    shared = files.pop("shared")
    parts = [
        part
        for area in files.values()
        for about in area.values()
        for text in about.values()
        for part in ([text] if isinstance(text, str) else text)
    ]
    assert {part[1:] for part in parts if part.startswith("@")} == shared.keys()
    assert [case for area in files.values() for case in area] == [case.id for case in load_cases()]
    texts = [*shared.values(), *(part for part in parts if not part.startswith("@"))]
    assert sorted(texts) == sorted(set(texts))


@pytest.mark.parametrize(
    ("sdk", "language"),
    [
        ("the Python SDK, mcp 2", "python"),
        ("the TypeScript SDK, @modelcontextprotocol/server 2", "typescript"),
    ],
)
def test_no_rule_contradicts_the_known_failures_of_an_sdk(sdk: str, language: str) -> None:
    (findings,) = (each.findings for each in load_sdks() if each.name == sdk)
    shared = json.loads((TEXTS / "shared.json").read_text("utf-8"))
    for case, found in RULES.items():
        assert found is not None
        fix = getattr(found.fix, language)
        assert (shared[language] == fix) <= (case not in findings), case
        gap = any(shared[f"{language}-{kind}"] in fix for kind in ("gap", "drops"))
        assert gap <= (case in findings), case


def test_pages_of_rules_are_up_to_date() -> None:
    written = {
        path.relative_to(PAGES).as_posix(): path.read_text("utf-8") for path in PAGES.rglob("*.md")
    }
    assert written == pages(), ANEW
    found = _INDEX.search(INDEX.read_text("utf-8"))
    assert found is not None
    assert found[0] == index(), ANEW


def test_address_of_a_rule_is_that_of_its_page() -> None:
    for case in RULES:
        url = find_rule_url(case)
        assert url is not None
        path = url.removeprefix(f"{project_links.find_repository_url()}/blob/main/")
        assert (ROOT / path).is_file()


def test_fuzz_verdict_has_the_rule_of_the_matching_case() -> None:
    assert find_rule("fuzz/valid/add") == RULES["calls/output-schema"]
    assert find_rule("fuzz/invalid/a/b") == RULES["calls/wrong-type"]
    assert find_rule_url("fuzz/invalid/add") == find_rule_url("calls/wrong-type")


def test_there_is_no_rule_without_a_case() -> None:
    assert find_rule("fuzz/other/add") is find_rule("fuzz") is None
    assert [
        find_rule(case)
        for case in ("ids", "ids/no-such", "no-such/case", "shared/x", "../shared", "")
    ] == [None] * 6


def test_check_prints_rules_without_starting_a_server(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["check", "--rule", "ids/zero", "--rule", "ids/null"]) == 0
    said = capsys.readouterr().out
    zero, null = RULES["ids/zero"], RULES["ids/null"]
    assert zero is not None
    assert null is not None
    assert said.split() == [*write_rule_page(zero).split(), *write_rule_page(null).split()]
    for found in (zero, null):  # prose is wrapped, messages are not
        assert {*found.passing, *found.failing.exchange} <= set(said.splitlines())
    assert main(["check", "--rule", "fuzz/invalid/add"]) == 0
    assert capsys.readouterr().out.startswith("# calls/wrong-type\n")
    assert main(["check", "--rule", "ids/*", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [each["id"] for each in listed] == [case for case in RULES if case.startswith("ids/")]
    assert main(["check", "--rule", "ids/zer"]) == 2
    assert "did you mean 'ids/zero'?" in capsys.readouterr().err


@pytest.mark.process
def test_list_of_cases_reads_no_rule() -> None:
    script = (
        "import sys; from toolwire.cli.main import main; main(['check', '--list']);"
        " print(sorted(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    modules = done.stdout.splitlines()[-1]
    assert "'toolwire_schemas.cases'" in modules
    assert "'toolwire_schemas.cases.rules'" not in modules


if __name__ == "__main__":
    shutil.rmtree(PAGES, ignore_errors=True)
    for path, page in pages().items():
        (PAGES / path).parent.mkdir(parents=True, exist_ok=True)
        (PAGES / path).write_text(page, "utf-8")
    text = INDEX.read_text("utf-8")
    INDEX.write_text(_INDEX.sub(lambda _: index(), text), "utf-8")
