"""The requests about a task that a case follows."""

from __future__ import annotations

from typing import Any

import pytest
from toolwire_check.playing.polled_task import PolledTask, choose_pause_seconds, find_task


def test_each_question_of_a_task_is_declined_once() -> None:
    task = PolledTask("a task")
    state = {"status": "input_required", "inputRequests": {"b": {}, "a": {}}}

    update = task.decline("1", state)

    assert update is not None
    assert update["method"] == "tasks/update"
    declined = {"a": {"action": "decline"}, "b": {"action": "decline"}}
    assert update["params"]["inputResponses"] == declined
    assert task.decline("2", state) is None
    assert task.decline("3", {"status": "working"}) is None


@pytest.mark.parametrize(
    ("state", "seconds"),
    [({}, 0.05), ({"pollIntervalMs": 200}, 0.2), ({"pollIntervalMs": 10**9}, 0.5)],
)
def test_polls_follow_the_wish_of_the_server_within_limits(state: Any, seconds: float) -> None:
    assert choose_pause_seconds(state) == seconds


def test_call_without_a_response_has_made_no_task() -> None:
    assert find_task([], "1") is None
