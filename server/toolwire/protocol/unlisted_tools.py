"""Types of what a catalog asks about tools that its list does not have.

They are not in catalog.py, which each start of a server imports.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolwire_tools import Entry, Handler, Tool

    from .running import CallServices


class Late(Protocol):
    """Answers requests for which the lists must be complete: a list, or what has an unknown
    name.

    A call of *handler* waits until they are, and takes the request as `method` and `params`.
    """

    @property
    def entry(self) -> Entry:
        """What errors and logs call such a request."""

    @property
    def handler(self) -> Handler:
        """What answers it."""

    def has_listed(self, method: str, params: dict[str, Any], host: CallServices) -> bool:
        """Return whether the list of *method* is complete, so that *host* gets it at once.

        Must not block.
        """

    def select_news(self, host: CallServices, changed: list[str]) -> list[str]:
        """Return those of the *changed* lists that the client of *host* has seen: others are no
        news.
        """


class CallableTools(Protocol):
    """The tools of a catalog that calls can name."""

    @property
    def by_name(self) -> Mapping[str, Tool]:
        """Tools by each name that calls may use."""

    @property
    def only_tasks(self) -> Mapping[str, Tool]:
        """Those whose calls have to be tasks."""

    @property
    def late(self) -> Late | None:
        """What answers for tools of mounted servers."""


class CallToolDoor(Protocol):
    """The tool `call_tool` of a search, whose calls are those of tools that no list shows."""

    name: str
    """What its calls name."""

    def explain_unknown(self, name: str) -> str:
        """Return the error of a call of *name*, which no tool has, with those that may be meant."""

    def open(self, arguments: Any, catalog: CallableTools) -> dict[str, Any] | None:
        """Return the `name` and `arguments` of the call that is meant; `None` if *arguments* are
        not those of `call_tool`, or *catalog* has no such tool.
        """
