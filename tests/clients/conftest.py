"""What holds for the client's tests alone."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from support.client_backends import FACES
from toolwire_agent.models.http_api.remote_model import FACTS, KNOWN


@pytest.fixture(params=FACES)
def face(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(autouse=True, scope="session")
def _nothing_waits_for_the_disk() -> Iterator[None]:
    """No test is about what a disk has when the power fails."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture(autouse=True)
def nothing_is_remembered() -> None:
    """A test does not use the capabilities of an endpoint that another test found."""
    KNOWN.clear()
    FACTS.clear()
