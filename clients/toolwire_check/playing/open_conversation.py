"""A server in a conversation, and the plays in it so far."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from ..facts.handshake import find_trouble, make_meta, make_probe, open_session
from ..judging.conversation import format_exchange
from ..judging.expectations import Breach
from ..report import is_bad
from .player import Player
from .verdicts import judge_play, make_verdict
from .whole_run import Part

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..facts.handshake import Obstacle
    from ..facts.sdks import Sdk
    from ..facts.server_facts import Facts, Start
    from ..judging.conversation import Event
    from ..report import Verdict
    from .plan import Play
    from .player import Limits
    from .whole_run import RunJudge


class CheckContext(msgspec.Struct, frozen=True):
    """Whatever is the same for all plays of one check."""

    start: Start
    facts: Facts
    limits: Limits
    run_judge: RunJudge
    sdk: Sdk | None = None
    """The SDK whose failures are known gaps."""
    is_replay: bool = False
    """Whether verdicts have their whole exchange, and failures are not confirmed."""

    def is_of_sdk(self, verdict: Verdict) -> bool:
        """Whether *verdict* is a known failure of the SDK, which needs no further look."""
        return self.sdk is not None and self.sdk.causes(verdict)

    def is_doubtful(self, attempt: Attempt) -> bool:
        """Whether *attempt* has to be repeated, since it may have failed for lack of time."""
        if self.is_replay or not attempt.depends_on_time:
            return False
        return is_bad(attempt.verdict) and not self.is_of_sdk(attempt.verdict)


class Attempt(NamedTuple):
    """The outcome of one play."""

    verdict: Verdict
    depends_on_time: bool = False
    """Whether it fails, maybe only since the server or the machine was slow."""


class OpenConversation:
    """Starts a server and does the handshake that *play* needs.

    `obstacle` says why there is no conversation. `plays` and `parts` are what was played since.

    Raises:
        NotStarted: if the server does not start.
    """

    def __init__(self, context: CheckContext, play: Play, limits: Limits) -> None:
        assert play.framing is not None
        self._context = context
        self._limits = limits
        self._revision = play.revision
        self.server = context.start(play.framing)
        self.plays: list[Play] = []
        self.parts: list[Part] = []
        self.obstacle: Obstacle | None = None
        if play.process != "fresh" and play.revision:
            self.obstacle = open_session(self.server, play.revision, limits.opening_seconds)

    @property
    def events(self) -> Sequence[Event]:
        """What happened so far."""
        return self.server.conversation.events

    def play(self, play: Play, more_values: Mapping[str, Any] | None = None) -> Attempt:
        """Play *play*, whose messages may have *more_values* than those of each case."""
        if self.obstacle is not None:
            return self._report_obstacle(play)
        values = dict(self._context.facts.values)
        values.update(_list_values(play))
        values.update(more_values or {})
        player = Player(self.server, play.revision, values, self._limits)
        start_time = time.monotonic()
        start = len(self.events) if self.plays else 0  # the first play shows the handshake too
        breach = player.play(play.case.steps)
        events = self.events[start:]
        verdict = judge_play(play, breach, events, time.monotonic() - start_time)
        if self._context.is_replay:
            exchange = format_exchange(events, is_whole=True)
            verdict = msgspec.structs.replace(verdict, exchange=exchange)
        self.parts.append(Part(start, len(self.events), verdict))
        self.plays.append(play)
        depends_on_time = breach is not None and breach.depends_on_time
        return Attempt(verdict, depends_on_time)

    def _report_obstacle(self, play: Play) -> Attempt:
        assert self.obstacle is not None
        why = self.obstacle.why
        if self.obstacle.is_choice:
            return Attempt(make_verdict(play, "not applicable", reason=why))
        breach = Breach(f"a conversation in {play.revision} begins", why)
        depends_on_time = not find_trouble(self.server)
        return Attempt(judge_play(play, breach, self.events, 0.0), depends_on_time)

    def close(self, *, is_fuzzed: bool = False) -> None:
        """End the server, and judge the conversation by the rules for the whole run.

        A conversation that *is_fuzzed* is only judged by its noise: `fuzz.py` judges the calls.
        """
        self.server.close()
        parts = self.parts
        if len(parts) == 1:  # the messages at the end belong to the only case too
            parts = [msgspec.structs.replace(parts[0], end=len(self.events))]
        self._context.run_judge.judge(
            self.events, self._revision, parts=parts, only_noise=is_fuzzed
        )


def _list_values(play: Play) -> dict[str, Any]:
    """Return the values for placeholders that depend on the revision."""
    return {
        "revision": play.revision,
        "meta": make_meta(play.revision),
        "probe": make_probe("", play.revision)["method"],
    }
