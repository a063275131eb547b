"""The outside world of a run: the model, the tools and the user. Each wait returns the event of its
result.
"""

from __future__ import annotations

import inspect
import logging
from fnmatch import fnmatchcase
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import msgspec
from toolwire_client.errors import ClientError, ServerGone, TimedOut
from toolwire_client.session.elicitation import ElicitationObserver, elicitation_observer
from toolwire_client.validation import join_errors
from toolwire_client.waiting.event_loop import bind_to_loop
from toolwire_schemas.language import say, use_language

from ..models.errors import ContextExceeded, ModelError
from ..models.model import ServerFacts, read_reply, takes
from ..react import NativeProtocol
from ..react.result_text import limit_result
from . import events
from .approvals import Allow, ApprovalRequest, Pause, Refuse
from .prompt_size import write_many_tools_warning
from .steps import AskApproval, AskModel, AskUser
from .trimming import trim_messages

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping, Sequence

    from toolwire_client.protocol.results import CallResult
    from toolwire_client.session.elicitation import Elicitation

    from ..models.model import Model
    from ..react import Protocol
    from ..toolbox import AsyncToolbox
    from .approvals import Approvals, Trust, Verdict
    from .events import Live, OnLive, Recorded
    from .run_state import RunState
    from .steps import CallTool
    from .tool_search import ToolSearch
    from .trimming import Trim
    from .user import User

Message = dict[str, Any]

LIST_SECONDS = 60.0
"""Limit for a server that lists its tools; the run continues without them."""


class Effects(msgspec.Struct, kw_only=True, eq=False):
    """Does what a `RunState` asks for. `None` instead of an event: there is no decision now, so the
    run pauses.
    """

    model: Model
    toolbox: AsyncToolbox
    approvals: Approvals
    user: User
    tool_seconds: Mapping[str, float | None]
    trim: Trim | None
    on_live: OnLive | None
    search: ToolSearch
    _entries: dict[str, dict[str, Any]] = {}
    _last_count: int = 0

    def watch(self, recorded: AsyncGenerator[Recorded, None]) -> AsyncGenerator[Recorded, None]:
        """Return the events *recorded* of a run, watched as they pass."""
        return recorded

    async def list_tools(
        self, seconds: float | None, context_tokens: int | None, questions: Sequence[str]
    ) -> events.ToolsListed:
        """List the tools, within *seconds*, as far as a context of *context_tokens* takes them, for
        the user's *questions*, the last one first.
        """
        # A server that never answers must not use up all the time of a question.
        limit = min(seconds or LIST_SECONDS, LIST_SECONDS)
        tools = await self.toolbox.list_tools(timeout_seconds=limit)
        origins = {tool.name: self.toolbox.find_origin(tool.name) for tool in tools}
        sources = {name: origin.source for name, origin in origins.items()}
        self.search.own_names = {name: origin.name for name, origin in origins.items()}
        entries = [tool.raw for tool in tools]
        listing = self.search.choose(entries, sources, context_tokens, questions)
        self._entries = {entry["name"]: entry for entry in listing.entries}
        self._warn_of_many([self._entries[name] for name in listing.shown or sources])
        trusts = {}
        for name in self._entries:
            trust = self._trust(name)
            if trust:
                trusts[name] = trust
        return events.ToolsListed(
            tools=listing.entries,
            missing={source: str(error) for source, error in self.toolbox.errors.items()},
            trust=trusts,
            shown=listing.shown,
            call_tool=listing.call_tool,
        )

    def _trust(self, tool: str) -> Trust | None:
        """Return how far *tool* is trusted; a search runs in this process."""
        if self.search.is_own(tool):
            return self.approvals.trust("", is_local=True)
        source = self.toolbox.find_origin(tool).source
        return self.approvals.trust(source, is_local=self.toolbox.is_local(tool))

    def _warn_of_many(self, entries: list[dict[str, Any]]) -> None:
        """Log once for each list of another length that it is long: lists are read again before
        each question.
        """
        if len(entries) == self._last_count:
            return
        self._last_count = len(entries)
        if warning := write_many_tools_warning(entries):
            logging.getLogger("toolwire").warning(warning)

    async def complete_start(self, begin: events.Started, protocol: Protocol) -> events.Started:
        """Return *begin* with what the model's server says of itself."""
        fetch = getattr(self.model, "fetch_server_facts", None)
        facts = None if fetch is None else await fetch()
        if not isinstance(facts, ServerFacts):
            return begin
        warnings = []
        if facts.takes_tools is False and isinstance(protocol, NativeProtocol):
            warnings.append(protocol.language.say("drops_tools"))
        return msgspec.structs.replace(
            begin, context_tokens=facts.context_tokens, warnings=warnings
        )

    async def trim_messages(self, messages: list[Message]) -> list[Message]:
        """Return the messages to send."""
        if self.trim is None:
            return messages
        return await trim_messages(messages, self.trim)

    async def ask(self, state: RunState, step: AskModel | AskUser | AskApproval) -> Recorded | None:
        """Ask whom *step* names."""
        match step:
            case AskModel():
                return await self._ask_model(state, step)
            case AskUser(ask=ask):
                return await self.user.answer(ask.content)
            case AskApproval(asked=asked):
                decided = await self._ask_approval(state, step)
                if decided is None:
                    return None
                return msgspec.structs.replace(decided, call=asked.call)

    async def _ask_model(self, state: RunState, step: AskModel) -> Recorded:
        strict = bool(getattr(self.model, "strict_schemas", False))
        # Models of users may be older than the option.
        limit: dict[str, Any] = {}
        if takes(self.model.reply, "max_tokens"):
            limit["max_tokens"] = step.max_tokens
        ask = partial(
            self.model.reply,
            list(state.sent),
            tools=state.conversation.native_tools or None,
            reply_schema=state.conversation.build_reply_schema(strict=strict),
            on_text=self._make_text_reporter(state.conversation.protocol),
            **limit,
        )
        try:
            with anyio.move_on_after(step.seconds):
                reply = read_reply(await ask(), f"the model {type(self.model).__name__}")
                return events.ModelReplied(reply=reply)
        except ModelError as error:
            return events.ModelFailed(
                reason=str(error), too_long=isinstance(error, ContextExceeded)
            )
        except Exception as error:  # a model may be any user's code
            return events.ModelFailed(reason=f"{type(error).__name__}: {error}")
        return events.ModelFailed(reason=say("the model did not reply in time"), out_of_time=True)

    async def _ask_approval(
        self, state: RunState, step: AskApproval
    ) -> events.Approved | events.Refused | None:
        """Ask whether a call is allowed, again if changed parameters do not fit the tool."""
        action, asked = step.action, step.asked
        request = ApprovalRequest(
            tool=action.tool,
            params=action.params,
            reason=asked.reason,
            thought=action.thought,
            interrupted=asked.interrupted,
            description=self._entries.get(action.tool, {}),
        )
        if self.approvals.ask is None:
            if self.approvals.no_user == "pause":
                return None
            reason = state.explain_undone("no_approver", action, tool=action.tool)
            return events.Refused(reason=reason, by_user=False)
        misfit = ""
        for _ in range(_MOST_MISFITS):
            verdict = self.approvals.ask(request)
            if inspect.isawaitable(verdict):
                verdict = await verdict
            if not isinstance(verdict, Allow) or not isinstance(verdict.params, dict):
                return _make_event(verdict)
            # Changed parameters are validated here, so that no event holds invalid ones.
            fitted, faults = state.conversation.tools.fit_params(action.tool, verdict.params)
            if not faults:
                return events.Approved(params=fitted)
            misfit = join_errors(faults)
            reason = say("the changed arguments do not fit: {faults}", faults=misfit)
            request = msgspec.structs.replace(request, reason=reason)
        reason = state.explain_undone("misfit", action, faults=misfit)
        return events.Refused(reason=reason, by_user=False)

    async def call(
        self, state: RunState, step: CallTool, aside: Callable[[Recorded], object]
    ) -> Recorded:
        """Call a tool; *aside* receives the events during the call."""
        tool = step.action.tool
        limits = [self._find_max_seconds(tool), step.seconds]
        seconds = min([limit for limit in limits if limit is not None], default=None)
        if self.search.is_own(tool):
            if tool == self.search.program_tool:
                return await self._run_program(state, step, seconds, aside)
            return self.search.answer(tool, step.action.params)
        report = self._make_live_reporter(partial(events.ToolProgress, tool))
        has_task = step.task is None and not self._runs_here(tool)
        token = elicitation_observer.set(_Witness(bind_to_loop(aside), has_task=has_task))
        try:
            with use_language(state.conversation.protocol.language.name):  # tools of this process
                result = await self._call(step, seconds, report)
            value, note = _convert_result_for_model(state, result)
            return events.CallFinished(success=not result.is_error, result=value, note=note)
        except TimedOut:
            failure = state.say_to_model("timed_out", tool=tool, seconds=f"{seconds or 0:.3g}")
        except ServerGone as error:
            # Without the server's stderr, which is for people.
            failure = state.say_to_model("gone", reason=error.reason)
        except ClientError as error:
            failure = str(error)
            if step.task is not None:
                failure = state.say_to_model("gone", reason=failure)
        finally:
            elicitation_observer.reset(token)
        return events.CallFinished(success=False, result=failure)

    def _runs_here(self, tool: str) -> bool:
        """Return whether *tool* is of this process: it may itself call one that becomes a task."""
        try:
            return self.toolbox.is_local(tool)
        except ClientError:  # it is not listed any more, which the call reports
            return False

    async def _call(
        self, step: CallTool, seconds: float | None, report: Callable[..., None] | None
    ) -> CallResult:
        tool, task = step.action.tool, step.task
        if task is not None:
            return await self.toolbox.wait_for_task(
                tool, task, timeout_seconds=seconds, on_progress=report
            )
        return await self.toolbox.call_tool(
            tool, step.action.params, timeout_seconds=seconds, on_progress=report
        )

    async def _run_program(
        self,
        state: RunState,
        step: CallTool,
        seconds: float | None,
        aside: Callable[[Recorded], object],
    ) -> Recorded:
        from .programs import ProgramRun

        action = step.action
        program = ProgramRun(
            self,
            state,
            str(action.params["code"]),
            self.search.program_names,
            seconds=seconds,
            aside=aside,
            observer=_Witness(bind_to_loop(aside), has_task=False),
            report=self._make_live_reporter(partial(events.ToolProgress, action.tool)),
        )
        finished = await program.run()
        limit = state.conversation.limits.max_result_chars - 1
        value, remarks = limit_result(finished.result, limit)
        note = state.conversation.protocol.language.format_remarks(*remarks)
        return msgspec.structs.replace(finished, result=value, note=note)

    async def call_for_program(self, tool: str, params: dict[str, Any]) -> CallResult:
        """Call *tool* for a program of the model."""
        seconds = self._find_max_seconds(tool)
        return await self.toolbox.call_tool(tool, params, timeout_seconds=seconds)

    def find_entry(self, tool: str) -> dict[str, Any]:
        """Return the entry of *tool*, which is listed."""
        return self._entries[tool]

    def judge(self, tool: str) -> Allow | Refuse | str:
        """Return whether *tool* may be called, or why it needs approval."""
        annotations = self._entries[tool].get("annotations")
        hints = annotations if isinstance(annotations, dict) else {}
        return self.approvals.judge(tool, hints, self._trust(tool))

    def _find_max_seconds(self, tool: str) -> float | None:
        # `fnmatch` would ignore case on Windows, and names of tools do not.
        for pattern, limit in self.tool_seconds.items():
            if fnmatchcase(tool, pattern):
                return limit
        return None

    def _make_text_reporter(self, protocol: Protocol) -> _TextReporter | None:
        report = self._make_live_reporter(events.TextArrived)
        if report is None:
            return None
        return _TextReporter(report, protocol)

    def _make_live_reporter(self, live: Callable[..., Live]) -> Callable[..., None] | None:
        """Return what reports *live* of its arguments to `on_live`, from any thread; `None` without
        `on_live`.
        """
        if self.on_live is None:
            return None
        report = bind_to_loop(self.on_live)
        return lambda *parts: report(live(*parts))


class _TextReporter:
    """Reports the pieces of a reply: an `OnText`."""

    def __init__(self, report: Callable[..., None], protocol: Protocol) -> None:
        self._report = report
        self._protocol = protocol
        self._reader = protocol.create_answer_reader()
        self._has_answer = False

    def __call__(self, text: str) -> None:
        if self._reader is None:
            self._report(text)
            return
        answer = self._reader.feed(text)
        self._has_answer = self._has_answer or bool(answer)
        self._report(text, answer, self._reader.thought)

    def restart(self) -> bool:
        """Forget the pieces, unless a part of the answer was among them: that is on the screen."""
        if self._has_answer:
            return False
        self._reader = self._protocol.create_answer_reader()
        return True


class _Witness(ElicitationObserver):
    """Turns tools' elicitations into events, and with *has_task* the task of the call."""

    def __init__(self, tell: Callable[[Recorded], None], *, has_task: bool) -> None:
        self._tell = tell
        self._has_task = has_task

    def observe_task(self, task_id: str) -> None:
        if self._has_task:
            self._tell(events.TaskStarted(task=task_id))

    def observe_request(self, question: Elicitation) -> None:
        self._tell(
            events.ToolAsked(tool=question.tool, message=question.message, form=question.schema)
        )

    def observe_reply(self, reply: dict[str, Any]) -> None:
        self._tell(events.FormAnswered(action=reply["action"], content=reply.get("content", {})))


_MOST_MISFITS = 3


def _make_event(verdict: Verdict | bool) -> events.Approved | events.Refused | None:
    """Return the event of a verdict that leaves the parameters; `None` for a pause.

    Raises:
        TypeError: if it is not a verdict: approval may be any user's code.
    """
    match verdict:
        case Pause():
            return None
        case True | Allow(params=None):
            return events.Approved()
        case False:
            return events.Refused(reason="")
        case Refuse(reason=reason):
            return events.Refused(reason=reason)
    raise TypeError(f"approval must return Allow, Refuse, Pause or a bool, not {verdict!r}")


def _convert_result_for_model(state: RunState, result: CallResult) -> tuple[Any, str]:
    """Return the value and the note that the model receives for a result."""
    value = result.structured
    if result.is_error or value is None:
        value = result.text
    # MCP servers wrap values that are no objects.
    if isinstance(value, dict) and value.keys() == {"result"}:
        value = value["result"]
    # One character less than the conversation's own limit, so that it does not cut again.
    value, remarks = limit_result(value, state.conversation.limits.max_result_chars - 1)
    others = sorted({str(block.get("type")) for block in result.content} - {"text"})
    more = ""
    if others:
        more = state.say_to_model("other_content", kinds=", ".join(others))
    language = state.conversation.protocol.language
    return value, language.join(language.format_remarks(*remarks), more)
