"""Recognize the SDK of a server, and the failures that it causes. The known SDKs are data, in
`sdks.json`.

Strategy. `serverInfo` names the server, not its SDK, so an SDK is recognized by its responses to
two requests that never reach the server's code: an unknown method, and a malformed call. A failure
counts as the SDK's only if servers of that SDK share it: the same case, and the same start of
`came`.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import msgspec

from ..judging.expectations import make_validator
from ..report import is_bad
from .handshake import INITIALIZED, complete_message, is_modern

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..judging.conversation import Message
    from ..report import Verdict
    from .server_process import ServerUnderTest

_REQUESTS: dict[str, Message] = {
    "unknown": {"id": "sdk-unknown", "method": "toolwire/no-such-method"},
    "malformed": {"id": "sdk-malformed", "method": "tools/call", "params": {"name": 7}},
}

_ANSWER_SECONDS = 2.0


class Sdk(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An SDK, and what servers made with these *versions* have in common.

    `signs` are schemas of its responses to `_REQUESTS`. `findings` are failing cases, each with
    the start of `came`.
    """

    name: str
    versions: str
    signs: dict[str, Any]
    findings: dict[str, str]

    def causes(self, verdict: Verdict) -> bool:
        """Whether *verdict* is a failure of this SDK."""
        start = self.findings.get(verdict.case)
        if start is None or not is_bad(verdict):
            return False
        is_lasting = not verdict.after  # what needs another case before it is a state of the server
        return is_lasting and verdict.came.startswith(start)

    def is_recognized_by(self, answers: dict[str, Message]) -> bool:
        """Whether a server with these *answers* to `_REQUESTS` is made with this SDK."""
        for name, schema in self.signs.items():
            if not make_validator(schema).is_valid(answers[name]):
                return False
        return True


@cache
def load_sdks() -> tuple[Sdk, ...]:
    """Return all known SDKs."""
    data = files(__package__).joinpath("sdks.json").read_bytes()
    return tuple(msgspec.json.decode(data, type=list[Sdk]))


def ask_for_signs(server: ServerUnderTest, revision: str) -> dict[str, Message]:
    """Return the responses to `_REQUESTS` of a server right after its handshake in this *revision*;
    empty if it does not answer.
    """
    if not is_modern(revision):
        server.send(INITIALIZED)
    answers: dict[str, Message] = {}
    for name, request in _REQUESTS.items():
        answer = server.request(complete_message(request, revision), _ANSWER_SECONDS)
        if answer is None:
            return {}
        answers[name] = answer
    return answers


def identify_sdk(answers: dict[str, Message]) -> Sdk | None:
    """Return the SDK of a server that gives these *answers* to `_REQUESTS`; `None` if it is
    unknown.
    """
    for sdk in load_sdks():
        if answers and sdk.is_recognized_by(answers):
            return sdk
    return None


def mark_sdk_gaps(verdicts: Sequence[Verdict], sdk: Sdk | None) -> list[Verdict]:
    """Return *verdicts* with the failures of *sdk* marked as known gaps."""
    if sdk is None:
        return list(verdicts)
    reason = f"it comes from {sdk.name} (as seen in {sdk.versions}), not from this server"
    marked = []
    for verdict in verdicts:
        if sdk.causes(verdict):
            verdict = msgspec.structs.replace(
                verdict, outcome="known gap", reason=reason, sdk=sdk.name
            )
        marked.append(verdict)
    return marked
