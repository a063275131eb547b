"""Calls that were under way when the process was killed: reported as possibly done, and never
repeated unasked.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.agent_scripts import act, final, kinds, of, play, replayed
from toolwire_agent.agent import (
    Agent,
    Allow,
    ApprovalRequest,
    Approvals,
    Budgets,
    Outcome,
    Pause,
    Refuse,
    load,
)
from toolwire_agent.agent.events import ApprovalAsked, CallStarted
from toolwire_agent.models import ScriptedModel
from toolwire_client.redaction.hidden import stands_for
from toolwire_client.redaction.redactor import Redactor

pytestmark = pytest.mark.process

SECONDS = 60
PLAIN: dict[str, Any] = {"euros": 50, "to": "Ada"}
SECRET: dict[str, Any] = {"euros": 50, "to": "Ada", "card_token": "rosebud-of-course"}

PROGRAM = '''
import json, os, sys, time
from toolwire_agent import Agent, Approvals
from toolwire_agent.models import ScriptedModel

def pay(euros: float, to: str, card_token: str = "") -> str:
    """Pay a person."""
    with open("payments", "a") as file:
        file.write(f"{euros} {to}\\n")
    with open("paid", "w") as fifo:
        fifo.write("yes")
    time.sleep(3600)

act = {"thought": "So be it.", "type": "ACTION", "tool": "pay", "params": json.loads(sys.argv[1])}
approval = Approvals(allow=("*",))
Agent(ScriptedModel([act]), [pay], approval=approval, transcript="run.jsonl").answer_sync("Pay Ada!")
'''  # noqa: E501


class Payments:
    """The folder of a process that was killed while it paid."""

    def __init__(self, folder: Path, params: dict[str, Any]) -> None:
        self.transcript = folder / "run.jsonl"
        self._file = folder / "payments"
        os.mkfifo(folder / "paid")
        (folder / "program.py").write_text(PROGRAM)
        with subprocess.Popen(
            [sys.executable, "program.py", json.dumps(params)], cwd=folder
        ) as process:
            assert (folder / "paid").read_text() == "yes"  # waits until the effect has happened
            process.send_signal(signal.SIGKILL)
            assert process.wait(SECONDS) == -signal.SIGKILL
        assert kinds(load(self.transcript))[-1] == "CallStarted"
        assert self.count == 1

    def pay(self, euros: float, to: str, card_token: str = "") -> str:
        """Pay a person."""
        with self._file.open("a") as file:
            file.write(f"{euros} {to}\n")
        return "paid"

    @property
    def count(self) -> int:
        return len(self._file.read_text().splitlines())

    def resumed(self, model: ScriptedModel, approval: Approvals, **settings: Any) -> Outcome:
        agent = Agent(model, [self.pay], approval=approval, transcript=self.transcript, **settings)
        outcome: Outcome = play("asyncio", agent.resume(self.transcript).answer)
        return outcome


@pytest.fixture
def plain(tmp_path: Path) -> Payments:
    return Payments(tmp_path, PLAIN)


@pytest.fixture
def secret(tmp_path: Path) -> Payments:
    return Payments(tmp_path, SECRET)


def results(model: ScriptedModel) -> list[dict[str, Any]]:
    """What the model was told of its actions since it was resumed."""
    texts = [
        message["content"] for message in model.asked[-1].messages if message["role"] == "user"
    ]
    messages = [json.loads(line) for text in texts for line in text.splitlines() if line]
    return [message for message in messages if message["type"] == "ACTION_RESULT"]


def check_reported(message: dict[str, Any]) -> None:
    assert message["success"] is False
    assert "may have taken effect" in message["result"]
    assert "Do not repeat it without checking" in message["result"]
    assert "Nothing was done" not in message["result"]


EVERYTHING = Approvals(allow=("*",))
DONE = final("I do not know", ok=False)


@pytest.mark.parametrize(
    ("approval", "settings"),
    [
        (EVERYTHING, {}),
        (Approvals(allow=("*",), deny=("pay",)), {}),
        (Approvals(ask=lambda request: False), {}),
        (Approvals(ask=lambda request: Refuse("not twice"), allow=("*",)), {}),
        (Approvals(ask=lambda request: Allow({"euros": "many"}), allow=("*",)), {}),
        (EVERYTHING, {"budgets": Budgets(seconds=1e-9)}),
    ],
    ids=[
        "nobody to ask",
        "denied",
        "refused",
        "refused with a reason",
        "edited to a misfit",
        "no time",
    ],
)
def test_an_interrupted_call_is_reported_as_possibly_done(
    plain: Payments, approval: Approvals, settings: dict[str, Any]
) -> None:
    model = ScriptedModel([DONE])
    plain.resumed(model, approval, **settings)
    (told,) = results(model)
    check_reported(told)
    assert plain.count == 1


@pytest.mark.parametrize(
    "approval", [EVERYTHING, Approvals(ask=lambda request: True), Approvals(deny=("*",))]
)
def test_an_interrupted_call_with_a_secret_is_reported_as_possibly_done(
    secret: Payments, approval: Approvals
) -> None:
    assert "rosebud" not in secret.transcript.read_text()
    model = ScriptedModel([DONE])
    secret.resumed(model, approval)
    (told,) = results(model)
    check_reported(told)
    assert secret.count == 1


@pytest.mark.parametrize(
    "repeated", [SECRET, {**SECRET, "card_token": "[hidden]"}, {**SECRET, "euros": 50.0}]
)
def test_an_identical_call_with_a_secret_is_recognised(
    secret: Payments, repeated: dict[str, Any]
) -> None:
    model = ScriptedModel([act("pay", **repeated), DONE])
    secret.resumed(model, EVERYTHING)
    assert len(results(model)) == 2
    for told in results(model):
        check_reported(told)
    assert secret.count == 1


def test_an_identical_call_afterwards_needs_approval_even_if_everything_is_allowed(
    plain: Payments,
) -> None:
    model = ScriptedModel(
        [act("pay", **PLAIN), act("pay", euros=50.0, to="Ada"), act("pay", euros=7, to="Bo"), DONE]
    )
    outcome = plain.resumed(model, EVERYTHING)
    interrupted, first, second, other = results(model)
    for told in (interrupted, first, second):
        check_reported(told)
    assert other == {"type": "ACTION_RESULT", "success": True, "result": "paid"}
    assert plain.count == 2
    assert [event.interrupted for event in of(ApprovalAsked, outcome.transcript)] == [True] * 3
    assert play("asyncio", lambda: replayed(plain.transcript)) == outcome.transcript


def test_an_identical_call_needs_approval_in_later_questions_and_processes(plain: Payments) -> None:
    plain.resumed(ScriptedModel([DONE]), EVERYTHING)

    async def later() -> Any:
        agent = Agent(model, [plain.pay], approval=EVERYTHING, transcript=plain.transcript)
        return await agent.resume(plain.transcript).answer("Try again!")

    model = ScriptedModel([act("pay", **PLAIN), DONE])
    play("asyncio", later)
    check_reported(results(model)[-1])
    assert plain.count == 1


def test_another_question_reports_the_call_as_possibly_done(plain: Payments) -> None:
    async def ask() -> Any:
        agent = Agent(model, [plain.pay], approval=EVERYTHING, transcript=plain.transcript)
        return await agent.resume(plain.transcript).answer("Never mind. How are you?")

    model = ScriptedModel([act("pay", **PLAIN), DONE])
    play("asyncio", ask)
    for told in results(model):
        check_reported(told)
    assert plain.count == 1


def test_approval_of_an_interrupted_call_shows_arguments_and_is_noted(
    plain: Payments,
) -> None:
    asked: list[ApprovalRequest] = []

    def approve(request: ApprovalRequest) -> bool:
        asked.append(request)
        return True

    model = ScriptedModel([final("done")])
    plain.resumed(model, Approvals(ask=approve, allow=("*",)))
    assert [(request.tool, request.params, request.interrupted) for request in asked] == [
        ("pay", PLAIN, True)
    ]
    (told,) = results(model)
    assert (told["success"], told["result"]) == (True, "paid")
    assert "may have taken effect twice" in told["note"]
    assert plain.count == 2


@pytest.mark.parametrize(
    "approval", [Approvals(ask=lambda request: Pause()), Approvals(no_user="pause")]
)
def test_decision_about_an_interrupted_call_can_pause_repeatedly(
    plain: Payments, approval: Approvals
) -> None:
    allows = Approvals(ask=approval.ask, no_user=approval.no_user, allow=("*",))
    for _ in range(3):
        outcome = plain.resumed(ScriptedModel([]), allows)
        assert outcome.status == "needs_input"
        assert isinstance(outcome.pending, ApprovalAsked)
        assert outcome.pending.interrupted
    model = ScriptedModel([DONE])
    last = Approvals(allow=("*",), deny=("pay",))
    agent = Agent(model, [plain.pay], approval=last, transcript=plain.transcript)
    assert play("asyncio", agent.resume(plain.transcript).answer).status == "unsolvable"
    check_reported(results(model)[-1])
    assert plain.count == 1


def test_interrupted_repetition_needs_approval_again(plain: Payments) -> None:
    events = list(load(plain.transcript))
    (started,) = of(CallStarted, events)
    model = ScriptedModel([DONE])
    outcome = plain.resumed(ScriptedModel([DONE]), Approvals(ask=lambda request: True))
    cut = kinds(outcome.transcript).index("CallStarted", events.index(started) + 1)
    agent = Agent(model, [plain.pay], approval=EVERYTHING)
    play("asyncio", agent.resume(outcome.transcript[: cut + 1]).answer)
    (told,) = results(model)
    check_reported(told)


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.sampled_from(["sk-" + "a" * 20, "x sk-" + "b" * 20]),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.text() | st.sampled_from(["password", "id"]), inner)
    ),
)


@given(values)
def test_any_value_matches_its_redacted_record(value: Any) -> None:
    hidden = json.loads(json.dumps(Redactor({}).redact_value(value)))
    if json.dumps(value).isascii() and "\\ud" not in json.dumps(value):
        assert stands_for(hidden, value)


@pytest.mark.parametrize(
    ("recorded", "value", "is_same"),
    [
        ("Bearer [hidden]", "Bearer abc", True),
        ("Bearer [hidden]", "Basic abc", False),
        ("[hidden]", 5, True),
        ("[hidden]", True, False),
        ("a[hidden]", 5, False),
        ({"a": "[hidden]"}, {"a": "x", "b": 1}, False),
        ({"a": [1, "[hidden]"]}, {"a": [1, "x"]}, True),
        ({"a": [1, "[hidden]"]}, {"a": [2, "x"]}, False),
        (50, 50.0, True),
        (None, 0, False),
    ],
)
def test_a_hidden_value_matches_any_text_or_number_and_nothing_else(
    recorded: Any, value: Any, is_same: bool
) -> None:
    assert stands_for(recorded, value) is is_same
