"""Settings for the tests of tools."""

from __future__ import annotations

import pytest
from toolwire_tools import action_registry


@pytest.fixture(autouse=True)
def own_actions(monkeypatch: pytest.MonkeyPatch) -> None:
    """The actions that one test defines are unknown to the next."""
    monkeypatch.setattr(action_registry, "_classes", dict(action_registry._classes))
