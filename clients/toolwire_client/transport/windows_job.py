"""A Job Object of Windows, which ends a child process with all of its descendants.

Windows has no process groups and no parent that adopts orphans. A job holds a process and
everything that it starts; the system kills all of them when the last handle of the job is closed,
which also happens when this process is killed.

Written from the documentation of `CreateJobObjectW`, `SetInformationJobObject` and
`AssignProcessToJobObject` at learn.microsoft.com; it has never run. The sizes of the structures are
tested.
"""

from __future__ import annotations

import ctypes
import sys
from ctypes import c_int64, c_size_t, c_uint32, c_uint64
from typing import Any

_KILL_ON_JOB_CLOSE = 0x2000
"""JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE"""

_EXTENDED_LIMIT_INFORMATION = 9
"""JobObjectExtendedLimitInformation"""


class BasicLimits(ctypes.Structure):
    """JOBOBJECT_BASIC_LIMIT_INFORMATION"""

    _fields_ = (
        ("PerProcessUserTimeLimit", c_int64),
        ("PerJobUserTimeLimit", c_int64),
        ("LimitFlags", c_uint32),
        ("MinimumWorkingSetSize", c_size_t),
        ("MaximumWorkingSetSize", c_size_t),
        ("ActiveProcessLimit", c_uint32),
        ("Affinity", c_size_t),
        ("PriorityClass", c_uint32),
        ("SchedulingClass", c_uint32),
    )


class IoCounters(ctypes.Structure):
    """IO_COUNTERS"""

    _fields_ = (
        ("ReadOperationCount", c_uint64),
        ("WriteOperationCount", c_uint64),
        ("OtherOperationCount", c_uint64),
        ("ReadTransferCount", c_uint64),
        ("WriteTransferCount", c_uint64),
        ("OtherTransferCount", c_uint64),
    )


class ExtendedLimits(ctypes.Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION"""

    _fields_ = (
        ("BasicLimitInformation", BasicLimits),
        ("IoInfo", IoCounters),
        ("ProcessMemoryLimit", c_size_t),
        ("JobMemoryLimit", c_size_t),
        ("PeakProcessMemoryUsed", c_size_t),
        ("PeakJobMemoryUsed", c_size_t),
    )


class WindowsJob:
    """A job that holds the process with this *handle*, and everything that it starts from now on.

    Raises:
        OSError: if the system refuses, or is not Windows.
    """

    def __init__(self, handle: int) -> None:
        self._kernel = _load_kernel()
        self._job: int | None = self._kernel.CreateJobObjectW(None, None)
        self._check(self._job)
        try:
            self._set_limits()
            self._assign(handle)
        except OSError:
            self.close()
            raise

    def close(self) -> None:
        """Kill what is left in the job. A second call does nothing."""
        job, self._job = self._job, None
        if job is not None:
            self._kernel.CloseHandle(ctypes.c_void_p(job))

    def _set_limits(self) -> None:
        limits = ExtendedLimits()
        limits.BasicLimitInformation.LimitFlags = _KILL_ON_JOB_CLOSE
        self._check(
            self._kernel.SetInformationJobObject(
                ctypes.c_void_p(self._job),
                _EXTENDED_LIMIT_INFORMATION,
                ctypes.byref(limits),
                c_uint32(ctypes.sizeof(limits)),
            )
        )

    def _assign(self, handle: int) -> None:
        job, process = ctypes.c_void_p(self._job), ctypes.c_void_p(handle)
        self._check(self._kernel.AssignProcessToJobObject(job, process))

    def _check(self, result: int | None) -> None:
        if sys.platform == "win32" and not result:
            raise ctypes.WinError(ctypes.get_last_error())


def _load_kernel() -> Any:
    if sys.platform != "win32":
        raise OSError("only Windows has Job Objects")
    kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    kernel.CreateJobObjectW.restype = ctypes.c_void_p
    return kernel
