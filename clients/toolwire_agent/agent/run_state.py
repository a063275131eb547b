"""The state of a run and its next step. No I/O, and no clock but the time of the last event.

Strategy. Only `apply` changes the state, and `next` only reads it. Runs, resumed runs and repeated
runs apply the same events, and so reach the same state.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_client.redaction.hidden import HIDDEN, stands_for

from ..react import Conversation, FinalAnswer, Retry, Stop
from ..react.messages import Action, Ask, Error, Usage
from . import events
from .approvals import Allow, Refuse

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from ..react import Decision, Limits, Protocol
    from .approvals import Approvals, Trust


class RecordEvent(msgspec.Struct, frozen=True):
    """Record this event; there is nothing to wait for."""

    event: events.Recorded


class AskModel(msgspec.Struct, frozen=True):
    """Ask the model for a reply of *max_tokens*, within *seconds*."""

    seconds: float | None
    max_tokens: int | None


class AskUser(msgspec.Struct, frozen=True):
    """Ask the user."""

    ask: Ask


class AskApproval(msgspec.Struct, frozen=True):
    """Ask whether the action is allowed."""

    action: Action
    asked: events.ApprovalAsked


class CallTool(msgspec.Struct, frozen=True):
    """Call the tool, for at most *seconds*."""

    action: Action
    seconds: float | None


class CallTools(msgspec.Struct, frozen=True):
    """Call the tools side by side; the keys are the numbers of the calls in their reply."""

    calls: dict[int, CallTool]


Step = RecordEvent | AskModel | AskUser | AskApproval | CallTools


class Budgets(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of one question; `None` sets no limit. At a limit the model has one more turn, for
    its final answer.

    `turns` counts replies of the model, `tokens` its input and output (estimated at four characters
    each where the model does not report them). `seconds` is the time since the question, without
    waits for the user; the first question of a session includes the listing of the tools. The run
    ends after `final_seconds` more, which are kept for the last turn; the first reply may use them
    too. A reply has at most `reply_tokens`, or what is left of `tokens`. Messages name
    `user_seconds` as the limit, if it is given: the one that the user knows; `seconds` is a part of
    it.
    """

    turns: int | None = 20
    tokens: int | None = None
    seconds: float | None = None
    final_seconds: float = 60.0
    user_seconds: float | None = None
    reply_tokens: int | None = 8192

    def __post_init__(self) -> None:
        for name in ("turns", "tokens", "seconds", "final_seconds", "user_seconds", "reply_tokens"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"{name} must be more than 0, not {value!r}")


class RunState:
    """The state that the events of a run lead to."""

    def __init__(
        self,
        protocol: Protocol,
        *,
        limits: Limits | None,
        budgets: Budgets,
        approvals: Approvals,
        roles: Mapping[str, str] | None,
    ) -> None:
        self.conversation = Conversation((), protocol, limits=limits, roles=roles)
        self.sent: list[dict[str, Any]] = []
        """The messages of the last request."""
        self.has_ended = True
        self.now = events.NEVER
        """The time of the last event."""
        self.budgets = budgets
        self._max_chars: int | None = None
        self._limits = limits
        self._approvals = approvals
        self._roles = roles
        self._turns = self._tokens = 0  # since the question
        self._usage = Usage()
        self._since = (
            events.NEVER
        )  # the start of the question, moved forward by each wait for the user
        self._started_at: datetime | None = None
        self._due: events.Recorded | None = None
        self._forced: events.FinalForced | None = None
        self._annotations: dict[str, dict[str, Any]] = {}
        self._trust: dict[str, Trust] = {}
        self._number = 0  # of the pending call in its reply
        self._is_allowed = False
        self._ahead: dict[
            int, Action
        ] = {}  # calls of the reply to be made before the others, by their numbers
        self._chosen = 0  # the last call that was announced
        self.open: dict[int, Action] = {}
        """The calls that run."""
        self._done: dict[int, events.CallFinished] = {}  # whose turn has not come
        self._interrupted: list[Action] = []  # calls without a recorded end
        self._is_again = False
        self._has_result = False  # since the question
        self._last_text = ""
        self._asked_at = events.NEVER  # a person
        self._forms: Counter[int] = Counter()  # open ones, by the numbers of the calls
        self._is_resumed = False

    @property
    def can_go_on(self) -> bool:
        """Whether the last question has an open step."""
        return self._due is not None or self.conversation.turn not in ("question", "stopped")

    def forget_start(self) -> None:
        """Do not count the time before now for the next question: another process started the
        session.
        """
        self._started_at = None

    def words(self, kind: str, **details: str | int) -> str:
        """Return a sentence for the model in its language."""
        return self.conversation.protocol.language.say(kind, **details)

    def undone(self, kind: str, **details: str | int) -> str:
        """Return, for the model, why the pending call is not made, and whether it may have taken
        effect before.
        """
        frame = "interrupted" if self._may_be_done(self.conversation.pending) else "undone"
        return self.words(frame, why=self.words(kind, **details))

    def ending(
        self, status: events.Status, result: str | None = None, reason: str = "", thought: str = ""
    ) -> events.Ended:
        """Return the event that ends the run now."""
        turns, usage = self._turns, self._usage
        return events.Ended(
            status=status, result=result, reason=reason, thought=thought, turns=turns, usage=usage
        )

    # --- what has happened ---

    def apply(self, event: events.Recorded) -> None:
        """Update the state for *event*."""
        before, self.now = self.now, event.at
        due = self._due
        if _is_due(self._due, event):
            self._due = None
        match event:
            case events.Started(context_tokens=tokens):
                self._started_at = self.now
                self._max_chars = None if tokens is None else self._chars_within(tokens)
            case events.ToolsListed(tools=tools, trust=trust):
                self._list(tools)
                self._trust = trust
            case events.QuestionAsked(content=content, result_schema=result_schema):
                self._question(content, result_schema)
            case events.ModelAsked(kept=kept, messages=messages):
                self.sent = [*self.sent[:kept], *messages]
            case events.ModelReplied(reply=reply):
                self._last_text = reply.text
                self._reply(event, self.conversation.take_reply(reply))
            case events.ReplyRefused(reason=reason) if isinstance(due, events.Ended):
                decision = self.conversation.refuse_answer(reason)
                self._due = (
                    None
                    if isinstance(decision, Retry)
                    else self._consequence(decision, misfit=reason)
                )
            case events.ModelFailed() as failed:
                self._due = self._after_failure(failed)
            case events.ApprovalAsked() | events.UserAsked():
                self._asked_at = self.now
            case events.ToolAsked(call=call):
                if any(self._forms.values()):  # tools that run side by side may ask at once
                    self._waited()
                self._asked_at = self.now
                self._forms[call] += 1
            case events.FormAnswered(call=call):
                self._waited()
                self._forms[call] -= 1
            case events.Approved(params=params):
                self._waited()
                self._is_allowed = True
                self._is_again = self._may_be_done(self.conversation.pending)
                if params is not None:
                    self.conversation.edit_action(params)
            case events.Refused(reason=reason, by_user=by_user):
                self._waited()
                if by_user:
                    reason = (
                        self.undone("refused_because", reason=reason)
                        if reason
                        else self.undone("refused")
                    )
                self.conversation.add_result(reason, success=False)
                self._due = self._queued()
            case events.ReplyRefused():
                self._due = self._queued()
            case events.ActionChosen(call=call):
                self._chosen = call
            case events.CallStarted(call=call) if isinstance(
                pending := self.conversation.pending, Action
            ):
                self.open[call] = self._ahead.pop(call, pending)
            case events.CallFinished(call=call):
                self._forms.pop(call, None)
                if self.open.pop(call, None) is None and call != self._number:
                    raise ValueError(f"call {call} has not started")
                self._done[call] = event
                if call == self._number:
                    self._due = self._reported()
            case events.UserAnswered(content=content):
                self._waited()
                self.conversation.add_user_response(content)
            case events.FinalForced(reason=reason) as forced:
                self._forced = forced
                self.conversation.force_final(reason)
            case events.Ended():
                self.has_ended = True
            case events.Resumed():
                self._since += self.now - before
                self._resume()

    def _list(self, tools: list[dict[str, Any]]) -> None:
        known = self.conversation
        self.conversation = Conversation(
            tools, known.protocol, limits=self._limits, roles=self._roles, max_chars=self._max_chars
        )
        self.conversation.restore(known.snapshot())
        annotations = {tool["name"]: tool.get("annotations") for tool in tools}
        self._annotations = {
            name: hints for name, hints in annotations.items() if isinstance(hints, dict)
        }

    def _chars_within(self, context_tokens: int) -> int:
        """Return the length of messages that leave room for a reply in a context of this size."""
        reply = min(self.budgets.reply_tokens or context_tokens, context_tokens // 4)
        return (context_tokens - reply) * _CHARS_PER_FULL_TOKEN

    def _question(self, content: str, result_schema: dict[str, Any] | None) -> None:
        match self.conversation.turn:
            case "action_result":
                self._remember_interruption()
                self.conversation.add_result(self.undone("left"), success=False)
            case "user_response":
                self.conversation.add_user_response(self.words("dismissed"))
        self.conversation.add_question(content, result_schema)
        self.has_ended, self._due, self._forced, self._has_result = False, None, None, False
        self._turns, self._tokens, self._usage = 0, 0, Usage()
        # The first question waits until the tools are listed, which is part of its time.
        self._since, self._started_at = self._started_at or self.now, None

    def _reply(self, event: events.ModelReplied, decision: Decision) -> None:
        usage = event.reply.usage
        self._turns += 1
        self._tokens += usage.total_tokens if usage else _estimated(self.sent, event.reply.text)
        self._usage += usage or Usage()
        self._number, self._is_allowed, self._is_again, self._done = 0, False, False, {}
        sound = self.conversation.list_valid_actions()
        reading = {number: action for number, action in sound.items() if self._only_reads(action)}
        self._ahead = reading if len(sound) > 1 else {}
        self._due = self._consequence(decision)

    def _queued(self) -> events.Recorded | None:
        """Return what follows from the next call of the last reply, if there is one."""
        decision = self.conversation.take_queued_action()
        self._number, self._is_allowed, self._is_again = self._number + 1, False, False
        if self._number in self._done:
            return self._reported()
        return (
            None if decision is None or self._number in self.open else self._consequence(decision)
        )

    def _reported(self) -> events.Recorded | None:
        """Report to the model the result of the pending call, and return what follows from the next
        one.
        """
        done = self._done.pop(self._number)
        note = self.conversation.protocol.language.join(
            done.note, self.words("again") if self._is_again else ""
        )
        self.conversation.add_result(done.result, success=done.success, note=note)
        self._has_result |= done.success
        return self._queued()

    def _only_reads(self, action: Action) -> bool:
        """Whether nothing depends on when the call is made, and it needs no approval."""
        hints, trust = self._annotations.get(action.tool, {}), self._trust.get(action.tool)
        is_allowed = isinstance(self._approvals.judge(action.tool, hints, trust), Allow)
        is_read = trust is not None and hints.get("readOnlyHint") is True
        return (
            is_allowed and is_read and not self._may_be_done(action) and not self._is_hidden(action)
        )

    def _is_hidden(self, action: Action) -> bool:
        """Whether a parameter is a secret, of which no transcript holds the value."""
        return self._is_resumed and HIDDEN in json.dumps(action.params)

    def _consequence(self, decision: Decision, misfit: str = "") -> events.Recorded:
        """Return the event that *decision* leads to; *misfit* says why an answer does not have its
        type.
        """
        warnings = list(self.conversation.warnings)
        match decision:
            case Action(thought=thought, tool=tool, params=params):
                call = self._number
                return events.ActionChosen(
                    call=call, thought=thought, tool=tool, params=params, warnings=warnings
                )
            case Ask(thought=thought, content=content):
                return events.UserAsked(thought=thought, content=content, warnings=warnings)
            case Retry(message=message, action=action):
                if action is None and isinstance(message, Error):
                    return events.ReplyRefused(reason=message.msg, said=self._excerpt_reply())
                reason = message.msg if isinstance(message, Error) else str(message.result)
                return events.ReplyRefused(reason=reason, action=action)
            case FinalAnswer(thought=thought, ok=ok, result=result):
                status: events.Status = (
                    "answered" if ok else self._forced.status if self._forced else "unsolvable"
                )
                return self.ending(
                    status, result, self._forced.reason if self._forced else "", thought
                )
            case Stop() if self._forced:
                return self.ending(self._forced.status, reason=self._forced.reason)
            case Stop(reason="repeated_action"):
                return events.FinalForced(reason=self.words("repeats"), status="turn_limit")
            case Stop() if self._has_result:  # there is something to answer from
                return events.FinalForced(reason=self.words("unusable"), status="model_error")
            case Stop():
                said = self._excerpt_reply()
                reason = (
                    self.words("no_type", faults=misfit)
                    if misfit
                    else self.words("no_form", said=said)
                )
                return self.ending("model_error", reason=reason)

    def _excerpt_reply(self) -> str:
        """Return the beginning of the model's last reply, for people."""
        text = self._last_text.strip()
        return text if len(text) <= _MAX_EXCERPT else f"{text[:_MAX_EXCERPT]}…"

    def _after_failure(self, failed: events.ModelFailed) -> events.Recorded | None:
        if failed.too_long and self.conversation.halve_result():
            return None
        if not failed.out_of_time:
            return self.ending("model_error", reason=failed.reason)
        return self._ending_in_time() if self._forced or not self._turns else None

    def _waited(self) -> None:
        self._since += self.now - self._asked_at
        self._asked_at = self.now

    def _resume(self) -> None:
        self.has_ended, self._is_resumed = False, True
        self._remember_interruption()
        pending = self.conversation.pending
        if isinstance(pending, Ask) and self._due is None:
            self._due = events.UserAsked(thought=pending.thought, content=pending.content)

    def _remember_interruption(self) -> None:
        self._interrupted += self.open.values()
        self._is_allowed &= not self.open
        self.open, self._ahead, self._forms = {}, {}, Counter()

    def _may_be_done(self, action: Action | Ask | None) -> bool:
        """Whether the call was interrupted, or is identical to one that was."""
        return isinstance(action, Action) and any(
            begun.tool == action.tool and stands_for(begun.params, action.params)
            for begun in self._interrupted
        )

    # --- what is next ---

    def announcement(self, step: Step, messages: list[dict[str, Any]]) -> events.Recorded | None:
        """Return the event to record before *step*, if any; *messages* are those that the model
        would receive.
        """
        match step:
            case AskModel():
                pairs = enumerate(zip(self.sent, messages, strict=False))
                kept = next(
                    (place for place, (sent, new) in pairs if sent != new),
                    min(len(self.sent), len(messages)),
                )
                return events.ModelAsked(kept=kept, messages=messages[kept:])
            case AskApproval(asked=asked):
                return asked
        return None

    def next(self) -> Step | None:
        """Return the next step; `None` if the run is over."""
        if self.has_ended:
            return None
        if self._due is not None:
            return RecordEvent(self._due)
        match self.conversation.pending:
            case Ask() as ask:
                return AskUser(ask)
            case Action() as action:
                return self._next_of_calls(action)
        left = self._left
        in_all = None if left is None else left + self.budgets.final_seconds
        if in_all is not None and in_all <= 0:
            return RecordEvent(self._ending_in_time())
        if not self._forced and (forced := self._exhausted()):
            return RecordEvent(forced)
        # A model that has not replied has nothing to answer from in a last turn: its first reply
        # may take all the time.
        return AskModel(in_all if self._forced or not self._turns else left, self._reply_tokens)

    def _next_of_calls(self, pending: Action) -> Step:
        left = self._left
        has_time = left is None or left > 0
        if self._ahead and has_time:
            call, action = next(iter(self._ahead.items()))
            about: dict[str, Any] = {"call": call, "tool": action.tool, "params": action.params}
            is_new = call != self._chosen
            return RecordEvent(
                events.ActionChosen(thought="", **about) if is_new else events.CallStarted(**about)
            )
        if self.open:
            return CallTools({call: CallTool(action, left) for call, action in self.open.items()})
        if not has_time:
            undone = self.undone("no_time")
            return RecordEvent(events.CallFinished(call=self._number, success=False, result=undone))
        return self._next_of_call(pending)

    def _next_of_call(self, action: Action) -> Step:
        started = RecordEvent(
            events.CallStarted(call=self._number, tool=action.tool, params=action.params)
        )
        if self._is_hidden(action):
            return RecordEvent(
                events.Refused(reason=self.undone("hidden", tool=action.tool), by_user=False)
            )
        if self._is_allowed:
            return started
        interrupted = self._may_be_done(action)
        hints, trust = self._annotations.get(action.tool, {}), self._trust.get(action.tool)
        verdict = self._approvals.judge(action.tool, hints, trust)
        if isinstance(verdict, Refuse):
            return RecordEvent(
                events.Refused(reason=self.undone("denied", tool=action.tool), by_user=False)
            )
        if isinstance(verdict, Allow) and not interrupted:
            return started
        reason = _INTERRUPTED if interrupted else str(verdict)
        return AskApproval(
            action,
            events.ApprovalAsked(
                tool=action.tool, params=action.params, reason=reason, interrupted=interrupted
            ),
        )

    @property
    def _left(self) -> float | None:
        """Seconds until the time is over; `None` without a limit."""
        seconds = self.budgets.seconds
        return None if seconds is None else seconds - (self.now - self._since).total_seconds()

    @property
    def _reply_tokens(self) -> int | None:
        """The most tokens of the next reply; a last turn has some even if none are left."""
        reply, in_all = self.budgets.reply_tokens, self.budgets.tokens
        left = None if in_all is None else max(in_all - self._tokens, _MIN_REPLY_TOKENS)
        return min((limit for limit in (reply, left) if limit is not None), default=None)

    def _exhausted(self) -> events.FinalForced | None:
        budgets, left = self.budgets, self._left
        if budgets.turns is not None and self._turns >= budgets.turns:
            return events.FinalForced(
                reason=self.words("turns", limit=budgets.turns), status="turn_limit"
            )
        if budgets.tokens is not None and self._tokens >= budgets.tokens:
            return events.FinalForced(
                reason=self.words("tokens", limit=budgets.tokens), status="budget"
            )
        if left is not None and left <= 0 and self._turns:
            return self._forced_by_time()
        return None

    def _forced_by_time(self) -> events.FinalForced:
        limit = self.budgets.user_seconds or self.budgets.seconds
        return events.FinalForced(
            reason=self.words("seconds", limit=f"{limit:.3g}"), status="budget"
        )

    def _ending_in_time(self) -> events.Ended:
        forced = self._forced or self._forced_by_time()
        return self.ending(forced.status, reason=forced.reason)


_MAX_EXCERPT = 1_000
"""Characters of an unusable reply that are shown: it may be an answer in prose, or a loop."""

_INTERRUPTED = (
    "it was started before and interrupted: it may have taken effect, and would do so twice"
)


def _is_due(due: events.Recorded | None, event: events.Recorded) -> bool:
    """Whether *event* is the due event *due*. A cancelled run has not recorded its answer."""
    if isinstance(due, events.Ended) and isinstance(event, events.Ended):
        return due.status == event.status
    return type(due) is type(event)


_MIN_REPLY_TOKENS = 512
_CHARS_PER_FULL_TOKEN = 3
"""Fewer than that, because JSON has more tokens. If they are fewer still, `halve_result` helps."""
_CHARS_PER_TOKEN = 4
"""OpenAI's rule of thumb for English."""


def _estimated(sent: list[dict[str, Any]], text: str) -> int:
    return (len(json.dumps(sent, ensure_ascii=False)) + len(text)) // _CHARS_PER_TOKEN
