"""Executors: registered, found, and framed so that a step's status is kept whatever `execute`
does.
"""

from __future__ import annotations

import asyncio
import queue
import warnings
from types import SimpleNamespace
from typing import Any, Dict  # noqa: UP035 (as the originals have it)

import pytest
from toolwire_compat.mas.executor import Executor
from toolwire_compat.mas.steps import AgentStep, StepError, StepState


@pytest.fixture(autouse=True)
def own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Executor, "_registry", dict(Executor._registry))


def state_of(steps: Any, **more: Any) -> dict[str, Any]:
    return {"agent_step": steps, "agent_id": "agent-1", "role": "librarian", **more}


def one_step() -> AgentStep:
    return AgentStep("agent-1", [StepState("task-1", "stage-1", "agent-1", step_id="1")])


class Journal:
    """The `agent_step` of some existing system, which writes down every status it is told."""

    def __init__(self, step: Any = None) -> None:
        self.told: list[str] = []
        self.step = step or SimpleNamespace(task_id="task-1", stage_id="stage-1", step_id="1")

    def update_step_status(self, step_id: str, status: str) -> None:
        assert step_id == "1"
        self.told.append(status)

    def get_step(self, step_id: str) -> Any:
        return self.step if step_id == "1" else None


def complete_output(state: str, name: str = "XXX") -> dict[str, Any]:
    return {
        "update_stage_agent_state": {
            "task_id": "task-1",
            "stage_id": "stage-1",
            "agent_id": "agent-1",
            "state": state,
        },
        "send_shared_message": {
            "agent_id": "agent-1",
            "role": "librarian",
            "stage_id": "stage-1",
            "content": f"执行{name}步骤:{state}，",
        },
    }


def test_class_of_the_original_documentation_runs_unchanged() -> None:
    @Executor.register(
        executor_type="tool", executor_name="XXX"
    )  # 注册具体工具名到类型 "tool", 名称 "XXX"
    class XXXTool(Executor):
        def __init__(self) -> None:
            super().__init__()  # 调用父类的构造方法

        def execute(self, step_id: str, agent_state: Dict[str, Any]) -> dict[str, Any]:  # noqa: UP006
            return {"found": agent_state["agent_step"].get_step(step_id).step_id}

    steps = one_step()

    output = XXXTool().execute("1", state_of(steps))

    assert output == {"found": "1", **complete_output("finished")}
    assert steps.get_step("1").execution_state == "finished"
    assert Executor.lookup("tool", "XXX") is XXXTool


def test_override_that_sets_the_status_reports_it_once() -> None:
    @Executor.register(executor_type="tool", executor_name="XXX")
    class ByItself(Executor):
        def execute(self, step_id: str, agent_state: dict[str, Any]) -> dict[str, Any]:
            agent_state["agent_step"].update_step_status(step_id, "running")
            agent_state["agent_step"].update_step_status(step_id, "failed")
            message = {
                "agent_id": "agent-1",
                "role": "librarian",
                "stage_id": "stage-1",
                "content": "mine",
            }
            return {"send_shared_message": message}

    steps = one_step()

    output = ByItself().execute("1", state_of(steps))

    assert output["update_stage_agent_state"]["state"] == "failed"
    assert output["send_shared_message"]["content"] == "mine"
    assert steps.get_step("1").execution_state == "failed"


def test_output_with_the_state_failed_fails_the_step() -> None:
    class Failing(Executor):
        def execute(self, step_id: str, agent_state: dict[str, Any]) -> dict[str, Any]:
            return {"update_stage_agent_state": {"state": "failed"}}

    journal = Journal()
    output = Failing().execute("1", state_of(journal))

    assert journal.told == ["running", "failed"]
    assert output["send_shared_message"]["content"] == "执行Failing步骤:failed，"


def test_exception_fails_the_step_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    @Executor.register(executor_type="tool", executor_name="XXX")
    class Raising(Executor):
        def execute(self, step_id: str, agent_state: dict[str, Any]) -> None:
            raise ValueError("no such book")

    journal = Journal()
    output = Raising().execute("1", state_of(journal))

    assert output == complete_output("failed")
    assert journal.told == ["running", "failed"]
    assert "no such book" in caplog.text


@pytest.mark.parametrize("returned", [[1], "text", 5])
def test_output_that_is_no_dict_fails_the_step(
    returned: Any, caplog: pytest.LogCaptureFixture
) -> None:
    class Odd(Executor):
        def execute(self, step_id: str, agent_state: dict[str, Any]) -> Any:
            return returned

    assert Odd().execute("1", state_of(one_step())) == complete_output("failed", "Odd")
    assert f"returned a {type(returned).__name__}" in caplog.text


def test_interrupt_fails_the_step_and_is_raised() -> None:
    class Stopped(Executor):
        def execute(self, step_id: str, agent_state: dict[str, Any]) -> None:
            raise KeyboardInterrupt

    journal = Journal()
    with pytest.raises(KeyboardInterrupt):
        Stopped().execute("1", state_of(journal))

    assert journal.told == ["running", "failed"]


def test_override_that_calls_super_is_one_step() -> None:
    class First(Executor):
        def execute(self, step_id: str, agent_state: dict[str, Any]) -> dict[str, Any]:
            return {"first": 1}

    class Second(First):
        def execute(self, step_id: str, agent_state: dict[str, Any]) -> dict[str, Any]:
            assert super().execute(step_id, agent_state) == {"first": 1}
            return {**super().execute(step_id, agent_state), "second": 2}

    class Third(Second):
        pass

    journal = Journal()
    output = Third().execute("1", state_of(journal))

    assert journal.told == ["running", "finished"]
    assert output == {"first": 1, "second": 2, **complete_output("finished", "Third")}


def test_override_of_a_mixin_is_guarded() -> None:
    class Plain:
        def execute(self, step_id: str, agent_state: dict[str, Any]) -> None:
            return None

    class Both(Plain, Executor):
        pass

    journal = Journal()
    Both().execute("1", state_of(journal))

    assert journal.told == ["running", "finished"]
    assert Plain().execute("1", {}) is None


def test_one_executor_may_run_concurrent_steps() -> None:
    class Nested(Executor):
        def execute(self, step_id: str, agent_state: dict[str, Any]) -> dict[str, Any]:
            return {"inner": self.execute("2", agent_state)} if step_id == "1" else {}

    steps = one_step()
    steps.add_step(StepState("task-1", "stage-2", "agent-1", step_id="2"))
    output = Nested().execute("1", state_of(steps))

    assert output["inner"]["update_stage_agent_state"]["stage_id"] == "stage-2"
    assert [step.execution_state for step in steps.step_list] == ["finished", "finished"]


def test_coroutine_function_is_guarded_until_its_end() -> None:
    class Waiting(Executor):
        async def execute(self, step_id: str, agent_state: dict[str, Any]) -> dict[str, Any]:
            journal.told.append("before")
            await asyncio.sleep(0)
            journal.told.append("after")
            return {}

    class More(Waiting):
        async def execute(self, step_id: str, agent_state: dict[str, Any]) -> dict[str, Any]:
            return {**await super().execute(step_id, agent_state), "more": True}

    journal = Journal()
    output = asyncio.run(More().execute("1", state_of(journal)))

    assert journal.told == ["running", "before", "after", "finished"]
    assert output == {"more": True, **complete_output("finished", "More")}


def test_cancelled_coroutine_fails_the_step_and_stays_cancelled() -> None:
    class Waiting(Executor):
        async def execute(self, step_id: str, agent_state: dict[str, Any]) -> None:
            begun.set()
            await asyncio.Event().wait()

    async def cancel() -> None:
        task = asyncio.create_task(Waiting().execute("1", state_of(journal)))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    journal, begun = Journal(), asyncio.Event()
    asyncio.run(cancel())

    assert journal.told == ["running", "failed"]


def todo(step: Any) -> Any:
    waiting: queue.Queue[Any] = queue.Queue()
    waiting.put(step)
    return waiting


STEP = SimpleNamespace(task_id="task-1", stage_id="stage-1", step_id="1")


@pytest.mark.parametrize(
    "steps",
    [
        Journal([STEP]),
        Journal({"task_id": "task-1", "stage_id": "stage-1", "status": "init"}),
        SimpleNamespace(
            update_step_status=lambda *_: None, todo_list=[SimpleNamespace(step_id="0"), STEP]
        ),
        SimpleNamespace(update_step_status=lambda *_: None, todo_list={"x": STEP}),
        SimpleNamespace(update_step_status=lambda *_: None, todo_list=todo(STEP)),
    ],
    ids=["a list of steps", "a dict", "todo list", "todo dict", "todo queue"],
)
def test_step_objects_of_other_systems_are_accepted(steps: Any) -> None:
    class Tool(Executor):
        def execute(self, step_id: str, agent_state: dict[str, Any]) -> None: ...

    assert Tool().execute("1", state_of(steps)) == complete_output("finished", "Tool")


def test_step_that_leaves_the_todo_list_at_its_start_is_finished() -> None:
    class Queue:
        def __init__(self) -> None:
            self.told: list[str] = []
            self.todo_list = [STEP]

        def update_step_status(self, step_id: str, status: str) -> None:
            self.told.append(status)
            self.todo_list = []

    class Tool(Executor):
        def execute(self, step_id: str, agent_state: dict[str, Any]) -> None: ...

    steps = Queue()

    assert Tool().execute("1", state_of(steps)) == complete_output("finished", "Tool")
    assert steps.told == ["running", "finished"]


@pytest.mark.parametrize(
    ("state", "told"),
    [
        ({}, "agent_state has no 'agent_step'"),
        ({"agent_step": Journal(), "role": "r"}, "agent_state has no 'agent_id'"),
        ({"agent_step": Journal(), "agent_id": "a"}, "agent_state has no 'role'"),
        (
            state_of(object()),
            (
                "it must have update_step_status(step_id, status), and get_step(step_id) or a"
                " todo_list"
            ),
        ),
        (state_of(Journal(SimpleNamespace(task_id="t"))), "the step has no stage_id"),
        (
            state_of(SimpleNamespace(update_step_status=None, get_step=lambda _: [])),
            "agent_step has no step '1'",
        ),
    ],
)
def test_missing_member_is_an_error_before_the_step_runs(state: dict[str, Any], told: str) -> None:
    class Never(Executor):
        def execute(self, step_id: str, agent_state: dict[str, Any]) -> None:
            pytest.fail("it ran")

    with pytest.raises(StepError) as caught:
        Never().execute("1", state)
    assert told in str(caught.value)


def test_lookup_ignores_case_and_proposes_the_closest_name() -> None:
    @Executor.register("tool", "web_search")
    class WebSearch(Executor):
        def execute(self, step_id: str, agent_state: dict[str, Any]) -> None: ...

    assert Executor.lookup("tool", "WEB_SEARCH") is WebSearch
    assert Executor.list_registered("tool")["tool", "web_search"] is WebSearch
    assert ("tool", "web_search") not in Executor.list_registered("skill")
    with pytest.raises(LookupError, match="no tool 'web_serch', did you mean 'web_search'"):
        Executor.lookup("tool", "web_serch")
    with pytest.raises(LookupError, match="no names are known"):
        Executor.lookup("a type of its own", "web_search")


def test_second_class_of_a_name_replaces_the_first_with_a_warning() -> None:
    def define() -> type[Executor]:
        @Executor.register("tool", "twice")
        class Twice(Executor):
            def execute(self, step_id: str, agent_state: dict[str, Any]) -> None: ...

        return Twice

    define()
    with pytest.warns(UserWarning, match="twice"):
        second = define()
    assert Executor.lookup("tool", "twice") is second
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Executor.register("tool", "twice")(second)


def test_invalid_registration_is_an_error() -> None:
    with pytest.raises(TypeError, match="Idle does not override execute"):

        @Executor.register("tool", "idle")
        class Idle(Executor):
            pass

    with pytest.raises(TypeError, match=r"write class Stranger\(Executor\)"):

        @Executor.register("tool", "stranger")
        class Stranger:  # type: ignore[type-var]
            pass

    with pytest.raises(TypeError, match="takes names, not ''"):
        Executor.register("tool", "")
    with pytest.raises(TypeError, match=r"Static\.execute must be a method"):

        class Static(Executor):
            @staticmethod
            def execute(step_id: str, agent_state: dict[str, Any]) -> None: ...  # type: ignore[override]
