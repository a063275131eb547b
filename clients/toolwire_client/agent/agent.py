"""An agent: a model, tools, and what holds between them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from anyio.from_thread import start_blocking_portal

from ..models.model import as_model
from ..react import Limits, StructuredProtocol
from ..toolbox import AsyncToolbox
from .approvals import approvals
from .effects import Performing
from .events import Started
from .model_messages import words
from .replay import FromRecord, Record, replayed
from .run_state import Budgets, Course
from .session import Clock, Session
from .transcript import Transcript, load, loaded
from .user import User

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterator, Sequence

    from ..react import Protocol
    from .agent_tool import AgentTool
    from .approvals import Approvals, OnApproval
    from .effects import Performer
    from .events import OnLive, Outcome, Recorded
    from .trimming import Trim
    from .user import OnUser


TOOL_SECONDS = 300.0
"""How long a call may take, unless an agent is told otherwise: longer than most take, and not for ever."""


class Agent:
    """Answers questions with *model*, which uses *tools*.

    *model* is whatever `as_model` takes. *tools* are whatever a `Toolbox` takes, and a toolbox or client itself, those
    of `with` as well as those of `async with`. *protocol* is the structured one in *language* unless you give another;
    *instructions* are what the model is told besides. *tool_seconds* limits each call, or those of tools whose names
    match a pattern, the first that does; `None` lets them take as long as they like.

    *approval* is asked before a tool is called that may change something, or it is `Approvals`. Without it, functions
    of this process run unless they are marked destructive, and tools of servers are refused. *on_ask* is asked what the
    model wants to know from the user, with a `Question` as tools ask it, and returns text, a dict with `answer`, or a
    `NoAnswer`; so one function serves `connect(on_ask=)` as well. Without it the run pauses (`needs_input`), or with
    `nobody="tell"` the model is told that there is no user.

    *transcript* is a file to which all events are added as they happen, of one session at a time. *trim* is given the
    messages that are to be sent, and returns those that really are: fewer, for a model that cannot take all. *name* and
    *description* are what the agent is called as a tool of another.

    Raises:
        NotAModel: if *model* is none.
        TypeError: if something among *tools* is none.
        ValueError: if there are no prompts in *language*, or `trust_hints` names none of the *tools*.
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
        nobody: Literal["pause", "tell"] = "pause",
        transcript: str | os.PathLike[str] | None = None,
        trim: Trim | None = None,
        roles: Mapping[str, str] | None = None,
        clock: Clock | None = None,
        name: str = "agent",
        description: str = "Answers a question with the help of a language model and tools.",
    ) -> None:
        self.name = name
        self.description = description
        self.on_ask = on_ask
        self._model = as_model(model)
        self._protocol = protocol or StructuredProtocol(language, instructions=instructions)
        self._tools = tools
        AsyncToolbox(tools)  # what is no tool is refused here; each session has a toolbox with its own user
        self._limits = limits
        self._budgets = budgets or Budgets()
        self._tool_seconds = tool_seconds
        self._approvals = approvals(approval)
        _check_trust(self._approvals.trust_hints, tools)
        self._nobody = nobody
        self._transcript = transcript
        self._trim = trim
        self._roles = roles
        self._clock = clock

    # --- asking ---

    async def run(self, question: str, *, on_live: OnLive | None = None) -> AsyncGenerator[Recorded, None]:
        """Answer a question, and tell what happens; the last event is `Ended`. *on_live* hears what goes on between."""
        async with aclosing(self.session(on_live=on_live).run(question)) as events:
            async for event in events:
                yield event

    async def answer(self, question: str, *, on_live: OnLive | None = None) -> Outcome:
        """Return what a question comes to."""
        return await self.session(on_live=on_live).answer(question)

    def run_sync(self, question: str, *, on_live: OnLive | None = None) -> Iterator[Recorded]:
        """As `run`, for code without an event loop; on an event loop of its own, in a thread of its own."""
        return stepped(lambda: self.run(question, on_live=on_live))

    def answer_sync(self, question: str, *, on_live: OnLive | None = None) -> Outcome:
        """As `answer`, for code without an event loop."""
        import anyio

        return anyio.run(lambda: self.answer(question, on_live=on_live))

    def session(self, *, on_live: OnLive | None = None, on_ask: OnUser | None = None) -> Session:
        """Return a new exchange, for several questions of which each remembers those before it.

        *on_ask* is asked instead of the agent's own.
        """
        return self._session((), on_live, on_ask)

    # --- transcripts ---

    def resume(
        self,
        transcript: str | os.PathLike[str] | Sequence[Recorded],
        *,
        on_live: OnLive | None = None,
        on_ask: OnUser | None = None,
    ) -> Session:
        """Return the exchange that *transcript* is of, a file or its events; `go_on` goes on where it stopped.

        What happens from then on is added to this agent's own transcript, which should be the same file. A pending
        question or approval is asked for again. A call that was interrupted may have taken effect: the model is told
        so, and this call and identical ones need approval from then on, whatever the settings allow.

        Raises:
            BrokenTranscript: if it is none.
            OSError: if it cannot be read.
        """
        if not isinstance(transcript, str | os.PathLike):
            return self._session(transcript, on_live, on_ask)
        read = loaded(transcript)
        is_ours = self._transcript is not None and os.path.realpath(self._transcript) == os.path.realpath(transcript)
        names = [f"{transcript}, line {number}" for number in read.lines]
        return self._session(read.events, on_live, on_ask, names=names, end=read.end if is_ours else None)

    def resume_sync(
        self,
        transcript: str | os.PathLike[str] | Sequence[Recorded],
        question: str | None = None,
        *,
        on_live: OnLive | None = None,
        on_ask: OnUser | None = None,
    ) -> Outcome:
        """As `await resume(transcript).answer(question)`, for code without an event loop.

        Raises:
            ValueError: if there is no *question* and the last one has been answered.
            BrokenTranscript: as `resume`.
            OSError: as `resume`.
        """
        import anyio

        return anyio.run(self.resume(transcript, on_live=on_live, on_ask=on_ask).answer, question)

    async def replay(self, transcript: str | os.PathLike[str] | Sequence[Recorded]) -> AsyncGenerator[Recorded, None]:
        """Repeat a recorded exchange, without model, tools and persons, and tell what happens.

        The agent's settings have to be those of then. Secrets are hidden in what is told, as in a transcript.

        Raises:
            ReplayMissed: if anything else happens than did then.
            BrokenTranscript: if *transcript* is none.
            OSError: if it cannot be read.
        """
        record = Record(_events(transcript))
        performer = FromRecord(record, trims=self._trim is not None)
        async with aclosing(replayed(self._course(), performer, record)) as events:
            async for event in events:
                yield event

    # --- agents for agents ---

    def as_tool(self, name: str | None = None, description: str | None = None) -> AgentTool:
        """Return this agent as a tool of others: it takes a `question`, and its result is the answer.

        A `Toolbox`, and so another agent, takes it, an `Env`, and `toolwire serve`.
        """
        from .agent_tool import AgentTool

        return AgentTool(self, name or self.name, description or self.description)

    # --- how ---

    def _session(
        self,
        events: Sequence[Recorded],
        on_live: OnLive | None,
        on_ask: OnUser | None,
        *,
        names: Sequence[str] = (),
        end: int | None = None,
    ) -> Session:
        language = self._protocol.language.name
        user = User(on_ask or self.on_ask, self._nobody, lambda kind: words(language, kind))
        performer: Performer = Performing(
            self._model,
            AsyncToolbox(self._tools, on_ask=user.fill_in),
            approvals=self._approvals,
            user=user,
            tool_seconds=self._tool_seconds,
            trim=self._trim,
            on_live=on_live,
        )
        record = Transcript(self._transcript, end=end).add if self._transcript is not None else None
        begin = Started(model=_told(self._model), protocol=f"{type(self._protocol).__name__}, {language}")
        return Session(
            self._course(), performer, begin=begin, events=events, names=names, record=record, clock=self._clock
        )

    def _course(self) -> Course:
        return Course(
            self._protocol,
            limits=self._limits,
            budgets=self._budgets,
            approvals=self._approvals,
            roles=self._roles,
        )


def _events(transcript: str | os.PathLike[str] | Sequence[Recorded]) -> Sequence[Recorded]:
    return load(transcript) if isinstance(transcript, str | os.PathLike) else transcript


def _check_trust(names: bool | tuple[str, ...], tools: Any) -> None:
    # Only keys count, which the user chose: a server could call itself like another one.
    known = tools if isinstance(tools, Mapping) else ()
    if not isinstance(names, bool) and (strange := [name for name in names if name not in known]):
        raise ValueError(f"trust_hints names {strange[0]!r}: give the agent's tools as a dict with that key")


def _told(model: object) -> str:
    """What a model calls itself, without an address in memory: as `model_from_name` knows it, if it has a `name`."""
    if isinstance(name := getattr(model, "name", None), str):
        return name
    kind, of = type(model).__name__, getattr(model, "model", None)
    return f"{kind} {of}" if isinstance(of, str) else kind


T = TypeVar("T")


def stepped(begin: Callable[[], AsyncGenerator[T, None]]) -> Iterator[T]:
    """Return what an asynchronous generator yields, which runs on an event loop in a thread of its own.

    Whoever stops waiting, for instance by Ctrl-C, cancels what it does.
    """
    with start_blocking_portal() as portal:
        events = begin()

        async def step() -> T | None:
            return await anext(events, None)

        try:
            while True:
                waiting = portal.start_task_soon(step)
                try:
                    event = waiting.result()
                except BaseException:
                    waiting.cancel()
                    raise
                if event is None:
                    return
                yield event
        finally:
            portal.call(events.aclose)
