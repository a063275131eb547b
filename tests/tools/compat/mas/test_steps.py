"""The steps of an agent: what they hold, and which way they go."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire_compat.mas.steps import FOLLOWING, AgentStep, StepError, StepState


def step(**more: str) -> StepState:
    return StepState("task", "stage", "agent", **more)  # type: ignore[arg-type]


def test_step_goes_from_init_to_running_to_its_end() -> None:
    one = step()
    seen = [one.execution_state]
    for status in ("running", "finished"):
        one.update_execution_state(status)
        seen.append(one.execution_state)

    assert seen == ["init", "running", "finished"]


@given(st.lists(st.sampled_from(list(FOLLOWING))))
def test_status_only_moves_forward(statuses: list[str]) -> None:
    one = step()
    for status in statuses:
        before = one.execution_state
        try:
            one.update_execution_state(status)
        except StepError:
            assert one.execution_state == before
            assert status not in (before, *FOLLOWING[before])
        else:
            assert one.execution_state == status
            assert status in (before, *FOLLOWING[before])


@pytest.mark.parametrize(
    ("status", "following", "told"),
    [
        ("init", "finished", "is init and cannot become finished; it can become running"),
        (
            "finished",
            "running",
            "is finished and cannot become running; add a new step to do it again",
        ),
        ("init", "runing", "no status 'runing', did you mean 'running'?"),
    ],
)
def test_impossible_status_is_refused_with_the_remedy(
    status: str, following: str, told: str
) -> None:
    one = step(execution_state=status)

    with pytest.raises(StepError) as caught:
        one.update_execution_state(following)

    assert told in str(caught.value)
    assert one.execution_state == status


def test_unknown_first_status_is_refused() -> None:
    with pytest.raises(StepError, match="no status 'begun'"):
        step(execution_state="begun")


def test_steps_are_found_by_their_ids_and_the_closest_is_proposed() -> None:
    agent = AgentStep("agent", [step(step_id="look-up")])
    added = agent.add_step(step())

    assert agent.get_step("look-up") is agent.step_list[0]
    assert agent.get_step(added) is agent.step_list[1]
    with pytest.raises(StepError, match="did you mean 'look-up'"):
        agent.get_step("look-ip")


def test_started_step_leaves_the_todo_list() -> None:
    agent = AgentStep("agent", [step(step_id="a"), step(step_id="b")])

    agent.update_step_status("a", "running")

    assert [one.step_id for one in agent.todo_list] == ["b"]


def test_step_is_its_own_first_item() -> None:
    one = step()

    assert one[0] is one
    assert list(one) == [one]
    with pytest.raises(IndexError):
        one[1]


def test_instruction_and_result_are_kept() -> None:
    one = step()

    one.update_instruction_content({"query": "tea"})
    one.update_execute_result(["oolong"])

    assert (one.instruction_content, one.execute_result) == ({"query": "tea"}, ["oolong"])
