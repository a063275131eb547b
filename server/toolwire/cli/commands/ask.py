"""`toolwire ask`: has a language model answer one question with tools."""

from __future__ import annotations

import sys
from functools import partial
from shlex import quote
from typing import TYPE_CHECKING, Any

from toolwire_schemas.language import say

from ...errors import UsageError
from ...loading import targets as load
from ..agent.agent_options import OPTIONS
from ..agent.agent_run import CANCELLED, AgentRun
from . import Command

if TYPE_CHECKING:
    from toolwire_agent.agent import Outcome

    from ..options import Words

COMMAND = Command(
    usage=("toolwire ask QUESTION --model NAME [OPTIONS] [-- COMMAND]",),
    details=(
        "A QUESTION of - is read from standard input. The answer goes to standard output;"
        " everything else goes to standard error unless both are a terminal. Ctrl-C cancels the"
        " running call, and again the run. The exit status is 0 if the question was answered, 130"
        " if Ctrl-C ended the run, and else 1."
    ),
    options=OPTIONS,
    examples=(
        'toolwire ask "How much is 12 * (3 + 4)?" --tools tools.py --model arithmetic',
        (
            'toolwire ask "What is new in this folder?" --server "npx -y some-mcp-server ." --model'
            " openai:gpt-5"
        ),
        "toolwire ask --resume run.jsonl --tools tools.py --model ollama:llama3.2",
        "toolwire ask --fork run.jsonl --at 7 --tools tools.py --model openai:gpt-5",
    ),
)


def run(words: Words) -> int:
    """Show the run for the question, or for that of a transcript, and return its exit status."""
    question = _read_question(words)
    return AgentRun(words, is_one_question=True).run(partial(_ask, words.options, question))


def _read_question(words: Words) -> str | None:
    """The question; `None` to continue that of a transcript."""
    given = words.words
    if len(given) > 1:
        raise UsageError(_suggest(given))
    if not given and words.options.keys().isdisjoint(("resume", "fork")):
        raise UsageError(
            'say what to ask, as in `ask "What is 2 + 3?"`; `-` reads it from standard input'
        )
    question = given[0] if given else None
    if question == "-":
        question = sys.stdin.read() if sys.stdin is not None else ""
    if question is not None and not question.strip():
        raise UsageError("the question is empty")
    return question


def _suggest(words: list[str]) -> str:
    """Suggest the probable meaning of several *words*."""
    options = []
    others = []
    for word in words:
        target = load.parse(word)
        if target.is_bundled or target.is_path:
            options.append(f"--tools {quote(word)}")
        else:
            others.append(word)
    question = " ".join(others)
    if not options or not question:
        return f'put the question in quotes, as in `ask "{" ".join(words)}"`'
    return f'name tools with --tools, as in `ask "{question}" {" ".join(options)}`'


async def _ask(options: dict[str, Any], question: str | None, running: AgentRun) -> int:
    session = running.session
    if question is None and not session.can_go_on:
        file = options.get("resume", options.get("fork"))
        at = f" at line {options['at']}" if "at" in options else ""
        raise UsageError(f"{file} has no open question{at}; give another one")
    events = session.go_on() if question is None else session.run(question)
    outcome = await running.show(events)
    if outcome.status == "needs_input":
        advice = _say_how_to_resume(options)
        if not running.terminal.is_attended:
            reason = _say_why_no_user_was_asked(outcome, is_json="json" in options)
            advice = say("{reason}; {advice}", reason=reason, advice=advice)
        running.terminal.tell(advice)
    return _EXIT_STATUSES.get(outcome.status, 1)


_EXIT_STATUSES = {"answered": 0, "cancelled": CANCELLED}


def _say_how_to_resume(options: dict[str, Any]) -> str:
    file = options.get("resume", options.get("transcript"))
    if file is None:
        return say("--transcript FILE makes a run resumable")
    return say("--resume {file} resumes it", file=file)


def _say_why_no_user_was_asked(outcome: Outcome, *, is_json: bool) -> str:
    from toolwire_agent.agent.events import ApprovalAsked

    pending = outcome.pending
    if isinstance(pending, ApprovalAsked) and pending.interrupted:
        return say(
            "the call may have taken effect: decide at a terminal, or --deny {tool} goes on"
            " without it",
            tool=quote(pending.tool),
        )
    if is_json:
        reason = say("--json asks no user")
    else:
        reason = say("no user can be asked, since this is not a terminal")
    if isinstance(pending, ApprovalAsked):
        remedy = say(
            "--allow {tool}, or --approve all, says yes beforehand", tool=quote(pending.tool)
        )
    else:
        remedy = say("--answer TEXT, or a line of standard input, answers the question")
    return say("{label}: {text}", label=reason, text=remedy)
