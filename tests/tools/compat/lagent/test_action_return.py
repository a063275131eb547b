"""What a call of an action came to, as a text for a model and as the content of a tool's answer."""

from __future__ import annotations

import base64
import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from support.recording_caller import RecordingCaller
from toolwire_compat.lagent import ActionReturn, ActionStatusCode, ActionValidCode
from toolwire_tools import ToolError, make_tool

PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)
WAV = b"RIFF\0\0\0\0WAVE"
IN_BASE64 = base64.b64encode(PNG).decode()
PICTURE = {"type": "image", "data": IN_BASE64, "mimeType": "image/png"}


def answer(returned: ActionReturn) -> dict[str, Any]:
    """What the caller of a tool gets that returns *returned*."""

    def act() -> ActionReturn:
        return returned

    tool = make_tool(act)
    assert "outputSchema" not in tool.describe()
    return tool.call({}, RecordingCaller())


def result(*items: tuple[str, Any]) -> ActionReturn:
    return ActionReturn(result=[{"type": kind, "content": content} for kind, content in items])


def test_fields_and_codes_are_those_of_lagent() -> None:
    assert dataclasses.asdict(ActionReturn()) == {
        "args": None,
        "url": None,
        "type": None,
        "result": None,
        "errmsg": None,
        "state": 0,
        "thought": None,
        "valid": 0,
    }
    assert [field.name for field in dataclasses.fields(ActionReturn)] == list(
        dataclasses.asdict(ActionReturn())
    )
    assert {code.name: code.value for code in ActionStatusCode} == {
        "ING": 1,
        "SUCCESS": 0,
        "HTTP_ERROR": -1000,
        "ARGS_ERROR": -1001,
        "API_ERROR": -1002,
    }
    assert {code.name: code.value for code in ActionValidCode} == {
        "FINISH": 1,
        "OPEN": 0,
        "CLOSED": -1,
        "INVALID": -2,
        "ABSENT": -3,
    }
    assert json.dumps(ActionStatusCode.API_ERROR) == "-1002"


def test_result_is_formatted_as_texts_and_links() -> None:
    assert (
        result(("text", "a"), ("image", "plot.png"), ("text", "b")).format_result()
        == "a\n[image](plot.png)\nb"
    )
    assert result(("text", 5)).format_result() == "5"
    assert ActionReturn(errmsg="no").format_result() == ""


@pytest.mark.parametrize(
    ("returned", "text"),
    [
        ({"text": "a", "image": "plot.png"}, "a\n[image](plot.png)"),  # as before Lagent 0.2
        ({"type": "text", "content": "a"}, "a"),
        ("abc", "abc"),
        (("a", "b"), "a\nb"),
        ([{"a": 1}, 2], "[data]({'a': 1})\n[data](2)"),
    ],
)
def test_result_in_other_forms_is_read_as_items(returned: Any, text: str) -> None:
    assert ActionReturn(result=returned).format_result() == text


@pytest.mark.parametrize(
    ("returned", "content"),
    [
        (result(("text", "a")), [{"type": "text", "text": "a"}]),
        (
            result(("text", "a"), ("text", "b")),
            [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
        ),
        (result(("html", "<b>a</b>")), [{"type": "text", "text": "<b>a</b>"}]),
        (result(("image", PNG)), [PICTURE]),
        (result(("image", IN_BASE64)), [PICTURE]),
        (result(("image", f"data:image/png;base64,{IN_BASE64}")), [PICTURE]),
        (result(("text", "a"), ("image", PNG)), [{"type": "text", "text": "a"}, PICTURE]),
        (
            result(("image", "https://a.example/plot.png")),
            [{"type": "resource_link", "uri": "https://a.example/plot.png", "name": "plot.png"}],
        ),
        (result(("image", "nowhere.png")), [{"type": "text", "text": "nowhere.png"}]),
        (
            result(("image", "data:image/png;base64,?")),
            [{"type": "text", "text": "data:image/png;base64,?"}],
        ),
        (
            result(("audio", WAV)),
            [{"type": "audio", "data": base64.b64encode(WAV).decode(), "mimeType": "audio/wav"}],
        ),
        (
            result(("text", "a"), ("json", {"b": 1})),
            [{"type": "text", "text": "a"}, {"type": "text", "text": '{"b":1}'}],
        ),
        (ActionReturn(), [{"type": "text", "text": ""}]),
        (ActionReturn(result=[]), [{"type": "text", "text": ""}]),
        (ActionReturn(result=["a"]), [{"type": "text", "text": "a"}]),  # type: ignore[list-item]
        (ActionReturn(result={"text": "a"}), [{"type": "text", "text": "a"}]),  # type: ignore[arg-type]
        (ActionReturn(result="abc"), [{"type": "text", "text": "abc"}]),  # type: ignore[arg-type]
    ],
    ids=lambda value: str(value)[:60],
)
def test_a_result_becomes_content_blocks(returned: ActionReturn, content: list[Any]) -> None:
    assert answer(returned) == {"content": content, "isError": False}


@pytest.mark.parametrize(
    ("returned", "data"),
    [
        (result(("json", {"b": 1})), {"b": 1}),
        (result(("json", [1])), {"result": [1]}),
        (result(("json", {"b": 1}), ("json", {"c": 2})), {"result": [{"b": 1}, {"c": 2}]}),
    ],
)
def test_result_of_data_only_is_structured_content(
    returned: ActionReturn, data: dict[str, Any]
) -> None:
    assert answer(returned)["structuredContent"] == data


def test_images_and_files_are_read_when_they_are_returned(tmp_path: Path) -> None:
    (tmp_path / "plot.png").write_bytes(PNG)
    (tmp_path / "table.csv").write_text("a,b", encoding="utf-8")

    returned = result(("image", str(tmp_path / "plot.png")), ("file", tmp_path / "table.csv"))

    picture, file = answer(returned)["content"]
    assert answer(result(("image", str(tmp_path / "table.csv"))))["content"][0]["type"] == "text"
    assert picture == PICTURE
    assert file["resource"]["text"] == "a,b"
    assert file["resource"]["uri"].endswith("/table.csv")


@pytest.mark.parametrize(
    ("returned", "text"),
    [
        (ActionReturn(errmsg="no such place"), "no such place"),
        (ActionReturn(errmsg="no", state=ActionStatusCode.HTTP_ERROR, result=[]), "no"),
        (
            ActionReturn(type="Maps", state=ActionStatusCode.HTTP_ERROR),
            "Maps failed with the code -1000.",
        ),
        (ActionReturn(state=-7), "The action failed with the code -7."),
    ],
)
def test_failure_is_an_error_with_its_own_message(returned: ActionReturn, text: str) -> None:
    with pytest.raises(ToolError) as caught:
        answer(returned)
    assert str(caught.value) == text
