"""Planning a check: the cases to play, their revisions and framings, and reasons against them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from toolwire_check import Facts
from toolwire_check.playing.plan import Play, plan_plays, select_cases
from toolwire_schemas.cases import Case, load_cases

FACTS = Facts(
    revisions=["2025-11-25"],
    framings=["lines"],
    tools=[],
    values={"tools": []},
    lacks={"call": "no tool may be called"},
)
MODERN = msgspec.structs.replace(FACTS, revisions=["2026-07-28", "2025-11-25"])


def case(**about: Any) -> Case:
    return Case("a/b", "It does.", "https://example.com/", "must", [{"settle": True}], **about)


@pytest.mark.parametrize(
    ("about", "facts", "expected"),
    [
        ({}, FACTS, ["2025-11-25"]),
        ({}, MODERN, ["2026-07-28"]),
        ({"era": "each"}, MODERN, ["2026-07-28", "2025-11-25"]),
        ({"era": "legacy"}, MODERN, ["2025-11-25"]),
        ({"era": "plain"}, MODERN, [""]),
        ({"revisions": ("2024-11-05", "2026-07-28")}, MODERN, ["2024-11-05", "2026-07-28"]),
        ({"revisions": ("2024-11-05", "2026-07-28")}, FACTS, ["2024-11-05"]),
        ({"needs": ("tools",)}, FACTS, ["2025-11-25"]),
    ],
)
def test_case_is_played_in_the_revisions_that_it_and_the_server_know(
    about: dict[str, Any], facts: Facts, expected: list[str]
) -> None:
    plays = plan_plays([case(**about)], facts)
    assert [(play.revision, play.framing, play.reason) for play in plays] == [
        (one, "lines", "") for one in expected
    ]


@pytest.mark.parametrize(
    ("about", "reason"),
    [
        ({"era": "modern"}, "the server does not speak 2026-07-28"),
        ({"framings": ("headers",)}, "the server does not speak in headers, or was not asked to"),
        ({"needs": ("tools", "call")}, "no tool may be called"),
        ({"revisions": ("2026-07-28",)}, "the server does not speak the era of 2026-07-28"),
    ],
)
def test_case_that_cannot_be_played_has_a_reason(about: dict[str, Any], reason: str) -> None:
    assert [play.reason for play in plan_plays([case(**about)], FACTS)] == [reason]


def test_cases_are_selected_by_patterns() -> None:
    ids = {one.id for one in select_cases(load_cases(), ["ids/*", "batch/answered"], ["ids/z*"])}
    assert {"ids/negative", "batch/answered"} <= ids
    assert not {"ids/zero", "batch/no-harm"} & ids
    assert select_cases(load_cases()) == list(load_cases())


def test_modern_case_with_a_raw_message_gets_its_own_process() -> None:
    by_id = {case.id: case for case in load_cases()}
    bare, named = by_id["jsonrpc/no-method"], by_id["ids/zero"]
    assert [Play(bare, revision, "lines").process for revision in ("2026-07-28", "2025-11-25")] == [
        "opened",
        "shared",
    ]
    assert Play(named, "2026-07-28", "lines").process == "shared"
