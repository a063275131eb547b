"""What a failure depends on: another case before it, lack of time, or the case alone."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest
from support.scripted_server import Answer, Message, ScriptedServer, error, result
from toolwire_check import Facts, Verdict
from toolwire_check.facts.sdks import Sdk
from toolwire_check.playing.open_conversation import CheckContext
from toolwire_check.playing.plan import Play
from toolwire_check.playing.play_sequence import (
    Doubt,
    PlaySequence,
    play_and_confirm,
    repeat_doubt,
)
from toolwire_check.playing.player import Limits
from toolwire_check.playing.whole_run import RunJudge
from toolwire_client.errors import NotStarted
from toolwire_schemas.cases import Case

FACTS = Facts(revisions=[], framings=["lines"], tools=[], values={}, lacks={})


class Servers:
    """Starts scripted servers, and counts them."""

    def __init__(self, answer: Answer, max_starts: int = 1000) -> None:
        self._answer = answer
        self._max_starts = max_starts
        self.starts = 0

    def start(self, _: Any) -> Any:
        if self.starts == self._max_starts:
            raise NotStarted("no more")
        self.starts += 1
        return ScriptedServer(self._answer)


def make_play(name: str) -> Play:
    steps = [{"send": {"id": name, "method": "x"}}, {"answer": name, "result": True}]
    return Play(Case(name, "It does.", "https://example.com/", "must", steps), "", "lines")


def make_context(servers: Servers, **about: Any) -> CheckContext:
    return CheckContext(
        start=servers.start,
        facts=FACTS,
        limits=Limits(answer_seconds=0.01, opening_seconds=0.01),
        run_judge=RunJudge({}, []),
        **about,
    )


def play_all(context: CheckContext, names: str) -> list[Verdict | Doubt]:
    with closing(PlaySequence(context)) as sequence:
        return [play_and_confirm(context, sequence, make_play(name)) for name in names]


def fail_after(*guilty: str, name: str = "z") -> Answer:
    """Return a script: the request *name* fails if all of *guilty* came before it."""

    def answer(request: Message, before: list[Message]) -> list[Message]:
        if request["id"] == name and set(guilty) <= ids_of(before):
            return [error(request)]
        return [result(request)]

    return answer


def silent_after(guilty: str, name: str = "z") -> Answer:
    """Return a script: the request *name* gets no answer if *guilty* came before it."""

    def answer(request: Message, before: list[Message]) -> list[Message]:
        if request["id"] == name and guilty in ids_of(before):
            return []
        return [result(request)]

    return answer


def ids_of(requests: list[Message]) -> set[Any]:
    return {request["id"] for request in requests}


@pytest.mark.parametrize(
    ("names", "guilty", "after"),
    [
        ("z", (), []),
        ("abz", (), []),
        ("abz", ("a",), ["a"]),
        ("abz", ("b",), ["b"]),
        ("abcdefgz", ("c",), ["c"]),
        ("abcdefgz", ("c", "e"), ["c", "d", "e", "f", "g"]),
    ],
)
def test_failure_names_the_fewest_cases_before_it(
    names: str, guilty: tuple[str, ...], after: list[str]
) -> None:
    *_, verdict = play_all(make_context(Servers(fail_after(*guilty))), names)
    assert isinstance(verdict, Verdict)
    assert (verdict.outcome, verdict.after) == ("fail", after)


def test_cases_share_a_process_as_long_as_it_answers() -> None:
    servers = Servers(fail_after())
    verdicts = play_all(make_context(servers), "abc")
    assert [isinstance(verdict, Verdict) for verdict in verdicts] == [True] * 3
    assert servers.starts == 1


def test_process_that_no_longer_answers_is_replaced() -> None:
    def answer(request: Message, before: list[Message]) -> list[Message]:
        if request["id"] == "b":
            return [error(request)]
        return [] if "b" in ids_of(before) else [result(request)]

    a, b, c = play_all(make_context(Servers(answer), is_replay=True), "abc")
    assert isinstance(a, Verdict)
    assert isinstance(b, Verdict)
    assert isinstance(c, Verdict)
    assert [a.outcome, b.outcome, c.outcome] == ["pass", "fail", "pass"]


def test_failure_that_does_not_happen_again_is_flaky() -> None:
    attempts: list[str] = []

    def answer(request: Message, _: list[Message]) -> list[Message]:
        attempts.append(request["id"])
        is_first = request["id"] == "z" and attempts.count("z") == 1
        return [error(request) if is_first else result(request)]

    *_, verdict = play_all(make_context(Servers(answer)), "az")
    assert isinstance(verdict, Verdict)
    assert (verdict.outcome, verdict.after) == ("fail", [])
    assert verdict.came.endswith("not again after the same cases: alone the case passes")


def test_failure_for_lack_of_time_is_a_doubt_that_a_repeat_may_clear() -> None:
    attempts: list[str] = []

    def answer(request: Message, _: list[Message]) -> list[Message]:
        attempts.append(request["id"])
        is_first = request["id"] == "z" and attempts.count("z") == 1
        return [] if is_first else [result(request)]

    context = make_context(Servers(answer))
    *_, doubt = play_all(context, "az")
    assert isinstance(doubt, Doubt)
    assert [play.case.id for play in doubt.before] == ["a"]
    verdict = repeat_doubt(context, doubt)
    assert verdict.outcome == "pass"
    assert verdict.reason.startswith("at first it failed")


def test_doubt_that_fails_again_is_a_failure() -> None:
    context = make_context(Servers(lambda *_: []))
    [doubt] = play_all(context, "z")
    assert isinstance(doubt, Doubt)
    assert repeat_doubt(context, doubt).outcome == "fail"


def test_doubt_that_needs_another_case_names_it() -> None:
    context = make_context(Servers(silent_after("a")))
    *_, doubt = play_all(context, "az")
    assert isinstance(doubt, Doubt)
    assert repeat_doubt(context, doubt).after == ["a"]


def test_server_that_does_not_start_again_is_a_failure_and_no_error() -> None:
    context = make_context(Servers(fail_after("a"), max_starts=1))
    *_, doubt = play_all(context, "az")
    assert isinstance(doubt, Doubt)
    assert doubt.verdict.expected == "the server starts"
    assert repeat_doubt(context, doubt).outcome == "fail"


def test_server_that_stops_starting_during_a_repeat_is_no_error() -> None:
    context = make_context(Servers(silent_after("a"), max_starts=2))
    *_, doubt = play_all(context, "az")
    assert isinstance(doubt, Doubt)
    assert repeat_doubt(context, doubt).outcome == "pass"


def test_known_failure_of_the_sdk_is_not_played_again() -> None:
    servers = Servers(fail_after("a"))
    sdk = Sdk("x", "1", {}, {"z": ""})
    *_, verdict = play_all(make_context(servers, sdk=sdk), "az")
    assert isinstance(verdict, Verdict)
    assert (verdict.outcome, verdict.after, servers.starts) == ("fail", [], 1)
