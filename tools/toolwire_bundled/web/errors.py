"""What can go wrong on the web.

ToolError
└─ WebError
   ├─ Unreachable   nothing came, or not in time
   │  └─ NotConnected   there was not even a connection
   ├─ Refused       the response is an error, reported with its own text
   ├─ Unusable      what came is not what was asked for: too long, no JSON, no text
   └─ NotOpened     an address that is not to be asked at all
"""

from __future__ import annotations

from toolwire_compat.lagent.action_return import ActionReturn, ActionStatusCode
from toolwire_tools.errors import ToolError


class WebError(ToolError):
    """Why there is no answer. *is_passing* says that there may be one later."""

    state = ActionStatusCode.HTTP_ERROR
    """What Lagent calls it."""

    def __init__(
        self, text: str, *, is_passing: bool = False, asked_wait_seconds: float | None = None
    ) -> None:
        super().__init__(text)
        self.is_passing = is_passing
        self.asked_wait_seconds = asked_wait_seconds


class Unreachable(WebError):
    """Nothing came, or not in time."""


class NotConnected(Unreachable):
    """There was not even a connection."""


class Refused(WebError):
    """An answer with an HTTP *status* that is no success. *message* is what it says itself."""

    state = ActionStatusCode.API_ERROR

    def __init__(
        self,
        text: str,
        *,
        status: int,
        message: str,
        is_passing: bool = False,
        asked_wait_seconds: float | None = None,
    ) -> None:
        super().__init__(text, is_passing=is_passing, asked_wait_seconds=asked_wait_seconds)
        self.status = status
        self.message = message


class Unusable(WebError):
    """An answer that is not what was asked for."""


class NotOpened(WebError):
    """An address that a tool does not open for a model."""


def make_failed_return(error: ToolError) -> ActionReturn:
    """The outcome of a call that ended in *error*: HTTP_ERROR, or API_ERROR if a service said
    no.
    """
    state = error.state if isinstance(error, WebError) else ActionStatusCode.API_ERROR
    return ActionReturn(errmsg=str(error), state=state)
