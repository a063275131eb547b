"""Files that commands write, and errors of files."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import Failed, UsageError
from .terminal import print_data

if TYPE_CHECKING:
    from collections.abc import Callable


def write_text(name: str, text: str) -> None:
    """Write the file *name* at once, or not at all."""
    temporary = Path(f"{name}.{os.getpid()}.new")
    try:
        temporary.write_text(text, "utf-8", newline="\n")
        temporary.replace(name)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        folder = Path(name).parent
        if not folder.is_dir():
            reason = f"there is no folder {folder}"
        raise Failed(f"{name} cannot be written: {reason}", 2) from None
    finally:
        temporary.unlink(missing_ok=True)


def check_folders(options: dict[str, Any], *names: str) -> None:
    """Refuse files that cannot be written, before a long run whose results go there.

    Raises:
        UsageError: if an option of these *names* has a folder, a file without one, or a file that
            may not be written.
    """
    for name in names:
        if name not in options or options[name] == "-":
            continue
        path = Path(options[name])
        option = f"--{name.replace('_', '-')} {path}"
        if not path.parent.is_dir():
            raise UsageError(f"{option}: there is no folder {path.parent}")
        if path.is_dir():
            raise UsageError(f"{option}: this is a folder, and no file")
        changed_entry = path if path.exists() else path.parent
        if not os.access(changed_entry, os.W_OK):
            raise UsageError(f"{option}: permission denied")


def write_pages(options: dict[str, Any], **pages: Callable[[], str]) -> bool:
    """Write the *pages* that the options of their names ask for; return whether one went to
    standard output (`-`).
    """
    has_printed = False
    for name, make in pages.items():
        if name not in options:
            continue
        text = make()
        if options[name] == "-":
            print_data(text.removesuffix("\n"))
            has_printed = True
        else:
            write_text(options[name], text)
    return has_printed


def explain_os_error(error: OSError) -> tuple[str, int]:
    """Return a sentence about a file that cannot be used, or about a full disk, and the exit
    status.

    The sentence is empty if the reader of the output has gone.

    Raises:
        OSError: if it is another error.
    """
    if error.filename is not None:
        return f"cannot open {error.filename}: {error.strerror}", 2
    if error.errno not in (errno.EPIPE, errno.ENOSPC):
        raise error
    # Otherwise Python reports the error again, when it flushes standard output at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if error.errno == errno.ENOSPC:
        return "the output cannot be written: no space is left on the device", 1
    return "", 1
