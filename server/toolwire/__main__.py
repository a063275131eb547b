"""The command `toolwire`, which is also `python -m toolwire`."""

from __future__ import annotations

import gc
import os
import signal
import sys

# `-m` puts the working folder first on the path, where a `random.py` would shadow the standard library's. User files in
# it are found all the same (see loading/importing.py), but after the standard library.
if not sys.flags.safe_path and sys.path and sys.path[0] in ("", os.getcwd()):
    del sys.path[0]

# Ctrl-C during our imports needs no traceback.
_interruptible = signal.getsignal(signal.SIGINT) is signal.default_int_handler
if _interruptible:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

# Collecting garbage takes a tenth of the start-up time. `main` enables it again after the imports.
gc.disable()

from .quick_msgspec import import_msgspec  # noqa: E402  # after the path is fixed

import_msgspec()

from .cli.main import main  # noqa: E402

if _interruptible:
    signal.signal(signal.SIGINT, signal.default_int_handler)

if __name__ == "__main__":
    sys.exit(main())
