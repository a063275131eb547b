"""Known SDKs: their failures do not count against a server, and all others do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from toolwire_check.facts.sdks import Sdk, load_sdks, mark_sdk_gaps
from toolwire_check.report import Verdict
from toolwire_schemas.cases import load_cases

BASELINES = Path(__file__).parents[2] / "interop" / "baselines"

# Servers of each SDK that were checked as they are, with all that they do not do.
MADE_WITH = {
    "the TypeScript SDK, @modelcontextprotocol/sdk 1": (
        "everything",
        "filesystem",
        "typescript-example",
    ),
    "the Python SDK, mcp 1": ("mcp1-everything", "mcp1-lowlevel"),
    "the Python SDK, mcp 2": ("time", "mcp2-tools", "mcp2-everything", "mcp2-lowlevel", "fastmcp"),
}

# What a server's author did that the SDK does not: this one declares logging, and so may send log
# messages.
BEYOND_THE_SDK = {"mcp1-everything": {"logging/declared"}}


def verdict(case: str, came: str, **about: object) -> Verdict:
    return Verdict(case, "It does.", "https://example.com/", "must", "fail", came=came, **about)  # type: ignore[arg-type]


PYTHON = next(sdk for sdk in load_sdks() if sdk.name.endswith("mcp 2"))


@pytest.mark.parametrize("sdk", load_sdks(), ids=lambda sdk: sdk.name)
def test_findings_of_sdks_name_existing_cases(sdk: Sdk) -> None:
    assert sdk.findings.keys() <= {case.id for case in load_cases()}
    assert sdk.versions
    for schema in sdk.signs.values():
        Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize(
    "sdk", [sdk for sdk in load_sdks() if sdk.name in MADE_WITH], ids=lambda sdk: sdk.name
)
def test_findings_of_an_sdk_occur_in_all_its_servers(sdk: Sdk) -> None:
    for server in MADE_WITH[sdk.name]:
        gaps = json.loads((BASELINES / f"{server}.json").read_text("utf-8"))["gaps"]
        assert sdk.findings.keys() - {gap["case"] for gap in gaps} == BEYOND_THE_SDK.get(
            server, set()
        ), server


def test_failure_of_an_sdk_is_a_known_gap_with_its_name() -> None:
    (found,) = mark_sdk_gaps([verdict("batch/answered", "no answer")], PYTHON)
    assert (found.outcome, found.sdk) == ("known gap", PYTHON.name)


@pytest.mark.parametrize(
    "other",
    [
        verdict("batch/answered", '{"jsonrpc":"2.0","id":"one","error":{}}'),
        verdict("ids/zero", "no answer"),
        verdict("batch/answered", "no answer; only after ids/zero", after=["ids/zero"]),
    ],
    ids=["another answer", "another case", "only after another case"],
)
def test_other_failures_count_against_the_server(other: Verdict) -> None:
    assert mark_sdk_gaps([other], PYTHON) == [other]
