"""Settings that hold for every test."""

from __future__ import annotations

import gc
import signal
import sys
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies

pytest_plugins = ["pytester", "support.command_line", "support.spans"]

# How long an example takes depends on the machine, so no profile has a deadline. `tests/check`
# chooses `dev`. In CI a commit passes or does not: its examples are the same each time. Those of
# `dev` differ from run to run. How long it takes to make an example depends on the machine, too,
# and how many of fifteen are of use, on chance.
settings.register_profile(
    "ci",
    deadline=None,
    derandomize=True,
    max_examples=25,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "dev",
    deadline=None,
    max_examples=15,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
settings.load_profile("ci")

# A program in the background of a script, or under nohup, ignores these signals, and its children
# inherit that. Tests of how a server handles them need the usual state.
for ignored, usual in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGHUP, signal.SIG_DFL),
):
    if signal.getsignal(ignored) is signal.SIG_IGN:
        signal.signal(ignored, usual)


def pytest_addoption(parser: pytest.Parser) -> None:
    text = "also test with this model, as in `toolwire ask --model`; may be given again"
    parser.addoption("--live", metavar="MODEL", action="append", default=[], help=text)


# Processes are counted where Python starts them, whichever library asks for it.
_STARTS = frozenset(("os.fork", "os.forkpty", "os.posix_spawn", "subprocess.Popen"))
_started: list[str] = []
sys.addaudithook(
    lambda event, arguments: (
        _started.append(f"{event} {arguments[:1]}") if event in _STARTS else None
    )
)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    """Forget the processes of earlier tests; those of this test's fixtures count."""
    _started.clear()
    return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Fail a test that starts a process without the mark `process`: it would slow the quick
    tests.
    """
    result = yield
    if _started and item.get_closest_marker("process") is None:
        pytest.fail(
            f"it started a process without the mark `process`: {_started[0]}", pytrace=False
        )
    return result


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark the tests of folders where every test starts processes."""
    if {"interop", "live", "soak"} & set(item.path.parts):
        item.add_marker("process")


def pytest_collection() -> None:
    """Collect thousands of tests without collecting garbage, which would look at each of them again
    and again.
    """
    gc.disable()


def pytest_collection_finish() -> None:
    """Keep the collected tests out of every later garbage collection."""
    # The first property makes a generator of random numbers, and warns if nothing that is not
    # frozen refers to it.
    given(strategies.none())(lambda value: None)()
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the tests that need a model, unless the command line names one."""
    return True if collection_path.name == "live" and not config.getoption("--live") else None


@pytest.fixture
def own_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Run the test in its own folder, and forget the modules that it imports from there."""
    from support.command_line import (
        forgotten_imports,
    )  # whose assertions are rewritten once it is a plugin

    monkeypatch.chdir(tmp_path)
    with forgotten_imports(tmp_path):
        yield
