"""Errors of models.

    ModelError
    ├── NotAModel        the object is not a model, or lacks an ability (also a `TypeError`)
    ├── NotReady         a key, an address or a package is missing; nothing was sent
    ├── Unreachable      no connection, or it broke before the reply was complete
    ├── ReplyTimedOut    the reply did not come in time (also a `TimeoutError`)
    ├── EndpointRefused  the endpoint answered with an error, at once or during a reply
    │   └── ContextExceeded  the messages are too long for the model
    ├── UnreadableReply  the response violates the endpoint's API
    └── NoReplyLeft      a script or a record has no reply for the request

No error shows a key: texts of servers are cleaned first.
"""

from __future__ import annotations


class ModelError(Exception):
    """A model gave no reply. The text is one sentence for the user."""

    is_passing = False
    """Whether the same request may succeed later."""
    asked_wait_seconds: float | None = None
    """The wait before the next request that the server asks for."""
    attempts = 1
    """The number of requests."""

    def __init__(self, text: str, *, is_passing: bool | None = None) -> None:
        super().__init__(text)
        if is_passing is not None:
            self.is_passing = is_passing

    def __str__(self) -> str:
        text = super().__str__()
        if self.attempts == 1:
            return text
        return f"{text} (asked {self.attempts} times)"


class NotAModel(ModelError, TypeError):
    """The object cannot be used as a model."""


class NotReady(ModelError):
    """Something needed for the request is missing; the text says where it is expected."""


class Unreachable(ModelError):
    """The endpoint could not be reached, or the connection broke."""

    is_passing = True


class ReplyTimedOut(ModelError, TimeoutError):
    """The reply did not come in time."""

    is_passing = True


class EndpointRefused(ModelError):
    """The endpoint returned an error.

    `status` is the HTTP status, or the closest one for an error during a reply; `code` and
    `message` are the server's.
    """

    def __init__(
        self,
        text: str,
        *,
        status: int,
        message: str = "",
        code: str = "",
        is_passing: bool = False,
        asked_wait_seconds: float | None = None,
    ) -> None:
        super().__init__(text, is_passing=is_passing)
        self.status = status
        self.message = message
        self.code = code
        self.asked_wait_seconds = asked_wait_seconds


class ContextExceeded(EndpointRefused):
    """The messages, or they and the longest possible reply, do not fit into the model's context."""


class UnreadableReply(ModelError):
    """The response is not a reply. `is_passing` if it looks cut off, rather than of another
    kind.
    """


class NoReplyLeft(ModelError):
    """A scripted or recorded model has no reply to this request."""
