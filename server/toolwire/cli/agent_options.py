"""Reads the options of `ask` and `chat`: which model, servers, limits and renderer."""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

from ..errors import LoadError, UsageError
from .agent_run import AgentRun
from .agent_servers import ServersToStart
from .open_client import is_attended
from .options import SET, Option

if TYPE_CHECKING:
    from toolwire_client.agent import Agent, Approvals, Budgets
    from toolwire_client.models import Model
    from toolwire_client.terminal import Renderer

    from .options import Words

OPTIONS = (
    Option(
        "--model NAME",
        "model: PROVIDER:MODEL, arithmetic (offline), human (you), replay:FILE (a transcript) or MODULE:OBJECT "
        "(default with --resume: that of the transcript)",
    ),
    Option("--tools TARGET", "let it use these tools, given as for `serve`; repeatable", many=True),
    SET,
    Option("--server COMMAND", "let it use the tools of the MCP server that COMMAND starts; repeatable", many=True),
    Option("--config FILE", "let it use the servers under mcpServers in a host's config FILE"),
    Option("--approve ask|reads|all", "calls other than trusted reads: ask (default), refuse (reads) or allow (all)"),
    Option(
        "--trust-hints WHOSE",
        "trust read-only hints of a server (its COMMAND or name), yes (all) or no (none) (default: those of --tools)",
        many=True,
    ),
    Option("--allow PATTERN", "allow tools whose name matches without asking; repeatable", many=True),
    Option("--deny PATTERN", "never call tools whose name matches; repeatable", many=True),
    Option("--answer TEXT", "answer to the model's next question; repeatable for the following ones", many=True),
    Option("--transcript FILE", "append all events to FILE, as JSON lines"),
    Option("--resume FILE", "resume the transcript FILE, and append to it"),
    Option("--language en|zh", "language of the prompts (default: TOOLWIRE_LANG, or en)"),
    Option("--instructions TEXT", "additional instructions for the model"),
    Option("--max-turns NUMBER", "maximum number of replies to a question (default: 20)"),
    Option("--max-tokens NUMBER", "maximum number of tokens for a question"),
    Option(
        "--timeout SECONDS",
        "time limit of a question; for ask including the start of the servers; without the time you need to answer; "
        "the last quarter is kept for the final answer",
    ),
    Option("--tool-timeout SECONDS", "time limit of a tool call (default: 300)"),
    Option("--base-url URL", "URL of the model's API (default: its provider's)"),
    Option("--json", "print every event as a line of JSON, without prompts at the terminal"),
)

_SETTINGS = {"language": "language", "instructions": "instructions", "tool_seconds": "tool_timeout"}
_LIMITS = {"turns": "max_turns", "tokens": "max_tokens"}
_FINAL = 0.25
"""The part of `--timeout` that is kept for the last turn, with the final answer."""
_MAX_FINAL_SECONDS = 60.0
_MIN_SECONDS = 0.01


def agent_run(words: Words, *, is_one_question: bool = False) -> AgentRun:
    """Return what a command line asks to run; nothing is started yet."""
    options = words.options
    if "set" in options and "tools" not in options:
        raise UsageError("--set goes with --tools: name the bundled tool there")
    servers = ServersToStart(words)
    model = _model(options)
    if "resume" in options and options.get("transcript", options["resume"]) != options["resume"]:
        raise UsageError("--resume appends to the transcript that it resumes: leave out --transcript")
    _budgets(options)  # refuses limits that are too small before a server starts
    return AgentRun(
        model=model,
        servers=servers,
        renderer=_renderer(options, model),
        make_agent=partial(_agent, options, model, is_one_question),
        resume=options.get("resume"),
        answers=options.get("answer", []),
        # A program that reads events cannot answer.
        is_attended=is_attended() and not options.get("json"),
        start_seconds=options.get("timeout"),
    )


def _agent(
    options: dict[str, Any],
    model: Model,
    is_one_question: bool,
    tools: dict[str, Any],
    *,
    trusted: bool | tuple[str, ...],
    started_seconds: float,
    on_ask: Any,
    on_approval: Any,
) -> Agent:
    from toolwire_client.agent import Agent

    return Agent(
        model,
        tools,
        budgets=_budgets(options, started_seconds if is_one_question else 0.0),
        approval=_approvals(options, trusted, on_approval),
        on_ask=on_ask,
        transcript=options.get("resume", options.get("transcript")),
        **{name: options[option] for name, option in _SETTINGS.items() if option in options},
    )


def _model(options: dict[str, Any]) -> Model:
    from toolwire_client.models import ModelError, known_names, model_from_name

    from ..loading.importing import explained

    name = options.get("model") or _recorded_model(options)
    if name is None:
        raise UsageError(f"say which model to ask, with --model NAME. Known: {', '.join(known_names())}")
    settings = {"base_url": options["base_url"]} if "base_url" in options else {}

    def make() -> Model:
        try:
            return model_from_name(name, **settings)
        except (ModelError, OSError) as error:
            raise LoadError(str(error)) from None

    return explained(name, make)


def _recorded_model(options: dict[str, Any]) -> str | None:
    """Return the model that the transcript names, unless its name leads to code: a transcript must not choose code."""
    from toolwire_client.agent import BrokenTranscript, load
    from toolwire_client.agent.events import Started
    from toolwire_client.models.by_name import needs_no_code

    if "resume" not in options:
        return None
    try:
        started = load(options["resume"])[0]
    except BrokenTranscript as error:
        raise UsageError(str(error)) from None
    return started.model if isinstance(started, Started) and needs_no_code(started.model) else None


def _renderer(options: dict[str, Any], model: Model) -> Renderer:
    """Return a renderer: rich on a terminal, plain text elsewhere, or JSON."""
    from toolwire_client.models import HumanModel
    from toolwire_client.terminal import JsonRenderer, Line, PlainRenderer

    if options.get("json"):
        return JsonRenderer(sys.stdout, sys.stderr)
    plain = PlainRenderer(sys.stdout, sys.stderr)
    if not (sys.stdout.isatty() and sys.stderr.isatty()) or os.environ.get("TERM") == "dumb":
        return plain
    try:
        from toolwire_client.terminal.rich_renderer import RichRenderer
    except ImportError:
        plain.tell(Line("note", "with rich this looks better: pip install 'toolwire[agent]'"))
        return plain
    return RichRenderer(thinks=not isinstance(model, HumanModel))


def _budgets(options: dict[str, Any], spent_seconds: float = 0.0) -> Budgets:
    """Return the budgets of a question that has already taken *spent_seconds*."""
    from toolwire_client.agent import Budgets

    limits = {name: options[option] for name, option in _LIMITS.items() if option in options}
    if "timeout" in options:
        left = options["timeout"]
        if spent_seconds:
            left = max(_MIN_SECONDS, left - spent_seconds)
        limits["final_seconds"] = min(_FINAL * left, _MAX_FINAL_SECONDS)
        limits["seconds"] = left - limits["final_seconds"]
    try:
        return Budgets(**limits)
    except ValueError as error:
        raise UsageError(f"the limits are too small: {error}") from None


def _approvals(options: dict[str, Any], trusted: bool | tuple[str, ...], on_approval: Any) -> Approvals:
    from toolwire_client.agent import Approvals

    mode = options.get("approve", "ask")
    return Approvals(
        ask=None if mode == "reads" else on_approval,  # with "all" only for interrupted calls
        allow=("*",) if mode == "all" else tuple(options.get("allow", ())),
        deny=tuple(options.get("deny", ())),
        trust_hints=trusted,
        no_user="refuse" if mode == "reads" else "pause",
    )
