"""The processes that a server under test has started."""

from __future__ import annotations

import os
import sys
from contextlib import closing

import pytest
from support.remote_server import RemoteStandIn, event, events
from toolwire_check.facts.server_process import ServerUnderTest
from toolwire_check.judging.conversation import iter_messages

pytestmark = pytest.mark.process

STARTER = """
import json, os, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, env={})
ended = subprocess.Popen([sys.executable, "-c", ""], env={})
os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
message = {"jsonrpc": "2.0", "method": "started", "params": [child.pid, ended.pid]}
print(json.dumps(message), flush=True)
input()
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="descendants are found in /proc")
def test_running_child_without_environment_is_a_descendant_and_a_zombie_is_not() -> None:
    with closing(ServerUnderTest([sys.executable, "-c", STARTER])) as server:
        events = server.conversation.events
        assert server.wait(lambda: bool(events), 60)
        [message] = iter_messages(events)
        child, ended = message["params"]

        assert child in server.list_descendants()
        assert ended not in server.list_descendants()


def test_lists_of_a_remote_server_keep_the_tools_that_clients_leave_out() -> None:
    schema = {"properties": {"ratio": {"type": "number", "x-mcp-header": "Ratio"}}}
    tools = {"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "f", "inputSchema": schema}]}}

    with (
        RemoteStandIn(rule=lambda _: events(event(tools))) as remote,
        closing(ServerUnderTest([remote.url])) as server,
    ):
        server.send(b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}')
        received = server.conversation.events
        assert server.wait(lambda: len(received) > 1, 60)

        assert list(iter_messages(received))[-1] == tools
