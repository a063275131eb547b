"""What holds for the client's tests alone."""

from __future__ import annotations

import pytest
from support.client_backends import FACES


@pytest.fixture(params=FACES)
def face(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(autouse=True)
def nothing_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one test found out about a command or an endpoint is no business of the next one's."""
    monkeypatch.setattr("toolwire_client.session.handshake._LEGACY_COMMANDS", set())
    monkeypatch.setattr("toolwire_client.models.http_api.capability_fallback._KNOWN", {})
