"""The contract cases as data: what a runner in any language may rely on."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from toolwire_check.judging.named_rules import RULES
from toolwire_schemas.cases import Case, load_cases
from toolwire_schemas.published import PREFIX, load_validator

# What every runner knows by itself; all other values have to be needed.
ALWAYS = {"probe", "meta", "revision", "n"}
# What is needed, but put into no message.
CONDITIONS = {
    "tools",
    "legacy-only",
    "list-changes",
    "logging",
    "completions",
    "resources",
    "prompts",
    "tasks",
    "legacy-tasks",
}


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from texts(item)


def steps(case: Case) -> Iterator[dict[str, Any]]:
    for step in case.steps:
        yield step
        yield from step.get("steps", ())


def test_every_case_fits_the_published_schema() -> None:
    judge = load_validator("contract-case")
    for path in files("toolwire_schemas.cases").iterdir():
        if path.name.endswith(".json"):
            for case in json.loads(path.read_text("utf-8")):
                assert [error.message for error in judge.iter_errors(case)] == [], case["id"]
                assert case["id"].startswith(path.name.removesuffix(".json") + "/")


def test_ids_and_behaviours_of_cases_are_unique() -> None:
    assert [
        key for key, count in Counter(case.id for case in load_cases()).items() if count > 1
    ] == []
    assert [
        key for key, count in Counter(case.behaviour for case in load_cases()).items() if count > 1
    ] == []


def test_every_behaviour_is_a_sentence() -> None:
    for case in load_cases():
        assert re.fullmatch(r"[A-Z`].*\.", case.behaviour), case.id


def test_case_declares_the_needs_of_its_messages() -> None:
    for case in load_cases():
        used = {
            name for text in texts(case.steps) for name in re.findall(r"\$\{(\w+)[\w.]*\}", text)
        }
        assert used - ALWAYS == set(case.needs) - CONDITIONS - (
            {"progress", "call"} if case.process == "run" else set()
        )


def test_schemas_and_rules_of_cases_exist() -> None:
    for case in load_cases():
        for text in texts(case.steps):
            if text.startswith(PREFIX):
                load_validator(text.removeprefix(PREFIX))
        assert all(step["rule"] in RULES for step in steps(case) if "rule" in step), case.id


def test_every_rule_is_used() -> None:
    assert {step["rule"] for case in load_cases() for step in steps(case) if "rule" in step} == set(
        RULES
    )


def test_cases_that_share_a_conversation_do_not_share_ids() -> None:
    """An answer that comes late would be taken for that of another case."""
    used = Counter()
    for case in load_cases():
        if case.process == "shared":
            used.update(
                {json.dumps(step["answer"]) for step in steps(case) if "answer" in step} - {"null"}
            )
    assert [key for key, count in used.items() if count > 1] == []


def test_case_for_the_whole_run_has_no_actions() -> None:
    expectations = {"none", "every", "quiet", "rule"}
    for case in load_cases():
        assert case.process != "run" or all(expectations & set(step) for step in case.steps), (
            case.id
        )


def test_every_case_has_an_expectation() -> None:
    expectations = {
        "answer",
        "refused",
        "unanswered",
        "some",
        "none",
        "every",
        "quiet",
        "rule",
        "exit",
        "settle",
        "list",
    }
    for case in load_cases():
        assert any(expectations & set(step) for step in steps(case)), case.id
