from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toolwire_schemas.json_schema.portable_regex import find_problem

CORPUS: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("patterns.json").read_text("utf-8")
)

_COMPILE = """
const patterns = JSON.parse(require("fs").readFileSync(0, "utf8"));
const compiles = (p) => { try { new RegExp(p, "u"); return true } catch { return false } };
console.log(JSON.stringify(patterns.map(compiles)));
"""


def in_javascript(patterns: list[str]) -> list[bool]:
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node is not installed")
    # Surrogates are no text, and a JSON Schema cannot carry them.
    done = subprocess.run(
        [node, "-e", _COMPILE],
        input=json.dumps(patterns).encode(),
        capture_output=True,
        timeout=60,
        check=True,
    )
    found: list[bool] = json.loads(done.stdout)
    return found


@pytest.mark.filterwarnings("ignore:Possible:FutureWarning")
def test_the_patterns_of_the_corpus_are_judged_as_the_corpus_says() -> None:
    judged = {case["pattern"]: find_problem(case["pattern"]) is None for case in CORPUS}
    assert judged == {case["pattern"]: case["ok"] for case in CORPUS}


@pytest.mark.process
def test_javascript_agrees_with_the_corpus() -> None:
    cases = [case for case in CORPUS if case.get("because") != "Python"]
    # Groups with modifiers came with ES2025: newer engines compile what older ones, still in use,
    # refuse.
    cases = [case for case in cases if not case["pattern"].startswith(("(?i:", "(?-i:"))]
    verdicts = in_javascript([case["pattern"] for case in cases])
    assert [
        case["pattern"]
        for case, verdict in zip(cases, verdicts, strict=True)
        if verdict != case["ok"]
    ] == []


@pytest.mark.process
@pytest.mark.filterwarnings("ignore:Possible:FutureWarning")
@settings(max_examples=20, deadline=None)
@given(
    st.lists(
        st.text(r"ab1^$\.*+?()[]{}|-,:=!<>#PAZdwsbBxu0/_ ", max_size=8), min_size=200, max_size=200
    )
)
def test_what_is_called_portable_compiles_in_javascript(patterns: list[str]) -> None:
    portable = [pattern for pattern in patterns if find_problem(pattern) is None]
    verdicts = in_javascript(portable)
    assert [
        pattern for pattern, verdict in zip(portable, verdicts, strict=True) if not verdict
    ] == []
