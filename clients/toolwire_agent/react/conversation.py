"""The conversation with a model as a state machine.

Strategy. No I/O and no clock. The caller sends `messages` to a model, passes its answer to
`take_reply`, carries out the decision, and reports the result. Every case is a value:

    question ──> [reply] ──> Ask ──────────> user_response ──> [reply]
                    │ ├────> Action ───────> action_result ──> [reply]
                    │ ├────> Retry ──────────────────────────> [reply]     invalid, unknown tool, bad parameters
                    │ ├────> FinalAnswer ──> question
                    │ └────> Stop ─────────> force_final, question         a limit is reached

The whole memory is one frozen `ConversationState`, which another process can restore.
"""  # noqa: E501

from __future__ import annotations

import hashlib
import json
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

import msgspec
from toolwire_client.redaction.hidden import repair_surrogates
from toolwire_client.validation import join_errors
from toolwire_schemas.did_you_mean import sort_closest_first
from toolwire_schemas.language import use_language

from .history import find_longest_result, shorten_history
from .messages import (
    Action,
    ActionResult,
    Ask,
    Error,
    FinalAnswer,
    ModelReply,
    Question,
    ToModel,
    UserResponse,
)
from .prompt_protocol import InvalidReply, Message, Protocol, ValidReply, merge_turns, rename_role
from .prompts import remark
from .result_text import MAX_CHARS, limit_result
from .structured import StructuredProtocol
from .tool_lookup import Tools

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from .prompts import Language
    from .tool_lookup import Entry, Params, Schema


Turn = Literal["question", "reply", "action_result", "user_response", "stopped"]
"""The next event that the conversation expects; a stopped one expects a question or `force_final`.
"""


StopReason = Literal["invalid_replies", "repeated_action", "no_final_answer"]


class Retry(msgspec.Struct, frozen=True):
    """Ask the model again: `message` has been added to the messages.

    It is an `Error` for an invalid reply, and an `ActionResult` if `action` cannot be done.
    """

    message: Error | ActionResult
    action: Action | None = None


class Stop(msgspec.Struct, frozen=True):
    """The conversation stops: too many invalid replies or repeated actions, or no final answer in
    the last turn.
    """

    reason: StopReason
    detail: str


Decision = Ask | Action | FinalAnswer | Retry | Stop


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of a conversation.

    `max_errors` invalid replies in a row are answered by an error; the next one stops, and so does
    one that repeats the one before it. The same action since the last question gets a warning from
    the `warn_at`th time on, and stops at the `stop_at`th; an action that is refused stops at the
    second. Results are cut to `max_result_chars`.
    """

    max_errors: int = 3
    warn_at: int = 3
    stop_at: int = 5
    max_result_chars: int = MAX_CHARS


_Method = TypeVar("_Method", bound="Callable[..., Any]")


def _speak_its_language(method: _Method) -> _Method:
    """Speak the language of the conversation during *method*: errors in arguments are worded by
    others.
    """

    @wraps(method)
    def speak(self: Conversation, *arguments: Any, **named: Any) -> Any:
        with use_language(self.protocol.language.name):
            return method(self, *arguments, **named)

    return cast("_Method", speak)


class ConversationState(msgspec.Struct, frozen=True, kw_only=True):
    """The whole memory of a conversation."""

    turn: Turn = "question"
    history: list[dict[str, Any]] = []
    pending: Ask | Action | None = None
    queued: list[Action] = []  # of the same reply
    call_ids: list[str] = []  # of calls without a result, in order
    note: str = ""
    errors: int = 0
    invalid: str = ""
    actions: dict[str, int] = {}
    is_final: bool = False
    questions: list[int] = []  # the places of the user's questions in the history
    result_schema: dict[str, Any] | None = None
    version: Literal[1] = 1

    def __post_init__(self) -> None:
        awaited = {"action_result": Action, "user_response": Ask}.get(self.turn, type(None))
        if not isinstance(self.pending, awaited):
            raise ValueError(f"{self.turn} goes with another `pending`")


class OutOfTurn(RuntimeError):
    """A method was called in the wrong turn: a bug in the calling program."""


class Conversation:
    """A conversation with one model, over any number of questions.

    *tools* are entries of `tools/list`. *protocol* defaults to the structured one in English.
    *roles* maps `system`, `assistant`, `user` and `tool` to a provider's names. Results without a
    native call have the role `user` by default: most providers refuse `tool` without a call.
    Messages beyond *max_chars* are left out: first those of earlier questions, then the oldest
    actions of this one. The model gets the tools *shown*, by default all, and calls the others by
    the tool *call_tool*.

    Raises:
        ValueError: if two tools share a name.
    """

    def __init__(
        self,
        tools: Iterable[Entry],
        protocol: Protocol | None = None,
        *,
        limits: Limits | None = None,
        roles: Mapping[str, str] | None = None,
        max_chars: int | None = None,
        shown: Sequence[str] = (),
        call_tool: str = "",
    ) -> None:
        self.tools = Tools(tools, shown=shown, call_tool=call_tool)
        self.max_chars = max_chars
        self.protocol = protocol or StructuredProtocol()
        self.limits = limits or Limits()
        self.roles = {"tool": "user", **(roles or {})}
        self.warnings: list[str] = []
        self._language = self.protocol.language
        self._state = ConversationState()
        self._schemas: dict[tuple[bool, bool], Schema | None] = {}

    @property
    def turn(self) -> Turn:
        """The next event that the conversation expects."""
        return self._state.turn

    @property
    def pending(self) -> Ask | Action | None:
        """The action to do, or the question to answer, that the model waits for."""
        return self._state.pending

    @property
    def messages(self) -> list[Message]:
        """The messages of the next request.

        Adjacent messages of one role are merged, since many models' templates require alternating
        roles.
        """
        messages = [*self._opening, *self._shorten_history()]
        return merge_turns([rename_role(message, self.roles) for message in messages])

    @property
    def native_tools(self) -> list[Entry]:
        """The tools to send along, for models with native tool calls."""
        return self.protocol.list_native_tools(self.tools, final=self._state.is_final)

    def build_reply_schema(self, *, strict: bool = False) -> Schema | None:
        """Return the JSON Schema of the next reply, *strict* as for OpenAI's strict mode; None
        without one.
        """
        is_final = self._state.is_final
        # Kept, since the strict form of many tools is expensive to build.
        key = (strict, is_final)
        if key not in self._schemas:
            self._schemas[key] = self.protocol.build_reply_schema(
                self.tools, strict=strict, final=is_final, result=self._state.result_schema
            )
        schema = self._schemas[key]
        if schema is None:
            return None
        return self.protocol.narrow_schema(schema, self.tools, self._state.history)

    # --- what goes to the model ---

    def add_question(self, text: str, result_schema: Schema | None = None) -> None:
        """Add a question of the user; it is the model's turn then.

        *result_schema* is the JSON Schema of the final answer's result, which the model receives;
        `refuse_answer` is for an answer that does not fit.

        Raises:
            ValueError: if it is empty.
            OutOfTurn: if an action or a question is pending.
        """
        self._expect("question", "reply", "stopped")
        if not text.strip():
            raise ValueError("an empty question cannot be answered")
        if self._state.queued:
            undone = self._language.say("undone", why=self._language.say("left"))
            self._send(ActionResult(False, undone), queued=[])
        if result_schema is not None:
            schema = json.dumps(result_schema, ensure_ascii=False)
            request = self._language.say("typed", schema=schema)
            text = f"{text}\n\n{request}"
        # They depend on the type of the answer.
        self._schemas.clear()
        self._send(
            Question(text),
            questions=[*self._state.questions, len(self._state.history)],
            errors=0,
            invalid="",
            actions={},
            is_final=False,
            result_schema=result_schema,
        )

    def add_result(self, result: Any, *, success: bool = True, note: str = "") -> ActionResult:
        """Add the result of the action and return the message.

        *result* may be any value; what JSON cannot represent becomes text, and long values are cut.
        *note* is added as the assistant's own words.
        """
        self._expect("action_result")
        value, remarks = limit_result(result, self.limits.max_result_chars)
        cuts = self._language.format_remarks(*remarks)
        message = ActionResult(success, value, self._language.join(note, cuts, self._state.note))
        self._send(message)
        return message

    @_speak_its_language
    def edit_action(self, params: Params) -> Action:
        """Change the parameters of the pending action and return it; the result's note reports the
        change.

        Raises:
            ValueError: if they do not fit the tool.
        """
        self._expect("action_result")
        assert isinstance(self.pending, Action)
        fitted, faults = self.tools.fit_params(self.pending.tool, params)
        if faults:
            raise ValueError(join_errors(faults))
        action = msgspec.structs.replace(self.pending, params=fitted)
        edited = self._language.say("edited", params=json.dumps(fitted, ensure_ascii=False))
        self._change(pending=action, note=self._language.join(edited, self._state.note))
        return action

    def add_user_response(self, text: str | None) -> UserResponse:
        """Add the user's answer, None if there is no user, and return the message."""
        self._expect("user_response")
        message = UserResponse(self._language.say("no_user") if text is None else text)
        self._send(message)
        return message

    def force_final(self, reason: str) -> Error:
        """Require the final answer as the next reply, and return the message."""
        self._expect("reply", "stopped")
        # The whole form is repeated, since a model in its last turn has no second try.
        how = self.protocol.describe_reply_format(self.tools, final=True)
        message = Error(self._language.join(self._language.say("final", reason=reason), how))
        self._send(message, is_final=True)
        return message

    # --- what comes from it ---

    @_speak_its_language
    def take_reply(self, reply: str | ModelReply, finish_reason: str | None = None) -> Decision:
        """Take the model's reply and return the decision. `warnings` are about this reply.

        Never raises for anything that a model may write. *finish_reason* is for a reply that is
        text; see `ModelReply`.
        """
        self._expect("reply")
        if isinstance(reply, str):
            reply = ModelReply(text=reply, finish_reason=finish_reason)
        reply = msgspec.structs.replace(reply, text=repair_surrogates(reply.text))
        read = self._read(reply)
        message = self.protocol.format_reply(reply, read)
        if isinstance(read, InvalidReply):
            self._add_reply({**message, "content": self._shorten_invalid(reply, message)})
            self.warnings = []
            return self._refuse_invalid(read, _make_fingerprint(reply))
        self._add_reply(message)
        self.warnings = [self._language.format_remarks(warning) for warning in read.warnings]
        if isinstance(read.message, FinalAnswer):
            self._change(turn="question")
            return read.message
        self._change(errors=0, invalid="")
        if self._state.is_final:
            return self._stop("no_final_answer", Error(self._language.say("not_final")))
        if isinstance(read.message, Ask):
            self._change(turn="user_response", pending=read.message)
            return read.message
        # Providers want a result for each native call, in order, before anything else.
        self._change(queued=[self._open_call(action) for action in read.more])
        return self._act(self._open_call(read.message))

    def _open_call(self, action: Action) -> Action:
        """Return the action that *action* means, if it calls another tool by name."""
        tool, params = self.tools.open_call(action.tool, action.params)
        return msgspec.structs.replace(action, tool=tool, params=params)

    def _read(self, reply: ModelReply) -> ValidReply | InvalidReply:
        read = self.protocol.read(reply, self.tools)
        if not isinstance(read, ValidReply) or not isinstance(read.message, FinalAnswer):
            return read
        # With a schema an empty result may be the right one: null.
        may_be_empty = read.message.ok and self._state.result_schema
        if not read.message.result.strip() and not may_be_empty:
            return InvalidReply((remark("blank", member="result"),))
        return read

    def _shorten_invalid(self, reply: ModelReply, message: Message) -> str:
        """Return the content of an invalid reply as the model sees it later."""
        # A model may loop.
        content, _ = limit_result(message["content"], self.limits.max_result_chars)
        # A reply that was cut off misleads the model, and fills its context.
        if reply.finish_reason == "length" and len(content) > _CUT_CHARS:
            return f"{content[:_CUT_CHARS]}…"
        return str(content)

    def list_valid_actions(self) -> dict[int, Action]:
        """Return the actions of the last reply that will be taken as they are, by their places in
        it.
        """
        actions = dict(enumerate(self._state.queued, start=1))
        if isinstance(self._state.pending, Action) and self._state.queued:
            actions = {0: self._state.pending, **actions}
        known = set(self._state.actions)
        valid = {}
        for place, action in actions.items():
            params, refusal = self._fit_params(action)
            # The pending one is known, since it has been taken.
            is_new = place == 0 or _make_key(action) not in known
            if is_new and not refusal:
                valid[place] = msgspec.structs.replace(action, params=params)
            known.add(_make_key(action))
        return valid

    @_speak_its_language
    def take_queued_action(self) -> Action | Retry | Stop | None:
        """Take the next action of the last reply, when the one before has its result; None without
        one.
        """
        if self._state.turn != "reply" or not self._state.queued:
            return None
        action, *others = self._state.queued
        self._change(queued=others)
        self.warnings = []
        return self._act(action)

    @_speak_its_language
    def refuse_answer(self, faults: str) -> Retry | Stop:
        """Ask again for the last final answer, whose result does not fit, and return the
        decision.
        """
        self._expect("question")
        schema = json.dumps(self._state.result_schema, ensure_ascii=False)
        message = Error(self._language.say("misfit_result", faults=faults, schema=schema))
        answer = ModelReply(text=str(self._state.history[-1]["content"]))
        return self._ask_again(message, _make_fingerprint(answer))

    def halve_result(self) -> bool:
        """Halve the longest result in the history; return whether there is one long enough."""
        self._expect("reply")
        history = self._state.history
        longest = find_longest_result(history)
        if longest is None or longest.chars < _MIN_HALVED_CHARS:
            return False
        place, result, chars = longest
        value, remarks = limit_result(result.result, chars // 2)
        cuts = self._language.format_remarks(*remarks)
        message = ActionResult(result.success, value, self._language.join(result.note, cuts))
        call_ids = []
        if "tool_call_id" in history[place]:
            call_ids.append(history[place]["tool_call_id"])
        halved = self.protocol.format_message(message, call_ids)
        before, after = history[:place], history[place + 1 :]
        self._change(history=[*before, *halved, *after])
        return True

    def take_snapshot(self) -> dict[str, Any]:
        """Return the whole state as JSON values."""
        plain: dict[str, Any] = msgspec.to_builtins(self._state)
        return plain

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Restore the state of a `snapshot`. Tools and protocol stay this conversation's.

        Raises:
            ValueError: if it is not a snapshot.
        """
        try:
            self._state = msgspec.convert(snapshot, ConversationState)
        except msgspec.ValidationError as error:
            raise ValueError(f"not a snapshot of a conversation: {error}") from None

    @cached_property
    def _opening(self) -> list[Message]:
        """The messages before the history."""
        prompt = self.protocol.format_system_prompt(self.tools)
        messages = [{"role": "system", "content": prompt}]
        messages += self.protocol.list_examples(self.tools)
        return [_without_surrogates(message) for message in messages]

    def _shorten_history(self) -> list[Message]:
        """Return the history, without what is too old to fit into `max_chars`."""
        history, questions = self._state.history, self._state.questions
        if self.max_chars is None or not questions:
            return history
        chars = sum(map(_count_chars, history))
        chars += sum(len(message["content"]) for message in self._opening)
        return shorten_history(history, questions, chars - self.max_chars)

    def _refuse_invalid(self, read: InvalidReply, fingerprint: str) -> Retry | Stop:
        faults = self._language.format_remarks(*read.remarks)
        how = self.protocol.describe_reply_format(self.tools)
        return self._ask_again(Error(self._language.join(faults, how)), fingerprint)

    def _ask_again(self, message: Error, fingerprint: str) -> Retry | Stop:
        errors = self._state.errors + 1
        is_same = fingerprint == self._state.invalid
        self._change(errors=errors, invalid=fingerprint)
        if self._state.is_final:
            return self._stop("no_final_answer", message)
        # A model that repeats an invalid reply will not correct it.
        if errors > self.limits.max_errors or is_same:
            return self._stop("invalid_replies", message)
        self._send(message)
        return Retry(message)

    def _act(self, action: Action) -> Action | Retry | Stop:
        key = _make_key(action)
        # Counted before it is fitted: a model also repeats what is refused.
        count = self._state.actions.get(key, 0) + 1
        if count >= self.limits.stop_at:
            return self._stop_repetition(count)
        note = ""
        if count >= self.limits.warn_at:
            note = self._language.say("repeated", count=count, limit=self.limits.stop_at)
        self._change(actions={**self._state.actions, key: count}, note=note)
        params, refusal = self._fit_params(action)
        # A model that repeats a refused call has not read the refusal.
        if refusal and count > 1:
            return self._stop_repetition(count)
        if refusal:
            return self._refuse(action, refusal)
        reason = self.tools.explain_unchecked(action.tool)
        if reason:
            self.warnings.append(f"the schema of {action.tool} is not checked: {reason}")
        action = msgspec.structs.replace(action, params=params)
        self._change(turn="action_result", pending=action)
        return action

    def _stop_repetition(self, count: int) -> Stop:
        too_often = self._language.say("repeated_too_often", count=count)
        return self._stop("repeated_action", ActionResult(False, too_often))

    def _fit_params(self, action: Action) -> tuple[Params, str]:
        """Return the parameters as the tool takes them, and why the action is refused, if it is."""
        if not self.tools.has(action.tool):
            return {}, _describe_unknown(action.tool, self.tools, self._language)
        params, faults = self.tools.fit_params(action.tool, action.params)
        if not faults:
            return params, ""
        refusal = self._language.say("bad_params", tool=action.tool, faults=join_errors(faults))
        return params, refusal

    def _refuse(self, action: Action, refusal: str) -> Retry:
        message = ActionResult(False, refusal, self._state.note)
        self._send(message)
        return Retry(message, action)

    def _stop(self, reason: StopReason, message: Error | ActionResult) -> Stop:
        self._send(message, turn="stopped", is_final=False, queued=[])
        return Stop(reason, message.msg if isinstance(message, Error) else str(message.result))

    def _send(self, message: ToModel, **changes: Any) -> None:
        """Add *message* to the history; unless *changes* differ, it is the model's turn then."""
        call_ids = self._state.call_ids
        # While actions are queued, a message answers the first call; else all that are left.
        is_last = not changes.get("queued", self._state.queued)
        answered = call_ids if is_last else call_ids[:1]
        messages = []
        for formatted in self.protocol.format_message(message, answered):
            messages.append(_without_surrogates(formatted))
        after = {
            "turn": "reply",
            "pending": None,
            "note": "",
            "call_ids": call_ids[len(answered) :],
            **changes,
        }
        self._change(history=[*self._state.history, *messages], **after)

    def _add_reply(self, message: Message) -> None:
        if not message["content"].strip() and "tool_calls" not in message:
            message = {**message, "content": "…"}  # providers refuse an empty message
        call_ids = [call["id"] for call in message.get("tool_calls", ())]
        self._change(history=[*self._state.history, message], call_ids=call_ids)

    def _change(self, **changes: Any) -> None:
        self._state = msgspec.structs.replace(self._state, **changes)

    def _expect(self, *turns: Turn) -> None:
        if self._state.turn not in turns:
            expected = " or ".join(map(repr, turns))
            raise OutOfTurn(f"this is the turn of {self._state.turn!r}, not of {expected}")


_MAX_NAMES = 50
"""Of tools, in the error about an unknown one."""
_MIN_HALVED_CHARS = 400
_CUT_CHARS = 500
"""Characters of a reply that was cut off by a limit of tokens, as the model sees it later."""


def _without_surrogates(message: Message) -> Message:
    return {**message, "content": repair_surrogates(message["content"])}


def _count_chars(message: Message) -> int:
    return len(json.dumps(message, ensure_ascii=False))


def _make_key(action: Action) -> str:
    return json.dumps([action.tool, action.params], sort_keys=True)


def _make_fingerprint(reply: ModelReply) -> str:
    """Return what two replies have in common only if they say the same; the ids of calls always
    differ.
    """
    calls = [(call.name, call.arguments) for call in reply.tool_calls]
    content = json.dumps([reply.text, calls])
    return hashlib.sha256(content.encode()).hexdigest()


def _describe_unknown(tool: str, tools: Tools, language: Language) -> str:
    stubs = tools.write_near_stubs(tool)
    if stubs:
        return language.say("near_tools", tool=repr(tool), stubs=stubs)
    names = sort_closest_first(tool, tools.all_names, 3)
    if not names:
        return language.say("no_tools", tool=repr(tool))
    listed = ", ".join(names[:_MAX_NAMES])
    if len(names) > _MAX_NAMES:
        listed += ", …"
    return language.say("unknown_tool", tool=repr(tool), names=listed)
