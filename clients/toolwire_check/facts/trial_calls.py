"""Find the calls that cases need: one that succeeds, one that is slow, one with wrong arguments, …

Strategy. Only tools that the settings allow are called. Calls that the server has to refuse are
made from the input schemas, without a trial. The others are found by trial: each tool is called
with simple arguments, and its result, duration, progress notifications and child processes decide
for which kinds of case the call will do. The first call of each kind is taken.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from ..judging.conversation import iter_messages
from .handshake import complete_message, make_probe
from .sample_arguments import SampleArguments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .check_settings import CheckSettings
    from .server_process import ServerUnderTest

_MAX_TRIED = 24
_TRY_SECONDS = 3.0
_SLOW_SECONDS = 0.25  # the shortest duration of a call during which a case can act

# The kinds of calls, each with the reason why a server may lack one.
_TRIAL_KINDS = {
    "call": "no call that was tried succeeds; name arguments that do with --call",
    "slow": f"no call that was tried takes {_SLOW_SECONDS:g} s",
    "progress": "no call that was tried reports progress",
    "child": "no call that was tried leaves a process running; name one that does with --call",
}
_INVALID_KINDS = {
    "wrong": "no tool that may be called has parameters with types",
    "missing": "no tool that may be called has required parameters",
    "extra": "no tool that may be called refuses unknown arguments (additionalProperties)",
}
_MAKERS = {
    "wrong": SampleArguments.make_wrong_type,
    "missing": SampleArguments.make_incomplete,
    "extra": SampleArguments.make_unknown,
}


class Needs(msgspec.Struct):
    """The needs of cases: *values* for those that a server meets, and why it *lacks* the others."""

    values: dict[str, Any] = {}
    lacks: dict[str, str] = {}

    def set(self, need: str, value: Any, *, reason: str) -> None:
        """Note the *value* for *need*, or the *reason* if the value is false or `None`."""
        if value:
            self.values[need] = value
        else:
            self.lacks[need] = reason


class _Candidate(NamedTuple):
    """A tool to try, with arguments that it accepts by its schema or that the user named."""

    name: str
    samples: SampleArguments
    arguments: dict[str, Any]

    def call_with(self, arguments: dict[str, Any]) -> dict[str, Any]:
        return {"name": self.name, "arguments": arguments}


def find_calls(
    server: ServerUnderTest, revision: str, tools: Sequence[Any], settings: CheckSettings
) -> Needs:
    """Return the calls that cases need, and why some are missing."""
    allowed = _list_allowed(tools, settings)
    candidates = _list_candidates(allowed, settings)
    reasons = _TRIAL_KINDS | _INVALID_KINDS
    if not candidates:
        return Needs(lacks=dict.fromkeys(reasons, _explain_no_candidate(allowed)))
    calls = _make_invalid_calls(candidates) | _try_calls(server, revision, candidates)
    needs = Needs()
    for kind, reason in reasons.items():
        needs.set(kind, calls.get(kind), reason=reason)
    return needs


def _list_allowed(tools: Sequence[Any], settings: CheckSettings) -> list[dict[str, Any]]:
    """Return the tools that may be called, those that the user named first."""
    named, others = [], []
    for tool in tools:
        if not isinstance(tool, dict) or not isinstance(tool.get("name"), str):
            continue
        if tool["name"] in settings.calls:
            named.append(tool)
        elif settings.allows_call(tool):
            others.append(tool)
    return named + others


def _list_candidates(tools: Sequence[dict[str, Any]], settings: CheckSettings) -> list[_Candidate]:
    candidates = []
    for tool in tools:
        schema = tool.get("inputSchema")
        samples = SampleArguments(schema)
        arguments = settings.calls.get(tool["name"])
        if arguments is None:
            arguments = samples.valid
        if arguments is not None and isinstance(schema, dict):
            candidates.append(_Candidate(tool["name"], samples, arguments))
    return candidates


def _explain_no_candidate(allowed: Sequence[dict[str, Any]]) -> str:
    if not allowed:
        return (
            "no tool says that it is read-only (annotations.readOnlyHint), and none was named with"
            " --call"
        )
    names = " or ".join(tool["name"] for tool in allowed[:3])
    return f"no arguments were found that {names} would take; name some with --call"


def _make_invalid_calls(candidates: Sequence[_Candidate]) -> dict[str, dict[str, Any]]:
    calls: dict[str, dict[str, Any]] = {}
    for kind, make_arguments in _MAKERS.items():
        for candidate in candidates:
            arguments = make_arguments(candidate.samples)
            if arguments is not None:
                calls[kind] = candidate.call_with(arguments)
                break
    return calls


def _try_calls(
    server: ServerUnderTest, revision: str, candidates: Sequence[_Candidate]
) -> dict[str, dict[str, Any]]:
    trials = _Trials(server, revision)
    for candidate in candidates[:_MAX_TRIED]:
        trials.add(candidate.call_with(candidate.arguments))
        if server.conversation.ended or trials.found.keys() >= _TRIAL_KINDS.keys():
            break
    return trials.found


class _Attempt(NamedTuple):
    """A call that was made: its result, duration and progress token."""

    result: Any
    seconds: float
    token: str


class _Trials:
    """Makes calls and notes their success, duration, progress notifications and child processes."""

    def __init__(self, server: ServerUnderTest, revision: str) -> None:
        self._server = server
        self._revision = revision
        self._count = 0
        self.found: dict[str, dict[str, Any]] = {}
        """The first call of each kind."""

    def add(self, call: dict[str, Any]) -> None:
        """Make *call*, and repeat it where one result proves too little."""
        processes = self._server.list_descendants()
        is_first = self._count == 0
        attempt = self._make(call)
        if not isinstance(attempt.result, dict):
            return
        if "slow" not in self.found and self._is_slow(call, attempt):
            self.found["slow"] = call
        if not attempt.result.get("isError"):
            self.found.setdefault("call", call)
        if self._has_reported(attempt.token):
            self.found.setdefault("progress", call)
        if "child" not in self.found and self._has_left_child(call, processes, is_first=is_first):
            self.found["child"] = call

    def _make(self, call: dict[str, Any]) -> _Attempt:
        token = f"facts-try-{self._count}"
        self._count += 1
        params = {**call, "_meta": {"progressToken": token}}
        request = {"id": token, "method": "tools/call", "params": params}
        start = time.monotonic()
        answer = self._server.request(complete_message(request, self._revision), _TRY_SECONDS) or {}
        seconds = time.monotonic() - start
        if seconds >= _SLOW_SECONDS:  # on a busy machine a probe takes long too
            seconds -= self._measure_probe()
        return _Attempt(answer.get("result"), seconds, token)

    def _measure_probe(self) -> float:
        """Return how long the server takes to answer the cheapest request."""
        identity = f"facts-probe-{self._count}"
        self._count += 1
        start = time.monotonic()
        self._server.request(make_probe(identity, self._revision), _TRY_SECONDS)
        return time.monotonic() - start

    def _is_slow(self, call: dict[str, Any], attempt: _Attempt) -> bool:
        if attempt.seconds < _SLOW_SECONDS:
            return False
        # The first call may have loaded what further ones need, or the machine was busy just then.
        return self._make(call).seconds >= _SLOW_SECONDS

    def _has_reported(self, token: str) -> bool:
        for message in iter_messages(self._server.conversation.events):
            params = message.get("params")
            if isinstance(params, dict) and params.get("progressToken") == token:
                return True
        return False

    def _has_left_child(self, call: dict[str, Any], before: set[int], *, is_first: bool) -> bool:
        """Whether a process that *call* started still runs, after a call with *before* running."""
        if self._server.list_descendants() <= before:
            return False
        if is_first:  # a server may start helpers of its own for its first call
            before = self._server.list_descendants()
            self._make(call)
        self._measure_probe()  # a process that ends with its call has this time to do so
        return not self._server.list_descendants() <= before
