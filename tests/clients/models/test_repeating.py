"""Models that say what was written before: scripts, records, and their loud ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from toolwire_agent.models import (
    AskedFor,
    NoReplyLeft,
    RecordingModel,
    ReplayModel,
    ScriptedModel,
    Unreachable,
)
from toolwire_agent.react.messages import ModelReply, ToolCall, Usage


def user(text: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": text}]


def ask(model: Any, messages: Any, **wishes: Any) -> ModelReply:
    return anyio.run(lambda: model.reply(messages, **wishes))  # type: ignore[no-any-return]


def test_script_replies_in_order() -> None:
    whole = ModelReply(text="c", finish_reason="length")
    model = ScriptedModel(["a", {"type": "ASK", "content": "世"}, whole])
    assert [ask(model, user(str(number))).text for number in range(2)] == [
        "a",
        '{"type":"ASK","content":"世"}',
    ]
    assert ask(model, user("2")) == whole


def test_a_script_may_be_a_function_of_what_is_asked() -> None:
    model = ScriptedModel(lambda asked: f"you said {asked.messages[-1]['content']}")
    assert ask(model, user("hm")).text == "you said hm"


def test_exception_in_a_script_is_raised() -> None:
    model = ScriptedModel([Unreachable("gone"), "back"])
    with pytest.raises(Unreachable):
        ask(model, user("a"))
    assert ask(model, user("a")).text == "back"


def test_script_keeps_copies_of_its_requests() -> None:
    messages = user("a")
    heard: list[str] = []
    model = ScriptedModel(["x", "y"])
    ask(
        model,
        messages,
        tools=[{"name": "add"}],
        reply_schema={"type": "object"},
        on_text=heard.append,
    )
    messages[0]["content"] = "changed later"
    assert model.asked == [
        AskedFor(messages=user("a"), tools=[{"name": "add"}], reply_schema={"type": "object"}),
    ]
    assert heard == ["x"]


def test_end_of_a_script_raises_an_error_with_the_last_message() -> None:
    model = ScriptedModel(["only"])
    ask(model, user("a"))
    with pytest.raises(NoReplyLeft, match=r"asked for reply 2; the last message is 'and then\?'"):
        ask(model, user("and then?"))


REPLY = ModelReply(
    text="世界",
    tool_calls=(
        ToolCall(id="a", name="add", arguments={"a": 2**70}),
        ToolCall(id="b", name="b", arguments="{"),
    ),
    finish_reason="stop",
    usage=Usage(input_tokens=3),
    reasoning="hm",
    echo={"content": [1]},
)


def test_recorded_reply_is_repeated_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    recording = RecordingModel(ScriptedModel([REPLY, "second"]), path)
    said = [ask(recording, user("a")), ask(recording, user("b"))]
    replay = ReplayModel(path)
    assert (
        [ask(replay, user("b")), ask(replay, user("a"))]
        == [said[1], said[0]]
        == [ModelReply(text="second"), REPLY]
    )


def test_repeated_messages_get_their_replies_in_order() -> None:
    lines = [
        {"messages": user("a"), "reply": "first"},
        {"messages": user("a"), "reply": {"text": "second"}},
    ]
    replay = ReplayModel(lines)
    assert [ask(replay, user("a")).text for _ in range(4)] == [
        "first",
        "second",
        "second",
        "second",
    ]


def test_a_record_may_hold_other_lines(tmp_path: Path) -> None:
    path = tmp_path / "transcript.jsonl"
    lines = [
        {"event": "started"},
        {"messages": user("a"), "reply": "x"},
        ["no", "object"],
        {"messages": "none"},
    ]
    path.write_text("\n\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    assert ask(ReplayModel(path), user("a")).text == "x"


def test_a_transcript_is_a_record_also_where_secrets_are_hidden_in_it() -> None:
    first, second = user("my key is [hidden], really"), user("and then?")
    transcript = [
        {"type": "Started"},
        {"type": "ModelAsked", "kept": 0, "messages": first},
        {"type": "ModelReplied", "reply": {"text": "1"}},
        {"type": "ModelAsked", "kept": 1, "messages": second},
        {"type": "ModelReplied", "reply": {"text": "2"}},
    ]
    replay = ReplayModel(transcript)
    said = user("my key is sk-abcdefghijklmnopqrst, really")
    assert [ask(replay, messages).text for messages in ([*said, *second], said)] == ["2", "1"]
    with pytest.raises(NoReplyLeft):
        ask(replay, user("my key is lost"))


def test_missing_record_raises_an_error_with_the_first_difference() -> None:
    system = {"role": "system", "content": "s"}
    replay = ReplayModel(
        [
            {"messages": [system, *user("far")], "reply": "1"},
            {
                "messages": [
                    system,
                    *user("near"),
                    {"role": "assistant", "content": "x"},
                    *user("y"),
                ],
                "reply": "2",
            },
        ]
    )
    with pytest.raises(NoReplyLeft) as caught:
        ask(replay, [system, *user("near"), {"role": "assistant", "content": "z"}])
    assert "message 3 is\n  asked:    assistant: 'z'\n  recorded: assistant: 'x'" in str(
        caught.value
    )
    with pytest.raises(NoReplyLeft) as caught:
        ask(replay, [system])
    assert "message 2 is\n  asked:    (no message)\n  recorded: user: 'far'" in str(caught.value)


_BAD = '{"messages": [], "reply": {"text": 1}}\n'


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "no reply"),
        ("{}\n", "no reply"),
        ("{}\n{\n", "line 2, is not JSON"),
        (_BAD, "a reply in .* is invalid"),
    ],
)
def test_file_without_replies_is_refused_at_once(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "record.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(NoReplyLeft, match=complaint):
        ReplayModel(path)


def test_recording_model_has_strict_schemas_of_its_model(tmp_path: Path) -> None:
    class Strict(ScriptedModel):
        strict_schemas = True

    assert RecordingModel(Strict([]), tmp_path / "x").strict_schemas is True
    assert RecordingModel(ScriptedModel([]), tmp_path / "x").strict_schemas is False
