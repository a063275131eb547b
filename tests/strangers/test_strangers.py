"""The page about servers of strangers shows the recorded outcomes."""

from __future__ import annotations

import json

from strangers.compare import OUTCOMES, PAGE, SERVERS, TABLE, format_table


def test_the_page_shows_the_recorded_outcomes() -> None:
    shown = TABLE.search(PAGE.read_text("utf-8"))

    assert shown is not None
    assert shown[0] == format_table(json.loads(OUTCOMES.read_text("utf-8")))


def test_each_outcome_is_of_a_server_of_the_list() -> None:
    lines = SERVERS.read_text("utf-8").splitlines()
    requirements = {line.partition(" ")[0] for line in lines if not line.startswith("#")}

    assert set(json.loads(OUTCOMES.read_text("utf-8"))) == requirements
