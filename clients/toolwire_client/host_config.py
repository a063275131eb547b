"""Read the configuration files of hosts.

Strategy. Claude's `mcpServers` and VS Code's `servers` differ only in their variables, so all of
them work everywhere: `${NAME}` and `${NAME:-default}` (Claude Code), `${env:NAME}`, `${input:ID}`,
`${userHome}` and `${workspaceFolder}` (VS Code). A malformed entry is an error of that server only.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated, Any, TypeVar

import msgspec

from .errors import BadConfiguration
from .remote import is_address, read_words

E = TypeVar("E")

_TABLES = ("mcpServers", "servers")

# Comments and trailing commas, which VS Code allows, and the strings in which they are neither.
# Most files need none of these patterns, which take milliseconds to compile.
_STRING = r'"(?:\\.|[^"\\])*+(?:"|\\?\Z)'
_COMMENT = rf"(?s)({_STRING})|//[^\r\n]*|/\*.*?(?:\*/|\Z)"
_COMMA = rf"(?s)({_STRING})|,(?=\s*[\]}}])"
_LETTER = r"[^\r\n]"
_VARIABLE = r"\$\{(?:(?P<kind>env|input):)?(?P<name>[^}:]+)(?::-(?P<default>[^}]*))?\}"


class ServerConfig(msgspec.Struct, frozen=True):
    """How one server is started; `env` is added to the usual environment. For a remote one,
    `command` is its address and options, as in `connect`, and `env` has the values of its headers.
    """

    command: list[str]
    env: dict[str, str]
    cwd: str | None

    @property
    def is_remote(self) -> bool:
        return is_address(self.command[0])


_Scalar = str | int | float | bool
"""Hosts also accept numbers and booleans as texts."""


class _Entry(msgspec.Struct, rename={"env_file": "envFile"}):
    command: Annotated[str, msgspec.Meta(min_length=1)]
    args: list[_Scalar] | None = None
    env: dict[str, _Scalar | None] | None = None
    env_file: str | None = None
    cwd: str | None = None


class _RemoteEntry(msgspec.Struct):
    url: Annotated[str, msgspec.Meta(min_length=1)]
    headers: dict[str, _Scalar] | None = None


_ADDRESSES = ("url", "serverUrl", "httpUrl")
"""The member with the address of a remote server: of most hosts, of Windsurf, and of Gemini."""


def read_config(
    source: str | os.PathLike[str] | Mapping[str, Any], inputs: Mapping[str, str]
) -> dict[str, ServerConfig | BadConfiguration]:
    """Return the enabled servers of a file, or of such a file's content, by name."""
    if isinstance(source, Mapping):
        where, given, folder = "the configuration", source, os.getcwd()
    else:
        where = os.fspath(source)
        given, folder = _parse(where), os.path.dirname(os.path.abspath(where))
    table = next(
        (given[key] for key in _TABLES if isinstance(given, Mapping) and key in given), None
    )
    if not isinstance(table, Mapping):
        raise BadConfiguration(
            f'{where}: there is no "mcpServers" object (nor "servers") with a member for each'
            " server"
        )
    reader = _Reader(folder, inputs)
    servers: dict[str, ServerConfig | BadConfiguration] = {}
    for name, entry in table.items():
        if isinstance(entry, Mapping) and (
            entry.get("disabled") is True or entry.get("enabled") is False
        ):
            continue
        try:
            servers[name] = reader.read(entry)
        except BadConfiguration as error:
            servers[name] = BadConfiguration(f"server {name!r}: {error}")
    return servers


def _parse(path: str) -> Any:
    try:
        text = _read_text(path)
    except UnicodeDecodeError as error:
        raise BadConfiguration(f"{path}: it is not UTF-8 (byte {error.start})") from None
    with suppress(msgspec.DecodeError, RecursionError):
        return msgspec.json.decode(text)
    try:
        return msgspec.json.decode(without_commas(without_comments(text)))
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadConfiguration(f"{path}: {error}") from None


def _read_text(path: str) -> str:
    # The codec utf-8-sig would be imported for the mark alone.
    with open(path, encoding="utf-8") as file:
        return file.read().removeprefix("\ufeff")


def without_comments(text: str) -> str:
    """Return *text* with blanks in place of comments, so that every other character keeps its
    place.
    """
    return re.sub(_COMMENT, _mask_comment, text)


def without_commas(text: str) -> str:
    """Return *text*, which has no comments, with blanks in place of trailing commas."""
    return re.sub(_COMMA, _mask_comment, text)


def _mask_comment(found: re.Match[str]) -> str:
    return found[1] or re.sub(_LETTER, " ", found[0])


class _Reader:
    """Reads entries of a file in *folder*, with the user's *inputs*."""

    def __init__(self, folder: str, inputs: Mapping[str, str]) -> None:
        self._folder = folder
        self._inputs = inputs
        # Editors keep such files in a subfolder of the project.
        self._workspace = folder
        if os.path.basename(folder) in (".vscode", ".cursor"):
            self._workspace = os.path.dirname(folder)

    def read(self, entry: Any) -> ServerConfig:
        if isinstance(entry, Mapping):
            addresses = [entry[name] for name in _ADDRESSES if name in entry]
            if addresses or entry.get("type", "stdio") != "stdio":
                return self._read_remote({**entry, "url": next(iter(addresses), None)})
        given = _convert(entry, _Entry)
        # A null removes a variable in VS Code; here such variables are not passed on anyway.
        env = {
            name: self._expand_text(value)
            for name, value in (given.env or {}).items()
            if value is not None
        }
        command = [os.path.expanduser(self._expand_text(given.command))]
        command += map(self._expand_text, given.args or ())
        cwd = None
        if given.cwd is not None:
            cwd = os.path.join(self._folder, os.path.expanduser(self._expand_text(given.cwd)))
        return ServerConfig(command=command, env=self._read_file(given.env_file) | env, cwd=cwd)

    def _read_remote(self, entry: Mapping[str, Any]) -> ServerConfig:
        if entry.get("type") in ("sse", "ws", "websocket"):
            raise BadConfiguration(
                f"its transport {entry['type']!r} is not used; only Streamable HTTP is"
            )
        given = _convert(entry, _RemoteEntry)
        command = [self._expand_text(given.url)]
        env: dict[str, str] = {}
        # Words of a command are visible to all users of a machine, its environment is not.
        for number, (name, value) in enumerate((given.headers or {}).items()):
            variable = f"TOOLWIRE_HEADER_{number}"
            env[variable] = self._expand_text(value)
            command += ["--header", f"{name}: ${{{variable}}}"]
        read_words(command, env)
        return ServerConfig(command, env, cwd=None)

    def _read_file(self, given: str | None) -> dict[str, str]:
        if given is None:
            return {}
        path = os.path.join(self._folder, self._expand_text(given))
        try:
            lines = _read_text(path).splitlines()
        except OSError as error:
            problem = f"its envFile {path} cannot be read: {error.strerror}"
            raise BadConfiguration(problem) from None
        except UnicodeDecodeError:
            problem = f"its envFile {path} cannot be read: it is not UTF-8"
            raise BadConfiguration(problem) from None
        variables = {}
        for line in lines:
            name, equals, value = line.strip().removeprefix("export ").partition("=")
            if equals and not name.startswith("#"):
                variables[name.strip()] = _unquote(value.strip())
        return variables

    def _expand_text(self, value: _Scalar) -> str:
        if not isinstance(value, str):
            value = msgspec.json.encode(value).decode()
        if "${" not in value:
            return value
        return re.sub(_VARIABLE, self._expand_value, value)

    def _expand_value(self, found: re.Match[str]) -> str:
        kind, name, default = found["kind"], found["name"], found["default"]
        if kind is None and name == "userHome":
            return os.path.expanduser("~")
        if kind is None and name == "workspaceFolder":
            return self._workspace
        if kind == "input":
            value = self._inputs.get(name, default)
            missing = f"it needs the input {name!r}: give inputs={{{name!r}: ...}}"
        else:
            value = os.environ.get(name, default)
            missing = f"it needs the environment variable {name}, which is not set"
        if value is None:
            raise BadConfiguration(missing)
        return value


def _convert(entry: Any, kind: type[E]) -> E:
    try:
        return msgspec.convert(entry, kind)
    except msgspec.ValidationError as error:
        raise BadConfiguration(f"its entry is wrong: {error}") from None


def _unquote(text: str) -> str:
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    if is_quoted:
        return text[1:-1]
    return text
