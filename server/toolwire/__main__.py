"""The command `toolwire`, which is also `python -m toolwire`."""

from __future__ import annotations

import os
import signal
import sys

# `-m` puts the working folder first on the path. The user's files are found there all the same (see imports.py),
# but after the standard library: a `random.py` among them is no reason for ours to fail.
if not sys.flags.safe_path and sys.path and sys.path[0] in ("", os.getcwd()):
    del sys.path[0]

# Whoever interrupts us before we can do anything wants no traceback of our imports.
_interruptible = signal.getsignal(signal.SIGINT) is signal.default_int_handler
if _interruptible:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from .startup import importing  # noqa: E402  # the path had to be mended first

with importing():
    from .cli.main import main

if _interruptible:
    signal.signal(signal.SIGINT, signal.default_int_handler)

if __name__ == "__main__":
    sys.exit(main())
