"""What is deferred while msgspec is imported works when it is used."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys
from toolwire.quick_msgspec import import_msgspec

import_msgspec()
assert "platform" not in sys.modules or sys.platform != "linux"
import uuid
import platform
assert platform.system() == vars(uuid).get("platform", platform).system()
assert vars(uuid).get("platform", platform).machine() == platform.machine()
assert uuid.uuid1() != uuid.uuid4()
import msgspec
assert msgspec.json.decode(b'"%b"' % str(uuid.uuid4()).encode(), type=uuid.UUID)
"""


@pytest.mark.process
def test_modules_that_msgspec_rarely_needs_are_whole_when_they_are_used() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, timeout=60)
