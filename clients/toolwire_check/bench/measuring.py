"""Measures servers in turns, so that other load on the machine slows all of them alike."""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import msgspec
from toolwire_schemas.wire import codec

from . import bare_loop
from .driven_server import DrivenServer, MeasuringFailed
from .measurement import BARE_LOOP, Measurement
from .subject import ANY_ID, DEFAULT_PATIENCE, Subject, make_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from .subject import Patience, Request

_WARM_UP_CALLS = 50
_WARM_UP_SECONDS = 0.1
_MAX_CALLS = 500
"""One after the other, in each round."""

_CALLS_SECONDS = 0.4
_MAX_PIPELINED = 10_000
_MIN_PIPELINED = 4
_PIPELINED_SECONDS = 0.4
"""How long the pipelined calls of a round would take one after the other, at most."""

_MAX_PIPELINED_BYTES = 64 * 1024 * 1024
"""Of requests, and of responses."""

_MAX_ROUNDS = 100


def measure(
    subjects: Sequence[Subject],
    *,
    seconds: float = 10.0,
    patience: Patience = DEFAULT_PATIENCE,
    on_progress: Callable[[float, str], object] = lambda share, name: None,
) -> list[Measurement]:
    """Return what *subjects* take, next to a bare loop that gives the first one's responses.

    All take turns for about *seconds*, and at least once. *on_progress* receives the share of the
    time that is over, and the name of the server that is measured next.

    Raises:
        MeasuringFailed: if one ends or does not respond.
    """
    with tempfile.TemporaryDirectory() as folder:
        answers = Path(folder) / "answers.json"
        answers.write_bytes(codec.encode(subjects[0].results))
        everyone = [_make_bare_loop(subjects[0], answers), *subjects]
        found = []
        for name, each in zip(make_unique(each.name for each in everyone), everyone, strict=True):
            found.append(Measurement(name=name, command=list(each.command)))
        start = time.monotonic()
        for number in range(_MAX_ROUNDS):
            for place in range(len(everyone)):
                turn = (number + place) % len(everyone)  # a different one is first in each round
                on_progress((time.monotonic() - start) / seconds, everyone[turn].name)
                _measure_once(everyone[turn], found[turn], patience)
            if time.monotonic() - start >= seconds:
                break
    return found


def make_unique(names: Iterable[str]) -> list[str]:
    """Return *names*, those that were there before with a number."""
    counts = Counter[str]()
    found = []
    for name in names:
        counts[name] += 1
        found.append(name if counts[name] == 1 else f"{name} ({counts[name]})")
    return found


def _make_bare_loop(subject: Subject, answers: Path) -> Subject:
    """Return the bare loop that gives the responses of *subject*, which it reads in *answers*."""
    # -P, so that no file in the folder of the loop hides a module.
    command = [sys.executable, "-P", str(Path(bare_loop.__file__)), str(answers)]
    return msgspec.structs.replace(subject, name=BARE_LOOP, command=command)


def _measure_once(subject: Subject, found: Measurement, patience: Patience) -> None:
    server = DrivenServer(subject.command, patience_seconds=patience.start_seconds)
    try:
        for lines, mark in subject.iterate_opening_requests():
            server.ask(lines, mark)
        found.start_seconds.append(time.perf_counter() - server.start_time)
        server.patience_seconds = patience.answer_seconds
        visit = _Visit(server, subject.request())
        found.call_seconds += visit.time_calls()
        found.calls_per_second.append(visit.time_pipelined())
        found.calls += visit.calls
        found.failed_calls += visit.failed_calls
        memory = server.measure_peak_memory_bytes()
        if memory is not None:
            found.memory_bytes.append(memory)
    except MeasuringFailed as error:
        raise MeasuringFailed(f"{subject.name}: {error}") from None
    finally:
        server.close()


class _Visit:
    """The calls of one round, each with an id of its own."""

    def __init__(self, server: DrivenServer, request: Request) -> None:
        self._server = server
        self._request = request
        self._call_seconds = 0.0
        self._response_bytes = 0
        self.calls = 0
        self.failed_calls = 0

    def time_calls(self) -> list[float]:
        """Return the seconds of calls, each sent when the one before was answered."""
        self._repeat(_WARM_UP_CALLS, _WARM_UP_SECONDS)
        times = self._repeat(_MAX_CALLS, _CALLS_SECONDS)
        self._call_seconds = median(times)
        return times

    def _repeat(self, calls: int, seconds: float) -> list[float]:
        end = time.perf_counter() + seconds
        times = []
        for _ in range(calls):
            self.calls += 1
            line, mark = self._request.make_line(self.calls), self._request.mark(self.calls)
            before = time.perf_counter()
            data = self._server.ask(line, mark)
            after = time.perf_counter()
            times.append(after - before)
            self.failed_calls += count_failures(data, {self.calls})
            self._response_bytes = len(data)
            if after > end:
                break
        return times

    def time_pipelined(self) -> float:
        """Return the calls in a second of some that are written without waiting."""
        first = self.calls + 1
        count = self._choose_count(len(self._request.make_line(first)))
        self.calls += count
        numbers = range(first, first + count)
        lines = b"".join(map(self._request.make_line, numbers))
        self._server.patience_seconds += 2 * count * self._call_seconds
        before = time.perf_counter()
        data = self._server.ask(lines, ANY_ID, count=count)
        seconds = time.perf_counter() - before
        self.failed_calls += count_failures(data, set(numbers))
        return count / seconds

    def _choose_count(self, line_bytes: int) -> int:
        by_time = round(_PIPELINED_SECONDS / self._call_seconds)
        by_size = _MAX_PIPELINED_BYTES // max(line_bytes, self._response_bytes)
        return max(min(by_time, by_size, _MAX_PIPELINED), _MIN_PIPELINED)


def count_failures(data: bytes, numbers: set[int]) -> int:
    """Return how many of the calls with these *numbers* failed.

    Raises:
        MeasuringFailed: unless *data* has one response to each.
    """
    missing = set(map(make_id, numbers))
    failures = 0
    for line in data.splitlines():
        try:
            message = codec.decode(line)
        except codec.DecodingError:
            continue  # output that is no message is for `check` to judge
        identity = message.get("id") if isinstance(message, dict) else None
        if not isinstance(identity, str) or identity not in missing:
            continue
        missing.discard(identity)
        result = message.get("result")
        if not isinstance(result, dict) or result.get("isError"):
            failures += 1
    if missing:
        raise MeasuringFailed(f"{len(missing)} of {len(numbers)} calls have no response")
    return failures
