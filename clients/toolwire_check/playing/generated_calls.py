"""Make calls with generated arguments, in one process as long as it answers."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

from toolwire_client.errors import NotStarted

from ..facts.handshake import make_probe
from ..judging.conversation import ProcessEnded, find_answers
from ..report import is_bad
from .open_conversation import OpenConversation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..judging.conversation import Event, Message
    from ..judging.expectations import Step
    from ..report import Verdict
    from .open_conversation import Attempt, CheckContext
    from .plan import Play
    from .player import Limits

# The expectations of a call with any arguments; `GeneratedCalls` has the values.
CALL_STEPS: list[Step] = [
    {"send": "${request}"},
    {"answer": "${id}"},
    {"send": "${after}"},
    {"answer": "${after.id}"},
    {"rule": "answered-once"},
    {"rule": "answers-asked"},
]

# A process with more events is replaced, so that its noise is no flood.
_MAX_EVENTS = 5_000


class CallVerdict(NamedTuple):
    """The verdict on a call by `CALL_STEPS`, its answer (empty without one), and the events
    that show it: from the start of the process if the call is its first one.
    """

    verdict: Verdict
    answer: Message
    events: Sequence[Event]


class GeneratedCalls:
    """Makes calls; a server that fails one is started again for the next."""

    def __init__(self, context: CheckContext, limits: Limits | None = None) -> None:
        self._context = context
        self._limits = limits or context.limits
        self._has_second_chance = limits is None
        self._conversation: OpenConversation | None = None

    def call(self, play: Play, params: dict[str, Any], *, is_alone: bool = False) -> CallVerdict:
        """Play a call with these *params*, in a new process if it *is_alone*.

        A call that may have failed for lack of time is made again, alone, with longer limits.

        Raises:
            NotStarted: if the server does not start again.
        """
        if is_alone:
            self.close()
        attempt, result = self._call_once(play, params)
        if not self._has_second_chance or not self._context.is_doubtful(attempt):
            return result
        limits = self._limits.extend_for_repeating()
        with closing(GeneratedCalls(self._context, limits)) as calls:
            return calls.call(play, params, is_alone=True)

    def _call_once(self, play: Play, params: dict[str, Any]) -> tuple[Attempt, CallVerdict]:
        conversation = self._open(play)
        start = len(conversation.events) if conversation.plays else 0
        identity = f"fuzz-{len(conversation.plays)}"
        values = {
            "request": {"id": identity, "method": "tools/call", "params": params},
            "id": identity,
            "after": make_probe(f"{identity}-after", play.revision),
        }
        attempt = conversation.play(play, values)
        events = conversation.events[start:]
        if conversation.obstacle is not None:
            self.close()
            raise NotStarted(conversation.obstacle.why)
        if is_bad(attempt.verdict) or isinstance(events[-1], ProcessEnded):
            self.close()
        answers = find_answers(events, identity)
        answer = answers[0] if answers else {}
        return attempt, CallVerdict(attempt.verdict, answer, events)

    def close(self) -> None:
        """End the process, if there is one."""
        if self._conversation is not None:
            conversation, self._conversation = self._conversation, None
            conversation.close(is_fuzzed=True)

    def _open(self, play: Play) -> OpenConversation:
        conversation = self._conversation
        if conversation is not None and len(conversation.events) <= _MAX_EVENTS:
            return conversation
        self.close()
        self._conversation = OpenConversation(self._context, play, self._limits)
        return self._conversation
