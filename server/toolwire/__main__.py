"""The command `toolwire`, which is also `python -m toolwire`."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # built in, while `signal` imports others first

# Ctrl-C during our imports needs no traceback: the signal itself ends the process. What Python has
# imported before this line (its `site`, the package, the script that pip writes) cannot be covered.
_interruptible = _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler
if _interruptible:
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)

import gc  # noqa: E402
import os  # noqa: E402
import sys  # noqa: E402

# `-m` puts the working folder first on the path, where a `random.py` would shadow the standard
# library's. User files in it are found all the same (see loading/importing.py), but after the
# standard library.
if not sys.flags.safe_path and sys.path and sys.path[0] in ("", os.getcwd()):
    del sys.path[0]

# Collecting garbage takes a tenth of the start-up time. `main` enables it again after the imports.
gc.disable()

from .quick_msgspec import import_msgspec  # noqa: E402  # after the path is fixed

import_msgspec()

from .cli import main as _command_line  # noqa: E402


def main(arguments: list[str] | None = None) -> int:
    """Run the command line, of this process if *arguments* is `None`.

    Ctrl-C ends the process by its signal, without a traceback, at any time.
    """
    try:
        if _interruptible:
            _signal.signal(_signal.SIGINT, _signal.default_int_handler)
        return _command_line.main(arguments)
    except KeyboardInterrupt:  # before the command line catches it, or after
        _command_line.end_by_interrupt()
        return _command_line.INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
