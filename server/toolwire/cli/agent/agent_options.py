"""The options of `ask` and `chat`, and what they choose: model, renderer, limits and approvals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...errors import LoadError, UsageError
from ..local_page import OPTIONS as PAGE
from ..option_values import read_number
from ..options import ADOPT, RUN_ON, SET, Option

if TYPE_CHECKING:
    from toolwire_agent.agent import Approvals, Budgets
    from toolwire_agent.agent.events import Started
    from toolwire_agent.models import Model
    from toolwire_agent.models.prices import Price
    from toolwire_agent.react import Protocol
    from toolwire_agent.terminal import Renderer


def read_language(text: str) -> str:
    """Accept a language, also as locales are written: `zh-CN`."""
    from toolwire_schemas.language import check_language

    try:
        return check_language(text)
    except ValueError:
        raise ValueError("en or zh, also as in zh-CN") from None


OPTIONS = (
    Option(
        "--model NAME",
        "model: PROVIDER:MODEL, arithmetic (offline), human (you), replay:FILE (a transcript) or"
        " MODULE:OBJECT (default with --resume and --fork: that of the transcript)",
    ),
    Option("--tools TARGET", "let it use these tools, given as for `serve`; repeatable", many=True),
    SET,
    ADOPT,
    RUN_ON,
    Option(
        "--server COMMAND",
        "let it use the tools of the MCP server that COMMAND starts, or that at a URL; repeatable",
        many=True,
    ),
    Option("--config FILE", "let it use the servers under mcpServers in a host's config FILE"),
    Option(
        "--approve ask|reads|all",
        "calls other than trusted reads: ask (default), refuse (reads) or allow (all)",
    ),
    Option(
        "--trust-hints WHOSE",
        "trust read-only hints of a server (its COMMAND or name), yes (all) or no (none) (default:"
        " those of --tools)",
        many=True,
    ),
    Option(
        "--allow PATTERN", "allow tools whose name matches without asking; repeatable", many=True
    ),
    Option("--deny PATTERN", "never call tools whose name matches; repeatable", many=True),
    Option(
        "--answer TEXT",
        "answer to the next question of the model or of a tool; repeatable",
        many=True,
    ),
    Option(
        "--show all|search|code|auto",
        "give the model all tools, a search over them, a search and programs that call them, or"
        " the search only if the list takes too much of its context (default: auto); with"
        " --protocol small, tools that the question finds replace the search",
    ),
    Option(
        "--show-tokens NUMBER",
        "with --show auto: tokens of a list, estimated, beyond which a search replaces it (default:"
        " a twentieth of the context, or 10,000)",
    ),
    Option(
        "--pin PATTERN",
        "with a search: also give the model the tools whose name matches; repeatable",
        many=True,
    ),
    Option("--transcript FILE", "append all events to FILE, as JSON lines"),
    Option("--resume FILE", "resume the transcript FILE, and append to it"),
    Option(
        "--fork FILE",
        "continue the transcript FILE another way, in a transcript of its own (default: FILE's name"
        " with the line)",
    ),
    Option(
        "--at NUMBER", "last line of the transcript that the fork shares (default: the last one)"
    ),
    Option(
        "--protocol structured|small|native",
        "exchange with the model: messages of JSON, the same for small models, or native tool calls"
        " (default: structured; small if the model's name says at most 500 million parameters, as"
        " in smollm2:135m; with --resume and --fork that of the transcript, and its language and"
        " instructions)",
    ),
    Option(
        "--temperature NUMBER",
        "randomness of the model's choice of words, 0 for the least",
        convert=read_number,
    ),
    Option(
        "--extra-body JSON",
        "members that are added to each request to the model, for features of its vendor, as in "
        '\'{"reasoning_effort": "low"}\'',
    ),
    Option(
        "--language NAME",
        "language of prompts, of errors for the model, and of what is shown of the run: en or zh,"
        " also as in zh-CN (default: TOOLWIRE_LANG, or en)",
        convert=read_language,
    ),
    Option("--instructions TEXT", "additional instructions for the model"),
    Option(
        "--max-turns NUMBER",
        "maximum number of turns, which are replies of the model, for a question (default: 20)",
    ),
    Option(
        "--price PRICE",
        "price of a million tokens, as IN,OUT (read and written, as in 0.15,0.6), or a FILE of"
        " prices by model; the cost of each question is shown",
    ),
    Option("--max-tokens NUMBER", "maximum number of tokens for a question"),
    Option("--reply-tokens NUMBER", "maximum number of tokens of a reply (default: 8192)"),
    Option(
        "--result-limit NUMBER", "maximum number of characters of a tool's result (default: 30000)"
    ),
    Option(
        "--context-tokens NUMBER", "size of the model's context, if its server does not tell it"
    ),
    Option(
        "--timeout SECONDS",
        "time limit of a question; for ask including the start of the servers; without the time you"
        " need to answer; the last quarter is kept for the final answer",
    ),
    Option(
        "--start-timeout SECONDS",
        "time limit for the start of the servers (default: 120, or that of --timeout)",
    ),
    Option("--tool-timeout SECONDS", "time limit of a tool call (default: 300)"),
    Option("--base-url URL", "URL of the model's API (default: its provider's)"),
    Option("--html FILE", "also write the run to FILE, as a page for browsers, when it ends"),
    Option("--json", "print every event as a line of JSON, without prompts at the terminal"),
    Option("--inspect", "show the run on a local page, too, whose address is printed"),
    *PAGE,
)

SETTINGS = {
    "tool_seconds": "tool_timeout",
    "show": "show",
    "show_tokens": "show_tokens",
    "pin": "pin",
}
"""Arguments of `Agent`, and the options that give them."""

_OF_ENDPOINTS = ("base_url", "temperature", "extra_body", "context_tokens")
"""The options for models with an endpoint, by their names as settings of `model_from_name`."""
_LIMITS = {"turns": "max_turns", "tokens": "max_tokens", "reply_tokens": "reply_tokens"}


def make_model(options: dict[str, Any]) -> Model:
    """Return the model of `--model`, or of the transcript to resume."""
    from toolwire_agent.models import ModelError, list_names, model_from_name

    from ...loading.importing import run_user_code

    name = options.get("model") or _find_recorded_model(options)
    if name is None:
        raise UsageError(
            f"say which model to ask, with --model NAME. Known: {', '.join(list_names())}"
        )
    settings = {name: options[name] for name in _OF_ENDPOINTS if name in options}

    def make() -> Model:
        try:
            return model_from_name(name, **settings)
        except OSError as error:
            raise LoadError(
                f"cannot open {error.filename}: {error.strerror}" if error.filename else str(error)
            ) from None
        except ModelError as error:
            raise LoadError(str(error)) from None

    return run_user_code(name, make)


def make_protocol(options: dict[str, Any], model: Model) -> Protocol:
    """Return the protocol of `--protocol`, or of the transcript, or that for the size in the
    model's name.
    """
    from toolwire_agent.agent.transcripts.resuming import choose_protocol

    try:
        protocol = choose_protocol(
            model,
            load_recorded_start(options),
            name=options.get("protocol"),
            language=options.get("language"),
            instructions=options.get("instructions"),
        )
    except ValueError as error:
        raise UsageError(str(error)) from None
    speak_language(protocol.language.name)  # a transcript may be in another one
    return protocol


def speak_language(name: str | None) -> None:
    """Speak the language *name* in this process and its children; `None` leaves it as it is."""
    from toolwire_schemas.language import set_language

    if name is not None:
        set_language(name)


def load_recorded_start(options: dict[str, Any]) -> Started | None:
    """Return the start of the session to resume or to fork."""
    from toolwire_agent.agent.transcripts.resuming import load_start

    file = options.get("resume", options.get("fork"))
    if file is None:
        return None
    try:
        return load_start(file, options.get("at"))
    except ValueError as error:
        raise UsageError(str(error)) from None


def _find_recorded_model(options: dict[str, Any]) -> str | None:
    from toolwire_agent.agent.transcripts.resuming import find_model_name

    return find_model_name(load_recorded_start(options))


def name_transcript(options: dict[str, Any]) -> None:
    """Check that the options about transcripts agree, and give a fork a file of its own, such as
    `run-7.jsonl`.
    """
    from toolwire_agent.agent.transcripts.resuming import name_fork

    if "resume" in options and options.get("transcript", options["resume"]) != options["resume"]:
        raise UsageError(
            "--resume appends to the transcript that it resumes: leave out --transcript"
        )
    if "resume" in options and "fork" in options:
        raise UsageError(
            "--resume goes on in the same transcript, --fork in another one: leave out one of them"
        )
    if "at" in options and "fork" not in options:
        raise UsageError("--at goes with --fork: name the transcript there")
    if "fork" in options and "transcript" not in options:
        try:
            options["transcript"] = str(name_fork(options["fork"], options.get("at")))
        except ValueError as error:
            raise UsageError(str(error)) from None


def load_price(options: dict[str, Any], model: Model) -> Price | None:
    """Return the price of `--price`, by the model's name there or that of its vendor."""
    if "price" not in options:
        return None
    from toolwire_agent.models.prices import read_price

    name = options.get("model") or _find_recorded_model(options) or ""
    try:
        return read_price(options["price"], [name, str(getattr(model, "model", name))])
    except (OSError, ValueError) as error:
        raise UsageError(f"--price: {error}") from None


def make_renderer(options: dict[str, Any], model: Model) -> Renderer:
    """Return the renderer for the options, which knows the price of the model."""
    from toolwire_agent.models import HumanModel
    from toolwire_agent.terminal import choose_renderer

    price = load_price(options, model)
    renderer = choose_renderer(
        has_json=bool(options.get("json")), thinks=not isinstance(model, HumanModel)
    )
    renderer.price = price
    return renderer


def make_budgets(options: dict[str, Any], spent_seconds: float = 0.0) -> Budgets:
    """Return the budgets of a question that has already taken *spent_seconds*."""
    from toolwire_agent.agent import Budgets

    limits = {name: options[option] for name, option in _LIMITS.items() if option in options}
    if "timeout" not in options:
        return Budgets(**limits)
    return Budgets.within(options["timeout"], spent_seconds=spent_seconds, **limits)


def make_approvals(
    options: dict[str, Any], trusted: bool | tuple[str, ...], on_approval: Any
) -> Approvals:
    """Return which calls are allowed; *on_approval* asks the user."""
    from toolwire_agent.agent import Approvals

    mode = options.get("approve", "ask")
    return Approvals(
        ask=None if mode == "reads" else on_approval,  # with "all" only for interrupted calls
        allow=("*",) if mode == "all" else tuple(options.get("allow", ())),
        deny=tuple(options.get("deny", ())),
        trust_hints=trusted,
        no_user="refuse" if mode == "reads" else "pause",
    )
