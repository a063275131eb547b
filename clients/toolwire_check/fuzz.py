"""Call a server's tools with arguments generated from their schemas: valid ones, and invalid ones
to be refused.

Strategy. One process answers call after call; a cheap request after each shows whether it still
answers, else it is restarted. Hypothesis generates and shrinks the arguments. The outcome of each
call is cached, so a server with varying answers does not confuse it. The smallest failure is sent
to a fresh process once more, and that outcome is reported. The search continues after a server
accepts invalid arguments, since worse failures may follow.
"""

from __future__ import annotations

import os
import random
import re
import sys
import time
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from toolwire_client.errors import NotStarted
from toolwire_client.validation import join_errors
from toolwire_schemas.cases import Case
from toolwire_schemas.install_command import install_command
from toolwire_schemas.json_schema.bounded_validator import CannotJudge
from toolwire_schemas.json_schema.error_text import word_errors
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
    from .judging.conversation import Event
    from .playing.generated_calls import GeneratedCalls
    from .report import Verdict

Kind = Literal["valid", "invalid"]

_SHRINK_SECONDS = (
    20.0  # the time limit for shrinking: a server that dies or hangs makes each step slow
)

_HARM = 3
"""The gravity of a call without a proper response; 2 breaks a must, 1 a should, and 0 nothing."""

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

_NUMBER = re.compile(r'"fuzz-\d+')
_ACCEPTED = "they were accepted"
_NOTE = (
    "no violation: it reads JSON in strings, or leaves out null, where the inputSchema takes"
    " neither, as in {}"
)


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
        for kind, behaviour in _BEHAVIOURS.items():
            case = Case(
                f"fuzz/{kind}/{name}", behaviour.format(name), _SOURCES[kind], "must", CALL_STEPS
            )
            play = Play(
                case, facts.revisions[0], facts.framings[0], _reason_against(tool, settings)
            )
            yield _verdict(play, tool, kind, calls, fuzzing)


def need_hypothesis() -> None:
    """Prepare Hypothesis.

    Raises:
        MissingHypothesis: if it is not installed.
    """
    is_ours = not {"hypothesis", "pytest"} & set(
        sys.modules
    )  # else the process uses Hypothesis itself
    try:
        from hypothesis.configuration import set_hypothesis_home_dir
    except ImportError:
        remedy = install_command("toolwire[contract]")
        raise MissingHypothesis(f"fuzzing needs the package hypothesis; run: {remedy}") from None
    if (
        is_ours and "HYPOTHESIS_STORAGE_DIRECTORY" not in os.environ
    ):  # else it writes into the working folder
        caches = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        set_hypothesis_home_dir(os.path.join(caches, "toolwire", "hypothesis"))


def _reason_against(tool: Any, settings: CheckSettings) -> str:
    """Why this *tool* is not called; empty if it is."""
    if not isinstance(tool, dict) or not isinstance(tool.get("name"), str):
        return "its entry in tools/list is not that of a tool"
    if not isinstance(schema := tool.get("inputSchema"), dict) or schema.get("type") != "object":
        return "its inputSchema is not that of an object"
    return (
        ""
        if settings.allows_call(tool)
        else "it does not say that it is read-only (annotations.readOnlyHint)"
    )


def _verdict(play: Play, tool: Any, kind: Kind, calls: GeneratedCalls, fuzzing: Fuzzing) -> Verdict:
    if play.reason:
        return make_verdict(play, "not applicable", reason=play.reason)
    began = time.monotonic()
    try:
        search = _Search(play, tool, kind, calls)
        search.run(fuzzing)
        found = search.worst and search.again(search.worst)
    except (CannotJudge, RecursionError) as error:
        return make_verdict(
            play, "not applicable", reason=f"there are no {kind} arguments to try: {error}"
        )
    except NotStarted as error:
        return judge_play(
            play, Breach("a server that starts again", str(error)), [], time.monotonic() - began
        )
    if not search.known:
        return make_verdict(play, "not applicable", reason=f"no {kind} arguments were found")
    if found is None:
        note = search.lenient and _NOTE.format(shorten_json(search.lenient[0]))
        return make_verdict(play, "pass", reason=note or "", seconds=time.monotonic() - began)
    verdict = judge_play(play, found.unmet, found.events, time.monotonic() - began)
    return msgspec.structs.replace(
        verdict, exchange=[*verdict.exchange, f"-- found with --seed {fuzzing.seed}"]
    )


class _Outcome(msgspec.Struct, frozen=True):
    """The outcome of a call with these *arguments*; *unmet* is `None` if it passed."""

    arguments: dict[str, Any]
    events: Sequence[Event]
    unmet: Breach | None
    gravity: int

    @property
    def failure(self) -> str:
        """The kind of failure; empty if it passed."""
        came = "" if self.unmet is None else self.unmet.came
        return came.partition(";")[0] if self.gravity == _HARM else came.partition(":")[0]


class _Stopped(BaseException):
    """Ends a search whose schema is too expensive to judge by; for an `Exception`, Hypothesis
    shrinks the values.
    """


class _Search:
    """Searches for arguments that fail, and for the smallest: for those that do harm, or else for
    the gravest.

    Raises:
        NoValues: if values are not made for the `inputSchema` of the *tool*.
    """

    def __init__(self, play: Play, tool: dict[str, Any], kind: Kind, calls: GeneratedCalls) -> None:
        from .values.document import ValueJudge

        self._tool = tool
        self._schema = ValueJudge(tool["inputSchema"])
        self._kind: Kind = kind
        self._play = play
        self._calls = calls
        self._until = float("inf")
        self._least_gravity = _HARM
        self.lenient: list[dict[str, Any]] = []
        """Invalid arguments that the server accepted and that have a reading that is valid."""
        self.known: dict[bytes, _Outcome] = {}
        """The outcomes of all arguments that were tried."""
        self.worst: _Outcome | None = None
        """The smallest failure after the search; `None` if no call failed."""

    def run(self, fuzzing: Fuzzing) -> None:
        """Try as many arguments as wanted, or until some fail, and then smaller ones.

        Raises:
            CannotJudge: if no arguments are made for the schema.
            Unstartable: if the server does not start again.
        """
        from .values import invalid_values, valid_values

        root = self._schema.root
        arguments = (
            valid_values(root)
            if self._kind == "valid"
            else invalid_values(root, within={"type": "object"})
        )
        self._run(arguments, fuzzing)
        if self.worst is None and (
            found := max((known.gravity for known in self.known.values()), default=0)
        ):
            self._least_gravity = found
            self._run(arguments, fuzzing)  # the same arguments, whose outcomes are known

    def _run(self, arguments: SearchStrategy[dict[str, Any]], fuzzing: Fuzzing) -> None:
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
            if not self.known:
                raise CannotJudge(str(stop)) from None

    def _fails(self, arguments: dict[str, Any]) -> bool:
        from hypothesis import assume

        assume(self._schema.is_valid(self._schema.root, arguments) == (self._kind == "valid"))
        try:
            key = codec.encode(arguments)
        except codec.EncodingError:  # nested more deeply than we send
            assume(False)
        if key not in self.known and time.monotonic() < self._until:
            self.known[key] = self._called(arguments)
        found = self.known.get(key)
        if found is None or found.gravity < self._least_gravity:
            return False
        if self.worst is None:
            self._until = time.monotonic() + _SHRINK_SECONDS
        elif found.failure != self.worst.failure:  # a smaller call may fail otherwise
            return False
        self.worst = found  # the smallest is what Hypothesis tries last
        return True

    def again(self, worst: _Outcome) -> _Outcome:
        """Return the failure *worst* as a fresh process shows it, or with a note if a fresh process
        does not.
        """
        again = self._called(worst.arguments, is_alone=True)
        if again.unmet is not None or worst.unmet is None:
            return again
        note = "; not so when the same was sent to a fresh process alone"
        return msgspec.structs.replace(
            worst, unmet=Breach(worst.unmet.expected, worst.unmet.came + note)
        )

    def _called(self, arguments: dict[str, Any], *, is_alone: bool = False) -> _Outcome:
        params = {"name": self._tool["name"], "arguments": arguments}
        verdict, answer, events = self._calls.call(self._play, params, is_alone=is_alone)
        if is_bad(verdict):  # the number of the call is no part of the failure
            expected, came = (
                _NUMBER.sub('"fuzz', text) for text in (verdict.expected, verdict.came)
            )
            return _Outcome(arguments, events, Breach(expected, came), _HARM)
        unmet = self._judged(arguments, answer)
        return _Outcome(
            arguments, events, unmet, 0 if unmet is None else 1 if unmet.severity else 2
        )

    def _judged(self, arguments: dict[str, Any], answer: dict[str, Any]) -> Breach | None:
        if self._kind == "valid":
            fault = find_structure_fault(self._tool.get("outputSchema"), answer.get("result"))
            return (
                Breach(
                    "a result as the outputSchema describes it", f"{fault}: {shorten_json(answer)}"
                )
                if fault
                else None
            )
        came = _acceptance(answer)
        if came is None:
            return None
        errors = self._schema.errors(arguments)
        if came == _ACCEPTED and is_read(arguments, self._schema.errors):
            self.lenient.append(arguments)
            return None
        # As in the case calls/unknown-argument: many servers drop what they do not know.
        is_unknown = all(
            error.validator in ("additionalProperties", "unevaluatedProperties") for error in errors
        )
        reasons = join_errors(word_errors(errors, "arguments")[:3])
        return Breach(
            f"a refusal, since {reasons}",
            f"{came}: {shorten_json(answer)}",
            severity="should" if is_unknown else "",
        )


def _acceptance(answer: dict[str, Any]) -> str | None:
    """What in an *answer* to invalid arguments is no refusal with a reason."""
    error, result = answer.get("error"), answer.get("result")
    if isinstance(error, dict):
        if error.get("code") != INVALID_PARAMS:
            return f"an error with another code than {INVALID_PARAMS}"
        return None if error.get("message") else "an error without a message"
    if not isinstance(result, dict) or result.get("isError") is not True:
        return _ACCEPTED
    content = result.get("content")
    texts = (
        [block.get("text") for block in content if isinstance(block, dict)]
        if isinstance(content, list)
        else []
    )
    return None if any(texts) else "a refusal without a reason"
