"""A filter between the stream of a client and its session."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from support.server_process import request
from toolwire.protocol.catalog import Catalog
from toolwire.protocol.lifecycle import Identity
from toolwire.runtime.session import Session
from toolwire.settings import Settings

if TYPE_CHECKING:
    from toolwire_schemas.wire.messages import Frame


class Keeper:
    """Keeps frames with `custom` for itself, and notes what else happens."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.events: list[str | bytes] = []

    def receive(self, frames: list[Frame]) -> list[bytes]:
        answers = []
        for frame in frames:
            assert isinstance(frame, bytes)
            if b"custom" in frame:
                self.events.append(frame)
            else:
                answers += self.session.decide([frame])
        return answers

    def prepare_end(self) -> None:
        self.events.append(f"prepare_end, is_ending={self.session.is_ending}")

    def end(self) -> None:
        self.events.append(f"end, is_ending={self.session.is_ending}")


def test_a_filter_gets_all_frames_first_and_ends_with_the_session() -> None:
    sent: list[bytes] = []
    session = Session(Catalog(()), Identity("", ""), Settings(), sent.append)
    keeper = Keeper(session)
    session.filter_with(keeper)
    ping, last = (json.dumps(request("ping", id=id)).encode() for id in (1, 2))
    session.feed(b'{"custom":1}\n' + ping + b'\n{"custom":2}\n' + last)
    session.end()
    answered = [json.loads(line)["id"] for line in b"".join(sent).splitlines()]
    assert answered == [1, 2]
    assert keeper.events == [
        *(b'{"custom":1}', b'{"custom":2}'),
        *("prepare_end, is_ending=False", "end, is_ending=True"),
    ]


@pytest.mark.parametrize("takes_headers", [True, False])
def test_a_client_may_choose_headers_or_not(takes_headers: bool) -> None:
    sent: list[bytes] = []
    session = Session(
        Catalog(()), Identity("", ""), Settings(), sent.append, takes_headers=takes_headers
    )
    ping = json.dumps(request("ping", id=1)).encode()
    session.feed(b"Content-Length: %d\r\n\r\n%b\n" % (len(ping), ping))
    session.end()
    assert session.has_headers is takes_headers
    assert b"".join(sent).startswith(b"Content-Length: ") is takes_headers
