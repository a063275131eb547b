"""Read the configuration files of hosts.

Strategy. Claude's `mcpServers` and VS Code's `servers` differ only in their variables, so all of them work everywhere:
`${NAME}` and `${NAME:-default}` (Claude Code), `${env:NAME}`, `${input:ID}`, `${userHome}` and `${workspaceFolder}`
(VS Code). A malformed entry is an error of that server only.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from .errors import BadConfiguration

_TABLES = ("mcpServers", "servers")

# Comments and trailing commas, which VS Code allows, and the strings in which they are neither.
_STRING = r'"(?:\\.|[^"\\])*+(?:"|\\?\Z)'
_COMMENT = re.compile(rf"({_STRING})|//[^\r\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_COMMA = re.compile(rf"({_STRING})|,(?=\s*[\]}}])", re.DOTALL)
_LETTER = re.compile(r"[^\r\n]")
_VARIABLE = re.compile(r"\$\{(?:(?P<kind>env|input):)?(?P<name>[^}:]+)(?::-(?P<default>[^}]*))?\}")


class ServerConfig(msgspec.Struct, frozen=True):
    """How one server is started; `env` is added to the usual environment."""

    command: list[str]
    env: dict[str, str]
    cwd: str | None


def read_config(
    source: str | os.PathLike[str] | Mapping[str, Any], inputs: Mapping[str, str]
) -> dict[str, ServerConfig | BadConfiguration]:
    """Return the enabled servers of a file, or of such a file's content, by name."""
    if isinstance(source, Mapping):
        where, given, folder = "the configuration", source, Path.cwd()
    else:
        path = Path(source)
        where, given, folder = str(path), _parsed(path), path.absolute().parent
    table = next((given[key] for key in _TABLES if isinstance(given, Mapping) and key in given), None)
    if not isinstance(table, Mapping):
        raise BadConfiguration(
            f'{where}: there is no "mcpServers" object (nor "servers") with a member for each server'
        )
    reader = _Reader(folder, inputs)
    servers: dict[str, ServerConfig | BadConfiguration] = {}
    for name, entry in table.items():
        if isinstance(entry, Mapping) and (entry.get("disabled") is True or entry.get("enabled") is False):
            continue
        try:
            servers[name] = reader.read(entry)
        except BadConfiguration as error:
            servers[name] = BadConfiguration(f"server {name!r}: {error}")
    return servers


def _parsed(path: Path) -> Any:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadConfiguration(f"{path}: it is not UTF-8 (byte {error.start})") from None
    try:
        return msgspec.json.decode(without_commas(without_comments(text)))
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadConfiguration(f"{path}: {error}") from None


def without_comments(text: str) -> str:
    """Return *text* with blanks in place of comments, so that every other character keeps its place."""
    return _COMMENT.sub(_blank, text)


def without_commas(text: str) -> str:
    """Return *text*, which has no comments, with blanks in place of trailing commas."""
    return _COMMA.sub(_blank, text)


def _blank(found: re.Match[str]) -> str:
    return found[1] or _LETTER.sub(" ", found[0])


class _Reader:
    """Reads entries of a file in *folder*, with the user's *inputs*."""

    def __init__(self, folder: Path, inputs: Mapping[str, str]) -> None:
        self._folder = folder
        self._inputs = inputs
        # Editors keep such files in a subfolder of the project.
        self._workspace = folder.parent if folder.name in (".vscode", ".cursor") else folder

    def read(self, entry: Any) -> ServerConfig:
        if not isinstance(entry, Mapping):
            raise BadConfiguration("its entry is not an object")
        if "url" in entry or entry.get("type", "stdio") != "stdio":
            raise BadConfiguration("it is reached over the network; only servers with a command can be")
        command = self._text("command", entry.get("command"))
        arguments = entry.get("args") or []
        if not command or not isinstance(arguments, list):
            raise BadConfiguration('it needs a "command", a text, and may have "args", a list of texts')
        words = [self._text(f"args[{index}]", word) for index, word in enumerate(arguments)]
        variables = entry.get("env") or {}
        if not isinstance(variables, Mapping):
            raise BadConfiguration('its "env" is not an object')
        # A null removes a variable in VS Code; here such variables are not passed on anyway.
        env = {name: self._text(f"env.{name}", value) for name, value in variables.items() if value is not None}
        cwd = entry.get("cwd")
        return ServerConfig(
            command=[os.path.expanduser(command), *words],
            env={**self._file(entry.get("envFile")), **env},
            cwd=None if cwd is None else str(self._folder / os.path.expanduser(self._text("cwd", cwd))),
        )

    def _file(self, given: Any) -> dict[str, str]:
        if given is None:
            return {}
        path = self._folder / self._text("envFile", given)
        try:
            lines = path.read_text(encoding="utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            raise BadConfiguration(f"its envFile {path} cannot be read: {reason}") from None
        pairs = [line.strip().removeprefix("export ").partition("=") for line in lines if "=" in line]
        return {name.strip(): _unquoted(value.strip()) for name, _, value in pairs if not name.startswith("#")}

    def _text(self, where: str, value: Any) -> str:
        if isinstance(value, bool | int | float):
            value = str(value).lower() if isinstance(value, bool) else str(value)
        if not isinstance(value, str):
            raise BadConfiguration(f"its {where} is not a string")
        return _VARIABLE.sub(self._value, value)

    def _value(self, found: re.Match[str]) -> str:
        kind, name, default = found["kind"], found["name"], found["default"]
        if kind is None and name in ("userHome", "workspaceFolder"):
            return str(Path.home() if name == "userHome" else self._workspace)
        known = self._inputs if kind == "input" else os.environ
        value = known.get(name, default)
        if value is None and kind == "input":
            raise BadConfiguration(f"it needs the input {name!r}: give inputs={{{name!r}: ...}}")
        if value is None:
            raise BadConfiguration(f"it needs the environment variable {name}, which is not set")
        return value


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text
