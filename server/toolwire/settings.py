"""The settings of a server: defaults, their reasons, valid ranges."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from toolwire_schemas.wire.messages import DEFAULT_MAX_MESSAGE_BYTES

_MIB = 1024 * 1024


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Limits and options of a server; `SETTINGS` describes each of them.

    `None`, where it is the default, is no limit. Results are large beyond `max_result_bytes`, which
    holds for all results of a batch together, too, and beyond `max_result_tokens`, unless the tool
    has a limit of its own. Beyond `max_unsent_bytes` requests are refused; at twice as much,
    reading stops until the host reads.

    Raises:
        ValueError: for a value out of its range.
    """

    show: Literal["all", "search", "code", "auto"] = "all"
    # A twentieth of a context of 200,000 tokens.
    show_tokens: int = 10_000
    pin: list[str] = []
    sandbox: Literal["auto", "bubblewrap", "monty"] = "auto"
    trust_hints: list[str] = []
    separator: str = "_"  # many hosts refuse a dot
    page_size: int | None = None  # some clients never ask for a second page
    on_large_result: Literal["error", "truncate", "resource"] = "error"
    timeout_seconds: float | None = None
    max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES
    # TypeScript clients fail at 10 MiB, next message included.
    max_result_bytes: int = 10 * _MIB - 64 * 1024
    max_result_tokens: int | None = None
    max_pending_bytes: int = 256 * _MIB
    # Waiting calls take half a kilobyte each, running `async` ones two to three.
    max_pending_calls: int = 100_000
    # To decide about them takes a tenth of a second, in which nothing else is read.
    max_batch_elements: int = 10_000
    # Six of the largest results that can be read in one piece.
    max_kept_bytes: int = 64 * _MIB
    # As large as a message that comes in; six times the largest result.
    max_unsent_bytes: int = 64 * _MIB
    max_workers: int = 128
    # As many again: hanging tools can be given up as often as they can be called.
    max_abandoned: int = 128
    max_questions: int = 128
    grace_seconds: float = 1.5  # clients send SIGTERM after two seconds
    ask_seconds: float = 600.0
    heartbeat_seconds: float = 10.0  # the shortest time limits known are 30 and 60 seconds
    # Beyond the time that most calls take, within the shortest limits of hosts, 30 seconds.
    task_after_seconds: float = 20.0
    max_tasks: int = 1000
    # As the input of unfinished calls.
    max_task_bytes: int = 256 * _MIB
    task_ttl_seconds: float = 3600.0
    task_store: str | None = None
    strict_arguments: bool = False
    mask_errors: bool = False
    structured: bool = True
    isolate: bool = False
    keep_children: bool = False
    run_on: dict[str, Any] = {}
    memory_limit: int | str | None = None
    max_processes: int = 16
    max_programs: int = 16
    program_seconds: float = 120.0
    max_program_calls: int = 1000
    # 32 KiB are some 8,000 tokens.
    max_program_output_bytes: int = 32_768
    # 256 MiB, of which the program keeps what fits into 1 GiB.
    max_program_bytes: int = 268_435_456
    max_program_memory_bytes: int = 1_073_741_824

    def __post_init__(self) -> None:
        if self.memory_limit is not None:
            from .setting_mistakes import read_memory_limit

            limit = read_memory_limit(self.memory_limit)
            msgspec.structs.force_setattr(self, "memory_limit", limit)
        for name, setting in SETTINGS.items():
            value = getattr(self, name)
            is_off = value is None and DEFAULTS[name] is None
            if is_off or setting.takes(value):
                continue
            from .setting_mistakes import refuse_value

            refuse_value(name, value, setting.unit, may_be_zero=setting.may_be_zero)


DEFAULTS: dict[str, Any] = dict(
    zip(Settings.__struct_fields__, Settings.__struct_defaults__, strict=True)
)


class Setting(msgspec.Struct, frozen=True):
    """The description of a field of `Settings`, for its option and its checks.

    *unit* is the form of its values: NUMBER or SIZE (a number of bytes), SECONDS, TEXT, PATTERN,
    words to choose from such as `one|other`, or "" for a switch. A setting with a *flag* is an
    option of `serve`, which only `--help-all` shows if it *is_rare*. The others are limits:
    `--limit NAME=VALUE`.
    """

    help: str
    unit: str = ""
    flag: str = ""
    is_rare: bool = False
    may_be_zero: bool = False

    def takes(self, value: Any) -> bool:
        """Return whether *value*, which has the right type, is in the range."""
        if self.unit == "SECONDS":
            return bool(value > 0 or (self.may_be_zero and value == 0))
        if self.unit == "TEXT":
            return bool(value) and value.isascii() and value.isprintable()
        if self.unit == "PATTERN":
            return not isinstance(value, str)
        if self.unit in ("NUMBER", "SIZE"):
            return bool(value >= 1)
        return "|" not in self.unit or value in self.unit.split("|")


SETTINGS = {
    "show": Setting(
        "list all tools (default), a search over them, a search and programs that call them, or"
        " the search only beyond --show-tokens",
        "all|search|code|auto",
        "--show",
    ),
    "show_tokens": Setting(
        "with --show auto: tokens of a list, estimated, beyond which a search replaces it"
        " (default: 10,000)",
        "NUMBER",
        "--show-tokens",
        is_rare=True,
    ),
    "pin": Setting(
        "with a search: also list the tools whose name, or tag as in tag:billing, matches;"
        " repeatable",
        "PATTERN",
        "--pin",
        is_rare=True,
    ),
    "sandbox": Setting(
        "with --show code: what confines programs (default: auto, which is bubblewrap, or else"
        " monty)",
        "auto|bubblewrap|monty",
        "--sandbox",
        is_rare=True,
    ),
    "trust_hints": Setting(
        "with --show code: call tools of this mounted server without asking if they say that they"
        " only read; yes for all; repeatable",
        "PATTERN",
        "--trust-hints",
        is_rare=True,
    ),
    "separator": Setting(
        "text between a toolkit's name and its method's (default: _)", "TEXT", "--separator", True
    ),
    "page_size": Setting("tools per page", "NUMBER"),
    "on_large_result": Setting(
        "send an error, a part of it or a link instead (default: error; truncate beyond the"
        " host's tokens)",
        "error|truncate|resource",
        "--on-large-result",
    ),
    "timeout_seconds": Setting(
        "time limit for calls of tools without a limit of their own", "SECONDS", "--timeout"
    ),
    "max_message_bytes": Setting("size of a message that is read", "SIZE"),
    "max_result_bytes": Setting("size of a result", "SIZE"),
    "max_result_tokens": Setting(
        "size of a result for a model, estimated; --for HOST sets that of the host", "NUMBER"
    ),
    "max_pending_bytes": Setting("input held by unfinished calls", "SIZE"),
    "max_pending_calls": Setting("unfinished calls", "NUMBER"),
    "max_batch_elements": Setting("messages in a batch", "NUMBER"),
    "max_kept_bytes": Setting("large results that are kept to be read", "SIZE"),
    "max_unsent_bytes": Setting("output that the client has not read", "SIZE"),
    "max_workers": Setting("concurrent calls of tools that are not async", "NUMBER"),
    "max_abandoned": Setting(
        "threads that still run a call that was cancelled or timed out", "NUMBER"
    ),
    "max_questions": Setting("concurrent elicitations", "NUMBER"),
    "grace_seconds": Setting(
        "time for running calls to finish after the host disconnects", "SECONDS", may_be_zero=True
    ),
    "ask_seconds": Setting("time that a tool waits for an answer of the user", "SECONDS"),
    "heartbeat_seconds": Setting(
        "time after which a silent call reports progress; 0 is never", "SECONDS", may_be_zero=True
    ),
    "task_after_seconds": Setting(
        "time after which a call goes on as a task if the client can have tasks (default: 20)",
        "SECONDS",
        "--task-after",
        may_be_zero=True,
        is_rare=True,
    ),
    "max_tasks": Setting("tasks of a client, with those whose results are kept", "NUMBER"),
    "max_task_bytes": Setting("results of tasks that are kept for a client", "SIZE"),
    "task_ttl_seconds": Setting("time that the result of a task is kept", "SECONDS"),
    "task_store": Setting(
        "keep tasks in this SQLite file, where they survive the process", "FILE", "--task-store"
    ),
    "strict_arguments": Setting(
        "refuse arguments sent as JSON text, and null for optional ones", flag="--strict-arguments"
    ),
    "mask_errors": Setting(
        "hide the messages of unexpected exceptions from callers", flag="--mask-errors"
    ),
    "structured": Setting(
        "leave out output schemas and structured content: some hosts send both to the model",
        flag="--no-structured",
        is_rare=True,
    ),
    "isolate": Setting(
        "run tools in processes of their own, so that a crash fails only one call", flag="--isolate"
    ),
    "keep_children": Setting(
        "let processes that tools have started live on when the server ends (Linux)",
        flag="--keep-children",
        is_rare=True,
    ),
    "run_on": Setting(
        "where tools with runs_in=NAME run, as in x=dask:tcp://HOST:8786",
        "NAME=ENGINE",
        "--run-on",
    ),
    "memory_limit": Setting(
        "memory of a tool process, as in 512MiB; goes with --isolate or runs_in", "SIZE"
    ),
    "max_processes": Setting("tool processes", "NUMBER"),
    "max_programs": Setting("concurrent programs", "NUMBER"),
    "program_seconds": Setting("time limit of a program", "SECONDS"),
    "max_program_calls": Setting("calls of a program", "NUMBER"),
    "max_program_output_bytes": Setting("the value of a program, and what it prints", "SIZE"),
    "max_program_bytes": Setting("calls of a program and their results", "SIZE"),
    "max_program_memory_bytes": Setting("memory of a process of a program", "SIZE"),
}
"""All fields of `Settings`, in their order."""

LIMITS = tuple(name for name, setting in SETTINGS.items() if not setting.flag)


def make_settings(options: dict[str, Any]) -> Settings:
    """Return the settings in a caller's keyword arguments.

    Raises:
        TypeError: for an option that does not exist, or a value of the wrong type.
        ValueError: for a value out of its range.
    """
    try:
        return Settings(**options)
    except (TypeError, AttributeError) as error:
        from .setting_mistakes import describe_mistake

        raise TypeError(describe_mistake(options, Settings) or str(error)) from None
