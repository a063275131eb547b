"""Settings that hold for every test."""

from __future__ import annotations

import gc
import importlib
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

pytest_plugins = ["pytester"]

# How long an example takes says something about the machine, nothing about the claim.
settings.register_profile("toolwire", deadline=None)
settings.load_profile("toolwire")

# What runs in the background of a script, or under nohup, ignores these signals and passes that on to its children,
# whose handling of them is tested.
for ignored, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(ignored) is signal.SIG_IGN:
        signal.signal(ignored, usual)


def pytest_addoption(parser: pytest.Parser) -> None:
    text = "also test with this model, as in `toolwire ask --model`; may be given again"
    parser.addoption("--live", metavar="MODEL", action="append", default=[], help=text)


def pytest_collection_finish() -> None:
    """Look for garbage among what tests make, and not each time among the eight thousand tests."""
    gc.collect()
    gc.freeze()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out what needs a model of somebody's own, unless one is named."""
    return True if collection_path.name == "live" and not config.getoption("--live") else None


@pytest.fixture
def own_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a test imports from its own folder, in which it runs, is unknown to the next."""
    before = dict(sys.modules)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "tools", raising=False)  # what pytest may have called the folder of tests
    monkeypatch.chdir(tmp_path)
    yield
    for name in set(sys.modules) - set(before):
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]
    importlib.invalidate_caches()
