"""The stand-in that our adapters are tested with has the shapes of the real APIs: their own SDKs
read them.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from interop import peers
from support.model_endpoint import StandIn, answered, error_midway, refused
from toolwire_agent.react.messages import ModelReply, ToolCall, Usage

if TYPE_CHECKING:
    from pathlib import Path

TEXT = "Grüße, 世界! 👋"
CALL = ToolCall(id="call00001", name="add", arguments={"a": 1, "b": 2})
OVERLOADED = {"type": "overloaded_error", "message": "Overloaded"}
REPLY = ModelReply(
    text=TEXT,
    tool_calls=(CALL,),
    reasoning="Hm.",
    usage=Usage(input_tokens=100, output_tokens=50, cached_tokens=60, reasoning_tokens=20),
)


def test_the_vendors_sdks_read_what_the_stand_in_writes(tmp_path: Path) -> None:
    errors = [refused(401, "bad key"), refused(404, "no model"), refused(400, "bad request")]
    midway = error_midway(OVERLOADED)
    busy = refused(429, "slow down", **{"retry-after-ms": "1"})
    with StandIn(REPLY) as server:
        server.then(
            *[answered(REPLY)] * 4, *errors, *errors, midway, midway, busy, answered("again"), busy
        )
        server.then(answered("again"))
        # Proxies of this machine are for the world outside of it.
        quiet = {name: "" for name in os.environ if name.lower().endswith("_proxy")}
        driver = peers.python_driver("models", "model_sdks.py")
        done = peers.run([*driver, server.url], tmp_path, more={**quiet, "NO_PROXY": "*"})
    assert done.returncode == 0, done.stderr
    seen: dict[str, Any] = json.loads(done.stdout)
    told = {
        "text": TEXT,
        "calls": [["call00001", "add", {"a": 1, "b": 2}]],
        "tokens": [100, 50, 60, 20],
    }
    kinds = {
        "AuthenticationError": "bad key",
        "NotFoundError": "no model",
        "BadRequestError": "bad request",
    }
    assert seen == {
        "openai": [{**told, "reason": "tool_calls"}] * 2,
        "anthropic": [{**told, "reason": "tool_use", "thoughts": [["Hm.", "c2lnbmVk"]]}] * 2,
        "openai errors": [
            [kind, {**error(message), "code": None}] for kind, message in kinds.items()
        ],
        "anthropic errors": [
            [kind, {"type": "error", "error": error(message)}] for kind, message in kinds.items()
        ],
        "openai midway": ["APIError", OVERLOADED],
        "anthropic midway": ["APIStatusError", {"type": "error", "error": OVERLOADED}],
        "retried": ["again", "again"],
    }


def error(message: str) -> dict[str, str]:
    return {"message": message, "type": "invalid_request_error"}
