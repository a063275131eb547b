"""Keys of questions, and answers that come with a call, before its tool has asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from server.tasks.tasking import CAPABILITIES, META, Client
from support.server_process import call, request, served
from toolwire import Context, Server, prompt, tool_api

BOTH = {
    "user_name": {"action": "accept", "content": {"answer": "Ada"}},
    "color": {"action": "accept", "content": {"answer": "blue"}},
}


@tool_api
def greet(context: Context) -> str:
    """Ask for a name and a color."""
    name = context.ask("Your name?", str, key="user_name")
    return f"{name}: {context.ask('Your color?', str, key='color')}"


@tool_api(task="always")
def greet_later(context: Context) -> str:
    """Ask for a name twice, and something without a key."""
    first = context.ask("Your name?", str, key="user_name")
    second = context.ask("Your other name?", str, key="user_name")
    return f"{first} {second} {context.ask('Your color?', str)}"


@prompt
def greeting(context: Context) -> str:
    """Ask for a name."""
    return context.ask("Your name?", str, key="user_name")


def text_of(response: Any) -> str:
    text: str = response["result"]["content"][0]["text"]
    return text


def answer(key: str, value: str) -> dict[str, Any]:
    return {key: {"action": "accept", "content": {"answer": value}}}


def repeat_call(client: Client, asked: Any, responses: Any) -> Any:
    """Call `greet` again with *responses* to what its result *asked*."""
    state = asked["result"]["requestState"]
    return client.ask("tools/call", name="greet", requestState=state, inputResponses=responses)


def keys_of(asked: Any) -> list[str]:
    return list(asked["result"]["inputRequests"])


def test_question_has_the_key_of_its_tool() -> None:
    client = Client(Server([greet]))

    first = client.ask("tools/call", name="greet")
    second = repeat_call(client, first, answer("user_name", "Ada"))
    last = repeat_call(client, second, answer("color", "blue"))

    assert [keys_of(first), keys_of(second)] == [["user_name"], ["color"]]
    assert text_of(last) == "Ada: blue"


def test_answer_with_another_key_is_asked_for_again() -> None:
    client = Client(Server([greet]))
    first = client.ask("tools/call", name="greet")

    again = repeat_call(client, first, answer("answer", "Ada"))

    assert keys_of(again) == ["user_name"]


def test_answers_that_come_with_the_call_are_taken() -> None:
    client = Client(Server([greet]))

    given = {**BOTH, "unknown": {"action": "decline"}}
    done = client.ask("tools/call", name="greet", inputResponses=given)

    assert text_of(done) == "Ada: blue"


def test_question_without_a_key_is_asked_whatever_the_call_answers() -> None:
    @tool_api
    def agree(context: Context) -> str:
        """Ask for consent."""
        return context.ask("Really?", str)

    client = Client(Server([agree]))

    asked = client.ask("tools/call", name="agree", inputResponses=answer("answer", "yes"))

    assert keys_of(asked) == ["answer"]


def test_what_the_call_does_not_answer_is_asked() -> None:
    client = Client(Server([greet]))

    asked = client.ask("tools/call", name="greet", inputResponses=answer("user_name", "Ada"))

    assert keys_of(asked) == ["color"]


@pytest.mark.parametrize("given", [None, 5, [], {"user_name": 5}, {"user_name": None}])
def test_malformed_answers_are_asked_for(given: Any) -> None:
    client = Client(Server([greet]))

    asked = client.ask("tools/call", name="greet", inputResponses=given)

    assert keys_of(asked) == ["user_name"]


def test_answer_that_does_not_fit_fails_the_call() -> None:
    client = Client(Server([greet]))
    wrong = {"user_name": {"action": "accept", "content": {"answer": 5}}}

    failed = client.ask("tools/call", name="greet", inputResponses=wrong)

    assert failed["result"]["isError"] is True


def test_prompt_takes_an_answer_that_comes_with_its_request() -> None:
    client = Client(Server([greeting]))

    done = client.ask("prompts/get", name="greeting", inputResponses=BOTH)

    assert done["result"]["messages"][0]["content"]["text"] == "Ada"


def test_keys_of_a_task_are_used_once_each() -> None:
    client = Client(Server([greet_later]))
    id = client.ask("tools/call", name="greet_later")["result"]["taskId"]
    keys = []
    for value in ("Ada", "Grace", "blue"):
        state = client.until(id, "input_required")
        [key] = state["inputRequests"]
        keys.append(key)
        client.ask("tasks/update", taskId=id, inputResponses=answer(key, value))

    done = client.until(id, "completed")

    assert keys == ["user_name", "user_name-2", "answer-3"]
    assert done["result"]["content"][0]["text"] == "Ada Grace blue"


def test_task_takes_answers_that_come_with_its_call() -> None:
    client = Client(Server([greet_later]))

    id = client.ask("tools/call", name="greet_later", inputResponses=BOTH)["result"]["taskId"]

    state = client.until(id, "input_required")
    [asked] = state["inputRequests"].values()
    assert asked["params"]["message"] == "Your other name?"


def test_legacy_client_gets_the_key_in_the_meta_of_the_request() -> None:
    client = Client(Server([greet]), is_modern=False)
    client.send("tools/call", name="greet")

    asked = client.wait(lambda message: message.get("method") == "elicitation/create")

    assert asked["params"]["_meta"] == {"toolwire/inputKey": "user_name"}


ISOLATED = '''
from toolwire import Context, tool_api

@tool_api(runs_in="process")
def greet(context: Context) -> str:
    """Ask for a name."""
    return context.ask("Your name?", str, key="user_name")
'''


@pytest.mark.process
def test_key_passes_through_a_process_of_a_tool(tmp_path: Path) -> None:
    with served(tmp_path, ISOLATED) as process:
        meta = {**META, "io.modelcontextprotocol/clientCapabilities": CAPABILITIES}
        process.ask(request("tools/list", {"_meta": meta}, 0))

        asked = process.ask(call("greet", **meta))["result"]
        params = {"name": "greet", "inputResponses": BOTH, "_meta": meta}
        done = process.ask(request("tools/call", params, 2))

    assert list(asked["inputRequests"]) == ["user_name"]
    assert text_of(done) == "Ada"
