"""Answers requests that wait for tools which cannot be loaded. Imported only then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolwire_schemas.wire import messages
from toolwire_schemas.wire.messages import INTERNAL_ERROR, LOADING_FAILED

from ..errors import LifespanFailed
from ..runtime.loading_filter import read_head
from .diagnostics.import_errors import print_users_part

if TYPE_CHECKING:
    from ..runtime.loading_filter import LoadingFilter


def answer_failure(kept: LoadingFilter, failure: Exception) -> None:
    """Answer the requests that have been *kept* with the reason of the *failure*, and end the
    session.
    """
    if isinstance(failure, LifespanFailed):
        print_users_part(failure.__cause__)
    problem = f"The tools cannot be loaded: {failure}"
    for frame in kept.stop():
        head = read_head(frame)
        if head.method and head.id is not None:
            error = messages.encode_error(head.id, INTERNAL_ERROR, problem, LOADING_FAILED)
            kept.session.writer.enqueue(error)
    kept.session.end()
