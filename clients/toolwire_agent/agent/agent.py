"""An agent: a model, tools, and what holds between them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, cast, overload

import anyio
from anyio.from_thread import start_blocking_portal
from toolwire_client.session.elicitation import NoAnswer

from ..models.model import as_model
from ..react import Limits, SmallProtocol, StructuredProtocol
from ..toolbox import AsyncToolbox
from .agent_session import AgentSession, Clock
from .approvals import Approvals
from .budgets import Budgets
from .effects import Effects
from .events import ForkOf, Started
from .run_state import RunState
from .tool_search import SHOWS, ToolSearch
from .transcripts.replay import replay_session
from .transcripts.transcript import Transcript, copy_for_fork, load, load_session
from .user import User

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator, Sequence

    from toolwire_client.session.elicitation import Elicitation
    from typing_extensions import TypeForm

    from ..react import Protocol
    from .approvals import OnApproval
    from .events import OnLive, Outcome, Recorded, T
    from .tool_search import Show
    from .trimming import Trim
    from .user import OnUser


TOOL_SECONDS = 300.0
"""Default limit of a call: longer than most tools take, but not endless."""


class Agent:
    """Answers questions with *model*, which uses *tools*.

    *model* is anything that `as_model` takes, *tools* anything that a `Toolbox` takes, or a toolbox
    or client itself. *protocol* defaults to the structured one in *language*, with *instructions*
    added to its prompt. *tool_seconds* limits each call, or maps patterns of tool names to limits
    (the first match counts); `None` sets no limit.

    *approval* is called before a tool that may change something, or is an `Approvals`. Without it,
    functions of this process run unless they are marked destructive, and tools of servers are
    refused. *on_ask* receives the model's questions to the user as an `Elicitation` and returns
    text, a dict with `answer`, or a `NoAnswer`, so the same function serves `connect(on_ask=)`.
    Without it the run pauses (`needs_input`); with `no_user="continue"` the model learns that
    there is no user.

    *transcript* is a file to which each event is added, by one session at a time. *trim* receives
    the messages before each request and returns those to send, for models with a short context.
    With `show="search"` the model finds tools by a search and calls them by name, except those
    whose names match a pattern of *pin*; `auto` does so if the list takes more than *show_tokens*
    (estimated), by default a twentieth of the context, or 10,000 if its size is unknown. With
    `SmallProtocol` the words of the question are searched instead, and the list has what they find.
    With `show="code"` the model writes programs that call the tools, in a sandbox.
    *name* and *description* describe the agent as a tool.

    Raises:
        NotAModel: if *model* is not a model.
        TypeError: if one of *tools* is not a tool.
        ValueError: if there are no prompts in *language*, *show* is another word, or is `code`
            where there is no sandbox, or `trust_hints` names none of the *tools*.
    """

    def __init__(
        self,
        model: object,
        tools: Any = (),
        *,
        protocol: Protocol | None = None,
        language: str | None = None,
        instructions: str = "",
        limits: Limits | None = None,
        budgets: Budgets | None = None,
        tool_seconds: float | Mapping[str, float] | None = TOOL_SECONDS,
        approval: Approvals | OnApproval | None = None,
        on_ask: OnUser | None = None,
        no_user: Literal["pause", "continue"] = "pause",
        transcript: str | os.PathLike[str] | None = None,
        trim: Trim | None = None,
        roles: Mapping[str, str] | None = None,
        show: Show = "auto",
        show_tokens: int | None = None,
        pin: Sequence[str] = (),
        clock: Clock | None = None,
        name: str = "agent",
        description: str = "Answers a question with the help of a language model and tools.",
    ) -> None:
        self.name = name
        self.description = description
        self.on_ask = on_ask
        self._model = as_model(model)
        self._protocol = protocol or StructuredProtocol(language, instructions=instructions)
        # Only to refuse wrong tools now: each session has a toolbox with its own user.
        AsyncToolbox(tools)
        self._tools = tools
        self._limits = limits
        self._budgets = budgets or Budgets()
        self._tool_seconds: Mapping[str, float | None]
        if isinstance(tool_seconds, Mapping):
            self._tool_seconds = tool_seconds
        else:
            self._tool_seconds = {"*": tool_seconds}
        if not isinstance(approval, Approvals):
            if approval is not None and not callable(approval):
                raise TypeError(f"approval must be a function or Approvals(…), not {approval!r}")
            approval = Approvals(ask=approval)
        self._approvals = approval
        _check_trust(self._approvals.trust_hints, tools)
        self._no_user = no_user
        self._transcript = transcript
        self._trim = trim
        self._roles = roles
        self._clock = clock
        if show not in SHOWS or isinstance(pin, str):
            raise ValueError(f"show is one of {', '.join(SHOWS)}, and pin a list of patterns")
        if show == "code":
            from toolwire_bundled.programs.program import find_sandbox

            find_sandbox("auto")
        by_question = isinstance(self._protocol, SmallProtocol)
        self._make_search = partial(
            ToolSearch, show, show_tokens, tuple(pin), by_question=by_question
        )

    # --- asking ---

    def run(
        self, question: str, *, on_live: OnLive | None = None
    ) -> AsyncGenerator[Recorded, None]:
        """Answer a question and yield the events, `Ended` last. *on_live* receives text and
        progress between them, and the events of calls at once.
        """
        return self.session(on_live=on_live).run(question)

    @overload
    async def answer(
        self, question: str, *, result_type: type[T] = ..., on_live: OnLive | None = None
    ) -> Outcome[T]: ...
    @overload
    async def answer(
        self, question: str, *, result_type: TypeForm[T], on_live: OnLive | None = None
    ) -> Outcome[T]: ...
    async def answer(
        self, question: str, *, result_type: object = str, on_live: OnLive | None = None
    ) -> Outcome[Any]:
        """Return the outcome of a question.

        *result_type* is the type of its `result`: any that an argument of a tool may have, such as
        a dataclass or `list[int]`. The model receives its JSON Schema. An answer that does not fit
        is requested again, with what was wrong.

        Raises:
            TypeError: if JSON has no form for the *result_type*.
        """
        outcome: Outcome[Any] = await self.session(on_live=on_live).answer(
            question, result_type=cast("Any", result_type)
        )
        return outcome

    def run_sync(self, question: str, *, on_live: OnLive | None = None) -> Iterator[Recorded]:
        """Run `run` on an event loop in its own thread, for synchronous code."""
        # An exception while waiting, such as Ctrl-C, leaves the portal's block, which cancels the
        # run.
        with start_blocking_portal() as portal:
            events = self.run(question, on_live=on_live)
            try:
                while (event := portal.call(_get_next_event, events)) is not None:
                    yield event
            except GeneratorExit:
                portal.call(events.aclose)
                raise

    @overload
    def answer_sync(
        self, question: str, *, result_type: type[T] = ..., on_live: OnLive | None = None
    ) -> Outcome[T]: ...
    @overload
    def answer_sync(
        self, question: str, *, result_type: TypeForm[T], on_live: OnLive | None = None
    ) -> Outcome[T]: ...
    def answer_sync(
        self, question: str, *, result_type: object = str, on_live: OnLive | None = None
    ) -> Outcome[Any]:
        """Run `answer` for synchronous code.

        Raises:
            RuntimeError: if an event loop runs in this thread, as in a notebook.
        """
        _refuse_running_loop()
        return anyio.run(
            lambda: self.answer(question, result_type=cast("Any", result_type), on_live=on_live)
        )

    def session(
        self, *, on_live: OnLive | None = None, on_ask: OnUser | None = None
    ) -> AgentSession:
        """Return a new session, in which each question remembers those before it. *on_ask* replaces
        the agent's own.
        """
        return self._make_session((), on_live, on_ask)

    # --- transcripts ---

    def resume(
        self,
        transcript: str | os.PathLike[str] | Sequence[Recorded],
        *,
        on_live: OnLive | None = None,
        on_ask: OnUser | None = None,
    ) -> AgentSession:
        """Return the session of *transcript*, a file or its events; its `go_on` continues where it
        stopped.

        New events go to this agent's own transcript, which should be the same file. A pending
        question or approval is asked again. An interrupted call may have taken effect: the model
        learns that, and this call and identical ones need approval from then on, whatever the
        settings allow.

        Raises:
            BrokenTranscript: if it is not a transcript.
            OSError: if it cannot be read.
        """
        if not isinstance(transcript, str | os.PathLike):
            return self._make_session(transcript, on_live, on_ask)
        read = load_session(transcript)
        end = None
        if self._writes_to(transcript):
            end = read.end
        names = [f"{transcript}, line {number}" for number in read.lines]
        return self._make_session(read.events, on_live, on_ask, names=names, end=end)

    def fork(
        self,
        transcript: str | os.PathLike[str] | Sequence[Recorded],
        at: int | None = None,
        *,
        on_live: OnLive | None = None,
        on_ask: OnUser | None = None,
    ) -> AgentSession:
        """Return a session that begins as *transcript* does, and goes on with this agent's model
        and instructions.

        *at* is the last line of the file, or the number of events, that it shares; by default all.
        A call that has started is shared with its end. `go_on` continues the question that is open
        there. This agent's own transcript has to be another file, which gets a copy of the shared
        events. Later calls of *transcript* are not known: the fork may make them again, with the
        approval that any call needs.

        Raises:
            ValueError: if there is no line *at*, or the transcripts are the same file.
            BrokenTranscript, OSError: as `resume`.
        """
        shared = copy_for_fork(transcript, at)
        origin = ForkOf(events=len(shared.events))
        names: list[str] = []
        if isinstance(transcript, str | os.PathLike):
            if self._writes_to(transcript):
                raise ValueError(
                    f"a fork needs a transcript of its own, and {transcript} is what it comes from"
                )
            origin = ForkOf(
                events=len(shared.events), transcript=os.fspath(transcript), line=shared.lines[-1]
            )
            names = [f"{transcript}, line {number}" for number in shared.lines]
        return self._make_session(shared.events, on_live, on_ask, names=names, fork_of=origin)

    def _writes_to(self, path: str | os.PathLike[str]) -> bool:
        """Return whether the agent's own transcript is the file at *path*."""
        if self._transcript is None:
            return False
        return os.path.realpath(self._transcript) == os.path.realpath(path)

    def resume_sync(
        self,
        transcript: str | os.PathLike[str] | Sequence[Recorded],
        question: str | None = None,
        *,
        on_live: OnLive | None = None,
        on_ask: OnUser | None = None,
    ) -> Outcome:
        """Run `resume(transcript).answer(question)` for synchronous code.

        Raises:
            ValueError: if there is no *question* and the last one has been answered.
            BrokenTranscript, OSError: as `resume`.
        """
        return anyio.run(self.resume(transcript, on_live=on_live, on_ask=on_ask).answer, question)

    async def replay(
        self, transcript: str | os.PathLike[str] | Sequence[Recorded]
    ) -> AsyncGenerator[Recorded, None]:
        """Repeat a recorded session without model, tools and user, and yield its events, secrets
        hidden.

        The agent must have the same settings as when it was recorded.

        Raises:
            ReplayMissed: if an event differs from the record.
            BrokenTranscript: if *transcript* is not a transcript.
            OSError: if it cannot be read.
        """
        if isinstance(transcript, str | os.PathLike):
            transcript = load(transcript)
        for event in replay_session(self._make_state(), transcript, trims=self._trim is not None):
            yield event

    # --- agents for agents ---

    def as_tool(self, name: str | None = None, description: str | None = None) -> AgentTool:
        """Return this agent as a tool with one argument, `question`, for a `Toolbox`, an `Env` or
        `toolwire serve`.
        """
        return AgentTool(self, name or self.name, description or self.description)

    def _make_session(
        self,
        events: Sequence[Recorded],
        on_live: OnLive | None,
        on_ask: OnUser | None,
        *,
        names: Sequence[str] = (),
        end: int | None = None,
        fork_of: ForkOf | None = None,
    ) -> AgentSession:
        language = self._protocol.language
        user = User(on_ask or self.on_ask, self._no_user, language.say)
        effects = Effects(
            model=self._model,
            toolbox=AsyncToolbox(self._tools, on_ask=user.fill_in),
            approvals=self._approvals,
            user=user,
            tool_seconds=self._tool_seconds,
            trim=self._trim,
            on_live=on_live,
            search=self._make_search(),
        )
        if any(name.startswith("OTEL_") for name in os.environ):
            from .tracing import add_tracing

            effects = add_tracing(effects, self.name, _name_model(self._model))
        record = None
        if self._transcript is not None:
            record = Transcript(self._transcript, end=end).add
        begin = Started(
            model=_name_model(self._model),
            protocol=f"{type(self._protocol).__name__}, {language.name}",
            instructions=self._protocol.instructions,
            fork_of=fork_of,
        )
        return AgentSession(
            self._make_state(),
            effects,
            begin=begin,
            events=events,
            names=names,
            record=record,
            clock=self._clock,
        )

    def _make_state(self) -> RunState:
        return RunState(
            self._protocol,
            limits=self._limits,
            budgets=self._budgets,
            approvals=self._approvals,
            roles=self._roles,
        )


class NoAnswerFound(Exception):
    """An agent called as a tool found no answer. The text says why."""


class AgentTool:
    """Makes *agent* a tool (see `ToolLike`), and an async function of one question.

    Calling it needs no approval; the agent's own approvals decide about its tools. Without an
    `on_ask` of its own, its questions go to the user of the calling agent.
    """

    is_async = True

    def __init__(self, agent: Agent, name: str, description: str) -> None:
        self.name = self.__name__ = name
        self.__doc__ = f"{description}\n\nArgs:\n    question: {_QUESTION}"
        self._agent = agent
        self._description = description

    async def __call__(self, question: str) -> str:
        outcome = await self._agent.session().answer(question)
        if outcome.status not in ("answered", "unsolvable"):
            raise NoAnswerFound(_describe_failure(outcome))
        return outcome.result or ""

    def describe(self) -> dict[str, Any]:
        """Return the entry for `tools/list`."""
        return {
            "name": self.name,
            "description": self._description,
            "inputSchema": {
                "type": "object",
                "properties": {"question": {"type": "string", "description": _QUESTION}},
                "required": ["question"],
                "additionalProperties": False,
            },
            "annotations": {"readOnlyHint": False, "destructiveHint": False, "openWorldHint": True},
        }

    def call(self, arguments: dict[str, Any], caller: Any) -> dict[str, Any]:
        """Refuse a synchronous call."""
        raise TypeError("an agent is called by call_async")

    async def call_async(self, arguments: dict[str, Any], caller: Any) -> dict[str, Any]:
        """Answer the `question` in *arguments*; the result of a failed run is an error."""
        question = arguments.get("question")
        if not isinstance(question, str) or arguments.keys() != {"question"}:
            raise TypeError(f"{self.name} takes one argument, question, a string")

        async def ask(question: Elicitation) -> dict[str, Any] | NoAnswer:
            reply = await caller.ask_async(question.message, question.schema, question.key)
            content = reply.get("content")
            if isinstance(content, dict):
                return content
            return NoAnswer(reply.get("action", "cancel"))

        outcome = await self._agent.session(on_ask=self._agent.on_ask or ask).answer(question)
        if outcome.status not in ("answered", "unsolvable"):
            return {
                "content": [{"type": "text", "text": _describe_failure(outcome)}],
                "isError": True,
            }
        return {
            "content": [{"type": "text", "text": outcome.result or ""}],
            "isError": outcome.status == "unsolvable",
        }


_QUESTION = "The task or question, with all necessary details."


def _describe_failure(outcome: Outcome) -> str:
    why = ", ".join(filter(None, (outcome.status, outcome.reason)))
    text = f"There is no answer ({why})"
    if outcome.result:
        text += f": {outcome.result}"
    return text


def _check_trust(names: bool | tuple[str, ...], tools: Any) -> None:
    # Only the keys that the user chose count: a server could take the name of another one.
    known = tools if isinstance(tools, Mapping) else ()
    if not isinstance(names, bool) and (strange := [name for name in names if name not in known]):
        raise ValueError(
            f"trust_hints names {strange[0]!r}: give the agent's tools as a dict with that key"
        )


def _name_model(model: object) -> str:
    """Return a model's `name`, by which `model_from_name` makes it, or its type; never an address
    in memory.
    """
    if isinstance(name := getattr(model, "name", None), str):
        return name
    kind, of = type(model).__name__, getattr(model, "model", None)
    if isinstance(of, str):
        return f"{kind} {of}"
    return kind


def _refuse_running_loop() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise RuntimeError(
        "an event loop runs in this thread, as in a notebook: write `await agent.answer(...)`"
        " in place of `answer_sync`"
    )


async def _get_next_event(events: AsyncGenerator[Recorded, None]) -> Recorded | None:
    return await anext(events, None)
