"""Which of the bundled tools could run here, and what those want that could not. Nothing of theirs
is imported.
"""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec

import msgspec

from . import BUNDLED, BundledTool
from .requirements import EXTRAS, explain_how_to_install

_PROGRAMS = {
    "bwrap": "keeps what runs apart from the rest of the machine; install bubblewrap",
}
"""The purpose of each program, and how to install it."""


class Readiness(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a bundled tool is `ready` to run here, apart from what it `needs` to be set where it
    is served.

    `missing` has a remedy for each thing that it cannot do without, `advice` one for what would
    make it better, and it `reads` these variables if they are set.
    """

    name: str
    summary: str
    needs: list[str]
    reads: list[str]
    ready: bool
    missing: list[str]
    advice: list[str]


def check_readiness() -> list[Readiness]:
    """How each of the bundled tools stands here."""
    return [_check_tool(name, entry) for name, entry in BUNDLED.items()]


def _check_tool(name: str, entry: BundledTool) -> Readiness:
    lacking = [module for module in EXTRAS.get(entry.extra, ()) if find_spec(module) is None]
    missing = [explain_how_to_install(entry.extra)] if lacking else []
    missing += [f"set {key} in the environment" for key in entry.keys if not os.environ.get(key)]
    return Readiness(
        name=name,
        summary=entry.summary,
        needs=[
            *([f"toolwire[{entry.extra}]"] if entry.extra else ()),
            *entry.keys,
            *(f"--set {name}.{setting}=..." for setting in entry.settings),
        ],
        reads=list(entry.variables),
        ready=not missing,
        missing=missing,
        advice=[
            f"{program}: {_PROGRAMS[program]}"
            for program in entry.programs
            if shutil.which(program) is None
        ],
    )
