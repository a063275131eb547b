"""An agent: a model, tools, and what holds between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import os
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence

    from ..asking import OnAsk
    from ..react import Limits, Protocol
    from .approvals import Approvals, OnApproval
    from .budgets import Budgets
    from .events import OnLive, Recorded
    from .outcome import Outcome

    Trim = Callable[[list[dict[str, Any]]], list[dict[str, Any]]]
    Transcript = str | os.PathLike[str] | Sequence[Recorded]


class Agent:
    """Answers questions with *model*, which uses *tools*.

    *model* is whatever `as_model` takes. *tools* are whatever a `Toolbox` takes, and a toolbox or client itself, those
    of `with` as well as those of `async with`. *protocol* is the structured one in *language* unless you give another;
    *instructions* are what the model is told besides. *tool_seconds* limits each call, or by its tool's name.

    *approval* is who is asked before a tool is called that may change something, or `Approvals`; without it such calls
    are refused. *on_ask* is asked what the model wants to know from the user, with a `Question` as tools ask it, and
    returns text, a dict with `answer`, or a `NoAnswer`; so one function serves `connect(on_ask=)` as well. Without it
    the run pauses (`needs_input`), or with `nobody="tell"` the model is told that there is no user.

    *transcript* is a file to which all events are added as they happen. *trim* is given the messages that are to be
    sent, and returns those that really are: shorter, for a model that cannot take all.

    Raises:
        NotAModel: if *model* is none.
        TypeError: if something among *tools* is none.
    """

    def __init__(
        self,
        model: object,
        tools: Any = (),
        *,
        protocol: Protocol | None = None,
        language: str = "en",
        instructions: str = "",
        limits: Limits | None = None,
        budgets: Budgets | None = None,
        tool_seconds: float | Mapping[str, float] | None = None,
        approval: Approvals | OnApproval | None = None,
        on_ask: OnAsk | None = None,
        nobody: Literal["pause", "tell"] = "pause",
        transcript: str | os.PathLike[str] | None = None,
        trim: Trim | None = None,
        roles: Mapping[str, str] | None = None,
        clock: Callable[[], float] | None = None,
    ) -> None:
        raise NotImplementedError

    def session(self, *, on_live: OnLive | None = None) -> Session:
        """Return a new exchange, for several questions of which each remembers those before it."""
        raise NotImplementedError

    def run(self, question: str, *, on_live: OnLive | None = None) -> AsyncIterator[Recorded]:
        """Answer a question, and tell what happens; the last event is `Ended`. *on_live* hears what goes on between."""
        raise NotImplementedError

    async def answer(self, question: str, *, on_live: OnLive | None = None) -> Outcome:
        """Return what a question comes to."""
        raise NotImplementedError

    def answer_sync(self, question: str, *, on_live: OnLive | None = None) -> Outcome:
        """As `answer`, for code without an event loop."""
        raise NotImplementedError

    def run_sync(self, question: str, *, on_live: OnLive | None = None) -> Iterator[Recorded]:
        """As `run`, for code without an event loop."""
        raise NotImplementedError

    def resume(self, transcript: Transcript, *, on_live: OnLive | None = None) -> Session:
        """Return the exchange that *transcript* is of; its `go_on` goes on where that stopped."""
        raise NotImplementedError

    def replay(self, transcript: Transcript) -> AsyncIterator[Recorded]:
        """Repeat a recorded exchange, without model, tools and persons."""
        raise NotImplementedError

    def as_tool(self, name: str, description: str) -> Any:
        """Return this agent as a tool of another: it takes a `question`, and its result is the answer."""
        raise NotImplementedError


class Session:
    """One exchange, over any number of questions."""

    def run(self, question: str) -> AsyncIterator[Recorded]:
        """As `Agent.run`."""
        raise NotImplementedError

    async def answer(self, question: str) -> Outcome:
        """As `Agent.answer`."""
        raise NotImplementedError

    def go_on(self) -> AsyncIterator[Recorded]:
        """As `run`, for a question that was asked before: one that waited for a person, or was interrupted."""
        raise NotImplementedError

    def cancel(self) -> None:
        """End the run; it ends with `cancelled`. From the event loop's thread."""
        raise NotImplementedError

    def cancel_call(self) -> bool:
        """Cancel the tool that is being called, which the model is told. Returns whether there was one."""
        raise NotImplementedError
