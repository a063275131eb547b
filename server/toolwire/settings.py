"""The settings of a server: defaults, their reasons, valid ranges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec
from toolwire_schemas.wire.messages import DEFAULT_MAX_MESSAGE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

__version__ = "0.1.0"
"""The version of Toolwire."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Limits and options of a server.

    `separator` stands between toolkit and method in the names of tools; many hosts refuse a dot.
    `page_size` is in tools; `None` puts all on one page, since some clients never ask for a second.
    `timeout_seconds` is for tools without a time limit of their own; `None` is no limit.
    `strict_arguments` refuses JSON in strings, and null for what is optional, where a tool takes
    neither. `mask_errors` hides the text of unexpected exceptions from the host, including those of
    `__post_init__` and validators. Without `structured`, tools publish no output schema, and their
    results have no structured content.

    `isolate` runs every tool in a worker process, `memory_limit` (bytes, or text like `"512 MiB"`)
    is for the workers whose tools set none, `max_processes` limits their number, and `run_on` maps
    names in `runs_in` to engines. Processes that tools have started end with the server (Linux);
    `keep_children` lets them live on.

    `max_message_bytes` limits one message that is read, `max_result_bytes` one result that is sent,
    or all of a batch, `max_result_tokens` what a model reads of one whose tool has no limit of its
    own (an estimate; `None` is no limit). `on_large_result` says what is sent instead of a larger
    one, of which at most `max_kept_bytes` are kept to be read. `max_pending_bytes` limits the input
    of all calls in flight, `max_pending_calls` their number, `max_batch_elements` one batch. Beyond
    `max_unsent_bytes` of responses that the host has not read, requests are refused; at twice as
    much, reading stops until the host reads. `max_workers` calls of synchronous tools run at a
    time; in addition, `max_abandoned` threads may be held by calls that were cancelled or timed
    out, and `max_questions` by tools that wait for the user. `grace_seconds` is the time for open
    calls after the host has hung up: clients send SIGTERM after two seconds. `ask_seconds` is how
    long a tool waits for the user. A call with a progress token whose tool has reported nothing for
    `heartbeat_seconds` gets a progress notification; 0 turns that off.

    Raises:
        ValueError: for a value out of its range.
    """

    separator: str = "_"
    page_size: int | None = None
    on_large_result: Literal["error", "truncate", "resource"] = "error"
    timeout_seconds: float | None = None
    max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES
    max_result_bytes: int = (
        10 * 1024 * 1024 - 64 * 1024
    )  # TypeScript clients fail at 10 MiB, next message included
    max_result_tokens: int | None = None
    max_pending_bytes: int = 256 * 1024 * 1024
    max_pending_calls: int = (
        100_000  # waiting calls take half a kilobyte each, running `async` ones two to three
    )
    max_batch_elements: int = (
        10_000  # to decide about them takes a tenth of a second, in which nothing else is read
    )
    max_kept_bytes: int = (
        64 * 1024 * 1024
    )  # six of the largest results that can be read in one piece
    max_unsent_bytes: int = (
        64 * 1024 * 1024
    )  # as large as a message that comes in; six times the largest result
    max_workers: int = 128
    max_abandoned: int = (
        128  # as many again: hanging tools can be given up as often as they can be called
    )
    max_questions: int = 128
    grace_seconds: float = 1.5
    ask_seconds: float = 600.0
    heartbeat_seconds: float = 10.0  # the shortest time limits known are 30 and 60 seconds
    strict_arguments: bool = False
    mask_errors: bool = False
    structured: bool = True
    isolate: bool = False
    keep_children: bool = False
    run_on: dict[str, Any] = {}
    memory_limit: int | str | None = None
    max_processes: int = 16

    def __post_init__(self) -> None:
        if self.memory_limit is not None:
            limit = _read_memory_limit(self.memory_limit)
            msgspec.structs.force_setattr(self, "memory_limit", limit)
        for problem in self._problems():
            raise ValueError(problem)

    def _problems(self) -> Iterator[str]:
        for name, value in msgspec.structs.asdict(self).items():
            is_off = value is None and name in _OPTIONAL_LIMITS
            if name.startswith("max_") and not is_off and value < 1:
                yield f"{name} must be at least 1, not {value}"
        size, seconds, large = self.page_size, self.timeout_seconds, self.on_large_result
        if size is not None and size < 1:
            yield f"page_size must be at least 1, or None for a single page, not {size}"
        if seconds is not None and not seconds > 0:
            yield f"timeout_seconds must be above 0, or None for no limit, not {seconds}"
        if large not in ("error", "truncate", "resource"):
            yield f"on_large_result must be error, truncate or resource, not {large!r}"
        if not self.ask_seconds > 0:
            yield f"ask_seconds must be above 0, not {self.ask_seconds}"
        for name in ("grace_seconds", "heartbeat_seconds"):
            if not getattr(self, name) >= 0:
                yield f"{name} must not be negative, but is {getattr(self, name)}"
        separator = self.separator
        if not separator or not separator.isascii() or not separator.isprintable():
            yield f"separator must be printable ASCII text such as '_' or '.', not {separator!r}"


_OPTIONAL_LIMITS = ("max_result_tokens",)
"""Limits that `None` switches off."""

_IDENTITY = ("name", "version", "title", "instructions", "lifespan", "shape")
"""The other options of `Server` and `serve`."""


def settings_of(options: dict[str, Any]) -> Settings:
    """Return the settings in a caller's keyword arguments.

    Raises:
        TypeError: for an option that does not exist, or a value of the wrong type.
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
            return unknown_name("option", name, (*_IDENTITY, *Settings.__struct_fields__))
        try:
            msgspec.convert({name: value}, Settings)
        except (msgspec.ValidationError, AttributeError):
            return f"{name} takes {Settings.__annotations__[name]}, not {value!r}"
    return None


def _read_memory_limit(limit: int | str) -> int:
    from toolwire_tools.byte_sizes import parse_size

    try:
        return parse_size(str(limit))
    except ValueError as error:
        raise ValueError(f"memory_limit must be {error}, not {limit!r}") from None
