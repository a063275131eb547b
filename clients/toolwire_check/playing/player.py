"""Play a case: perform each step on a server, or compare it with what the server sent.

Strategy. A step acts (sends, closes, signals) or expects. An expectation is judged after each event
until it is met, or cannot be met any more, or the time is over. A `settle` step waits until the
server is idle; the expectations after it are decided at once.

Each limit of time is generous and yet may be too short on a busy machine. So a breach says whether
it `depends_on_time`; `check.py` repeats such a case alone, with longer limits.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping  # noqa: TC003 - msgspec reads the annotations
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.wire import codec
from toolwire_schemas.wire.tasks import FINAL_STATUSES

from ..facts.handshake import complete_message, find_trouble, list_all_tools, make_probe
from ..judging.conversation import ProcessEnded, Received, find_answers, find_called_tool
from ..judging.expectations import Breach, Scene, judge
from .placeholders import fill_in, to_bytes
from .polled_task import STATE, choose_pause_seconds, find_task

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..facts.server_process import ServerUnderTest
    from ..judging.conversation import Event
    from ..judging.expectations import Step

_TIMES_ALONE = 3.0  # how much longer than usual each wait of a repeated case may last
_IDLE_SECONDS_ALONE = 0.5
_USUAL_SECONDS = 0.05  # the answer of the slowest SDK on an idle machine takes a fifth of that
_MOST_TIMES = 3.0  # a check of a server that answers nothing must end, too
_TIMES_A_CALL = 2.0  # how much longer than before a call may take

# Which of two responses is first, and whether a call ends before its cancellation, also depends on
# the moment.
_KINDS_THAT_DEPEND_ON_TIME = ("order", "unanswered")


class Limits(msgspec.Struct, frozen=True):
    """How long a player waits.

    Until the first message of the server, each wait is *start_seconds* longer, since it may be
    starting. Calls may take as long as all of them together, since a server may run them one after
    the other.
    """

    answer_seconds: float
    opening_seconds: float
    """How long the handshake may take."""
    start_seconds: float = 0.0
    call_seconds: Mapping[str, float] = {}
    """How long a call of each tool has taken."""
    idle_seconds: float = 0.05
    """How long after two answered probes a server may still work on earlier messages."""
    exit_times: float = 1.0
    """How many times as long as a case says an exit may take."""

    def scale(self, seconds: float) -> Limits:
        """Return the limits for a server whose simplest answers take *seconds*: on a busy machine,
        all else takes longer by as much.
        """
        times = min(max(1.0, seconds / _USUAL_SECONDS), _MOST_TIMES)
        return msgspec.structs.replace(
            self,
            answer_seconds=times * self.answer_seconds,
            idle_seconds=times * self.idle_seconds,
            exit_times=times * self.exit_times,
        )

    def extend_for_repeating(self) -> Limits:
        """Return the limits for a case that is repeated alone, after it failed and time may have
        been the reason.
        """
        call_seconds = {}
        for tool, seconds in self.call_seconds.items():
            call_seconds[tool] = _TIMES_ALONE * seconds
        return msgspec.structs.replace(
            self,
            answer_seconds=_TIMES_ALONE * self.answer_seconds,
            opening_seconds=_TIMES_ALONE * self.opening_seconds,
            call_seconds=call_seconds,
            idle_seconds=max(_IDLE_SECONDS_ALONE, self.idle_seconds),
            exit_times=_TIMES_ALONE * self.exit_times,
        )


@dataclass
class Player:
    """Plays steps in one conversation. *values* replace `${name}` in messages."""

    server: ServerUnderTest
    revision: str
    values: Mapping[str, Any]
    limits: Limits

    def __post_init__(self) -> None:
        self._start = len(self.server.conversation.events)
        self._lists: dict[str, list[Any]] = {}
        self._probe_ids: set[str] = set()
        self._is_settled = False
        self._seconds_of_calls = 0.0

    def play(self, steps: Sequence[Step]) -> Breach | None:
        """Play *steps* up to the first unmet expectation, and return that."""
        for step in steps:
            breach = self._play_step(step)
            if breach is not None:
                severity = breach.severity or step.get("severity", "")
                return msgspec.structs.replace(breach, severity=severity)
        return None

    def _play_step(self, step: Step) -> Breach | None:
        match step:
            case {"times": times, "steps": steps}:
                return self._repeat(times, steps)
            case {"list": label}:
                return self._list_tools(label)
            case {"settle": _}:
                return self._settle()
            case {"follow": identity}:
                return self._follow(identity)
            case {"exit": expected}:
                return self._expect_exit(**expected)
            case {"orphans": _}:
                return self._expect_no_orphans()
        if self._act(step):
            self._is_settled = False
            return None
        return self._expect(fill_in(step, self.values))

    # --- actions ---

    def _act(self, step: Step) -> bool:
        """Do what *step* says to the server; return false if it is no action."""
        match step:
            case {"send": message}:
                self._send(fill_in(message, self.values))
            case {"raw": text}:
                self.server.send(to_bytes(text, self.values))
            case {"bytes": text}:
                self.server.write(to_bytes(text, self.values))
            case {"close": "stdin"}:
                self.server.finish_input()
            case {"signal": name}:
                self.server.signal(name)
            case _:
                return False
        return True

    def _send(self, message: Any) -> None:
        tool = find_called_tool(message)
        if tool is not None:
            self._seconds_of_calls += self.limits.call_seconds.get(tool, 0.0)
        self.server.send(codec.encode(complete_message(message, self.revision)))

    def _repeat(self, times: int, steps: Sequence[Step]) -> Breach | None:
        outer_values = self.values
        breach = None
        for number in range(1, times + 1):
            self.values = {**outer_values, "n": number}
            breach = self.play(steps)
            if breach is not None:
                break
        self.values = outer_values
        return breach

    def _list_tools(self, label: str) -> Breach | None:
        tools, problem = list_all_tools(
            self.server, self.revision, self._choose_patience(), f"list-{label}"
        )
        self._lists[label] = tools
        if not problem:
            return None
        expected = "a list of tools, page by page up to the last"
        return Breach(expected, problem, depends_on_time=self._may_answer())

    def _settle(self) -> Breach | None:
        """Wait until the server is idle. Two probes, since responses may arrive out of order."""
        for name in ("settle", "settle-again"):
            identity = f"{name}-{len(self.server.conversation.events)}"
            self._probe_ids.add(identity)
            request = make_probe(identity, self.revision)
            if self.server.request(request, self._choose_patience()) is None:
                expected = f"an answer to {request['method']} afterwards: the server goes on"
                return Breach(
                    expected, self._describe_silence(), depends_on_time=self._may_answer()
                )
        self.server.wait(lambda: False, self.limits.idle_seconds)
        self._is_settled = True
        return None

    def _follow(self, identity: str) -> Breach | None:
        """Poll the task that the response *identity* has made until it has ended."""
        task = find_task(self.server.conversation.events, identity)
        if task is None:
            return None
        deadline = time.monotonic() + self._choose_patience()
        for number in itertools.count(1):
            poll = task.make_poll(f"{identity}/get-{number}")
            self._send(poll)
            breach = self._expect({"answer": poll["id"], "result": STATE})
            if breach is not None:
                return breach
            state = find_answers(self.server.conversation.events, poll["id"])[0]["result"]
            if state["status"] in FINAL_STATUSES:
                return None
            if time.monotonic() > deadline:
                break
            update = task.decline(f"{identity}/update-{number}", state)
            if update is not None:
                self._send(update)
            self.server.wait(lambda: False, choose_pause_seconds(state))
        seconds = self._answer_seconds()
        expected = f"the task ends within {seconds:.3g} s"
        return Breach(expected, f"its status is {state['status']}", depends_on_time=True)

    # --- patience ---

    def _choose_patience(self) -> float:
        """Return how many seconds to wait for an event."""
        return self._answer_seconds() + self._start_seconds()

    def _answer_seconds(self) -> float:
        return max(self.limits.answer_seconds, _TIMES_A_CALL * self._seconds_of_calls)

    def _start_seconds(self) -> float:
        """Return how long the server may still be starting."""
        has_started = any(isinstance(event, Received) for event in self.server.conversation.events)
        return 0.0 if has_started else self.limits.start_seconds

    def _may_answer(self) -> bool:
        return not find_trouble(self.server)

    def _describe_silence(self) -> str:
        trouble = find_trouble(self.server, "the server")
        return trouble or f"nothing in {self._answer_seconds():.3g} s"

    # --- expectations ---

    def _expect_no_orphans(self) -> Breach | None:
        orphans = self.server.find_orphans()
        if not orphans:
            return None
        expected = "no process is left of what the server started"
        return Breach(expected, ", ".join(orphans), depends_on_time=True)

    def _expect_exit(self, within_seconds: float, status: Sequence[int] = ()) -> Breach | None:
        # A slow start suggests a slow end.
        patience = max(within_seconds * self.limits.exit_times, self.limits.start_seconds)
        came = self.server.exit_status(patience + self._start_seconds())
        if came is None:
            expected = f"the process ends within {patience:g} s"
            return Breach(expected, "it is still running", depends_on_time=True)
        if status and came not in status:
            expected = f"the process ends with status {' or '.join(map(str, status))}"
            return Breach(expected, f"it {ProcessEnded(came).how}")
        return None

    def _expect(self, step: Step) -> Breach | None:
        breach: Breach | None = None

        def is_decided() -> bool:
            nonlocal breach
            breach = judge(step, self._make_scene())
            return breach is None or not breach.may_come or self._is_settled

        self.server.wait(is_decided, self._choose_patience())
        if breach is None:
            return None
        if breach.may_come and not self._is_settled:
            came = f"{breach.came}: {self._describe_silence()}"
            return Breach(breach.expected, came, depends_on_time=self._may_answer())
        is_about_time = any(kind in step for kind in _KINDS_THAT_DEPEND_ON_TIME)
        depends_on_time = breach.may_come or is_about_time
        return msgspec.structs.replace(breach, depends_on_time=depends_on_time)

    def _make_scene(self) -> Scene:
        """Return the events since the first step, without the responses to probes."""
        events = self.server.conversation.events[self._start :]
        return Scene([event for event in events if not self._is_of_probe(event)], self._lists)

    def _is_of_probe(self, event: Event) -> bool:
        if not isinstance(event, Received) or not isinstance(event.value, dict):
            return False
        identity = event.value.get("id")
        return isinstance(identity, str) and identity in self._probe_ids
