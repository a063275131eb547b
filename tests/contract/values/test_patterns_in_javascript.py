"""Strings generated for patterns: JavaScript, whose patterns JSON Schema uses, agrees on them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from toolwire_check.values import NoValues, invalid_values, valid_values

pytestmark = pytest.mark.process

CORPUS = json.loads(
    (Path(__file__).parents[2] / "schemas" / "json_schema" / "patterns.json").read_text("utf-8")
)
SEARCH = settings(
    max_examples=8,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
    derandomize=True,
)

_MATCHES = """
const pairs = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(pairs.map(([pattern, text]) => new RegExp(pattern, "u").test(text))));
"""


@pytest.mark.filterwarnings("ignore:Possible:FutureWarning")
def test_javascript_agrees_on_which_strings_match() -> None:
    node = shutil.which("node")
    if node is None:
        assert "TOOLWIRE_REQUIRE_PEERS" not in os.environ, "Node is not installed"
        pytest.skip("Node is not installed")
    pairs = [pair for case in CORPUS if case["ok"] for pair in make_pairs(case["pattern"])]
    text = json.dumps([pair[:2] for pair in pairs]).encode()
    done = subprocess.run(
        [node, "-e", _MATCHES], input=text, capture_output=True, timeout=60, check=True
    )
    assert {is_meant for *_, is_meant in pairs} == {True, False}
    assert [
        pair
        for pair, matches in zip(pairs, json.loads(done.stdout), strict=True)
        if matches != pair[2]
    ] == []


def make_pairs(pattern: str) -> Iterator[tuple[str, str, bool]]:
    """Yield the pattern with strings, each with whether it is to match."""
    schema = {"type": "string", "pattern": pattern}
    for text in draw_strings(lambda: valid_values(schema)):
        yield pattern, text, True
    for text in draw_strings(lambda: invalid_values(schema, within={"type": "string"})):
        yield pattern, text, False


def draw_strings(values: Callable[[], st.SearchStrategy[str]]) -> list[str]:
    """Draw some strings; there may be none: some patterns match everything, and some nothing."""
    found: list[str] = []
    with suppress(NoValues, Unsatisfiable):
        SEARCH(given(values())(lambda text: found.append(text)))()
    return found
