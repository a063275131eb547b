"""Parses a command line: options by a table, all other words by position.

argparse costs 10 ms (3 to import, 7 to define twenty options, since it measures the terminal for
each), a fifth of the time from spawn to the first answer.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from ..errors import UsageError
from ..settings import SETTINGS

Convert = Callable[[str], Any]
"""Reads an option's value, or raises `ValueError` with what was expected (`a whole number`)."""


def accept_one_of(*choices: str) -> Convert:
    """Accept one of *choices*."""

    def convert(text: str) -> str:
        if text not in choices:
            raise ValueError(f"one of {', '.join(choices)}")
        return text

    return convert


class Option(msgspec.Struct, frozen=True):
    """An option as help shows it: `--json`, `--era old|new` or `-o, --output FILE`. One that is
    *many* may be repeated.

    The value of one with *endings* is optional: the next word is its value only if it ends so.
    Without it, the value is "". A folder in its place is refused, since it could be meant as a
    target. One that *is_rare* is shown by `--help-all`.
    """

    usage: str
    help: str
    convert: Convert | None = None
    many: bool = False
    endings: tuple[str, ...] = ()
    is_rare: bool = False

    @property
    def metavar(self) -> str:
        """The name of the value in help; "" for a switch."""
        return self.usage.partition("--")[2].partition(" ")[2]

    @property
    def flags(self) -> list[str]:
        """All names, the long one last."""
        return self.usage.removesuffix(self.metavar).strip().split(", ")

    @property
    def flag(self) -> str:
        """The long name."""
        return self.flags[-1]

    @property
    def key(self) -> str:
        """The name in `Words.options`."""
        return self.flag.lstrip("-").replace("-", "_")

    def read_value(self, text: str) -> Any:
        """Return the value of *text*, or raise `ValueError` with what was expected."""
        if "|" in self.metavar:
            return accept_one_of(*self.metavar.split("|"))(text)
        if self.convert is None:
            from .option_values import find_reader  # most servers get no such option

            return find_reader(self.flag, self.metavar)(text)
        return self.convert(text)


class Words(msgspec.Struct, frozen=True):
    """A parsed command line.

    `options` holds the given options by key, `words` the other words, `command` those after `--`
    (`None` without it).
    """

    options: dict[str, Any]
    words: list[str]
    command: list[str] | None = None


class UnknownOption(UsageError):
    """The command has no option *flag*."""

    def __init__(self, sentence: str, flag: str) -> None:
        super().__init__(sentence)
        self.flag = flag


HELP = Option("-h, --help", "show this text and exit")
HELP_ALL = Option("--help-all", "show rare options, too, and all limits")


def _read_value(option: Option, text: str) -> Any:
    try:
        return option.read_value(text)
    except ValueError as error:
        raise UsageError(f"{option.flag} takes {error}, not {text!r}") from None


def _keep(found: dict[str, Any], option: Option, value: Any) -> None:
    if option.many:
        found.setdefault(option.key, []).append(value)
    else:
        found[option.key] = value


def parse(
    arguments: Sequence[str], options: Sequence[Option], as_text: Sequence[Option] = ()
) -> Words:
    """Return the parsed *arguments*. Options may stand anywhere before `--`; values *as_text* are
    checked and kept.
    """
    known = {flag: option for option in (*options, *as_text, HELP) for flag in option.flags}
    found: dict[str, Any] = {}
    words: list[str] = []
    rest = deque(arguments)
    while rest:
        word = rest.popleft()
        if word == "--":
            return Words(found, words, list(rest))
        if len(word) < 2 or word[0] != "-":
            words.append(word)
            continue
        flag, equals, text = word.partition("=")
        option = known.get(flag)
        if option is None:
            from .option_values import explain_unknown_option

            flags = [each.flag for each in (*options, *as_text, HELP)]
            raise UnknownOption(explain_unknown_option(flag, flags), flag)
        if not option.metavar:
            if equals:
                raise UsageError(f"{flag} takes no value: leave out ={text}")
            found[option.key] = True
            continue
        if not equals:
            from .option_values import take_value

            text = take_value(flag, option.metavar, option.endings, rest)
        value = _read_value(option, text)
        _keep(found, option, text if option in as_text else value)
    return Words(found, words)


# Options of several commands.

JSON = Option("--json", "print JSON, as sent by the server")
HTML = Option(
    "--html FILE", "also write a page for browsers to FILE; - is standard output, without the text"
)
MARKDOWN = Option(
    "--markdown FILE", "also write Markdown, as for a pull request, to FILE; - is standard output"
)
INCLUDE = Option(
    "--include PATTERN",
    "only the tools whose name, or tag as in tag:billing, matches; repeatable",
    many=True,
)
EXCLUDE = Option(
    "--exclude PATTERN", "without the tools whose name or tag matches; repeatable", many=True
)
SET = Option(
    "--set SETTING",
    "set a parameter of a bundled tool: TOOL.PARAMETER=VALUE; repeatable",
    many=True,
)
MOUNT = Option(
    "--mount [NAME=]COMMAND",
    "serve the tools of another MCP server, too, as NAME_tool; COMMAND may be a URL; repeatable",
    many=True,
)
MOUNT_CONFIG = Option(
    "--mount-config FILE", "mount the servers of a host's config file; repeatable", many=True
)
ADOPT = Option(
    "--adopt",
    "run files and installed commands ('mcp-server-time --local-timezone UTC') that are written for"
    " FastMCP or MCP's Python SDK on Toolwire's own classes, also if that package is installed",
)
ENV_FILE = Option(
    "--env-file FILE", "set the variables of a .env file, except those that are set already"
)
LOCK = Option(
    "--lock FILE",
    "show what `toolwire lock FILE` keeps, and refuse tools that have changed since then",
)
LOCK_TEXTS = Option(
    "--lock-texts approved|refuse|report",
    "if only texts changed: show the approved ones (default), refuse, or pass on",
    is_rare=True,
)
LIST_CACHE = Option(
    "--list-cache late|always|never",
    "answer lists from the last start when this one takes over a second (default), at once, or"
    " never",
    is_rare=True,
)

SHARE_ENV = Option(
    "--share-env NAME",
    "with --share: this variable counts too, as WINDOWID; repeatable",
    many=True,
    is_rare=True,
)

# Options that set fields of `Settings`.

_REPEATABLE = ("NAME=ENGINE", "PATTERN")

OF_SETTINGS = {
    name: Option(
        f"{setting.flag} {setting.unit}".rstrip(),
        setting.help,
        many=setting.unit in _REPEATABLE,
        is_rare=setting.is_rare,
    )
    for name, setting in SETTINGS.items()
    if setting.flag
}
RUN_ON = OF_SETTINGS["run_on"]
LIMIT = Option(
    "--limit NAME=VALUE",
    "set a limit, as in max_workers=8; `toolwire serve --help-all` lists them; repeatable",
    many=True,
)


def collect_settings(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of `Settings` that the *options* of a command line set."""
    settings = {
        name: options[option.key] for name, option in OF_SETTINGS.items() if option.key in options
    }
    if "structured" in settings:
        settings["structured"] = False  # its switch is --no-structured
    if "run_on" in settings:
        settings["run_on"] = dict(text.partition("=")[::2] for text in settings["run_on"])
    if "limit" in options:
        from .option_values import read_limits

        settings |= read_limits(options["limit"])
    return settings


LOADING = (SET, ADOPT, MOUNT, MOUNT_CONFIG, ENV_FILE, RUN_ON, LIMIT)
"""What every command takes that starts a server of targets; `loading_words` passes it on to
`serve`.
"""
