"""Transcripts: written as things happen, read again, taken up, repeated; and secrets that are never
in them.
"""

from __future__ import annotations

import json
import os
import re
import stat
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.agent_scripts import (
    SCHEMA,
    Tools,
    act,
    agent,
    answer,
    ask,
    final,
    kinds,
    play,
    replayed,
)
from support.examples import examples
from toolwire_agent.agent import (
    Agent,
    Approvals,
    BrokenTranscript,
    Budgets,
    Recorded,
    ReplayMissed,
    keep_last,
    load,
)
from toolwire_agent.agent.events import CallFinished, ModelReplied, QuestionAsked
from toolwire_agent.models import ScriptedModel
from toolwire_client.redaction.redactor import HIDDEN, Redactor

SCRIPT = [act("add", a=1, b=2), final("3")]
KEY = "sk-proj-abcdefghijklmnopqrstuvwx"


@pytest.fixture
def run(tmp_path: Any) -> tuple[Any, tuple[Recorded, ...]]:
    path = tmp_path / "run.jsonl"
    return path, answer("asyncio", agent(SCRIPT, transcript=path)).transcript


def test_every_event_is_a_line_that_fits_the_published_schema(run: Any) -> None:
    path, events = run
    lines = path.read_text().splitlines()
    assert [json.loads(line)["type"] for line in lines] == kinds(events)
    for line in lines:
        SCHEMA.validate(json.loads(line))
    assert load(path) == list(events)


def test_lone_surrogates_are_replaced_in_a_transcript(tmp_path: Any) -> None:
    path = tmp_path / "run.jsonl"

    def half() -> str:
        """Return half a letter."""
        return "half: \ud800"

    script = [act("half"), "\ud800 is no reply", final("3")]
    outcome = answer("asyncio", agent(script, [half], transcript=path), "What is \ud800?")
    assert outcome.status == "answered"
    assert load(path)[2] == QuestionAsked(content="What is \ufffd?", at=outcome.transcript[2].at)
    assert play("asyncio", lambda: replayed(path)) == tuple(load(path))


def test_other_users_of_the_machine_cannot_read_a_transcript(run: Any) -> None:
    assert os.name != "posix" or stat.S_IMODE(run[0].stat().st_mode) == 0o600


def test_a_line_is_on_disk_before_its_event_is_reported(tmp_path: Any) -> None:
    path = tmp_path / "run.jsonl"
    for number, event in enumerate(agent(SCRIPT, transcript=path).run_sync("1+2?"), start=1):
        assert load(path)[number - 1] == event


@pytest.mark.parametrize("torn", [b'{"type":"CallSta', b'{"type":"Resumed","date":"x"}'])
def test_truncated_last_line_is_removed_and_a_whole_one_stays(run: Any, torn: bytes) -> None:
    path, events = run
    with path.open("ab") as file:
        file.write(torn)
    whole = len(load(path)) - len(events)
    assert whole == (b"Resumed" in torn)
    answer("asyncio", agent([final("4")], transcript=path))
    assert path.read_bytes().count(b'"Started"') == 2
    assert kinds(load(path))[0] == "Started"


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "no line has the type Started"),
        ("hello\n", "line 1, is not an event"),
        ('{"type":"Started","version":2}\n', "line 1, is not an event"),
        ('{"type":"Started"}\n{"type":"Resumed","date":7}\n', "line 2, cannot follow"),
        ('{"messages":[],"reply":"x"}\n', "line 1, is not an event"),
    ],
)
def test_broken_transcript_names_the_line(tmp_path: Any, text: str, match: str) -> None:
    path = tmp_path / "other.jsonl"
    path.write_text(text)
    with pytest.raises(BrokenTranscript, match=match):
        load(path)


LONG = [act("add", a=1, b=2), "what?", ask("Sure?"), act("fail", reason="x"), final("3")]


def test_times_are_dates_in_utc_that_never_go_back(run: Any) -> None:
    times = [json.loads(line)["at"] for line in run[0].read_text().splitlines()]
    assert all(time.endswith("Z") and datetime.fromisoformat(time).tzinfo == UTC for time in times)
    assert times == sorted(times)
    assert datetime.now(UTC) - datetime.fromisoformat(times[0]) < timedelta(days=1)


@given(st.data())
@settings(max_examples=examples(60), deadline=None)
def test_duplicate_and_foreign_lines_raise_broken_transcript(data: st.DataObject) -> None:
    waits = Approvals(ask=lambda request: True, trust_hints=False)
    made = answer("asyncio", agent(LONG, on_ask=lambda question: "Yes.", approval=waits)).transcript
    place = data.draw(st.integers(1, len(made) - 1))
    foreign = data.draw(st.booleans())
    event = data.draw(st.sampled_from(made[1:])) if foreign else made[place]
    lines = [msgspec.json.encode(each) for each in (*made[: place + 1], event, *made[place + 1 :])]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.jsonl"
        path.write_bytes(b"".join(line + b"\n" for line in lines))
        with pytest.raises(
            BrokenTranscript, match=r"run.jsonl, line \d+, cannot follow the event before it"
        ) as caught:
            agent([]).resume(path)
        named = int(re.search(r"line (\d+)", str(caught.value))[1])  # type: ignore[index]
        assert named == place + 2 or (foreign and named == place + 3)


def test_events_that_contradict_the_state_raise_broken_transcript(
    tmp_path: Any,
) -> None:
    path = tmp_path / "run.jsonl"
    answer("asyncio", agent([ask("Sure?")], transcript=path))
    with path.open("a") as file:
        file.write('{"type":"Resumed"}\n{"type":"CallFinished","success":true,"result":1}\n')
    with pytest.raises(BrokenTranscript, match="line 9, does not fit what is before it"):
        agent([]).resume(path)
    with pytest.raises(BrokenTranscript, match="event 9, does not fit"):
        agent([]).resume(load(path))


def test_a_second_writer_is_refused_while_a_run_is_written(tmp_path: Any) -> None:
    path = tmp_path / "run.jsonl"
    refused = []

    def other() -> str:
        """Try to write to the same file, twice."""
        for make in (
            lambda: agent([final()], transcript=path).answer,
            lambda: agent([], transcript=path).resume(path).answer,
        ):
            with pytest.raises(BlockingIOError, match="another run is writing it") as caught:
                anyio.run(make(), "?")
            refused.append(caught.value.filename)
        return "done"

    outcome = answer("asyncio", agent([act("other"), final("3")], [other], transcript=path))
    assert (outcome.status, refused) == ("answered", [str(path)] * 2)
    assert load(path) == list(outcome.transcript)
    assert answer("asyncio", agent([final("4")], transcript=path)).status == "answered"


def test_session_refuses_a_file_that_another_run_has_changed(tmp_path: Any) -> None:
    path = tmp_path / "run.jsonl"
    answer("asyncio", agent([final("1")], transcript=path))
    first, second = (
        agent([final("2"), final("3")], transcript=path).resume(path) for _ in range(2)
    )
    assert play("asyncio", lambda: first.answer("?")).result == "2"
    assert play("asyncio", lambda: first.answer("?")).result == "3"
    written = path.read_bytes()
    with pytest.raises(BrokenTranscript, match="another run has written to"):
        play("asyncio", lambda: second.answer("?"))
    assert path.read_bytes() == written


@pytest.mark.parametrize("text", ["my notes", "my notes\n", "{}\nmy notes", '{"type":"Start', "\n"])
def test_other_files_are_not_overwritten(tmp_path: Any, text: str) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(text)
    if text in ('{"type":"Start', "\n"):  # what a crash at the very beginning left
        assert answer("asyncio", agent([final("1")], transcript=path)).status == "answered"
        return
    with pytest.raises(BrokenTranscript, match=r"notes\.txt"):
        answer("asyncio", agent([final("1")], transcript=path))
    assert path.read_text() == text


def test_run_killed_at_any_event_can_be_resumed_and_replayed() -> None:
    backend = "asyncio"  # what was written does not depend on it
    script = [act("add", a=1, b=2), "what?", ask("Sure?"), act("fail", reason="x"), final("3")]
    whole = answer(backend, agent(script, on_ask=lambda question: "Yes.")).transcript
    for length in range(kinds(whole).index("QuestionAsked") + 1, len(whole)):
        left = script[kinds(whole[:length]).count("ModelReplied") :]
        resumed = agent(
            left,
            on_ask=lambda question: "Yes.",
            approval=Approvals(ask=lambda request: True, allow=("*",)),
        )
        outcome = play(backend, resumed.resume(whole[:length]).answer)
        assert (outcome.status, outcome.result, outcome.turns) == ("answered", "3", 5)
        assert play(backend, lambda events=whole[:length]: replayed(events)) == whole[:length]
        assert (
            play(backend, lambda events=outcome.transcript: replayed(events)) == outcome.transcript
        )


@pytest.mark.process
def test_killed_process_is_resumed_by_another_process(tmp_path: Any) -> None:
    import subprocess

    path, program = tmp_path / "run.jsonl", tmp_path / "program.py"
    program.write_text(
        "import json, os\nfrom toolwire_agent import Agent, Approvals\nfrom toolwire_agent.models"
        " import ScriptedModel\ndef die() -> None:\n    'Die.'\n    os._exit(9)\nact = {'thought':"
        " '', 'type': 'ACTION', 'tool': 'die', 'params': {}}\nagent = Agent(ScriptedModel([act]),"
        " [die], approval=Approvals(allow=('*',)),"
        " transcript=os.environ['PATH_'])\nagent.answer_sync('?')\n"
    )
    assert (
        subprocess.run(
            [sys.executable, program], env={**os.environ, "PATH_": str(path)}, check=False
        ).returncode
        == 9
    )
    assert kinds(load(path))[-1] == "CallStarted"

    def die() -> None:
        """Die."""
        raise AssertionError("it was called again")

    model = ScriptedModel([final("nobody knows", ok=False)])
    outcome = play(
        "asyncio",
        Agent(model, [die], approval=Approvals(allow=("*",)), transcript=path).resume(path).answer,
    )
    assert outcome.status == "unsolvable"
    assert load(path) == list(outcome.transcript)
    assert play("asyncio", lambda: replayed(path)) == outcome.transcript


def test_a_run_is_resumed_without_an_event_loop(tmp_path: Any) -> None:
    path, tools = tmp_path / "run.jsonl", Tools()
    waits = Approvals(no_user="pause")
    assert (
        agent([act("add", a=1, b=2)], tools.both(), approval=waits, transcript=path)
        .answer_sync("1+2?")
        .status
        == "needs_input"
    )
    resumed = agent([final("3"), final("4")], tools.both(), transcript=path)
    outcome = resumed.resume_sync(path)
    assert (outcome.status, outcome.result, tools.calls) == ("answered", "3", [("add", (1, 2))])
    assert resumed.resume_sync(path, "And 2+2?").result == "4"
    assert (
        resumed.resume_sync(load(path), "And 2+2?", on_ask=lambda question: "Yes.").status
        == "model_error"
    )
    with pytest.raises(ValueError, match="nothing to go on with"):
        agent([]).resume_sync(outcome.transcript)


@given(st.data())
@settings(max_examples=examples(40), deadline=None)
def test_replay_yields_the_same_events(data: st.DataObject) -> None:
    acts = [
        act("add", a=1, b=2),
        act("add", a=2, b=2),
        act("add", a="x"),
        act("fail", reason="no"),
        act("nope"),
    ]
    line = st.sampled_from([*acts, ask("Sure?"), "what?", final("3"), final("no", ok=False)])
    script = data.draw(st.lists(line, max_size=8))
    turns = data.draw(st.integers(1, 6))
    allowed = data.draw(st.sampled_from([("*",), ("add",), ()]))
    answers = data.draw(st.sampled_from(["Yes.", None]))
    same: dict[str, Any] = {"budgets": Budgets(turns=turns), "approval": Approvals(allow=allowed)}
    made = answer("asyncio", agent(script, on_ask=lambda question: answers, **same)).transcript
    assert play("asyncio", lambda: replayed(made, **same)) == made


def test_replay_with_other_settings_names_the_first_difference(run: Any) -> None:
    path, events = run
    with pytest.raises(ReplayMissed, match=r"event 7 of the record is\n  CallStarted"):
        play("asyncio", lambda: replayed(path, approval=Approvals(deny=("add",))))
    with pytest.raises(ReplayMissed, match="event 4"):
        play("asyncio", lambda: replayed(path, language="zh"))
    changed = [
        (
            CallFinished(success=True, result=4, at=event.at)
            if isinstance(event, CallFinished)
            else event
        )
        for event in events
    ]
    with pytest.raises(ReplayMissed, match="event 9"):
        play("asyncio", lambda: replayed(changed))


def test_replay_of_a_record_with_a_gap_raises_replay_missed(run: Any) -> None:
    events = [event for event in run[1] if not isinstance(event, ModelReplied)]
    with pytest.raises(ReplayMissed):
        play("asyncio", lambda: replayed(events))


def test_replay_uses_the_recorded_trimmed_messages(tmp_path: Any) -> None:
    path = tmp_path / "run.jsonl"
    script = [act("add", a=1, b=2), act("add", a=2, b=2), act("add", a=3, b=2), final("3")]
    model = ScriptedModel(script)
    made = answer(
        "asyncio",
        Agent(
            model,
            Tools().both(),
            approval=Approvals(allow=("*",)),
            trim=keep_last(6000),
            transcript=path,
        ),
    )
    sizes = [len(json.dumps(asked.messages, ensure_ascii=False)) for asked in model.asked]
    assert made.status == "answered"
    assert max(sizes) < 6200
    assert play("asyncio", lambda: replayed(path, trim=keep_last(6000))) == made.transcript


SECRETS = [
    KEY,
    "sk-ant-api03-abcdefghijklmnopqrstuvwxyz",
    "AKIAABCDEFGHIJKLMNOP",
    "AIza" + "a" * 35,
    "ghp_" + "a" * 36,
    "xoxb-1234567890-abcdef",
    "eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.abc-_def",
    "hf_" + "a" * 34,
]


@pytest.mark.parametrize("secret", SECRETS)
def test_keys_of_known_services_are_hidden_anywhere(secret: str) -> None:
    redactor = Redactor({})
    for value in (
        secret,
        f"use {secret}, please",
        json.dumps({"x": [secret]}),
        json.dumps(json.dumps({"x": secret})),
    ):
        assert secret not in redactor.redact_text(value)
        assert HIDDEN in redactor.redact_text(value)


@pytest.mark.parametrize(
    "name",
    [
        "password",
        "api_key",
        "API-KEY",
        "Authorization",
        "client_secret",
        "access_token",
        "x-api-key",
        "Cookie",
    ],
)
def test_members_named_like_secrets_are_hidden(name: str) -> None:
    value = "rosebud, of course"
    hidden = Redactor({}).redact_value(
        {"params": {name: value}, "text": json.dumps(json.dumps({name: value, "b": 1}))}
    )
    assert value not in json.dumps(hidden)
    assert json.loads(json.loads(hidden["text"])) == {name: HIDDEN, "b": 1}


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("Authorization: Bearer abc.def", f"Authorization: Bearer {HIDDEN}"),
        ("authorization=Basic dXNlcjpwYXNz", f"authorization=Basic {HIDDEN}"),
        ("https://me:hunter22@example.com/x", f"https://me:{HIDDEN}@example.com/x"),
        ("-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----!", f"{HIDDEN}!"),
    ],
)
def test_credentials_in_texts_are_hidden(text: str, hidden: str) -> None:
    assert Redactor({}).redact_text(text) == hidden


def test_values_of_variables_that_are_named_like_keys_are_hidden() -> None:
    redactor = Redactor(
        {"MY_API_KEY": 'quite "secret" indeed', "PATH": "/usr/bin:/bin", "DEBUG_TOKEN": "1"}
    )
    assert redactor.redact_text('it is quite "secret" indeed') == f"it is {HIDDEN}"
    assert redactor.redact_text(json.dumps({"x": 'quite "secret" indeed'})) == json.dumps(
        {"x": HIDDEN}
    )
    assert redactor.redact_text("/usr/bin:/bin and 1") == "/usr/bin:/bin and 1"


@pytest.mark.parametrize(
    "text",
    [
        "next_page_token is 17",
        "the secret of success",
        '{"keys": ["a", "b"]}',
        "task-force-one-and-two",
        "12:30@noon",
    ],
)
def test_harmless_names_are_not_hidden(text: str) -> None:
    assert Redactor({}).redact_text(text) == text


@pytest.mark.parametrize("part", ["a-", "\\", '"', '"a-', "x://", "authorization ", "-----BEGIN "])
def test_long_text_without_secrets_is_unchanged(part: str) -> None:
    # A minute, where each place is compared with all that is after it.
    text = part * (100_000 // len(part))
    assert Redactor({}).redact_text(text) == text


@given(
    st.text()
    | st.sampled_from(SECRETS).flatmap(
        lambda secret: st.text().map(lambda text: text + secret + text)
    )
)
def test_redaction_is_idempotent(text: str) -> None:
    once = Redactor({}).redact_text(text)
    assert Redactor({}).redact_text(once) == once


def test_call_with_a_hidden_parameter_is_refused_after_resuming(tmp_path: Any) -> None:
    path = tmp_path / "run.jsonl"

    def login(password: str) -> None:
        """Log in."""
        raise AssertionError("it was called")

    waits = Approvals(no_user="pause")
    answer(
        "asyncio",
        agent([act("login", password="swordfish")], [login], approval=waits, transcript=path),
    )
    model = ScriptedModel([final("I need it again", ok=False)])
    made = play(
        "asyncio",
        Agent(model, [login], approval=Approvals(allow=("*",)), transcript=path)
        .resume(path)
        .answer,
    )
    assert made.status == "unsolvable"
    assert "Ask the user for it" in str(model.asked[-1].messages[-1])


def test_transcript_without_secrets_can_be_replayed(tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("SHOP_PASSWORD", "correct horse battery")
    path = tmp_path / "run.jsonl"

    def login(password: str, header: str) -> dict[str, str]:
        """Log in."""
        return {
            "token": "swordfish-and-chips",
            "header": header,
            "home": "https://me:hunter22@example.com",
        }

    script = [
        act("login", password="correct horse battery", header=f"Bearer {KEY}"),
        final(f"It was {KEY}."),
    ]
    model = ScriptedModel(script)
    outcome = answer(
        "asyncio",
        Agent(model, [login], approval=Approvals(allow=("*",)), transcript=path),
        f"Use {KEY}!",
    )
    assert outcome.result == f"It was {KEY}."
    assert "swordfish-and-chips" in str(model.asked[-1].messages)
    written = path.read_text()
    for secret in (KEY, "correct horse battery", "swordfish-and-chips", "hunter22"):
        assert secret not in written
    assert isinstance(load(path)[2], QuestionAsked)
    assert play("asyncio", lambda: replayed(path)) == tuple(load(path))
    assert play("asyncio", lambda: replayed(outcome.transcript)) == tuple(load(path))
