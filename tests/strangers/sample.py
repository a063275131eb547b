"""Digests of the lists of twelve public servers, as their own package answers them.

    python tests/strangers/compare.py --install   once: the servers with their own packages
    python tests/strangers/sample.py              write down the digests: sample.json

`tests/peers/install strangers` installs the same servers without MCP's packages, for
tests/interop/test_strangers.py. The texts themselves are not kept: they are of others.
"""

from __future__ import annotations

import json
import re
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from strangers.compare import (  # noqa: E402 - this file is a program, too
    KEYS,
    LISTS,
    Server,
    Stranger,
    read_servers,
)

CHOSEN = HERE.parent / "peers" / "strangers.txt"
DIGESTS = HERE / "sample.json"


def read_sample() -> dict[str, str]:
    """Return the commands of the chosen servers, by their requirements."""
    return {stranger.requirement: stranger.command for stranger in _choose()}


def _choose() -> list[Stranger]:
    chosen = CHOSEN.read_text("utf-8").splitlines()
    return [stranger for stranger in read_servers() if stranger.requirement in chosen]


def digest_lists(server: Server) -> dict[str, dict[str, str]]:
    """Return the digest of each entry that *server* lists: its words and its arguments."""
    digests = {}
    for method in LISTS:
        key = KEYS.get(method, "name")
        digests[method] = {entry[key]: _digest(entry) for entry in server.list(method)}
    return digests


def _digest(entry: dict[str, Any]) -> str:
    schema = entry.get("inputSchema", {})
    properties = schema.get("properties", {})
    texts = [entry.get("description") or "", *properties]
    for property_schema in properties.values():
        texts.append(property_schema.get("description") or "")
    words = set(re.findall(r"\w+", " ".join(texts)))
    words.discard("Args")  # fastmcp moves the section of this name to the arguments
    shown = json.dumps([sorted(words), sorted(properties), sorted(schema.get("required", ()))])
    return sha256(shown.encode()).hexdigest()[:12]


def main() -> None:
    recorded = {}
    for stranger in _choose():
        with Server(stranger.find_command(), **stranger.env) as server:
            server.start()
            recorded[stranger.requirement] = digest_lists(server)
    DIGESTS.write_text(json.dumps(recorded, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
