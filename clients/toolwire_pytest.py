"""Fixtures and a flag for pytest, which loads this module by its entry point `toolwire`.

pytest does so in every project of an environment that has Toolwire. So the module is in no package,
whose import would cost time, and imports nothing of Toolwire before a test uses a fixture.
`-p no:toolwire` leaves it out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from toolwire_client import Client
    from toolwire_client.transport.base import InProcess

_FORBIDDEN = re.compile(r"[^\w.-]+")  # in names of files, somewhere


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the flag that takes the tools as they are."""
    parser.getgroup("toolwire").addoption(
        "--toolwire-update-tools",
        action="store_true",
        help="write the snapshots of tool lists anew instead of comparing with them",
    )


@pytest.fixture
def tool_list_snapshot(request: pytest.FixtureRequest) -> Callable[..., None]:
    """A function that fails the test if the tools of a server changed:
    `tool_list_snapshot(["my-server"])`.

    The snapshot is `snapshots/TEST.json` next to the test, under its name, or in *path*, from the
    test's folder. What else it takes is what `assert_tools_unchanged` does.
    """
    from toolwire_check.pytest_support.snapshots import UPDATE_FLAG, assert_tools_unchanged

    def compare(
        server: Sequence[str] | InProcess, path: str | Path | None = None, **options: Any
    ) -> None:
        __tracebackhide__ = True
        name = path or f"snapshots/{_FORBIDDEN.sub('_', request.node.name)}.json"
        update = bool(request.config.getoption(UPDATE_FLAG))
        assert_tools_unchanged(server, request.path.parent / name, update=update, **options)

    return compare


@pytest.fixture
def tool_server() -> Iterator[Callable[..., Client]]:
    """A function that returns a client of a server, which ends with the test:
    `tool_server(["toolwire", "serve", "tools.py"])`.

    It takes what `toolwire_client.connect` takes: the words of a command, or a `toolwire.Server`,
    which runs within the process of the test; and its options.
    """
    from contextlib import ExitStack

    from toolwire_client import connect

    with ExitStack() as clients:

        def start(server: Sequence[str] | InProcess, **options: Any) -> Client:
            return clients.enter_context(connect(server, **options))

        yield start
