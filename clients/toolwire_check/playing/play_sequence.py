"""Play cases in sequence, and find out what a failure depends on.

Strategy. Cases share a process as long as it answers, since a start is the most expensive part of a
case. So a failure may have three causes besides the server's behaviour in this case: another case
before it in the same process, lack of time, or chance. `play_and_confirm` tells them apart:

- It plays a failed case again, alone in a new process. If the case passes there, it searches for
  the cases before it that cause the failure (`find_predecessors`).
- A failure that may be for lack of time becomes a `Doubt`, which `check.py` repeats at the end,
  when nothing else runs (`repeat_doubt`).
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import msgspec
from toolwire_client.errors import NotStarted

from ..facts.handshake import make_probe
from ..judging.conversation import format_exchange
from ..judging.expectations import Breach
from ..report import is_bad
from .open_conversation import Attempt, OpenConversation
from .verdicts import is_as_bad, judge_play, make_verdict, note_predecessors

if TYPE_CHECKING:
    from ..report import Verdict
    from .open_conversation import CheckContext
    from .plan import Play
    from .player import Limits

_ALIVE_SECONDS = 2.0
_NOTE = (
    "at first it failed, which may have been for lack of time; repeated alone, with longer limits,"
    " it passes"
)


class Doubt(msgspec.Struct, frozen=True):
    """A *play* that failed, maybe for lack of time, and the plays *before* it in the same
    process.
    """

    play: Play
    verdict: Verdict
    before: list[Play]


class PlaySequence:
    """Plays cases in one process as long as it answers; a case that needs its own gets one."""

    def __init__(self, context: CheckContext, limits: Limits | None = None) -> None:
        self._context = context
        self._limits = limits or context.limits
        self._conversation: OpenConversation | None = None
        self._has_passed = True
        """Whether the last play passed, so that the process needs no probe."""

    def play(self, play: Play) -> Attempt:
        """Play *play*, in the process of the plays before it if possible."""
        if play.reason:
            return Attempt(make_verdict(play, "not applicable", reason=play.reason))
        try:
            attempt = self._open(play).play(play)
        except NotStarted as error:  # although it started before
            breach = Breach("the server starts", str(error))
            attempt = Attempt(judge_play(play, breach, [], 0.0), depends_on_time=True)
        self._has_passed = attempt.verdict.outcome == "pass"
        return attempt

    def list_predecessors(self) -> list[Play]:
        """Return the plays in the current process before the last one."""
        return [] if self._conversation is None else self._conversation.plays[:-1]

    def close(self) -> None:
        """End the process, if there is one."""
        if self._conversation is not None:
            conversation, self._conversation = self._conversation, None
            conversation.close()

    def _open(self, play: Play) -> OpenConversation:
        """Return the conversation for *play*: the current one if it can go on."""
        conversation = self._conversation
        if conversation is not None and self._can_continue(conversation, play):
            return conversation
        self.close()
        self._conversation = OpenConversation(self._context, play, self._limits)
        return self._conversation

    def _can_continue(self, conversation: OpenConversation, play: Play) -> bool:
        if conversation.obstacle is not None:
            return False
        if any(each.process != "shared" for each in (*conversation.plays, play)):
            return False
        if self._has_passed:
            return True
        probe = make_probe(f"alive-{play.case.id}", play.revision)
        return conversation.server.request(probe, _ALIVE_SECONDS) is not None


def play_and_confirm(context: CheckContext, sequence: PlaySequence, play: Play) -> Verdict | Doubt:
    """Return the verdict on *play* as the next of *sequence*, or a doubt if it has to be repeated
    before there is one.
    """
    attempt = sequence.play(play)
    if not is_bad(attempt.verdict) or context.is_replay or context.is_of_sdk(attempt.verdict):
        return attempt.verdict
    before = sequence.list_predecessors()
    if context.is_doubtful(attempt):
        return Doubt(play, attempt.verdict, before)
    if not before:
        return attempt.verdict
    sequence.close()
    alone = sequence.play(play)
    verdict = alone.verdict
    if not is_as_bad(alone.verdict, attempt.verdict):
        verdict = find_predecessors(context, context.limits, play, attempt.verdict, before)
    if context.is_doubtful(Attempt(verdict, alone.depends_on_time)):
        return Doubt(play, verdict, before)
    return verdict


def repeat_doubt(context: CheckContext, doubt: Doubt) -> Verdict:
    """Return the final verdict on a play: played again, alone, with longer limits, and then after
    the plays that were before it.
    """
    limits = context.limits.extend_for_repeating()
    with closing(PlaySequence(context, limits)) as sequence:
        alone = sequence.play(doubt.play).verdict
    if is_as_bad(alone, doubt.verdict):
        return alone
    if doubt.before:
        after = find_predecessors(context, limits, doubt.play, doubt.verdict, doubt.before)
        if after.after:
            return after
    if is_bad(alone):
        return alone
    return msgspec.structs.replace(alone, reason=_NOTE)


def find_predecessors(
    context: CheckContext, limits: Limits, play: Play, verdict: Verdict, before: list[Play]
) -> Verdict:
    """Return *verdict*, a failure of *play* after the plays *before* it, with the fewest of these
    that cause it.

    It names none of them if *play* does not fail after all of them again, within *limits*.
    """
    exchange = _reproduce(context, limits, [*before, play], verdict)
    if exchange is None:
        return note_predecessors(verdict, [])
    # It fails after the plays from `start` on, and not after those from `end` on.
    start, end = 0, len(before)
    while end - start > 1:
        middle = (start + end) // 2
        shorter = _reproduce(context, context.limits, [*before[middle:], play], verdict)
        if shorter is None:
            end = middle
        else:
            start, exchange = middle, shorter
    guilty = before[start:]
    if len(guilty) > 1:  # mostly, one case changes a state that the others leave as it is
        shorter = _reproduce(context, context.limits, [guilty[0], play], verdict)
        if shorter is not None:
            guilty, exchange = guilty[:1], shorter
    verdict = msgspec.structs.replace(verdict, exchange=exchange)
    return note_predecessors(verdict, [each.case.id for each in guilty])


def _reproduce(
    context: CheckContext, limits: Limits, plays: list[Play], verdict: Verdict
) -> list[str] | None:
    """Play *plays* in a new process; return the exchange if the last one is as bad as *verdict*
    again, otherwise `None`.
    """
    try:
        conversation = OpenConversation(context, plays[0], limits)
    except NotStarted:  # that is another failure
        return None
    with closing(conversation):
        for play in plays:
            attempt = conversation.play(play)
        if not is_as_bad(attempt.verdict, verdict):
            return None
        return format_exchange(conversation.events)
