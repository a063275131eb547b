"""The events of a request whose caller has no thread that waits."""

from __future__ import annotations

import pytest
from toolwire_client.waiting.base import Inbox, run


def test_a_callback_gets_the_next_event_and_only_that_one() -> None:
    inbox, seen = Inbox(), list[object]()

    assert inbox.notify(seen.append)
    inbox.put("first")
    inbox.put("second")

    assert seen == ["first"]


def test_events_stay_in_the_inbox_after_the_callback() -> None:
    inbox = Inbox()
    inbox.notify(lambda event: None)

    inbox.put("first")

    assert run(inbox.receive(0)) == "first"


def test_a_callback_is_refused_if_there_is_an_event() -> None:
    inbox, seen = Inbox(), list[object]()
    inbox.put("first")

    assert not inbox.notify(seen.append)
    inbox.put("second")

    assert seen == []


def test_an_error_of_a_callback_is_not_taken_for_a_missing_one() -> None:
    inbox = Inbox()

    def fail(event: object) -> None:
        raise IndexError

    inbox.notify(fail)
    with pytest.raises(IndexError):
        inbox.put("first")
