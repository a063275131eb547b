"""Twelve public servers from PyPI, which were written for MCP's packages, list the same here
without these packages.
"""

from __future__ import annotations

import json
import sys

import pytest
from interop.peers import INSTALLED, missing
from strangers.compare import Server
from strangers.sample import DIGESTS, digest_lists, read_sample

SAMPLE = INSTALLED / "sample" / "site-packages"


def test_the_sample_has_twelve_servers_of_the_list() -> None:
    assert read_sample().keys() == json.loads(DIGESTS.read_text("utf-8")).keys()
    assert len(read_sample()) == 12


@pytest.mark.process
@pytest.mark.parametrize("requirement", list(read_sample()))
def test_public_server_lists_as_with_its_own_package(requirement: str) -> None:
    if not SAMPLE.exists():
        missing("the set of strangers")
    adopt = ["serve", "--adopt", read_sample()[requirement]]

    with Server([sys.executable, "-P", "-m", "toolwire", *adopt], PYTHONPATH=str(SAMPLE)) as server:
        server.start()
        lists = digest_lists(server)

    assert lists == json.loads(DIGESTS.read_text("utf-8"))[requirement]
