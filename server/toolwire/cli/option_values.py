"""The values of options: numbers, times, sizes, settings; mistakes in them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from toolwire_tools import byte_sizes

from ..errors import LoadError, UsageError
from ..log import warning
from ..settings import LIMITS, SETTINGS

if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from toolwire_tools import Tool


def read_count(text: str) -> int:
    """Accept a whole number of at least 1."""
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise ValueError("a whole number of at least 1")
    return int(text)


def read_seconds(text: str) -> float:
    """Accept a finite number of seconds, not negative."""
    try:
        number = float(text)
    except ValueError:
        number = -1
    if not 0 <= number < float("inf"):
        raise ValueError("a number of seconds such as 30 or 0.5")
    return number


def read_time_limit(text: str) -> float:
    """Accept a number of seconds above 0."""
    if (limit := read_seconds(text)) == 0:
        raise ValueError("more than 0 seconds, such as 30 or 0.5")
    return limit


def read_number(text: str) -> float:
    """Accept a finite number, not negative."""
    try:
        return read_seconds(text)
    except ValueError:
        raise ValueError("a number such as 0 or 0.7") from None


def read_object(text: str) -> dict[str, Any]:
    """Accept an object in JSON."""
    from toolwire_schemas.wire import codec

    try:
        value = codec.decode(text)
    except codec.DecodingError as error:
        raise ValueError(f"a JSON object ({error})") from None
    if not isinstance(value, dict):
        raise ValueError('a JSON object such as {"top_p": 0.9}')
    return value


def check_setting(text: str) -> str:
    """Accept `TOOL.PARAMETER=VALUE`."""
    place, equals, _ = text.partition("=")
    if not (equals and all(place.partition("."))):
        raise ValueError("TOOL.PARAMETER=VALUE")
    return text


def check_limit(text: str) -> str:
    """Accept `NAME=VALUE` for a limit of `Settings`."""
    read_limit(text)
    return text


def read_limit(text: str) -> tuple[str, Any]:
    """Return the name and the value in `NAME=VALUE`, of a limit of `Settings`."""
    name, equals, value = text.partition("=")
    setting = SETTINGS.get(name)
    if setting is None or setting.flag:
        from toolwire_schemas.did_you_mean import explain_unknown_name

        raise UsageError(f"--limit: {explain_unknown_name('limit', name, LIMITS)}")
    if not equals:
        raise UsageError(f"--limit {name} needs a value: {name}={setting.unit}")
    read = read_seconds if setting.may_be_zero else _READERS_OF_LIMITS[setting.unit]
    try:
        return name, read(value)
    except ValueError as error:
        raise UsageError(f"--limit {name} takes {error}, not {value!r}") from None


def read_limits(texts: Iterable[str]) -> dict[str, Any]:
    """Return the values of the limits in *texts*, as `limit` accepts them."""
    return dict(map(read_limit, texts))


def read_engine(text: str) -> str:
    """Accept `NAME=ENGINE`."""
    name, _, place = text.partition("=")
    if not (name and place):
        raise ValueError("NAME=ENGINE, as in cluster=dask:tcp://HOST:8786")
    return text


def read_task_store(path: str) -> str:
    """Accept the path of a store for tasks. A file that does not exist is made."""
    from ..tasks.store import open_store
    from ..tasks.stored_task import StoreError

    try:
        open_store(path)
    except StoreError as error:
        raise ValueError(f"a file that can keep tasks ({error})") from None
    return os.path.abspath(path)  # an import may change the folder


_READERS_OF_LIMITS: dict[str, Callable[[str], Any]] = {
    "NUMBER": read_count,
    "SECONDS": read_time_limit,
    "SIZE": byte_sizes.parse_size,
}

_READERS: dict[str, Callable[[str], Any]] = {
    "JSON": read_object,
    "NAME=ENGINE": read_engine,
    "NAME=VALUE": check_limit,
    "NUMBER": read_count,
    "SECONDS": read_seconds,
    "SETTING": check_setting,
    "SIZE": byte_sizes.parse_size,
}


def find_reader(flag: str, metavar: str) -> Callable[[str], Any]:
    """Return what reads the values of the option *flag*, unless it says it itself."""
    if flag == "--task-store":
        return read_task_store
    return read_time_limit if flag.endswith("timeout") else _READERS.get(metavar, str)


def explain_unknown_option(flag: str, known: list[str]) -> str:
    """Return the sentence that there is no option *flag*."""
    from toolwire_schemas.did_you_mean import explain_unknown_name

    return explain_unknown_name("option", flag, known)


def take_value(flag: str, metavar: str, endings: tuple[str, ...], rest: deque[str]) -> str:
    """Return the value of the option *flag*, the next word of *rest*; "" if it has *endings* and is
    missing.
    """
    if not rest and not endings:
        raise UsageError(f"{flag} needs a value: {flag} {metavar}")
    if not endings or (rest and rest[0].endswith(endings)):
        return rest.popleft()
    if rest and os.path.isdir(rest[0]):
        wanted = f"{flag} takes a file that ends in {' or '.join(endings)}, or nothing"
        raise UsageError(f"{wanted}; if the folder {rest[0]} is a target, put it before {flag}")
    return ""


def check_sharing(options: Mapping[str, Any]) -> None:
    """Refuse those of the *options* of `serve` that do not go with `--share`.

    Raises:
        UsageError: for the first one.
    """
    for flag in ("reload", "mount", "mount-config"):
        if flag.replace("-", "_") in options:
            raise UsageError(f"--share does not go with --{flag} yet")


def check_processes(tools: list[Tool], settings: dict[str, Any]) -> None:
    """Warn of engines that no tool needs.

    Raises:
        LoadError: if *settings* limit the memory of processes that no tool has.
    """
    places = {tool.entry.options.runs_in for tool in tools}
    for name in settings.get("run_on", ()):
        if name not in places:
            warning(f"--run-on {name}=… has no effect: no tool has runs_in={name!r}")
    if "memory_limit" in settings and not settings.get("isolate") and places <= {None}:
        raise LoadError(
            '--limit memory_limit is for processes of tools: add --isolate, or runs_in="process"'
            " to a tool"
        )
