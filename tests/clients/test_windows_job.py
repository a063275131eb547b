"""The structures that Windows reads for a Job Object, which no test here can make."""

from __future__ import annotations

import ctypes
import sys

import pytest
from toolwire_client.transport.windows_job import (
    BasicLimits,
    ExtendedLimits,
    IoCounters,
    WindowsJob,
)


@pytest.mark.skipif(sys.maxsize < 2**32, reason="the sizes are those of 64 bits")
def test_structures_have_the_sizes_that_windows_documents() -> None:
    # The sizes of winnt.h for 64-bit programs.
    sizes = [ctypes.sizeof(structure) for structure in (BasicLimits, IoCounters, ExtendedLimits)]
    assert sizes == [64, 48, 144]
    assert BasicLimits.LimitFlags.offset == 16


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has them")
def test_other_systems_have_no_jobs() -> None:
    with pytest.raises(OSError, match="only Windows"):
        WindowsJob(1)
