"""What can be set about a server, with the defaults and their reasons."""

from __future__ import annotations

from typing import Any

import msgspec
from toolwire_schemas.wire.frames import DEFAULT_MAX_MESSAGE_BYTES
from toolwire_tools.byte_sizes import size

from .protocol.server_protocol import (
    DEFAULT_MAX_BATCH_ELEMENTS,
    DEFAULT_MAX_PENDING_BYTES,
    DEFAULT_MAX_PENDING_CALLS,
    DEFAULT_MAX_QUESTIONS,
    DEFAULT_MAX_RESULT_BYTES,
)
from .runtime.worker_pool import DEFAULT_MAX_ABANDONED, DEFAULT_MAX_WORKERS
from .runtime.writer import DEFAULT_MAX_UNSENT_BYTES


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Limits and habits of a server.

    `isolate` runs every tool in a process of its own, `memory_limit` is for those in processes that set none, in bytes
    or like `"512 MiB"`, and `max_processes` is how many of these processes there may be.

    `separator` stands between a toolkit's name and its method's, for hosts that forbid dots. `page_size` is in
    tools, and `None` puts them all on one page, since some clients never ask for a second. `timeout_seconds` holds
    for tools that set none of their own; `None` is no limit. `max_message_bytes` limits what is read,
    `max_result_bytes` one result that is sent, or all of a batch, `max_pending_bytes` the input of all calls under
    way, and `max_pending_calls` their number. `max_batch_elements` limits one batch. Beyond `max_unsent_bytes` of
    answers that the host has not read, requests are refused; at twice as much, nothing is read until it reads.
    `max_workers` calls of synchronous tools run at a time. Beyond them, `max_abandoned` threads may be held by calls
    that were cancelled or timed out, and `max_questions` by tools that wait for the user.
    `grace_seconds` is how long answers still owed are waited for when the host has hung up: clients send SIGTERM
    after two seconds. `ask_seconds` is how long a tool waits for the user's answer to a question. `coerce` decodes
    arguments that a model sent as JSON text. `mask_errors` keeps the text of unexpected exceptions from the host,
    including those that refuse an argument (`__post_init__`, validators).

    Raises:
        ValueError: for a value out of its range.
    """

    separator: str = "."
    page_size: int | None = None
    timeout_seconds: float | None = None
    max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES
    max_result_bytes: int = DEFAULT_MAX_RESULT_BYTES
    max_pending_bytes: int = DEFAULT_MAX_PENDING_BYTES
    max_pending_calls: int = DEFAULT_MAX_PENDING_CALLS
    max_batch_elements: int = DEFAULT_MAX_BATCH_ELEMENTS
    max_unsent_bytes: int = DEFAULT_MAX_UNSENT_BYTES
    max_workers: int = DEFAULT_MAX_WORKERS
    max_abandoned: int = DEFAULT_MAX_ABANDONED
    max_questions: int = DEFAULT_MAX_QUESTIONS
    grace_seconds: float = 1.5
    ask_seconds: float = 600.0
    coerce: bool = False
    mask_errors: bool = False
    isolate: bool = False
    memory_limit: int | str | None = None
    max_processes: int = 16

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            if name.startswith("max_") and getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        if self.memory_limit is not None:
            try:
                msgspec.structs.force_setattr(self, "memory_limit", size(str(self.memory_limit)))
            except ValueError as error:
                raise ValueError(f"memory_limit must be {error}, not {self.memory_limit!r}") from None
        if self.page_size is not None and self.page_size < 1:
            raise ValueError(f"page_size must be at least 1, or None for a single page, not {self.page_size}")
        if self.timeout_seconds is not None and not self.timeout_seconds > 0:
            raise ValueError(f"timeout_seconds must be above 0, or None for no limit, not {self.timeout_seconds}")
        if not self.ask_seconds > 0:
            raise ValueError(f"ask_seconds must be above 0, not {self.ask_seconds}")
        if not self.grace_seconds >= 0:
            raise ValueError(f"grace_seconds must not be negative, but is {self.grace_seconds}")
        if not self.separator or not self.separator.isascii() or not self.separator.isprintable():
            raise ValueError(f"separator must be printable ASCII text such as '_' or '-', not {self.separator!r}")


_BESIDE = ("name", "version", "title", "instructions")
"""What `Server` and `serve` take besides."""


def settings_of(options: dict[str, Any]) -> Settings:
    """Return the settings that a caller's keyword arguments say.

    Raises:
        TypeError: for an option that does not exist, or does not take what it is given.
        ValueError: for a value out of its range.
    """
    try:
        return Settings(**options)
    except (TypeError, AttributeError) as error:
        raise TypeError(_mistake(options) or str(error)) from None


def _mistake(options: dict[str, Any]) -> str | None:
    from toolwire_schemas.did_you_mean import unknown_name  # only a mistake needs it

    for name, value in options.items():
        if name not in Settings.__struct_fields__:
            return unknown_name("option", name, (*_BESIDE, *Settings.__struct_fields__))
        try:
            msgspec.convert({name: value}, Settings)
        except (msgspec.ValidationError, AttributeError):
            return f"{name} takes {Settings.__annotations__[name]}, not {value!r}"
    return None
