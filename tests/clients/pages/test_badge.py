"""The badge of a check: a picture without scripts or addresses that says the verdict in words."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as ET

import pytest
from toolwire_check import Report, Verdict
from toolwire_check.pages.badge import draw_badge


def report(*outcomes: tuple[str, str], **about: Any) -> Report:
    verdicts = [Verdict(f"a/{place}", "", "", *outcome) for place, outcome in enumerate(outcomes)]
    known: dict[str, Any] = {
        "command": [],
        "server": "<script>",
        "revisions": ["2026-07-28"],
        "framings": [],
        "tools": 1,
    }
    return Report(**known | {"seconds": 1.0, "verdicts": verdicts} | about)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (report(("must", "pass"), ("advice", "warn")), "kept, 2026-07-28"),
        (report(("must", "known gap")), "kept, 2026-07-28"),
        (report(("should", "warn")), "kept, 1 warning"),
        (report(("must", "fail"), ("must", "fail"), ("should", "warn")), "2 rules broken"),
        (report(("must", "fail"), revisions=[]), "no answer"),
    ],
)
def test_badge_has_the_verdict_as_text_and_for_screen_readers(made: Report, message: str) -> None:
    picture = ET.fromstring(draw_badge(made))
    space = "{http://www.w3.org/2000/svg}"
    assert [text.text for text in picture.iter(f"{space}text")] == ["MCP contract", message]
    assert (
        picture.get("aria-label") == picture.findtext(f"{space}title") == f"MCP contract: {message}"
    )
    assert {each.tag for each in picture.iter()} == {
        f"{space}{name}" for name in ("svg", "title", "rect", "text")
    }
    boxes = [
        (float(box.get("x", "")), float(box.get("width", "")))
        for box in picture.iter(f"{space}rect")
    ]
    assert boxes[0][1] == boxes[1][0]
    assert sum(width for _, width in boxes) == float(picture.get("width", ""))
