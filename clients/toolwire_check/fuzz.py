"""Call a server's tools with arguments generated from their schemas: valid ones, and invalid ones
to be refused.

Strategy. One process answers call after call (`generated_calls.py`). Hypothesis generates the
arguments and shrinks those that fail. The outcome of each call is cached, so a server with varying
answers does not confuse it. The smallest failure is sent to a fresh process once more, and that
outcome is reported.

A server that dies is worse than one that accepts invalid arguments, which many do. So a first
search looks for calls without a proper response only. If it finds none, a second one, for which all
outcomes are known, shrinks the gravest of the milder failures.
"""

from __future__ import annotations

import os
import random
import re
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from toolwire_client.errors import NotStarted
from toolwire_client.validation import join_errors
from toolwire_schemas.cases import Case
from toolwire_schemas.install_command import install_command
from toolwire_schemas.json_schema.bounded_validator import CannotJudge, TooExpensive
from toolwire_schemas.json_schema.error_text import write_faults
from toolwire_schemas.json_schema.lossless import is_read
from toolwire_schemas.wire import codec
from toolwire_schemas.wire.messages import INVALID_PARAMS

from .judging.expectations import Breach, shorten_json
from .judging.named_rules import find_structure_fault
from .playing.generated_calls import CALL_STEPS
from .playing.plan import Play
from .playing.verdicts import judge_play, make_verdict
from .report import is_bad

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hypothesis.strategies import SearchStrategy

    from .facts.check_settings import CheckSettings
    from .facts.server_facts import Facts
    from .judging.conversation import Event, Message
    from .playing.generated_calls import GeneratedCalls
    from .report import Verdict

Kind = Literal["valid", "invalid"]

_SHRINK_SECONDS = 20.0  # a server that dies or hangs makes each step of shrinking slow
_MAX_REASONS = 3

# The gravity of an outcome.
_FINE = 0
_BREAKS_SHOULD = 1
_BREAKS_MUST = 2
_NO_RESPONSE = 3  # or not a proper one: the server does not go on

_BEHAVIOURS: dict[Kind, str] = {
    "valid": (
        "Whatever arguments {} describes as right, it answers once, as it describes; the server"
        " goes on."
    ),
    "invalid": (
        "Whatever arguments {} describes as wrong, it refuses with a reason; the server goes on."
    ),
}
_SOURCES: dict[Kind, str] = {
    "valid": "https://modelcontextprotocol.io/specification/2025-11-25/server/tools#output-schema",
    "invalid": (
        "https://modelcontextprotocol.io/specification/2025-11-25/server/tools#security-considerations"
    ),
}

_NUMBER_OF_CALL = re.compile(r'"fuzz-\d+')
_ACCEPTED = "they were accepted"
_NOTE = (
    "no violation: it reads JSON in strings, or leaves out null, where the inputSchema takes"
    " neither, as in {}"
)
# As in the case calls/unknown-argument: many servers drop arguments that they do not know.
_WORDS_ABOUT_UNKNOWN = ("additionalProperties", "unevaluatedProperties")


class MissingHypothesis(ImportError):
    """Hypothesis is not installed. The text says how to install it."""


class Fuzzing(msgspec.Struct, frozen=True):
    """The number of *examples* of each kind for each tool, and the *seed* that generates them."""

    examples: int = 100
    seed: int = 0


def fuzz(
    facts: Facts, fuzzing: Fuzzing, settings: CheckSettings, calls: GeneratedCalls
) -> Iterator[Verdict]:
    """Yield the verdicts `fuzz/valid/TOOL` and `fuzz/invalid/TOOL` on each tool of the server with
    these *facts*.

    Tools are called that declare that they are read-only, those named in the calls of *settings*,
    and all if these have `any_tool`; the others are not applicable. `need_hypothesis` has to be
    called before.
    """
    for tool in facts.tools:
        name = str(tool.get("name")) if isinstance(tool, dict) else "?"
        reason = _find_obstacle(tool, settings)
        for kind, behaviour in _BEHAVIOURS.items():
            case = Case(
                id=f"fuzz/{kind}/{name}",
                behaviour=behaviour.format(name),
                source=_SOURCES[kind],
                severity="must",
                steps=CALL_STEPS,
            )
            play = Play(case, facts.revisions[0], facts.framings[0], reason)
            yield _judge_tool(play, tool, kind, calls, fuzzing)


def need_hypothesis() -> None:
    """Prepare Hypothesis.

    Raises:
        MissingHypothesis: if it is not installed.
    """
    # A process that runs pytest or Hypothesis itself has its own settings.
    is_ours = "hypothesis" not in sys.modules and "pytest" not in sys.modules
    try:
        from hypothesis.configuration import set_hypothesis_home_dir
    except ImportError:
        remedy = install_command("toolwire[contract]")
        raise MissingHypothesis(f"fuzzing needs the package hypothesis; run: {remedy}") from None
    if is_ours and "HYPOTHESIS_STORAGE_DIRECTORY" not in os.environ:
        # By default it writes into the working folder.
        caches = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        set_hypothesis_home_dir(os.path.join(caches, "toolwire", "hypothesis"))


def _find_obstacle(tool: Any, settings: CheckSettings) -> str:
    """Return why this *tool* is not called; empty if it is."""
    if not isinstance(tool, dict) or not isinstance(tool.get("name"), str):
        return "its entry in tools/list is not that of a tool"
    schema = tool.get("inputSchema")
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return "its inputSchema is not that of an object"
    if not settings.allows_call(tool):
        return "it does not say that it is read-only (annotations.readOnlyHint)"
    return ""


def _judge_tool(
    play: Play, tool: Any, kind: Kind, calls: GeneratedCalls, fuzzing: Fuzzing
) -> Verdict:
    if play.reason:
        return make_verdict(play, "not applicable", reason=play.reason)
    start_time = time.monotonic()
    try:
        search = _Search(play, tool, kind, calls)
        search.run(fuzzing)
        failure = search.confirm()
    except (CannotJudge, RecursionError) as error:
        reason = f"there are no {kind} arguments to try: {error}"
        return make_verdict(play, "not applicable", reason=reason)
    except NotStarted as error:
        breach = Breach("a server that starts again", str(error))
        return judge_play(play, breach, [], time.monotonic() - start_time)
    seconds = time.monotonic() - start_time
    if not search.outcomes:
        return make_verdict(play, "not applicable", reason=f"no {kind} arguments were found")
    if failure is None:
        note = ""
        if search.leniently_read is not None:
            note = _NOTE.format(shorten_json(search.leniently_read))
        return make_verdict(play, "pass", reason=note, seconds=seconds)
    verdict = judge_play(play, failure.breach, failure.events, seconds)
    exchange = [*verdict.exchange, f"-- found with --seed {fuzzing.seed}"]
    return msgspec.structs.replace(verdict, exchange=exchange)


class _Outcome(msgspec.Struct, frozen=True):
    """The outcome of a call with these *arguments*; *breach* is `None` if it passed."""

    arguments: dict[str, Any]
    events: Sequence[Event]
    breach: Breach | None
    gravity: int

    @property
    def failure(self) -> str:
        """The kind of failure, by the start of its text; empty if it passed."""
        if self.breach is None:
            return ""
        end = ";" if self.gravity == _NO_RESPONSE else ":"
        return self.breach.came.partition(end)[0]


class _Stopped(BaseException):
    """Ends a search whose schema is too expensive to judge by; for an `Exception`, Hypothesis
    shrinks the values.
    """


class _Search:
    """Searches for arguments that fail, and for the smallest of the gravest.

    Raises:
        NoValues: if values are not made for the `inputSchema` of the *tool*.
    """

    def __init__(self, play: Play, tool: dict[str, Any], kind: Kind, calls: GeneratedCalls) -> None:
        from .values.document import ValueJudge

        self._tool = tool
        self._judge = ValueJudge(tool["inputSchema"])
        self._kind: Kind = kind
        self._play = play
        self._calls = calls
        self._deadline = float("inf")
        self._least_gravity = _NO_RESPONSE
        self.outcomes: dict[bytes, _Outcome] = {}
        """The outcomes of all arguments that were tried, by their JSON."""
        self.leniently_read: dict[str, Any] | None = None
        """The first invalid arguments that the server accepted and that have a valid reading."""
        self._worst: _Outcome | None = None
        """The smallest failure so far."""

    def run(self, fuzzing: Fuzzing) -> None:
        """Try as many arguments as wanted, or until some fail, and then smaller ones.

        Raises:
            CannotJudge: if no arguments are made for the schema.
            NotStarted: if the server does not start again.
        """
        from .values import invalid_values, valid_values

        root = self._judge.schema
        if self._kind == "valid":
            arguments = valid_values(root)
        else:
            arguments = invalid_values(root, within={"type": "object"})
        self._find_smallest(arguments, fuzzing)
        if self._worst is not None or not self.outcomes:
            return
        self._least_gravity = max(outcome.gravity for outcome in self.outcomes.values())
        if self._least_gravity > _FINE:
            self._find_smallest(arguments, fuzzing)  # the same arguments again

    def confirm(self) -> _Outcome | None:
        """Return the smallest failure as a fresh process shows it, or with a note if a fresh
        process does not; `None` if no call failed.
        """
        worst = self._worst
        if worst is None or worst.breach is None:
            return None
        again = self._call(worst.arguments, is_alone=True)
        if again.breach is not None:
            return again
        note = "; not so when the same was sent to a fresh process alone"
        breach = Breach(worst.breach.expected, worst.breach.came + note)
        return msgspec.structs.replace(worst, breach=breach)

    def _find_smallest(self, arguments: SearchStrategy[dict[str, Any]], fuzzing: Fuzzing) -> None:
        import hypothesis
        from hypothesis import Phase, Verbosity, errors
        from hypothesis.strategies import data

        quiet = hypothesis.settings(
            max_examples=fuzzing.examples,
            phases=(Phase.generate, Phase.shrink),
            database=None,
            deadline=None,
            derandomize=False,
            verbosity=Verbosity.quiet,
        )

        def fails(drawn: Any) -> bool:
            try:
                return self._fails(drawn.draw(arguments))
            except CannotJudge as error:
                raise _Stopped(str(error)) from None

        try:
            hypothesis.find(data(), fails, settings=quiet, random=random.Random(fuzzing.seed))
        except (errors.NoSuchExample, errors.Flaky, errors.Unsatisfiable):
            pass
        except _Stopped as stop:
            if not self.outcomes:
                raise CannotJudge(str(stop)) from None

    def _fails(self, arguments: dict[str, Any]) -> bool:
        from hypothesis import assume

        is_valid = self._judge.is_valid(self._judge.schema, arguments)
        assume(is_valid == (self._kind == "valid"))
        try:
            key = codec.encode(arguments)
        except codec.EncodingError:  # nested more deeply than we send
            assume(False)
        if key not in self.outcomes and time.monotonic() < self._deadline:
            self.outcomes[key] = self._call(arguments)
        outcome = self.outcomes.get(key)
        if outcome is None or outcome.gravity < self._least_gravity:
            return False
        if self._worst is None:
            self._deadline = time.monotonic() + _SHRINK_SECONDS
        elif outcome.failure != self._worst.failure:  # a smaller call may fail otherwise
            return False
        self._worst = outcome  # the smallest is what Hypothesis tries last
        return True

    def _call(self, arguments: dict[str, Any], *, is_alone: bool = False) -> _Outcome:
        params = {"name": self._tool["name"], "arguments": arguments}
        verdict, answer, events = self._calls.call(self._play, params, is_alone=is_alone)
        if is_bad(verdict):
            # The number of the call is no part of the failure.
            expected = _NUMBER_OF_CALL.sub('"fuzz', verdict.expected)
            came = _NUMBER_OF_CALL.sub('"fuzz', verdict.came)
            return _Outcome(arguments, events, Breach(expected, came), _NO_RESPONSE)
        if self._kind == "valid":
            breach = self._judge_result(answer)
        else:
            breach = self._judge_refusal(arguments, answer)
        if breach is None:
            return _Outcome(arguments, events, None, _FINE)
        gravity = _BREAKS_SHOULD if breach.severity else _BREAKS_MUST
        return _Outcome(arguments, events, breach, gravity)

    def _judge_result(self, answer: Message) -> Breach | None:
        fault = None
        with suppress(TooExpensive):
            fault = find_structure_fault(self._tool.get("outputSchema"), answer.get("result"))
        if fault is None:
            return None
        expected = "a result as the outputSchema describes it"
        return Breach(expected, f"{fault}: {shorten_json(answer)}")

    def _judge_refusal(self, arguments: dict[str, Any], answer: Message) -> Breach | None:
        came = _find_fault_of_refusal(answer)
        if came is None:
            return None
        if came == _ACCEPTED and is_read(arguments, self._judge.find_errors):
            if self.leniently_read is None:
                self.leniently_read = arguments
            return None
        errors = self._judge.find_errors(arguments)
        is_about_unknown = all(error.validator in _WORDS_ABOUT_UNKNOWN for error in errors)
        reasons = join_errors(write_faults(errors, "arguments")[:_MAX_REASONS])
        return Breach(
            f"a refusal, since {reasons}",
            f"{came}: {shorten_json(answer)}",
            severity="should" if is_about_unknown else "",
        )


def _find_fault_of_refusal(answer: Message) -> str | None:
    """Return why an *answer* to invalid arguments is no refusal with a reason; `None` if it is."""
    error, result = answer.get("error"), answer.get("result")
    if isinstance(error, dict):
        if error.get("code") != INVALID_PARAMS:
            return f"an error with another code than {INVALID_PARAMS}"
        if not error.get("message"):
            return "an error without a message"
        return None
    if not isinstance(result, dict) or result.get("isError") is not True:
        return _ACCEPTED
    content = result.get("content")
    if isinstance(content, list):
        for block in content:
            if isinstance(block, dict) and block.get("text"):
                return None
    return "a refusal without a reason"
