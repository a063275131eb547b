"""Play a case: perform each step on a server, or compare it with what the server sent."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping  # noqa: TC003 - msgspec reads the annotations
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.wire import codec

from .conversation import ProcessEnded, Received
from .expectations import Breach, Scene, judge
from .handshake import complete_message, find_trouble, list_all_tools, make_probe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .conversation import Event
    from .server_process import ServerUnderTest

_VALUE = re.compile(r"\$\{([\w.]+)\}")
_TIMES_ALONE = 3.0  # how much longer than usual each wait of a repeated case may last
_IDLE_SECONDS_ALONE = 0.5
_TIMES_A_CALL = 2.0  # how much longer than before a call may take

# Which of two responses is first, and whether a call ends before its cancellation, also depends on
# the moment.
_DEPENDING_ON_TIME = ("order", "unanswered")

Text = str | dict[str, Any] | list[Any]


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

    def for_repeating(self) -> Limits:
        """Return the limits for a case that is repeated alone, after it failed and time may have
        been the reason.
        """
        return msgspec.structs.replace(
            self,
            answer_seconds=_TIMES_ALONE * self.answer_seconds,
            opening_seconds=_TIMES_ALONE * self.opening_seconds,
            call_seconds={
                tool: _TIMES_ALONE * seconds for tool, seconds in self.call_seconds.items()
            },
            idle_seconds=_IDLE_SECONDS_ALONE,
            exit_times=_TIMES_ALONE,
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
        self._probes: set[str] = set()
        self._settled = False
        self._seconds_of_calls = 0.0

    def play(self, steps: Sequence[dict[str, Any]]) -> Breach | None:
        """Play *steps* up to the first unmet expectation, and return that."""
        for step in steps:
            if (unmet := self._take(step)) is not None:
                return msgspec.structs.replace(
                    unmet, severity=unmet.severity or step.get("severity", "")
                )
        return None

    def _take(self, step: dict[str, Any]) -> Breach | None:
        match step:
            case {"times": times, "steps": steps}:
                return self._repeat(times, steps)
            case {"list": label}:
                return self._list(label)
            case {"settle": _}:
                return self._settle()
            case {"exit": expected}:
                return self._exit(**expected)
            case {"orphans": _}:
                return self._orphans()
        if self._act(step):
            self._settled = False
            return None
        return self._expect(fill_in(step, self.values))

    def _act(self, step: dict[str, Any]) -> bool:
        """Send what *step* has to send; return false if it has nothing."""
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
        if isinstance(message, dict) and message.get("method") == "tools/call":
            params = message.get("params")
            tool = params.get("name") if isinstance(params, dict) else None
            if isinstance(tool, str):
                self._seconds_of_calls += self.limits.call_seconds.get(tool, 0.0)
        self.server.send(codec.encode(complete_message(message, self.revision)))

    def _repeat(self, times: int, steps: Sequence[dict[str, Any]]) -> Breach | None:
        before, unmet = self.values, None
        for number in range(1, times + 1):
            self.values = {**before, "n": number}
            if (unmet := self.play(steps)) is not None:
                break
        self.values = before
        return unmet

    def _list(self, label: str) -> Breach | None:
        self._lists[label], problem = list_all_tools(
            self.server, self.revision, self._patience(), f"list-{label}"
        )
        if not problem:
            return None
        expected = "a list of tools, page by page up to the last"
        return Breach(expected, problem, depends_on_time=self._may_answer())

    def _settle(self) -> Breach | None:
        """Wait until the server is idle. Two probes, since responses may arrive out of order."""
        for name in ("settle", "settle-again"):
            identity = f"{name}-{len(self.server.conversation.events)}"
            self._probes.add(identity)
            request = make_probe(identity, self.revision)
            if self.server.request(request, self._patience()) is None:
                expected = f"an answer to {request['method']} afterwards: the server goes on"
                return Breach(expected, self._silence(), depends_on_time=self._may_answer())
        self.server.wait(lambda: False, self.limits.idle_seconds)
        self._settled = True
        return None

    def _patience(self) -> float:
        return self._answer_seconds() + self._starting()

    def _answer_seconds(self) -> float:
        return max(self.limits.answer_seconds, _TIMES_A_CALL * self._seconds_of_calls)

    def _starting(self) -> float:
        has_started = any(isinstance(event, Received) for event in self.server.conversation.events)
        return 0.0 if has_started else self.limits.start_seconds

    def _may_answer(self) -> bool:
        return not find_trouble(self.server)

    def _silence(self) -> str:
        return (
            find_trouble(self.server, "the server") or f"nothing in {self._answer_seconds():.3g} s"
        )

    def _orphans(self) -> Breach | None:
        left = self.server.find_orphans()
        if not left:
            return None
        return Breach(
            "no process is left of what the server started", ", ".join(left), depends_on_time=True
        )

    def _exit(self, within_seconds: float, status: Sequence[int] = ()) -> Breach | None:
        # A slow start suggests a slow end.
        patience = max(within_seconds * self.limits.exit_times, self.limits.start_seconds)
        came = self.server.exit_status(patience + self._starting())
        if came is None:
            expected = f"the process ends within {patience:g} s"
            return Breach(expected, "it is still running", depends_on_time=True)
        if status and came not in status:
            expected = f"the process ends with status {' or '.join(map(str, status))}"
            return Breach(expected, f"it {ProcessEnded(came).how}")
        return None

    def _expect(self, step: dict[str, Any]) -> Breach | None:
        unmet: Breach | None = None

        def is_decided() -> bool:
            nonlocal unmet
            unmet = judge(step, self.scene())
            return unmet is None or not unmet.may_come or self._settled

        self.server.wait(is_decided, self._patience())
        if unmet is None:
            return None
        if unmet.may_come and not self._settled:
            came = f"{unmet.came}: {self._silence()}"
            return Breach(unmet.expected, came, depends_on_time=self._may_answer())
        depends_on_time = unmet.may_come or any(kind in step for kind in _DEPENDING_ON_TIME)
        return msgspec.structs.replace(unmet, depends_on_time=depends_on_time)

    def scene(self) -> Scene:
        """The events since the first step, without the responses to probes."""
        events = self.server.conversation.events[self._start :]
        return Scene([event for event in events if not self._is_of_probe(event)], self._lists)

    def _is_of_probe(self, event: Event) -> bool:
        identity = (
            event.value.get("id")
            if isinstance(event, Received) and isinstance(event.value, dict)
            else None
        )
        return isinstance(identity, str) and identity in self._probes


def fill_in(value: Any, values: Mapping[str, Any]) -> Any:
    """Return *value* with each string `${name}` in it replaced by the value of that name."""
    if isinstance(value, str):
        found = _VALUE.fullmatch(value)
        return _named(found[1], values) if found else value
    if isinstance(value, list):
        return [fill_in(item, values) for item in value]
    if isinstance(value, dict):
        return {key: fill_in(item, values) for key, item in value.items()}
    return value


def to_bytes(text: Text, values: Mapping[str, Any]) -> bytes:
    """Return the bytes that *text* describes, with `${name}` replaced by the JSON of that value."""
    match text:
        case str():
            return _VALUE.sub(
                lambda found: codec.encode(_named(found[1], values)).decode(), text
            ).encode()
        case {"base64": encoded}:
            return base64.b64decode(encoded)
        case {"repeat": part, "times": times}:
            return to_bytes(part, values) * int(times)
        case list():
            return b"".join(to_bytes(part, values) for part in text)
    raise ValueError(f"not a description of text: {text!r}")


def _named(path: str, values: Mapping[str, Any]) -> Any:
    value: Any = values
    for name in path.split("."):
        value = value[name]
    return value
