"""The contract kit and servers that nobody here wrote: each verdict is the one we know."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from interop.peers import missing
from interop.third_party import SERVERS, Server
from toolwire_schemas.cases import load_cases

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolwire_check import Report

# All that needs no process of its own; with one server that starts quickly, everything. Whether a
# server logs without having said so shows only in answers to malformed messages, which have
# processes of their own.
QUICK = [
    case
    for case in load_cases()
    if case.process in ("shared", "run") and case.id != "logging/declared"
]
WHOLE = "filesystem"

AT_ONCE = 3

SDKS = {
    "TypeScript 1": "the TypeScript SDK, @modelcontextprotocol/sdk 1",
    "mcp 1": "the Python SDK, mcp 1",
    "mcp 2": "the Python SDK, mcp 2",
    "fastmcp 4": "the Python SDK, mcp 2",
}


@pytest.fixture(scope="module")
def reports() -> Iterator[dict[str, Future[Report]]]:
    """A report on each server that is installed; several are checked at once, since each is waited
    for a lot.
    """
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield {
            server.name: pool.submit(
                server.check,
                load_cases() if server.name == WHOLE else QUICK,
                gaps=server.gaps(),
                jobs=1,
            )
            for server in SERVERS
            if server.installed
        }
        pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize("server", SERVERS, ids=lambda server: server.name)
def test_what_a_server_is_known_to_lack_is_all_that_is_found(
    server: Server, reports: dict[str, Future[Report]]
) -> None:
    if server.name not in reports:
        missing(server.what)
    report = reports[server.name].result()
    assert report.count_outcomes()["pass"] > 30
    assert [f"{one.case}: {one.came}" for one in report.list_failures("advice")] == []
    assert report.outdated == []
    assert report.sdk == SDKS[server.sdk.split(".")[0]]
