"""What to say of a file that cannot be imported. Imported only for such a file."""

from __future__ import annotations

import os
from traceback import print_exception, walk_tb
from typing import TYPE_CHECKING, TypeVar

from toolwire_tools import RegistrationError

from ... import log
from ...errors import LoadError

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


def explain(what: str, error: BaseException, action: Callable[[], T]) -> T:
    """Print the traceback of *error*, with which *action*, the import of *what*, failed, and raise
    a `LoadError`.

    If FastMCP is missing, return what *action* returns with Toolwire's own.
    """
    from toolwire_compat.fastmcp.adopting import adopt_user_modules
    from toolwire_compat.fastmcp.names import PACKAGES, NameNotAvailable

    place, what = what, _shorten_path(what)
    if isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] in PACKAGES:
        log.info(f"{what} runs on Toolwire's own FastMCP, since the package is not installed")
        try:
            with adopt_user_modules():
                return action()
        except (LoadError, RegistrationError, KeyboardInterrupt):
            raise
        except BaseException as other:
            outer = other
            while outer.__context__ not in (None, error):
                outer = outer.__context__
            outer.__context__ = None  # the missing FastMCP is not the reason
            error = other
    if isinstance(error, NameNotAvailable):
        raise LoadError(str(error)) from None
    if isinstance(error, SystemExit):
        raise LoadError(
            f"{what} exits when it is imported (exit status {error.code!r}); "
            "put the code of the script under `if __name__ == '__main__':`"
        ) from None
    print_users_part(error)
    line = _find_line(error)
    raise LoadError(
        f"{what} cannot be loaded: {type(error).__name__}{line}{_find_remedy(error, place)}"
    ) from None


def print_users_part(error: BaseException | None) -> None:
    """Print the traceback of *error*, from the user's first own line on, to stderr; nothing without
    an error.
    """
    if error is not None:
        print_exception(type(error), error, log.skip_own_frames(error.__traceback__))


def _find_line(error: BaseException) -> str:
    """Return which line of the user's code has caused *error*, as ` in tools.py, line 3`; "" if
    that is unknown.
    """
    from ..user_modules import is_of_user

    file, line = "", None
    if isinstance(error, SyntaxError):
        file, line = error.filename or "", error.lineno
    else:
        for frame, number in walk_tb(error.__traceback__):
            if is_of_user(frame.f_code.co_filename):
                file, line = frame.f_code.co_filename, number
    return f" in {_shorten_path(file)}, line {line}" if file and line else ""


def _find_remedy(error: BaseException, place: str) -> str:
    if isinstance(error, ModuleNotFoundError) and error.name:
        from ..dependencies import explain_missing_module

        return explain_missing_module(error.name.partition(".")[0], place)
    if isinstance(error, EOFError):
        return "; it reads standard input, which belongs to the host"
    if isinstance(error, ImportError) and "no known parent package" in str(error):
        return (
            "; its folder is not a package: add an __init__.py, or import without the leading dot"
        )
    return " (traceback above)"


def _shorten_path(path: str) -> str:
    """*path*, relative to the working folder if it is inside."""
    if not os.path.isabs(path):
        return path
    try:
        relative = os.path.relpath(path)
    except ValueError:  # another drive
        return path
    return path if relative.startswith("..") else relative
