"""Settings for the tests of tools."""

from __future__ import annotations

from types import ModuleType

import pytest
from toolwire_compat.lagent import metaclass, registry


@pytest.fixture(autouse=True)
def own_actions(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A test knows the actions of its module, not those that other modules and tests define."""
    module: ModuleType = request.module
    known = metaclass.classes.items()
    own = {
        name: cls
        for name, cls in known
        if cls.__module__.startswith(("toolwire_compat.", "toolwire_bundled.", module.__name__))
    }
    for user in (metaclass, registry):
        monkeypatch.setattr(user, "classes", own)
