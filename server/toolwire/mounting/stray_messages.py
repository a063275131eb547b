"""Messages of a mounted server that are part of no call: which clients get them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from toolwire_client.protocol.client_protocol import LINK_COMPLETED
from toolwire_client.protocol.events import LinkCompleted
from toolwire_schemas.output import make_printable
from toolwire_schemas.wire import messages
from toolwire_tools import NotAnswered

from .. import log
from ..forwarding import SEVERAL_CLIENTS, refuse_request
from ..protocol import log_messages

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from toolwire_client.protocol.events import ElicitationRequest, LogEntry
    from toolwire_client.session.connection import Connection
    from toolwire_client.session.request import RequestHandle
    from toolwire_client.waiting.base import OpenElicitation

    from ..protocol.call import Call, Reply
    from ..runtime.session import Session


class StrayMessages:
    """Passes what a server sends outside of its *open_calls* to the clients of *sessions*.

    *on_output* gets lines of its output that are no messages.
    """

    def __init__(
        self,
        sessions: Callable[[], list[Session]],
        open_calls: Mapping[Call, RequestHandle],
        on_output: Callable[[str], None],
    ) -> None:
        self._sessions = sessions
        self._open_calls = open_calls
        self._on_output = on_output

    def pass_event(self, event: ElicitationRequest | LinkCompleted, connection: Connection) -> None:
        """Pass on a request, or the end of one whose link a user has opened. Runs on the thread
        that reads from the server.
        """
        if isinstance(event, LinkCompleted):
            message = messages.encode_notification(LINK_COMPLETED, event.params)
            for session in self._find_hosts("elicitation"):
                session.enqueue_notification(partial(bytes, message), len(message))
        elif not self._open_calls and event.method != "elicitation/create":
            asked = connection.take_elicitation()
            if asked is not None:
                self._ask(asked, connection)

    def log(self, entry: LogEntry) -> None:
        """Pass a log message on, or a line of the output."""
        if entry.source == "output":
            self._on_output(entry.text)
        elif entry.source == "server":
            # Which of its calls a message is about is unknown. The thread of one passes it on,
            # since a host may block.
            hosts = {call.host: request for call, request in list(self._open_calls.items())}
            takers = sum(request.log(entry) for request in hosts.values())
            if not takers:
                self._log_to_all(entry)

    def _ask(self, asked: OpenElicitation, connection: Connection) -> None:
        """Pass a request on that the server has made while no call of it runs, such as one for the
        folders of the host right after its start.
        """
        hosts = self._find_hosts(asked.method.partition("/")[0])
        if len(hosts) > 1:
            refuse_request(connection, asked, SEVERAL_CLIENTS)
            return
        if not hosts:  # a modern client is asked during its calls only
            refuse_request(connection, asked, NotAnswered(f"no client takes {asked.method} now"))
            return

        def answer(reply: Reply) -> None:
            if isinstance(reply, NotAnswered):
                refuse_request(connection, asked, reply)
            elif isinstance(reply, dict):
                connection.answer(asked, messages.encode_response(asked.id, reply))

        params = asked.params if isinstance(asked.params, dict) else {}
        elicitations = hosts[0].get_elicitations()
        try:
            withdraw = elicitations.ask_outside(asked.method, params, answer)
        except NotAnswered as error:
            refuse_request(connection, asked, error)
            return
        asked.on_closed = withdraw
        if not asked.is_open:  # the server has withdrawn it just now
            withdraw()

    def _find_hosts(self, capability: str) -> list[Session]:
        """Return the sessions of legacy clients with *capability*: others take no requests."""
        hosts = []
        for session in self._sessions():
            if isinstance(session.eras.capabilities.get(capability), dict):
                hosts.append(session)
        return hosts

    def _log_to_all(self, entry: LogEntry) -> None:
        """Pass a log message of no call on to all sessions."""
        for session in self._sessions():
            message = log_messages.encode_stray(session, entry.level, entry.logger, entry.data)
            if message is not None:
                session.enqueue_notification(partial(bytes, message), len(message))


def log_output(name: str, title: str, line: str) -> None:
    """Log a *line* of the output of the server *name* that is no message."""
    text = f"{title} wrote a line to its output that is no message: {line}"
    log.warn_rarely(f"output of {name}", make_printable(text))
