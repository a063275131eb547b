"""Why a model gave no reply.

    ModelError
    ├── NotAModel         what was given is no model, or cannot do what is wanted of it (also a `TypeError`)
    ├── NotReady          a key, an address or a package is missing; nothing was sent
    ├── Unreachable       there was no connection, or it broke before the reply was complete
    ├── ReplyTimedOut     the reply did not come in time (also a `TimeoutError`)
    ├── Refused           the endpoint answered with an error, at once or in the midst of a reply
    ├── UnreadableReply   what came is not what the endpoint's API promises
    └── NoReplyLeft       a script or a record has no reply for what was asked

Nothing here ever shows a key: what servers say is cleaned of it before it becomes an error.
"""

from __future__ import annotations


class ModelError(Exception):
    """A model gave no reply. The text is one sentence for the person who asked."""

    is_passing = False
    """Whether the same request may well be answered later."""
    asked_wait_seconds: float | None = None
    """How long the server wants us to wait before the next request."""
    attempts = 1
    """How often was asked."""

    def __str__(self) -> str:
        said = super().__str__()
        return said if self.attempts == 1 else f"{said} (asked {self.attempts} times)"


class NotAModel(ModelError, TypeError):
    """What was given cannot be asked as a model is asked."""


class NotReady(ModelError):
    """Something is missing that is needed to ask; the text says where it is looked for."""


class Unreachable(ModelError):
    """The endpoint could not be reached, or the connection to it broke."""

    is_passing = True


class ReplyTimedOut(ModelError, TimeoutError):
    """The reply did not come in time."""

    is_passing = True


class Refused(ModelError):
    """The endpoint said no.

    `status` is the HTTP status, 200 if the error came in the midst of a reply; `code` and `message` are the server's
    own; `request_id` is what its operators can find the request by.
    """

    def __init__(
        self,
        text: str,
        *,
        status: int,
        message: str = "",
        code: str = "",
        request_id: str = "",
        is_passing: bool = False,
        asked_wait_seconds: float | None = None,
    ) -> None:
        super().__init__(text)
        self.status = status
        self.message = message
        self.code = code
        self.request_id = request_id
        self.is_passing = is_passing
        self.asked_wait_seconds = asked_wait_seconds


class UnreadableReply(ModelError):
    """What came is no reply. `is_passing` where it looks cut off, rather than of another kind."""

    def __init__(self, text: str, *, is_passing: bool = False) -> None:
        super().__init__(text)
        self.is_passing = is_passing


class NoReplyLeft(ModelError):
    """A model that only repeats what was written before has nothing to say to this."""
