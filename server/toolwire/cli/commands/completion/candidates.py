"""Finds the words that may stand at the end of a command line.

Strategy. All that is known is in the tables that the parser and the help read: commands, their
usage and their options. Only the tools of a target, and their arguments, are not: its server is
started and asked, within `_ASKING_SECONDS`. The shell waits for the answer, so in any failure
nothing is offered; no sentence disturbs the line that is being written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ....errors import LoadError, UsageError
from ... import COMMANDS
from ...options import HELP, HELP_ALL, LIMIT, Option, Words, parse
from .. import import_command

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from toolwire_client import ToolDescription
    from toolwire_schemas.json_schema.graph import SchemaNode

    from .. import Command

_ASKING_SECONDS = 3.0
"""How long the server of a target may take to list its tools."""

_MAX_WORDS = 500
_MAX_HELP_CHARS = 80

_PATHS = ("FILE", "DIR", "PATH", "OUT", "OLD", "NEW", "OTHER")
"""The names of words in usages that are paths, or may be."""

SHELLS = ("bash", "zsh", "fish")


class Candidate(NamedTuple):
    """A word that may stand at the end of the line. *is_open* if more of the same word follows."""

    word: str
    help: str = ""
    is_open: bool = False


class Candidates(NamedTuple):
    """The words that may stand there, and whether paths may, after the text *before_path*."""

    words: Sequence[Candidate] = ()
    takes_path: bool = False
    before_path: str = ""


def find_candidates(words: Sequence[str]) -> Candidates:
    """Return what may replace the last of *words*, which follow `toolwire` and are not all typed
    yet. The last may be empty.
    """
    *before, last = words
    found = _find_all(before, last)
    return found._replace(words=select_words(found.words, last))


def select_words(words: Iterable[Candidate], beginning: str) -> list[Candidate]:
    """Return those of *words* that have this *beginning*, and fit on a line of their own: names of
    tools are foreign text.
    """
    selected = []
    for word in words:
        is_plain = word.word.isprintable() and word.word != ""
        if is_plain and word.word.startswith(beginning):
            selected.append(word._replace(help=_shorten(word.help)))
    return selected[:_MAX_WORDS]


def _shorten(text: str) -> str:
    words = "".join(letter if letter.isprintable() else " " for letter in text).split()
    line = " ".join(words)
    return line if len(line) <= _MAX_HELP_CHARS else line[: _MAX_HELP_CHARS - 1] + "…"


def _find_all(before: list[str], last: str) -> Candidates:
    if not before:
        flags = [Candidate("--help"), Candidate("--version")]
        commands = [Candidate(name, summary) for name, summary in COMMANDS.items()]
        return Candidates([*commands, *flags])
    name, *rest = before
    if name not in COMMANDS:
        return Candidates()
    if "--" in rest:
        return Candidates(takes_path=True)
    command: Command = import_command(name).COMMAND
    options = (*command.options, *command.passes_on)
    waiting = _find_waiting_option(rest, options)
    if waiting is not None:
        return _list_values(waiting)
    if last.startswith("-"):
        return _list_options(options, rest, last)
    try:
        typed = parse(rest, command.options, as_text=command.passes_on)
    except UsageError:
        return Candidates()
    if name == "call":
        return _list_for_call(typed, last)
    return _list_for_position(name, command, len(typed.words))


# --- options ---


def _find_waiting_option(words: Sequence[str], options: Iterable[Option]) -> Option | None:
    """Return the option whose value comes next, if the last of *words* is one."""
    if not words:
        return None
    for option in options:
        if words[-1] in option.flags and option.metavar and not option.endings:
            return option
    return None


def _list_options(options: Iterable[Option], typed: Sequence[str], last: str) -> Candidates:
    flag, equals, _ = last.partition("=")
    if equals:
        for option in options:
            if flag in option.flags:
                return _put_before(f"{flag}=", _list_values(option))
        return Candidates()
    used = {word.partition("=")[0] for word in typed}
    found = []
    for option in (*options, HELP, HELP_ALL):
        if option.many or used.isdisjoint(option.flags):
            found.append(Candidate(option.flag, option.help))
    return Candidates(found)


def _put_before(text: str, found: Candidates) -> Candidates:
    words = [word._replace(word=text + word.word) for word in found.words]
    return Candidates(words, found.takes_path, text + found.before_path)


def _list_values(option: Option) -> Candidates:
    if option == LIMIT:
        from ....settings import LIMITS

        return Candidates([Candidate(f"{name}=", is_open=True) for name in LIMITS])
    return _list_of_kind(option.metavar.strip("[]"))


# --- words by position ---


def _list_for_position(name: str, command: Command, position: int) -> Candidates:
    """Return what the usages of *command* have at this *position* among the words that are no
    options.
    """
    words: list[Candidate] = []
    takes_path = False
    for usage in command.usage:
        kind = _find_kind(usage.removeprefix(f"toolwire {name}").split(), position)
        found = _list_of_kind(kind)
        words += [word for word in found.words if word not in words]
        takes_path = takes_path or found.takes_path
    return Candidates(words, takes_path)


def _find_kind(usage: Sequence[str], position: int) -> str:
    """Return the word at *position* of a usage; the last one that may be repeated stays."""
    kinds = []
    for word in usage:
        if word.startswith(("-", "[-")) or word in ("[OPTIONS]", "COMMAND"):
            continue
        kinds.append(word)
    if position < len(kinds):
        return kinds[position].strip("[].")
    if kinds and kinds[-1].rstrip("]").endswith("..."):
        return kinds[-1].strip("[].")
    return ""


def _list_of_kind(kind: str) -> Candidates:
    """Return the words that a usage or the value of an option calls *kind*."""
    if kind == "HOST":
        from ....hosts.hosts import HOSTS

        return Candidates([Candidate(name) for name in HOSTS])
    if kind == "LANGUAGE":
        from toolwire_dialects.typed_clients import list_languages

        return Candidates([Candidate(name) for name in list_languages()])
    if kind == "DIALECT":
        from ..list import DIALECTS

        return Candidates([Candidate(name) for name in DIALECTS])
    if kind == "LEVEL":
        from ....log import LEVELS

        return Candidates([Candidate(name) for name in LEVELS])
    if kind == "CASE":
        from toolwire_schemas.cases import load_cases

        return Candidates([Candidate(case.id, case.behaviour) for case in load_cases()])
    if kind == "SHELL":
        return Candidates([Candidate(name) for name in SHELLS])
    if kind == "TARGET":
        return Candidates(_list_bundled(), takes_path=True)
    if kind in _PATHS or kind.startswith("FILE"):
        return Candidates(takes_path=True)
    choices = kind.split("|")
    if all(choice and choice == choice.lower() for choice in choices):
        return Candidates([Candidate(choice) for choice in choices])
    return Candidates()


def _list_bundled() -> list[Candidate]:
    from toolwire_bundled import BUNDLED

    return [Candidate(name, tool.summary) for name, tool in BUNDLED.items()]


# --- tools and arguments of `call` ---


def _list_for_call(typed: Words, last: str) -> Candidates:
    if not typed.words:
        return _list_of_kind("TARGET")
    target, *rest = typed.words
    tools = _ask_for_tools(typed, target)
    if not rest:
        names = [Candidate(tool.name, tool.description or "") for tool in tools]
        if len(tools) != 1:
            return Candidates(names)
        arguments = _list_arguments(tools[0], [], last)
        return arguments._replace(words=[*names, *arguments.words])
    for tool in tools:
        if tool.name == rest[0]:
            return _list_arguments(tool, rest[1:], last)
    if len(tools) == 1:
        return _list_arguments(tools[0], rest, last)
    return Candidates()


def _ask_for_tools(typed: Words, target: str) -> list[ToolDescription]:
    from toolwire_client import ClientError, connect

    from ...open_client import choose_command

    try:
        command = choose_command(typed, [target])
        opening = connect(
            command, inherit_env=True, era="modern", start_timeout_seconds=_ASKING_SECONDS
        )
        with opening as client:
            return client.list_tools(timeout_seconds=_ASKING_SECONDS)
    except (ClientError, UsageError, LoadError):
        return []


def _list_arguments(tool: ToolDescription, typed: Sequence[str], last: str) -> Candidates:
    from toolwire_schemas.json_schema.graph import SchemaGraph

    root = SchemaGraph(tool.input_schema).root
    properties = _merge_properties(root)
    name, equals, text = last.partition("=")
    if equals:
        if text.startswith("@"):
            return Candidates(takes_path=True, before_path=f"{name}=@")
        node = properties.get(name)
        values = [] if node is None else _list_known_values(node)
        return Candidates([Candidate(f"{name}={value}") for value in values])
    given = {word.partition("=")[0] for word in typed}
    required = [name for name in properties if name in root.required]
    optional = [name for name in properties if name not in root.required]
    found = []
    for name in required + optional:
        if name not in given:
            found.append(Candidate(f"{name}=", properties[name].description, is_open=True))
    return Candidates(found)


def _merge_properties(root: SchemaNode) -> dict[str, SchemaNode]:
    merged: dict[str, SchemaNode] = {}
    for node in root.list_alternatives():
        merged |= node.properties
    return merged


def _list_known_values(node: SchemaNode) -> list[str]:
    """Return the only texts that *node* takes, if it names them."""
    found: list[Any] = []
    for alternative in node.list_alternatives():
        found += alternative.values or ()
        if "boolean" in alternative.types:
            found += [False, True]
    texts = []
    for value in found:
        if isinstance(value, bool):
            texts.append("true" if value else "false")
        elif isinstance(value, str | int | float):
            texts.append(str(value))
    return texts
