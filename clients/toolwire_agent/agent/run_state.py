"""The state of a run and its next step. No I/O, and no clock but the time of the last event.

Strategy. Only `apply` changes the state, and `next_step` only reads it. Runs, resumed runs and
repeated runs apply the same events, and so reach the same state.

An event has at most one direct consequence: the call that a reply requests, the refusal
of a reply, the end. It is kept as `_due`, the next step records it, and applying it clears it; so
a run that was interrupted between the two goes on with the same event.

Calls of one reply have numbers, from 0. Those that only read are announced and started at once
(`_ahead`, then `open`), and their results wait (`_finished`) until those of the calls before them
have been reported to the model: the history is the same as if they had run one after another. A
call that has become a task may take hours, so it does not hold up the others (`_later`): they
start one after the other, as if the task had ended. If one needs approval, it is asked for at once,
and its number is in the events: other calls go on and end while the user decides.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_client.redaction.hidden import HIDDEN, stands_for
from toolwire_schemas.language import say

from ..react import Conversation, FinalAnswer, Retry, Stop
from ..react.messages import Action, Ask, Error
from . import events
from .approvals import Allow, Refuse
from .budgets import Spending
from .steps import AskApproval, AskModel, AskUser, CallTool, CallTools, RecordEvent

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..react import Decision, Limits, Protocol
    from .approvals import Approvals, Trust
    from .budgets import Budget, Budgets
    from .steps import Step


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
        self.spending = Spending(budgets)
        self.sent: list[dict[str, Any]] = []
        """The messages of the last request."""
        self.has_ended = True
        self.open: dict[int, Action] = {}
        """The calls that run, by their numbers."""
        self._tasks: dict[int, str] = {}  # of open calls
        self._tasks_to_find: dict[int, str] = {}  # of an earlier run's open calls
        self._limits = limits
        self._approvals = approvals
        self._roles = roles
        self.context_tokens: int | None = None
        """The size of the model's context, if it is known."""
        self._max_chars: int | None = None
        self._annotations: dict[str, dict[str, Any]] = {}
        self._trust: dict[str, Trust] = {}
        self._due: events.Recorded | None = None
        self._forced: events.FinalForced | None = None
        self._last_text = ""
        self._has_result = False  # since the question
        self._is_resumed = False
        self._interrupted: list[Action] = []  # calls without a recorded end
        # The pending call.
        self._number = 0
        self._allowed: set[int] = set()  # by the user
        self._repeated: set[int] = set()  # calls that were interrupted before
        # The other calls of its reply.
        self._ahead: dict[int, Action] = {}
        self._later: dict[int, Action] = {}  # that have not started
        self._asked_early: set[int] = set()  # whose approval was asked for before their turn
        self._edits: dict[int, dict[str, Any]] = {}  # arguments, before the turn of their call
        self._announced: set[int] = set()
        self._finished: dict[int, events.CallFinished] = {}
        self._open_forms: Counter[int] = Counter()

    @property
    def can_go_on(self) -> bool:
        """Whether the last question has an open step."""
        return self._due is not None or self.conversation.turn not in ("question", "stopped")

    def awaits_approval(self, call: int | None) -> bool:
        """Return whether the user was asked early to approve *call*, and has not decided."""
        return call in self._asked_early and call not in self._allowed

    def say_to_model(self, kind: str, **details: str | int) -> str:
        """Return a sentence for the model in its language: `say` has those for people."""
        return self.conversation.protocol.language.say(kind, **details)

    def explain_undone(self, kind: str, action: Action | None = None, **details: str | int) -> str:
        """Return, for the model, why *action*, by default the pending call, is not made, and
        whether it may have taken effect before.
        """
        undone = action or self.conversation.pending
        frame = "interrupted" if self._may_be_done(undone) else "undone"
        return self.say_to_model(frame, why=self.say_to_model(kind, **details))

    def make_end(
        self, status: events.Status, result: str | None = None, reason: str = "", thought: str = ""
    ) -> events.Ended:
        """Return the event that ends the run now."""
        return events.Ended(
            status=status,
            result=result,
            reason=reason,
            thought=thought,
            turns=self.spending.turns,
            usage=self.spending.usage,
        )

    # --- what has happened ---

    def apply(self, event: events.Recorded) -> None:
        """Update the state for *event*."""
        self.spending.move_to(event.at, counts=not isinstance(event, events.Resumed))
        if _is_due(self._due, event):
            self._due = None
        _EFFECTS[type(event)](self, event)

    def _apply_start(self, event: events.Started) -> None:
        self.spending.start_session()
        self._max_chars = None
        self.context_tokens = event.context_tokens
        if event.context_tokens is not None:
            self._max_chars = self._compute_max_chars(event.context_tokens)

    def _compute_max_chars(self, context_tokens: int) -> int:
        """Return the length of messages that leave room for a reply in a context of this size."""
        reply_tokens = self.spending.budgets.reply_tokens or context_tokens
        # A quarter is enough for an answer, and a small context has little to give.
        reserved_tokens = min(reply_tokens, context_tokens // 4)
        return (context_tokens - reserved_tokens) * _LEAST_CHARS_PER_TOKEN

    def _apply_tools(self, event: events.ToolsListed) -> None:
        # A conversation has fixed tools: a new one takes over the whole memory of the old one.
        before = self.conversation
        self.conversation = Conversation(
            event.tools,
            before.protocol,
            limits=self._limits,
            roles=self._roles,
            max_chars=self._max_chars,
            shown=event.shown,
            call_tool=event.call_tool,
        )
        self.conversation.restore(before.take_snapshot())
        self._trust = event.trust
        self._annotations = {}
        for tool in event.tools:
            annotations = tool.get("annotations")
            if isinstance(annotations, dict):
                self._annotations[tool["name"]] = annotations

    def _apply_question(self, event: events.QuestionAsked) -> None:
        # A new question may come while the last one waits. Providers refuse a call without a
        # result, so the model receives one.
        match self.conversation.turn:
            case "action_result":
                self._tasks = {}  # the calls of the next reply have the same numbers
                self._remember_interruption()
                self.conversation.add_result(self.explain_undone("left"), success=False)
            case "user_response":
                self.conversation.add_user_response(self.say_to_model("dismissed"))
        self.conversation.add_question(event.content, event.result_schema)
        self.has_ended = False
        self._due = None
        self._forced = None
        self._has_result = False
        self.spending.start_question()

    def _apply_request(self, event: events.ModelAsked) -> None:
        # The event holds only what is new, since requests of a long run repeat megabytes.
        self.sent = [*self.sent[: event.kept], *event.messages]

    def _apply_reply(self, event: events.ModelReplied) -> None:
        reply = event.reply
        self._last_text = reply.text
        decision = self.conversation.take_reply(reply)
        if reply.usage is None:
            self.spending.add_estimated_reply(_estimate_tokens(self.sent, reply.text))
        else:
            self.spending.add_reply(reply.usage)
        self._number = 0
        self._finished = {}
        self._announced = set()
        self._allowed = set()
        self._repeated = set()
        self._asked_early = set()
        self._edits = {}
        self._later = self.conversation.list_valid_actions()
        self._ahead = self._find_calls_ahead()
        self._due = self._make_event_for(decision)

    def _find_calls_ahead(self) -> dict[int, Action]:
        """Return the calls of the last reply that are made before the others, by their numbers."""
        # A single call takes the usual way, with its events in the usual order.
        if len(self._later) < 2:
            return {}
        return {
            number: action
            for number, action in self._later.items()
            if self._is_only_reading(action)
        }

    def _apply_refused_reply(self, event: events.ReplyRefused) -> None:
        if not isinstance(self._due, events.Ended):
            self._due = self._take_next_call()
            return
        # The reply was an answer, and the session found that it does not have the requested type.
        decision = self.conversation.refuse_answer(event.reason)
        self._due = None
        if not isinstance(decision, Retry):
            self._due = self._make_event_for(decision, misfit=event.reason)

    def _apply_failure(self, event: events.ModelFailed) -> None:
        self._due = self._make_event_after_failure(event)

    def _make_event_after_failure(self, failed: events.ModelFailed) -> events.Recorded | None:
        # With a shorter result the same request may fit.
        if failed.too_long and self.conversation.halve_result():
            return None
        if not failed.out_of_time:
            return self.make_end("model_error", reason=failed.reason)
        # Otherwise the last turn follows, whose time has been kept.
        is_last_turn = self._forced is not None or not self.spending.turns
        if is_last_turn:
            return self._make_end_of_time()
        return None

    def _apply_wait(self, event: events.UserAsked) -> None:
        self.spending.start_wait()

    def _apply_approval_request(self, event: events.ApprovalAsked) -> None:
        if event.call is None:
            self._ahead.pop(self._number, None)
            self.spending.start_wait()
            return
        self._asked_early.add(event.call)
        self._ahead.pop(event.call, None)
        self._start_form(event.call)

    def _apply_task(self, event: events.TaskStarted) -> None:
        self._tasks[event.call] = event.task
        self._release_later_call()

    def _apply_form(self, event: events.ToolAsked) -> None:
        self._start_form(event.call)

    def _apply_form_answer(self, event: events.FormAnswered) -> None:
        self._end_form(event.call)

    def _start_form(self, call: int) -> None:
        self._open_forms[call] += 1
        # Tools that run side by side may ask at once: the wait is that of the first one.
        if self._open_forms.total() == 1:
            self.spending.start_wait()

    def _end_form(self, call: int) -> None:
        self._open_forms[call] -= 1
        if self._open_forms.total() == 0:
            self.spending.end_wait()

    def _apply_approval(self, event: events.Approved) -> None:
        if event.call is not None:
            self._apply_early_approval(event.call, event.params)
            return
        self.spending.end_wait()
        self._allow(self._number, self.conversation.pending)
        if event.params is not None:
            self.conversation.edit_action(event.params)

    def _apply_early_approval(self, call: int, params: dict[str, Any] | None) -> None:
        self._end_form(call)
        action = self._later[call]
        self._allow(call, action)
        if params is not None:
            action = self._later[call] = msgspec.structs.replace(action, params=params)
            self._edits[call] = params
        self._ahead[call] = action
        self._apply_edit()

    def _allow(self, number: int, action: Action | Ask | None) -> None:
        self._allowed.add(number)
        # Before the parameters change: the interrupted call had the old ones.
        if self._may_be_done(action):
            self._repeated.add(number)

    def _apply_refusal(self, event: events.Refused) -> None:
        call = event.call
        if call is None:
            self.spending.end_wait()
            reason = self._explain_refusal(event, None)
            self.conversation.add_result(reason, success=False)
            self._due = self._take_next_call()
            return
        if self.awaits_approval(call):  # the settings refuse without a question
            self._end_form(call)
        self._ahead.pop(call, None)
        reason = self._explain_refusal(event, self._later.pop(call))
        self._finished[call] = events.CallFinished(call=call, success=False, result=reason)
        if call == self._number:
            self._due = self._report_result()
        self._release_later_call()

    def _explain_refusal(self, event: events.Refused, action: Action | None) -> str:
        if not event.by_user:  # the settings have written their reason for the model already
            return event.reason
        if event.reason:
            return self.explain_undone("refused_because", action, reason=event.reason)
        return self.explain_undone("refused", action)

    def _apply_choice(self, event: events.ActionChosen) -> None:
        self._announced.add(event.call)

    def _apply_call(self, event: events.CallStarted) -> None:
        self._later.pop(event.call, None)
        pending = self.conversation.pending
        if isinstance(pending, Action):
            self.open[event.call] = self._ahead.pop(event.call, pending)

    def _apply_result(self, event: events.CallFinished) -> None:
        call = event.call
        # A call that was cancelled leaves its form without an answer.
        if self._open_forms.pop(call, 0) and self._open_forms.total() == 0:
            self.spending.end_wait()
        action = self.open.pop(call, None)
        has_started = action is not None
        self._tasks.pop(call, None)
        was_sought = self._tasks_to_find.pop(call, None) is not None
        if action is not None and was_sought and not event.success:  # its server may have lost it
            self._interrupted.append(action)
        # The pending call may end without a start: there was no time for it.
        if not has_started and call != self._number:
            raise ValueError(f"call {call} has not started")
        self._finished[call] = event
        if call == self._number:
            self._due = self._report_result()
        self._release_later_call()

    def _apply_answer(self, event: events.UserAnswered) -> None:
        self.spending.end_wait()
        self.conversation.add_user_response(event.content)

    def _apply_forced(self, event: events.FinalForced) -> None:
        self._forced = event
        self.conversation.force_final(event.reason)

    def _apply_end(self, event: events.Ended) -> None:
        self.has_ended = True

    def _apply_resumption(self, event: events.Resumed) -> None:
        self.has_ended = False
        self._is_resumed = True
        self._remember_interruption()
        self._release_later_call()
        # The question is asked again: another process has no user who has seen it.
        pending = self.conversation.pending
        if isinstance(pending, Ask) and self._due is None:
            self._due = events.UserAsked(thought=pending.thought, content=pending.content)

    # --- the calls of a reply ---

    def _take_next_call(self) -> events.Recorded | None:
        """Go on to the next call of the last reply, and return the event that it leads to, if
        any.
        """
        decision = self.conversation.take_queued_action()
        self._number += 1
        self._apply_edit()
        # It may have been made ahead of the others: then its result is reported now.
        if self._number in self._finished:
            return self._report_result()
        has_started = self._number in self.open or self._number in self._asked_early
        if decision is None or has_started:
            return None
        return self._make_event_for(decision)

    def _apply_edit(self) -> None:
        """Change the arguments of the pending call, if the user did so before its turn."""
        params = self._edits.pop(self._number, None)
        if params is not None:
            self.conversation.edit_action(params)

    def _report_result(self) -> events.Recorded | None:
        """Report to the model the result of the pending call, and return what follows from the next
        one.
        """
        finished = self._finished.pop(self._number)
        repeated = self.say_to_model("again") if self._number in self._repeated else ""
        note = self.conversation.protocol.language.join(finished.note, repeated)
        self.conversation.add_result(finished.result, success=finished.success, note=note)
        self._has_result |= finished.success
        return self._take_next_call()

    def _release_later_call(self) -> None:
        """Let the next call start, or be asked for, if all that are open are tasks."""
        are_tasks = [number in self._tasks for number in self.open]
        if not are_tasks or not all(are_tasks):  # it takes the usual way
            return
        number = self._number
        while number in self.open or number in self._finished:
            number += 1
        action = self._later.get(number)
        if action is not None and number not in self._asked_early:
            self._ahead[number] = action

    def _is_only_reading(self, action: Action) -> bool:
        """Whether nothing depends on when the call is made, and it needs no approval."""
        annotations = self._annotations.get(action.tool, {})
        is_trusted = action.tool in self._trust
        return (
            is_trusted and annotations.get("readOnlyHint") is True and self._needs_no_user(action)
        )

    def _needs_no_user(self, action: Action) -> bool:
        """Whether the call needs no approval, and is no repetition of an interrupted one."""
        return (
            isinstance(self._judge(action), Allow)
            and not self._may_be_done(action)
            and not self._has_hidden_param(action)
        )

    def _judge(self, action: Action) -> Allow | Refuse | str:
        annotations = self._annotations.get(action.tool, {})
        return self._approvals.judge(action.tool, annotations, self._trust.get(action.tool))

    def _has_hidden_param(self, action: Action) -> bool:
        """Whether a parameter is a secret, of which no transcript holds the value."""
        # In the process that received the value the parameters are whole, whatever they contain.
        return self._is_resumed and HIDDEN in json.dumps(action.params)

    def _remember_interruption(self) -> None:
        # A call that has become a task goes on at its server.
        going_on = {number: self.open[number] for number in self._tasks if number in self.open}
        for number, action in self.open.items():
            if number not in going_on:
                self._interrupted.append(action)
                self._allowed.discard(number)
        self.open = going_on
        self._asked_early = set()
        self._tasks_to_find = dict(self._tasks)
        self._ahead = {}
        self._open_forms = Counter()
        self.spending.end_wait()

    def _may_be_done(self, action: Action | Ask | None) -> bool:
        """Whether the call was interrupted, or is identical to one that was."""
        if not isinstance(action, Action):
            return False
        for interrupted in self._interrupted:
            is_same_tool = interrupted.tool == action.tool
            if is_same_tool and stands_for(interrupted.params, action.params):
                return True
        return False

    # --- the event that a decision leads to ---

    def _make_event_for(self, decision: Decision, misfit: str = "") -> events.Recorded:
        """Return the event that *decision* leads to; *misfit* says why an answer does not have its
        type.
        """
        warnings = list(self.conversation.warnings)
        match decision:
            case Action(thought=thought, tool=tool, params=params):
                return events.ActionChosen(
                    call=self._number, thought=thought, tool=tool, params=params, warnings=warnings
                )
            case Ask(thought=thought, content=content):
                return events.UserAsked(thought=thought, content=content, warnings=warnings)
            case Retry():
                return self._refuse_reply(decision)
            case FinalAnswer():
                return self._end_with_answer(decision)
            case Stop():
                return self._stop(decision, misfit)

    def _refuse_reply(self, retry: Retry) -> events.ReplyRefused:
        if not isinstance(retry.message, Error):
            return events.ReplyRefused(reason=str(retry.message.result), action=retry.action)
        # Without a readable action a person sees the beginning of the reply instead.
        said = self._make_reply_excerpt() if retry.action is None else ""
        return events.ReplyRefused(reason=retry.message.msg, action=retry.action, said=said)

    def _end_with_answer(self, answer: FinalAnswer) -> events.Ended:
        status: events.Status = "answered" if answer.ok else "unsolvable"
        reason = ""
        if self._forced is not None:
            reason = self._forced.reason
            if not answer.ok:
                status = self._forced.status
        return self.make_end(status, answer.result, reason, answer.thought)

    def _stop(self, stop: Stop, misfit: str) -> events.Recorded:
        # The last turn was the last chance.
        if self._forced is not None:
            return self.make_end(self._forced.status, reason=self._forced.reason)
        if stop.reason == "repeated_action":
            return events.FinalForced(reason=self.say_to_model("repeats"), status="turn_limit")
        if self._has_result:  # there is something to answer from
            return events.FinalForced(reason=self.say_to_model("unusable"), status="model_error")
        if misfit:
            reason = self.say_to_model("no_type", faults=misfit)
        else:
            reason = self.say_to_model("no_form", said=self._make_reply_excerpt())
        return self.make_end("model_error", reason=reason)

    def _make_reply_excerpt(self) -> str:
        """Return the beginning of the model's last reply, for people."""
        text = self._last_text.strip()
        if len(text) <= _MAX_EXCERPT_CHARS:
            return text
        return f"{text[:_MAX_EXCERPT_CHARS]}…"

    def _force_final(self, budget: Budget) -> events.FinalForced:
        reason = self.say_to_model(budget, limit=self.spending.format_limit(budget))
        return events.FinalForced(
            reason=reason, status="turn_limit" if budget == "turns" else "budget"
        )

    def _make_end_of_time(self) -> events.Ended:
        forced = self._forced or self._force_final("seconds")
        return self.make_end(forced.status, reason=forced.reason)

    # --- what is next ---

    def announce(self, step: Step, messages: list[dict[str, Any]]) -> events.Recorded | None:
        """Return the event to record before *step*, if any; *messages* are those that the model
        would receive.
        """
        match step:
            case AskModel():
                kept = _count_kept(self.sent, messages)
                return events.ModelAsked(kept=kept, messages=messages[kept:])
            case AskApproval(asked=asked):
                return asked
        return None

    def choose_next_step(self) -> Step | None:
        """Return the next step; `None` if the run is over."""
        if self.has_ended:
            return None
        if self._due is not None:
            return RecordEvent(self._due)
        match self.conversation.pending:
            case Ask() as ask:
                return AskUser(ask)
            case Action() as action:
                return self._choose_calls_step(action)
        return self._choose_model_step()

    def _choose_model_step(self) -> Step:
        seconds = self.spending.seconds_left
        all_seconds = None
        if seconds is not None:
            all_seconds = seconds + self.spending.budgets.final_seconds
            if all_seconds <= 0:
                return RecordEvent(self._make_end_of_time())
        exhausted = self.spending.find_exhausted()
        if exhausted and not self._forced:
            return RecordEvent(self._force_final(exhausted))
        # A model that has not replied has nothing to answer from in a last turn: its first reply
        # may take all the time.
        may_take_all = self._forced is not None or not self.spending.turns
        return AskModel(all_seconds if may_take_all else seconds, self.spending.max_reply_tokens)

    def _choose_calls_step(self, pending: Action) -> Step:
        step = self.choose_step_ahead()
        if isinstance(step, RecordEvent):
            return step
        if self.open:
            calls = {}
            for number, action in self.open.items():
                task = self._tasks_to_find.get(number)
                calls[number] = CallTool(action, self.spending.seconds_left, task)
            return CallTools(calls)
        if not self._has_time:
            undone = self.explain_undone("no_time")
            return RecordEvent(events.CallFinished(call=self._number, success=False, result=undone))
        return self._choose_call_step(pending)

    def choose_step_ahead(self) -> RecordEvent | AskApproval | None:
        """Return the next step of a call that waits for no other call; `None` without one, or
        without time.
        """
        if not self._ahead or not self._has_time:
            return None
        if self._due is not None:
            return RecordEvent(self._due)
        number, action = next(iter(self._ahead.items()))
        if number in self._announced:
            return self._choose_call_step(action, number)
        chosen = events.ActionChosen(
            call=number, thought="", tool=action.tool, params=action.params
        )
        return RecordEvent(chosen)

    @property
    def _has_time(self) -> bool:
        seconds = self.spending.seconds_left
        return seconds is None or seconds > 0

    def _choose_call_step(
        self, action: Action, early: int | None = None
    ) -> RecordEvent | AskApproval:
        """Return the next step of the pending call, or of the call *early* before its turn."""
        tool, params = action.tool, action.params
        number = self._number if early is None else early
        start = RecordEvent(events.CallStarted(call=number, tool=tool, params=params))
        # First, since not even an approval can bring the value back.
        if self._has_hidden_param(action):
            return self._refuse_call("hidden", action, early)
        if number in self._allowed:
            return start
        verdict = self._judge(action)
        if isinstance(verdict, Refuse):
            return self._refuse_call("denied", action, early)
        interrupted = self._may_be_done(action)
        if isinstance(verdict, Allow) and not interrupted:
            return start
        reason = _say_interrupted() if interrupted else str(verdict)
        asked = events.ApprovalAsked(
            call=early, tool=tool, params=params, reason=reason, interrupted=interrupted
        )
        return AskApproval(action, asked)

    def _refuse_call(self, kind: str, action: Action, early: int | None) -> RecordEvent:
        reason = self.explain_undone(kind, action, tool=action.tool)
        return RecordEvent(events.Refused(call=early, reason=reason, by_user=False))


_EFFECTS: dict[type[events.Recorded], Callable[[RunState, Any], None]] = {
    events.Started: RunState._apply_start,
    events.ToolsListed: RunState._apply_tools,
    events.QuestionAsked: RunState._apply_question,
    events.ModelAsked: RunState._apply_request,
    events.ModelReplied: RunState._apply_reply,
    events.ReplyRefused: RunState._apply_refused_reply,
    events.ModelFailed: RunState._apply_failure,
    events.ApprovalAsked: RunState._apply_approval_request,
    events.UserAsked: RunState._apply_wait,
    events.TaskStarted: RunState._apply_task,
    events.ToolAsked: RunState._apply_form,
    events.FormAnswered: RunState._apply_form_answer,
    events.Approved: RunState._apply_approval,
    events.Refused: RunState._apply_refusal,
    events.ActionChosen: RunState._apply_choice,
    events.CallStarted: RunState._apply_call,
    events.CallFinished: RunState._apply_result,
    events.UserAnswered: RunState._apply_answer,
    events.FinalForced: RunState._apply_forced,
    events.Ended: RunState._apply_end,
    events.Resumed: RunState._apply_resumption,
}

_MAX_EXCERPT_CHARS = 1_000
"""Characters of an unusable reply that are shown: it may be an answer in prose, or a loop."""

_CHARS_PER_TOKEN = 4
"""OpenAI's rule of thumb for English, for an estimate of what was spent."""
_LEAST_CHARS_PER_TOKEN = 3
"""For what has to fit: JSON takes more tokens than English. Where even this is too much, the model
refuses the request, and `halve_result` shortens it.
"""


def _say_interrupted() -> str:
    """Return, for people, why a call that was interrupted needs approval."""
    return say(
        "it was started before and interrupted: it may have taken effect, and would do so twice"
    )


def _is_due(due: events.Recorded | None, event: events.Recorded) -> bool:
    """Whether *event* is the due event *due*. A cancelled run has not recorded its answer."""
    if isinstance(due, events.Ended) and isinstance(event, events.Ended):
        return due.status == event.status
    return type(due) is type(event)


def _count_kept(sent: list[dict[str, Any]], messages: list[dict[str, Any]]) -> int:
    """Return how many messages at the start of both are the same."""
    kept = 0
    for before, now in zip(sent, messages, strict=False):
        if before != now:
            break
        kept += 1
    return kept


def _estimate_tokens(sent: list[dict[str, Any]], text: str) -> int:
    return (len(json.dumps(sent, ensure_ascii=False)) + len(text)) // _CHARS_PER_TOKEN
