"""Requirements of bundled tools, checked when they are needed: libraries of an extra, keys."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from toolwire_schemas.install_command import install_command
from toolwire_schemas.language import say
from toolwire_tools.errors import ToolError

if TYPE_CHECKING:
    from collections.abc import Iterator

EXTRAS = {
    "monty": ("pydantic_monty",),
    "ipython": ("jupyter_client", "ipykernel", "zmq"),
    "ppt": ("pptx", "PIL"),
    "web": ("charset_normalizer", "httpx2", "trafilatura"),
}
"""The modules that each extra brings: what the distribution asks for, and what comes with that and
is used as well.
"""


@contextmanager
def import_extra(name: str) -> Iterator[None]:
    """Import what the extra *name* brings within this: `with extra("web"): import httpx2`.

    Raises:
        ToolError: if it is not installed, with the line that installs it.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in EXTRAS[name]:  # a fault within what is installed
            raise
        raise ToolError(
            say(
                "this tool needs {missing}, which is not installed here; {how_to_install}",
                missing=missing,
                how_to_install=explain_how_to_install(name),
            )
        ) from None


def explain_how_to_install(extra: str) -> str:
    """The remedy for a missing *extra*."""
    command = install_command(f"toolwire[{extra}]")
    return say("install it where Toolwire runs: {command}", command=command)


def read_key(variable: str, given: str | None = None) -> str:
    """The key that was *given* to a tool's constructor, or else that of the environment's
    *variable*.

    Raises:
        ToolError: if there is neither.
    """
    found = given or os.environ.get(variable, "").strip()
    if not found:
        raise ToolError(
            say(
                "this tool needs a key: set {variable} in the environment of the server",
                variable=variable,
            )
        )
    return found
