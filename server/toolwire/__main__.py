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

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: list[str] | None = None) -> int:
    """Run the command line, of this process if *arguments* is `None`.

    Ctrl-C ends the process by its signal, without a traceback, at any time.
    """
    words = sys.argv[1:] if arguments is None else arguments
    reason = ""
    if any(word.startswith("--share") for word in words):
        reason = _share(words)

    if not words or words[0] not in ("-h", "--help", "-V", "--version"):  # which need no msgspec
        from .quick_msgspec import import_msgspec  # after the path is fixed

        # Before Ctrl-C raises an exception again: one in the start of its C code ends the process.
        import_msgspec()

    from .cli import main as command_line

    try:
        if _interruptible:
            _signal.signal(_signal.SIGINT, _signal.default_int_handler)
        if reason:
            from .cli.printing.terminal import print_remark

            print_remark(f"this session has a process of its own: {reason}")
        return command_line.main(arguments)
    except KeyboardInterrupt:  # before the command line catches it, or after
        command_line.end_by_interrupt()
        return command_line.INTERRUPTED


def _share(words: Sequence[str]) -> str:
    """Carry a session of a shared process, and end this one, if *words* ask for that; return why
    the session cannot share.
    """
    from .sharing.words import asks_to_share

    if not asks_to_share(words):
        return ""
    if sys.platform == "win32":
        return "--share needs Unix sockets, which this system lacks"
    from .sharing.carrier import carry

    return carry(words)


if __name__ == "__main__":
    sys.exit(main())
