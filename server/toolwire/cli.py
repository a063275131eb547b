"""The command `toolwire`: what can be typed, and what each command does.

Only `serve` has to be quick, so everything else is imported where it is used. The commands that ask a server
are the one place in this package that knows `toolwire_client`.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec
from toolwire_tools.suggestions import unknown

from . import __version__, log
from .errors import Failed, LoadError, UsageError
from .options import Option, Words, as_typed, count, one_of, parse, seconds, setting, size, variable
from .usage import Command, help_text, overview

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from toolwire_client import Client, OnAsk, ToolDescription
    from toolwire_tools import Tool

    from .reload import Reloader
    from .server import Server
    from .show import ProgressLine


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says and return the exit status.

    0: done. 1: the tool or the server failed. 2: the command line or a target is wrong. 130: interrupted; without
    *arguments*, as a program of its own, it is ended by the signal then.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        status = _dispatch(words)
        sys.stdout.flush()  # a broken pipe is to be noticed here
    except (UsageError, LoadError) as error:
        return _complain(str(error), 2)
    except Failed as failure:
        return _complain(str(failure), failure.status)
    except KeyboardInterrupt:
        status = _INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has seen enough. Python would complain when it flushes the rest at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
    if status == _INTERRUPTED and arguments is None:
        _end_by_interrupt()
    return status


_INTERRUPTED = 130


def _end_by_interrupt() -> None:
    """End as Ctrl-C ends programs, where that is known: a shell calls it 130 too, and does not go on with its loop."""
    if os.name == "posix":
        import signal

        with suppress(OSError):  # nobody may be reading any longer
            sys.stdout.flush()
            sys.stderr.flush()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.raise_signal(signal.SIGINT)


def _dispatch(words: list[str]) -> int:
    if not words:
        _complain("say what to do, as in `toolwire serve tools.py`; toolwire --help lists the commands", 2)
        return 2
    first, *rest = words
    if first in ("-h", "--help", "help"):
        _say(_help(COMMANDS[rest[0]]) if rest and rest[0] in COMMANDS else overview(COMMANDS))
        return 0
    if first in ("-V", "--version"):
        _say(f"toolwire {__version__}")
        return 0
    if first not in COMMANDS:
        raise UsageError(_no_command(first))
    command = COMMANDS[first]
    passed_on = map(as_typed, COMMANDS[command.passes_on].options) if command.passes_on else ()
    parsed = parse(rest, (*command.options, *passed_on))
    if parsed.options.get("help"):
        _say(_help(command))
        return 0
    return command.run(parsed)


def _help(command: Command) -> str:
    from .show import width

    return help_text(command, width())


def _no_command(word: str) -> str:
    if word.startswith("-"):
        return unknown("option", word, ["--help", "--version"]) + "; other options go behind a command"
    if word.endswith((".py", ".yaml", ".yml")) or os.path.exists(word):
        return f"say what to do with {word}, as in `toolwire serve {word}`"
    return unknown("command", word, COMMANDS)


def _say(text: str) -> None:
    _write(sys.stdout, text)


def _complain(sentence: str, status: int) -> int:
    if sentence:
        _write(sys.stderr, f"toolwire: {sentence}")
    return status


def _write(stream: Any, text: str) -> None:
    # A server may answer with letters that the terminal's encoding lacks.
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")


# --- serve ---------------------------------------------------------------------------------------------------


def _serve(words: Words) -> int:
    from .stdio import NotConnected, claim

    targets = [*words.words, *(words.command or [])]
    if not targets:
        raise UsageError("name what to serve: a file, a folder, a module or installed tools, as in `serve tools.py`")
    given = dict(words.options)
    strict, keep_going = given.pop("strict", False), given.pop("keep_going", False)
    if strict and keep_going:
        raise UsageError("--strict and --keep-going contradict each other: leave one out")
    try:
        streams = claim()
    except NotConnected as error:
        raise UsageError(str(error)) from None
    log.configure(level=given.pop("log_level", "info"), as_json=given.pop("log_json", False))
    try:
        server = _server(targets, given, keep_going)
    except (LoadError, TypeError, ValueError) as error:
        _leave(_complain(str(error), 2))
    server.serve(streams)


def _server(targets: list[str], given: dict[str, Any], keep_going: bool) -> Server:
    from .server import Server

    words: dict[str, Any] = {name: given.pop(key) for key, name in _LOADING.items() if key in given}
    identity = {"name": _name(targets), **{key: given.pop(key) for key in ("name", "instructions") if key in given}}
    reloads = given.pop("reload", False)
    settings = {_SETTINGS.get(key, key): value for key, value in given.items()}
    loading = partial(_tools, targets, {"keep_going": keep_going, **words}, settings)
    reloader = _reloader(targets, loading) if reloads else None
    server = Server(loading(), **identity, **settings)
    if reloader is not None:
        reloader.start(server)
    return server


def _tools(targets: list[str], words: dict[str, Any], settings: dict[str, Any]) -> list[Tool]:
    """The tools of *targets*; those that are to run in processes of their own will."""
    from .load import load

    tools = load(targets, **words)
    if not settings.get("isolate") and not any(tool.runs_in for tool in tools):
        return tools
    from .isolation import Loading, loaded
    from .settings import Settings

    return loaded(tools, Loading(targets, **words), Settings(**settings))


def _reloader(targets: list[str], loading: Callable[[], list[Tool]]) -> Reloader:
    from .imports import YAML
    from .load import parse as taken_apart
    from .reload import Reloader

    places = [taken_apart(target).place for target in targets]
    folders = [os.path.dirname(place) or "." if place.endswith(YAML) else place for place in places]
    try:
        return Reloader(loading, [folder for folder in folders if os.path.isdir(folder)])
    except ImportError:
        raise LoadError("--reload needs watchfiles; install it: pip install 'toolwire[reload]'") from None


_LOADING = {"include": "include", "exclude": "exclude", "set": "tool_settings"}
_SETTINGS = {"timeout": "timeout_seconds", "grace": "grace_seconds"}


def _name(targets: list[str]) -> str:
    """What the server calls itself if nobody says: like the one thing it serves."""
    base = os.path.basename(targets[0].rstrip("/\\")) if len(targets) == 1 else ""
    stem, ending = os.path.splitext(base.partition(":")[0])
    return (stem if ending in (".py", ".yaml", ".yml") else stem + ending).strip(".") or "toolwire"


def _leave(status: int) -> NoReturn:
    """End the process though a module that was loaded may have started threads that never end."""
    sys.stderr.flush()
    os._exit(status)


# --- list, call, ask, chat, config, schema, demo ----------------------------------------------------------------------


def _list(words: Words) -> int:
    from .show import Style, tools_table, width

    _check_forms(words.options)
    if words.options.get("bundled"):
        return _bundled(words)
    command = _command_of_server(words, words.words)
    if words.options.get("lint"):
        return _lint(command, words)
    with _connected(command, is_ours=words.command is None) as client:
        entries = [tool.raw for tool in client.list_tools(timeout_seconds=words.options.get("timeout"))]
    if words.options.get("json"):
        _say(_json(entries))
    elif words.options.get("as"):
        _say_in_dialect(entries, words.options)
    elif entries:
        _say(tools_table(entries, width(), Style(sys.stdout)))
    else:
        _say("The server has no tools.")
    return 0


def _bundled(words: Words) -> int:
    from toolwire_tools.bundled.readiness import readiness

    from .show import Style, readiness_table, width

    if words.words or words.command or "set" in words.options:
        raise UsageError("--bundled lists all of the tools that come with Toolwire: name no target")
    found = readiness()
    _say(_json(found) if words.options.get("json") else readiness_table(found, width(), Style(sys.stdout)))
    return 0


def _check_forms(options: dict[str, Any]) -> None:
    forms = [form for form in ("as", "lint", "json") if form in options]
    if "as" in options and len(forms) > 1:
        raise UsageError(f"--as and --{forms[1]} contradict each other: leave one out")
    if "bundled" in options and (other := next((form for form in ("as", "lint") if form in options), None)):
        raise UsageError(f"--bundled and --{other} contradict each other: leave one out")
    if "notes" in options and "lint" not in options:
        raise UsageError("--notes goes with --lint")
    if "strict" in options and options.get("as") != "openai":
        raise UsageError("--strict goes with --as openai")


def _say_in_dialect(entries: list[dict[str, Any]], options: dict[str, Any]) -> None:
    from .dialects import written

    tools, notes = written(entries, options["as"], strict="strict" in options)
    _say(tools if isinstance(tools, str) else _json(tools))
    for note in notes:
        _complain(note, 0)


def _lint(command: list[str], words: Words) -> int:
    from toolwire_schemas.audit import audit

    from .show import Style, findings_table, width

    with _connected(command, is_ours=words.command is None) as client:
        entries = client.list_entries(timeout_seconds=words.options.get("timeout"))
    findings = audit(entries)
    if words.options.get("json"):
        _say(_json(findings))
    else:
        _say(
            findings_table(findings, len(entries), width(), Style(sys.stdout), notes=words.options.get("notes", False))
        )
    return 1 if any(finding.severity == "error" for finding in findings) else 0


def _call(words: Words) -> int:
    from . import values
    from .equipment import person
    from .show import ProgressLine

    target, name, rest = _what_to_call(words)
    command = _command_of_server(words, [target] if target else [])
    line = ProgressLine(sys.stderr)
    with _connected(command, is_ours=words.command is None, on_ask=person(before=line.clear)) as client:
        tools = client.list_tools(timeout_seconds=words.options.get("timeout"))
        if _is_argument(name) and len(tools) == 1 and tools[0].name != name:
            name, rest = tools[0].name, [name, *rest]
        tool = _tool(name, tools)
        return _report(client, tool.name, values.read(rest, tool.input_schema), words.options, line)


def _is_argument(word: str) -> bool:
    return "=" in word or word.startswith("{")


def _what_to_call(words: Words) -> tuple[str | None, str, list[str]]:
    """The target (none if a command was given), the tool's name and the words of its arguments."""
    rest = list(words.words)
    if words.command is not None:
        if not rest:
            raise UsageError("name the tool to call: toolwire call NAME [key=value...] -- COMMAND")
        return None, rest[0], rest[1:]
    if len(rest) < 2:
        raise UsageError("name a target and a tool: toolwire call TARGET NAME [key=value...]")
    return rest[0], rest[1], rest[2:]


def _tool(name: str, tools: list[ToolDescription]) -> ToolDescription:
    for tool in tools:
        if tool.name == name:
            return tool
    raise UsageError(unknown("tool", name, [tool.name for tool in tools]))


def _report(client: Client, name: str, arguments: dict[str, Any], options: dict[str, Any], line: ProgressLine) -> int:
    from .show import Style, holds_data, result

    try:
        answer = client.call_tool(name, arguments, on_progress=line, timeout_seconds=options.get("timeout"))
    finally:
        line.clear()
    if options.get("json"):
        _say(_json(answer.raw))
    elif answer.is_error:
        _write(sys.stderr, Style(sys.stderr).red(result(answer.content)))
    else:
        try:
            _say(result(answer.content, options.get("output"), hint="; -o FILE saves it"))
            if options.get("output") and not holds_data(answer.content):
                _complain("nothing was saved: the answer is text alone", 0)
        except FileNotFoundError as error:
            raise UsageError(f"cannot save to {error.filename}: there is no such folder") from None
        except PermissionError as error:
            raise UsageError(f"cannot save to {error.filename}: that is not permitted") from None
    return 1 if answer.is_error else 0


def _ask(words: Words) -> int:
    from .ask import ask

    return ask(words, _own_as_set(words))


def _chat(words: Words) -> int:
    from .ask import chat

    return chat(words, _own_as_set(words))


def _own_as_set(words: Words) -> Callable[[list[str]], list[str]]:
    if "set" in words.options and "tools" not in words.options:
        raise UsageError("--set goes with --tools: name the bundled tool there")
    return partial(_own, settings=words.options.get("set", ()))


def _config(words: Words) -> int:
    from .config import configure

    if len(words.words) + len(words.command or []) < 2:
        raise UsageError("name a host and a target, as in `config vscode tools.py`; --help lists the hosts")
    outcome = configure(words, COMMANDS["serve"].options, _name([*words.words[1:], *(words.command or [])]))
    if outcome.text:
        _say(outcome.text)
        sys.stdout.flush()  # before what is said about it
    return _complain(outcome.told, outcome.status)


def _schema(words: Words) -> int:
    from .schemas import answer

    _say(answer(words, partial(_replies, words)))
    return 0


def _replies(words: Words) -> dict[str, Any]:
    """The schema of what a model may reply that knows the tools of a target or server."""
    from toolwire_client.react import Tools, reply_schema

    command = _command_of_server(words, words.words[1:])
    with _connected(command, is_ours=words.command is None) as client:
        entries = [tool.raw for tool in client.list_tools()]
    return reply_schema(Tools(entries), strict=words.options.get("strict", False))


def _check(words: Words) -> int:
    from .check import check

    text, status = check(words, [] if words.options.get("list") else _command_of_server(words, words.words))
    _say(text)
    return status


def _diff(words: Words) -> int:
    from .diff import diff

    def entries(command: list[str], is_ours: bool) -> list[Any]:
        with _connected(command, is_ours=is_ours) as client:
            return client.list_entries(timeout_seconds=words.options.get("timeout"))

    text, status = diff(words, entries, _own)
    _say(text)
    return status


def _demo(words: Words) -> int:
    from . import demo

    if words.words or words.command:
        raise UsageError("demo takes no arguments")
    with _connected(_own([demo.EXAMPLE]), is_ours=True) as client:
        demo.run(client, sys.stdout, partial(_solve, client))
    return 0


def _solve(client: Client, question: str) -> None:
    """Answer a question of arithmetic with the client's tools, and tell what happens."""
    from toolwire_client.agent import Agent
    from toolwire_client.models import ArithmeticModel
    from toolwire_client.terminal import PlainFace

    face = PlainFace(sys.stdout, sys.stdout)
    for event in Agent(ArithmeticModel(), client).run_sync(question):
        face.show(event)


def _command_of_server(words: Words, targets: list[str]) -> list[str]:
    if words.command is None:
        if not targets:
            raise UsageError("name a target, or a server's command after `--`")
        return _own(targets, words.options.get("set", ()))
    if targets or "set" in words.options:
        if not targets:
            raise UsageError("--set goes with bundled tools, not with a command after `--`")
        raise UsageError(f"either a target or a command after `--`, not both: leave out {targets[0]}")
    if not words.command:
        raise UsageError("the server's command is missing after `--`")
    return words.command


def _own(targets: list[str], settings: Sequence[str] = ()) -> list[str]:
    # -P keeps the working folder off the path, so that a file there cannot shadow a module we need.
    return [sys.executable, "-P", "-m", "toolwire", "serve", "--log-level", "warning", *_set(settings), "--", *targets]


def _set(settings: Sequence[str]) -> list[str]:
    return [word for one in settings for word in ("--set", one)]


@contextmanager
def _connected(command: list[str], *, is_ours: bool, on_ask: OnAsk | None = None) -> Iterator[Client]:
    """A client of the server that *command* starts. What goes wrong between them is told in one sentence."""
    from toolwire_client import ClientError, NotStarted, ServerGone, connect

    # Whoever types a command expects it to see their environment. And a server of ours that cannot load its
    # target would be tried again in the other era, and complain twice.
    era: Any = "modern" if is_ours else "auto"
    try:
        with connect(command, inherit_env=True, show_stderr=True, era=era, on_ask=on_ask) as client:
            yield client
    except NotStarted as error:
        raise Failed(str(error), 2) from None
    except ServerGone as error:
        refused = is_ours and error.exit_status == 2  # and it has said why
        raise Failed("" if refused else error.reason, 2 if refused else 1) from None
    except ClientError as error:
        raise Failed(str(error)) from None


def _json(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


# --- what can be typed ---------------------------------------------------------------------------------------

_JSON = Option("--json", "print JSON as the server sent it")

_SET = Option(
    "--set", "make a bundled tool with TOOL.PARAMETER=VALUE; may be given again", "SETTING", setting, many=True
)


def _seed(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise ValueError("a whole number")
    return int(text)


def _call_to_make(text: str) -> tuple[str, dict[str, Any]]:
    from .check import call

    return call(text)


_ASKING = (
    Option("--model", "the model to ask: PROVIDER:MODEL, arithmetic (offline), human (you), MODULE:OBJECT", "NAME"),
    Option("--tools", "let it use these tools, as `serve` takes them; may be given again", "TARGET", many=True),
    _SET,
    Option("--server", "let it use those of the MCP server that COMMAND starts; likewise", "COMMAND", many=True),
    Option("--config", "and those of the servers in a host's file, under mcpServers", "FILE"),
    Option(
        "--approve",
        "calls that may change something: ask (the default), reads (refuse them) or all (allow them)",
        "WHICH",
        one_of("ask", "reads", "all"),
    ),
    Option("--allow", "allow tools whose name matches without asking; may be given again", "PATTERN", many=True),
    Option("--deny", "never call tools whose name matches; may be given again", "PATTERN", many=True),
    Option("--transcript", "add all that happens to FILE, as JSON lines", "FILE"),
    Option("--resume", "go on where the transcript FILE stopped, and add to it", "FILE"),
    Option("--language", "the language of the prompts: en (the default) or zh", "NAME", one_of("en", "zh")),
    Option("--instructions", "what to tell the model besides", "TEXT"),
    Option("--max-turns", "replies of the model to a question; by default 20", "NUMBER", count),
    Option("--max-tokens", "tokens that a question may cost", "NUMBER", count),
    Option("--timeout", "how long a question may take, without the time in which you are asked", "SECONDS", seconds),
    Option("--tool-timeout", "how long a call of a tool may take; by default 300", "SECONDS", seconds),
    Option("--base-url", "where the model is, if not at its provider's usual address", "URL"),
    Option("--json", "print every event as a line of JSON; nobody is asked then"),
)

COMMANDS = {
    command.name: command
    for command in (
        Command(
            "serve",
            ("toolwire serve TARGET... [OPTIONS]",),
            "serve Python functions as tools over standard input and output",
            "A TARGET is a file (tools.py, or tools.yaml that describes tools), a folder of files, a module "
            "(package.module) or the name of bundled or installed tools; `:name` behind a file or module picks one "
            "function or toolkit. A module offers what it decorates with @tool_api, or else its public functions.",
            (
                Option("--name", "what the server calls itself; by default like the target", "NAME"),
                Option("--instructions", "what to tell clients about the use of the tools", "TEXT"),
                Option("--include", "serve only tools whose name matches; may be given again", "PATTERN", many=True),
                Option("--exclude", "leave out tools whose name matches; may be given again", "PATTERN", many=True),
                _SET,
                Option("--strict", "end with status 2 if a target cannot be loaded (the default)"),
                Option("--keep-going", "serve the rest if a target cannot be loaded"),
                Option("--reload", "follow changes of the tools' source, and keep the connection"),
                Option(
                    "--separator", "what stands between a toolkit's name and its method's; by default a dot", "TEXT"
                ),
                Option("--coerce", "decode arguments that a model sent as JSON text"),
                Option(
                    "--timeout", "end calls of tools that set no limit of their own after so long", "SECONDS", seconds
                ),
                Option("--mask-errors", "do not tell callers what unexpected exceptions say"),
                Option("--page-size", "list so many tools a page; by default all on one", "NUMBER", count),
                Option("--max-message-bytes", "refuse longer messages; by default 64MiB", "SIZE", size),
                Option(
                    "--max-result-bytes", "refuse to send longer results; by default just below 10MiB", "SIZE", size
                ),
                Option("--max-workers", "run so many tools side by side; by default 128", "NUMBER", count),
                Option("--isolate", "run every tool in a process of its own, so that a crash is one failed call"),
                Option("--memory-limit", "what a tool in a process of its own may use, as in 512MiB", "SIZE", size),
                Option("--max-processes", "have so many of these processes; by default 16", "NUMBER", count),
                Option(
                    "--grace",
                    "wait so long for running calls when the host hangs up; by default 1.5",
                    "SECONDS",
                    seconds,
                ),
                Option(
                    "--log-level",
                    "how much to say on stderr: debug, info, warning, error or off",
                    "LEVEL",
                    one_of(*log.LEVELS),
                ),
                Option("--log-json", "write the log as one JSON object a line"),
            ),
            (
                "toolwire serve tools.py",
                "toolwire serve tools.py:add package.module:Search",
                "toolwire serve tools/ --exclude 'debug_*' --timeout 60",
                "toolwire serve Calculator Files tools.py --set Files.roots=notes",
            ),
            _serve,
        ),
        Command(
            "list",
            (
                "toolwire list TARGET... [OPTIONS]",
                "toolwire list [OPTIONS] -- COMMAND",
                "toolwire list --bundled [--json]",
            ),
            "list the tools of a target, or of any MCP server that COMMAND starts",
            "Arguments in brackets may be left out. With --lint, the exit status is 1 if some client or model's API "
            "refuses a tool.",
            (
                Option("--bundled", "list the tools that come with Toolwire, and what each wants to run here"),
                _SET,
                Option("--lint", "list what clients and models' APIs refuse, and what to do about it"),
                Option("--notes", "with --lint: also what concerns few"),
                Option(
                    "--as",
                    "write the tools for another reader: lagent, openai, anthropic, python, typescript or markdown",
                    "DIALECT",
                    one_of("lagent", "openai", "anthropic", "python", "typescript", "markdown"),
                ),
                Option("--strict", "with --as openai: make functions strict where they can be"),
                _JSON,
                Option("--timeout", "give up after so long", "SECONDS", seconds),
            ),
            (
                "toolwire list tools.py",
                "toolwire list --json -- npx -y some-mcp-server",
                "toolwire list --lint -- npx -y some-mcp-server",
                "toolwire list tools.py --as openai --strict",
            ),
            _list,
        ),
        Command(
            "call",
            (
                "toolwire call TARGET NAME [KEY=VALUE... | JSON] [OPTIONS]",
                "toolwire call NAME [KEY=VALUE... | JSON] [OPTIONS] -- COMMAND",
            ),
            "call one tool and print what it answers",
            "Values are read as the tool's schema wants them: text stays text, the rest is JSON. KEY=@FILE takes "
            "the text of a file and KEY=@- standard input (KEY=@@x is the text @x), A.B=VALUE reaches into an "
            "object, a KEY given again adds to a list. NAME may be left out before an argument if there is one tool. "
            "On a terminal you are asked what the tool wants to know. The exit status is 1 if the tool fails.",
            (
                _JSON,
                _SET,
                Option("--output", "save images and other data to FILE", "FILE", short="-o"),
                Option("--timeout", "give up, and cancel the call, after so long", "SECONDS", seconds),
            ),
            (
                "toolwire call tools.py add a=2 b=3",
                "toolwire call Calculator expression='1/3 + 1/6'",
                """toolwire call tools.py search '{"query": "tea", "limit": 3}'""",
                "toolwire call read_file path=notes.txt -- npx -y some-mcp-server",
            ),
            _call,
        ),
        Command(
            "ask",
            ("toolwire ask QUESTION --model NAME [OPTIONS] [-- COMMAND]",),
            "have a language model answer a question with tools",
            "A QUESTION of - is read from standard input. The answer goes to standard output and everything else, if "
            "that is no terminal, to standard error. Ctrl-C cancels the call under way, and then the run. The exit "
            "status is 0 if the question was answered, 130 if Ctrl-C ended the run, and else 1.",
            _ASKING,
            (
                'toolwire ask "How much is 12 * (3 + 4)?" --tools tools.py --model arithmetic',
                'toolwire ask "What is new in this folder?" --server "npx -y some-mcp-server ." --model openai:gpt-5',
                "toolwire ask --resume run.jsonl --tools tools.py --model ollama:llama3.2",
            ),
            _ask,
        ),
        Command(
            "chat",
            ("toolwire chat --model NAME [OPTIONS] [-- COMMAND]",),
            "ask a language model with tools one question after the other",
            "Each question is a line, and the model remembers those before it. /help lists what else can be typed.",
            _ASKING,
            ("toolwire chat --tools tools.py --model anthropic:claude-sonnet-4-5",),
            _chat,
        ),
        Command(
            "config",
            ("toolwire config HOST TARGET... [OPTIONS]",),
            "tell a host how to start the tools: what to paste, or --write it",
            "A HOST is claude-desktop, claude-code, vscode, cursor, zed, neovim, emacs, or json for any that reads "
            "mcpServers. All options of `serve` can be given too, and are passed on. --write keeps everything else in "
            "the file, comments as well, and leaves the file as it was beside it.",
            (
                Option("--write", "put it into the host's file, or into FILE", "FILE", endings=(".json", ".jsonc")),
                Option("--user", "into the file for all projects, if the host has one for each project as well"),
                Option("--force", "replace a server of that name even if it is another one"),
                Option("--server-name", "what the host calls the server; by default like the target", "NAME"),
                Option(
                    "--env", "a variable of the server's environment; may be given again", "KEY=VALUE", variable, True
                ),
            ),
            (
                "toolwire config claude-desktop tools.py --write",
                "toolwire config vscode tools.py --separator _ --env API_KEY=abc",
            ),
            _config,
            passes_on="serve",
        ),
        Command(
            "schema",
            (
                "toolwire schema list [--json]",
                "toolwire schema show NAME",
                "toolwire schema export DIR",
                "toolwire schema bundle [NAME...]",
                "toolwire schema reply TARGET... [--strict]",
                "toolwire schema reply [--strict] -- COMMAND",
            ),
            "the published schemas of the wire, for hosts in any language",
            "They are JSON Schema 2020-12. `export` writes all of them, and their types for TypeScript "
            "(toolwire.d.ts). `bundle` prints one document that needs nothing else: of all, or of what is named and "
            "whatever that refers to. `reply` prints what a model that knows the tools of a TARGET, or of any MCP "
            "server that COMMAND starts, is held to in its replies: react-reply with a branch for each tool.",
            (
                Option("--json", "with list: print the names, ids, titles and descriptions as JSON"),
                Option("--strict", "with reply: in the form of OpenAI's strict mode, an object at the root"),
                _SET,
            ),
            (
                "toolwire schema show tools-call-result",
                "toolwire schema bundle tool-library > tool-library.json",
                "toolwire schema reply tools.py --strict",
            ),
            _schema,
        ),
        Command(
            "check",
            ("toolwire check [OPTIONS] -- COMMAND", "toolwire check TARGET... [OPTIONS]", "toolwire check --list"),
            "test whether a tool server keeps the contract: any that COMMAND starts",
            "The server is started many times, and spoken to in every way its hosts may, and in some they may not. "
            "Only tools that say they are read-only are called, and those named by --call. Each verdict tells which "
            "words of MCP, JSON-RPC or LSP it is for. The exit status is 1 if something fails that must not.",
            (
                Option("--only", "play only cases whose id matches; may be given again", "PATTERN", many=True),
                Option("--skip", "leave out cases whose id matches; may be given again", "PATTERN", many=True),
                Option("--list", "list the cases instead"),
                _SET,
                Option(
                    "--era",
                    "speak legacy (initialize) or modern (2026-07-28) MCP alone",
                    "ERA",
                    one_of("legacy", "modern", "both"),
                ),
                Option(
                    "--framing",
                    "speak in lines or with headers alone; by default whatever it knows",
                    "FRAMING",
                    one_of("lines", "headers", "both"),
                ),
                Option(
                    "--call",
                    "a tool that may be called, and with what; may be given again",
                    "NAME=JSON",
                    _call_to_make,
                    True,
                ),
                Option("--destructive", "call tools that do not say they are read-only as well"),
                Option("--verbose", "show the exchanges behind warnings too, not only behind failures"),
                Option("--fuzz", "call each tool with so many arguments that fit, and that do not", "NUMBER", count),
                Option("--seed", "with --fuzz: that of an earlier run, for the same arguments", "NUMBER", _seed),
                Option("--timeout", "how long to wait for each answer; by default 10", "SECONDS", seconds),
                Option("--start-timeout", "and for the first; by default 20", "SECONDS", seconds),
                Option("--jobs", "run so many servers at once; by default one for each core, up to 4", "NUMBER", count),
                Option(
                    "--fail-on",
                    "exit with 1 if something of this severity fails: must (the default), should, advice",
                    "SEVERITY",
                    one_of("must", "should", "advice"),
                ),
                Option("--baseline", "gaps that are known, with reasons: they do not count", "FILE"),
                Option("--write-baseline", "write all gaps to FILE, for reasons to be filled in", "FILE"),
                _JSON,
                Option("--junit", "write the verdicts to FILE as well, as JUnit's XML", "FILE"),
            ),
            (
                "toolwire check tools.py",
                "toolwire check -- npx -y some-mcp-server",
                """toolwire check --call 'search={"query": "tea"}' --junit report.xml -- my-server --stdio""",
            ),
            _check,
        ),
        Command(
            "diff",
            ("toolwire diff OLD NEW [OPTIONS]",),
            "tell what changed between two lists of tools, and whom that breaks",
            "OLD and NEW are each a saved list (FILE.json as `list --json` writes it, or - for standard input), a "
            "target (FILE.py, FILE.yaml, a folder or a module) or the command of any MCP server, in one argument: a "
            "program, or several words. It is told what they were taken for. The verdict is that of SemVer: major, "
            "minor or patch. Whether one schema takes all that another takes is proved, or refuted by an example; "
            "where neither can be done it is unknown, which counts as major. The exit status is 1 if something is as "
            "grave as --fail-on says, and 2 if a list cannot be had.",
            (
                Option(
                    "--fail-on",
                    "exit with 1 from this verdict on: major (the default), minor, patch or never",
                    "VERDICT",
                    one_of("major", "minor", "patch", "never"),
                ),
                Option("--allow-unknown", "what may break somebody, or may not, does not count as major"),
                Option("--json", "print the changes as JSON (`toolwire schema show tool-changes`)"),
                Option("--markdown", "print them for release notes, or for who reviews the change"),
                Option("--timeout", "give up on a server that does not list its tools for so long", "SECONDS", seconds),
            ),
            (
                "toolwire list tools.py --json > tools.json",
                "toolwire diff tools.json tools.py",
                'toolwire diff "npx -y some-mcp-server@1" "npx -y some-mcp-server@2" --markdown',
            ),
            _diff,
        ),
        Command(
            "demo",
            ("toolwire demo",),
            "show a server at work: list, call, stream, fail, cancel, solve",
            "Everything happens on this machine, with the example tools that come with Toolwire.",
            (),
            ("toolwire demo",),
            _demo,
        ),
    )
}
