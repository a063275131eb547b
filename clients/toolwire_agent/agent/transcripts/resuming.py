"""The settings with which a recorded session goes on: its model, its protocol, and the file of a
fork.
"""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from ...models.by_name import is_small, needs_no_code
from ...react import NativeProtocol, SmallProtocol, StructuredProtocol
from ..events import Started
from .transcript import copy_for_fork, load_session

if TYPE_CHECKING:
    import os

    from ...models import Model
    from ...react import Protocol

PROTOCOLS: dict[str, type[StructuredProtocol | NativeProtocol]] = {
    "structured": StructuredProtocol,
    "small": SmallProtocol,
    "native": NativeProtocol,
}
"""The protocols by name. Those of Groot need special tokens, which have no name."""


def load_start(path: str | os.PathLike[str], at: int | None = None) -> Started | None:
    """Return the start of the last session in a transcript, or of that of line *at*.

    Raises:
        OSError: if it cannot be read.
        ValueError: if it is not a transcript, or has no line *at*.
    """
    first = load_session(path, at).events[0]
    if isinstance(first, Started):
        return first
    return None


def find_model_name(started: Started | None) -> str | None:
    """Return the model that a transcript names, unless its name leads to code: a transcript must
    not choose code.
    """
    if started is None or not needs_no_code(started.model):
        return None
    return started.model


def choose_protocol(
    model: Model,
    started: Started | None = None,
    *,
    name: str | None = None,
    language: str | None = None,
    instructions: str | None = None,
) -> Protocol:
    """Return the protocol of this *name*; by default that of the recorded session, or that for the
    size in the model's name. *language* and *instructions* are by default those of the session.

    Raises:
        ValueError: if the session used another protocol than `PROTOCOLS`, or there are no prompts
            in the *language*.
    """
    default = "small" if is_small(str(getattr(model, "model", ""))) else "structured"
    if started is not None:
        recorded, _, recorded_language = started.protocol.partition(", ")
        names = {protocol.__name__: name for name, protocol in PROTOCOLS.items()}
        if recorded and recorded not in names and name is None:
            raise ValueError(
                f"the transcript was written with {recorded}: say which --protocol reads it"
            )
        default = names.get(recorded, default)
        language = language or recorded_language or None
        if instructions is None:
            instructions = started.instructions
    protocol = PROTOCOLS[name or default]
    return protocol(language, instructions=instructions or "")


def name_fork(source: str | os.PathLike[str], at: int | None) -> Path:
    """Return a new file next to the transcript *source* for its fork at line *at*: `run-7.jsonl`.

    Raises:
        ValueError: as `copy_for_fork`.
    """
    source = Path(source)
    last_line = copy_for_fork(source, at).lines[-1]
    path = source.with_name(f"{source.stem}-{last_line}{source.suffix}")
    for number in count(2):
        if not path.exists():
            break
        path = source.with_name(f"{source.stem}-{last_line}-{number}{source.suffix}")
    return path
