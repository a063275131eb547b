"""Several actions behind one call: names, messages and hooks."""

from __future__ import annotations

import asyncio
import json
import threading
import tracemalloc
from typing import Any

import pytest
from toolwire_compat.lagent import (
    ActionExecutor,
    ActionPreprocessor,
    ActionReturn,
    ActionStatusCode,
    ActionValidCode,
    AgentMessage,
    AsyncActionExecutor,
    BaseAction,
    FinishAction,
    FunctionCall,
    Hook,
    InternLMActionProcessor,
    InvalidAction,
    MessageLogger,
    NoAction,
)
from toolwire_tools import tool_api


class Echo(BaseAction):
    def run(self, text: str) -> str:
        return text


class Pair(BaseAction):
    @tool_api
    def first(self, text: str) -> str:
        return text[0]

    @tool_api(name="last.one")
    def last(self, text: str) -> str:
        return text[-1]


class Waiting(BaseAction):
    async def run(self, text: str) -> str:
        await asyncio.sleep(0)
        return text


def executor(**options: Any) -> ActionExecutor:
    dotted = Pair(
        {
            "name": "my.Pair",
            "api_list": [dict(api) for api in Pair.__tool_description__["api_list"]],
        }
    )
    return ActionExecutor(
        [Echo(), Pair(), dotted, Echo({"name": "Off", "parameters": []}, enable=False)], **options
    )


NAMES = ["Echo", "Pair.first", "Pair.last.one", "my.Pair.first", "my.Pair.last.one"]
HI = {"text": "hi"}


def text(returned: ActionReturn) -> str:
    assert returned.result is not None, returned.errmsg
    return str(returned.result[0]["content"])


# --- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "result"),
    [
        ("Echo", "hi"),
        ("Echo.run", "hi"),
        ("Pair.first", "h"),
        ("Pair.last.one", "i"),
        ("my.Pair.first", "h"),
        ("my.Pair.last.one", "i"),
    ],
)
def test_names_with_dots_lead_to_their_api(name: str, result: str) -> None:
    assert text(executor()(name, '{"text": "hi"}')) == text(executor()(name, HI)) == result


def test_apis_of_enabled_actions_are_listed_by_their_callable_names() -> None:
    assert [described["name"] for described in executor().get_actions_info()] == NAMES
    assert executor().description() == executor().get_actions_info()


def test_changing_the_listed_descriptions_does_not_change_the_actions() -> None:
    several = executor()
    several.get_actions_info()[0]["parameters"].clear()
    assert several.get_actions_info()[0]["parameters"] != []


@pytest.mark.parametrize(
    ("name", "closest"),
    [
        ("echo", "'Echo'"),
        ("Pair.frist", "'Pair.first'"),
        ("my.Pair.frst", "'my.Pair.first'"),
        ("Echo ", "'Echo'"),
    ],
)
def test_unknown_name_is_answered_with_the_closest_and_all_known(name: str, closest: str) -> None:
    returned = executor()(name, '{"a": 1}')

    assert (returned.state, returned.valid) == (ActionStatusCode.API_ERROR, ActionValidCode.INVALID)
    assert (
        returned.errmsg
        == f"The action is invalid, please check the action name. There is no action {name!r}, did"
        f" you mean {closest}? Known: {', '.join(NAMES)}"
    )


def test_the_bare_name_of_a_toolkit_is_answered_with_its_apis() -> None:
    assert (
        executor()("my.Pair", HI).errmsg == "The action is invalid, please check the action name. "
        "'my.Pair' is a toolkit; call one of my.Pair.first, my.Pair.last.one"
    )


@pytest.mark.parametrize("name", ["Off", "a.b.c.d", ".", "", "..", "Echo.run.run", "Echo.name"])
def test_malformed_name_is_answered_as_unknown(name: str) -> None:
    returned = executor()(name, {"a": 1})
    assert str(returned.errmsg).endswith(f"Known: {', '.join(NAMES)}")
    assert not executor().is_valid(name)


@pytest.mark.parametrize("name", ["." * 10_000, "Echo." * 10_000, "x" * 1_000_000])
def test_very_long_name_gets_a_short_answer(name: str) -> None:
    tracemalloc.start()
    returned = executor()(name, HI)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(str(returned.errmsg)) < 500
    assert peak < 20_000_000


def test_custom_invalid_action_answers_unknown_names() -> None:
    returned = executor(invalid_action=InvalidAction("别乱来。"))("ecko", "")
    assert str(returned.errmsg).startswith("别乱来。 There is no action 'ecko'")


def test_the_names_of_the_built_in_actions_lead_to_them_unless_they_are_listed() -> None:
    several = executor()
    assert several("NoAction", "").errmsg == "Please follow the format"
    assert several("NoAction", {"a": 1}).errmsg == "Please follow the format"
    done = several("FinishAction", "42")
    assert (text(done), done.valid) == ("42", ActionValidCode.FINISH)
    assert "FinishAction" not in several


def test_finish_action_is_listed_on_demand_without_changing_the_callers_list() -> None:
    actions = [Echo()]
    several = ActionExecutor(actions, finish_in_action=True)
    assert several.action_names() == ["Echo", "FinishAction"]
    assert len(actions) == 1
    assert several("FinishAction", {"response": "42"}).valid == ActionValidCode.FINISH


class OwnFinish(BaseAction):
    __tool_name__ = "FinishAction"

    def run(self, response: str) -> str:
        return f"own {response}"


def test_finish_action_of_the_user_is_kept() -> None:
    for several in (
        ActionExecutor([OwnFinish(), Echo()], finish_in_action=True),
        ActionExecutor([Echo()], finish_action=OwnFinish(), finish_in_action=True),
        ActionExecutor([Echo()], finish_action=OwnFinish()),
    ):
        assert text(several("FinishAction", {"response": "42"})) == "own 42"


@pytest.mark.parametrize(
    ("given", "told"), [({"a": 1}, '{"a": 1}'), (0, "0"), (4.5, "4.5"), ([1], "[1]"), ("x", "x")]
)
def test_built_in_actions_accept_any_parameters(given: Any, told: str) -> None:
    done = FinishAction()(given)
    assert (text(done), done.valid) == (told, ActionValidCode.FINISH)
    assert text(executor()("FinishAction", given)) == told
    for action in (InvalidAction(), NoAction()):
        assert (action(given).errmsg, action(given).valid) == (told, ActionValidCode.INVALID)


@pytest.mark.parametrize("nothing", [None, "", {}])
def test_built_in_actions_have_default_texts(nothing: Any) -> None:
    assert InvalidAction()(nothing).errmsg == "The action is invalid, please check the action name."
    assert NoAction("别乱来。")(nothing).errmsg == "别乱来。"


def test_a_single_action_needs_no_list() -> None:
    assert ActionExecutor(Echo(), finish_in_action=True).action_names() == ["Echo", "FinishAction"]


# --- which actions there are ----------------------------------------------------------------------


def test_actions_are_added_and_removed_by_name() -> None:
    several = executor()
    assert several.action_names() == ["Echo", "Pair", "my.Pair"]
    assert several.action_names(only_enable=False) == ["Echo", "Pair", "my.Pair", "Off"]
    assert list(several.keys()) == ["Echo", "Pair", "my.Pair", "Off"]
    assert [several.is_valid(name) for name in ("Echo", "Pair", "Pair.first", "Off", "Pear")] == [
        *(True, True, True),
        *(False, False),
    ]

    several.del_action("Echo")
    several.del_action("Echo")
    del several["Off"]
    several.add_action({"type": "Echo"})
    several["whatever"] = FinishAction()

    assert list(several.keys()) == ["Pair", "my.Pair", "Echo", "FinishAction"]
    assert "Echo" in several
    assert "whatever" not in several
    assert isinstance(several["FinishAction"], FinishAction)
    with pytest.raises(KeyError):
        del several["Off"]


def test_last_of_two_actions_of_one_name_is_kept_with_a_warning() -> None:
    last = Echo()
    with pytest.warns(UserWarning, match="'Echo'"):
        several = ActionExecutor([Echo(), last])
    assert several["Echo"] is last


@pytest.mark.parametrize("thing", [5, "Echo", print, object()])
def test_other_objects_than_actions_are_refused(thing: object) -> None:
    with pytest.raises(TypeError, match="BaseAction"):
        ActionExecutor([thing])


def test_an_asynchronous_action_needs_the_asynchronous_executor() -> None:
    with pytest.raises(TypeError, match="AsyncActionExecutor"):
        ActionExecutor([Waiting()])
    with pytest.raises(TypeError, match="AsyncActionExecutor"):
        executor().add_action(Waiting())


# --- messages -------------------------------------------------------------------------------------


class Foreign:
    """Another framework's message."""

    def __init__(self, content: Any) -> None:
        self.content = content


@pytest.mark.parametrize(
    "message",
    [
        AgentMessage(FunctionCall("Echo", HI)),
        AgentMessage({"name": "Echo", "parameters": '{"text": "hi"}'}, sender="Agent"),
        {"content": {"name": "Echo", "parameters": HI}},
        {"name": "Echo", "parameters": HI},
        Foreign({"name": "Echo", "parameters": HI}),
    ],
)
def test_message_is_answered_by_a_message(message: Any) -> None:
    answer = executor()(message)
    assert isinstance(answer, AgentMessage)
    assert answer == AgentMessage(
        ActionReturn(HI, type="Echo", result=[{"type": "text", "content": "hi"}]),
        sender="ActionExecutor",
    )


def test_keywords_of_lagent_are_accepted() -> None:
    assert (
        text(executor()(name="Echo", command=HI))
        == text(executor()(name="Echo", inputs=HI))
        == "hi"
    )
    assert (
        text(executor()(message=AgentMessage(FunctionCall("Echo", HI)), session_id=3).content)
        == "hi"
    )


def test_messages_are_copied_as_in_lagent() -> None:
    message = AgentMessage({"name": "Echo"}, sender="Agent")
    twin = message.copy(deep=True)
    twin.content["name"] = "Pair"
    assert message.content == {"name": "Echo"}
    assert message.model_copy(update={"sender": "user"}) == AgentMessage({"name": "Echo"})
    assert (
        json.dumps(message.model_dump())
        == '{"content": {"name": "Echo"}, "sender": "Agent", "formatted": null, "extra_info": null,'
        ' "type": null, "receiver": null, "stream_state": 0}'
    )


@pytest.mark.parametrize(
    "content", ["Echo", None, {}, {"parameters": {}}, {"name": 5, "parameters": {}}, ["Echo"]]
)
def test_message_without_a_call_is_answered_by_no_action(content: Any) -> None:
    answer = executor()(AgentMessage(content)).content
    assert (answer.type, answer.valid) == ("NoAction", ActionValidCode.INVALID)


def test_input_that_is_neither_name_nor_message_is_refused() -> None:
    with pytest.raises(TypeError, match="message"):
        executor()(5)


# --- hooks ----------------------------------------------------------------------------------------


class Recording(Hook):
    def __init__(self) -> None:
        self.seen: list[Any] = []

    def before_action(self, executor: Any, message: Any, session_id: int = 0) -> None:
        self.seen.append(("before", message.content["name"], session_id))

    def after_action(self, executor: Any, message: Any, session_id: int = 0) -> None:
        self.seen.append(
            ("after", message.content.format_result() or message.content.errmsg, session_id)
        )


class Rewriting(Hook):
    def before_action(self, executor: Any, message: Any, session_id: int = 0) -> Any:
        return AgentMessage({"name": "Echo", "parameters": {"text": "other"}})

    def after_action(self, executor: Any, message: Any, session_id: int = 0) -> Any:
        return AgentMessage(
            ActionReturn(result=[{"type": "text", "content": f"<{text(message.content)}>"}])
        )


class OnlyBefore:
    def before_action(self, executor: Any, message: Any, session_id: int) -> None:
        message.content = {**message.content, "parameters": {"text": "changed"}}


def test_hooks_receive_all_calls_until_they_are_removed() -> None:
    hook = Recording()
    several = executor()
    handle = several.register_hook(hook)

    several("Echo", HI)
    several(AgentMessage({"name": "Nowhere", "parameters": {}}), 7)
    handle.remove()
    handle.remove()
    several("Echo", HI)

    assert hook.seen[:3] == [("before", "Echo", 0), ("after", "hi", 0), ("before", "Nowhere", 7)]
    assert [seen[0] for seen in hook.seen] == ["before", "after", "before", "after"]


def test_hooks_replace_messages_in_sequence() -> None:
    hook = Recording()
    several = executor(hooks=[Rewriting(), hook])
    assert text(several("Pair.first", HI)) == "<other>"
    assert hook.seen == [("before", "Echo", 0), ("after", "<other>", 0)]


def test_hook_may_have_one_method_and_change_the_message() -> None:
    assert text(executor(hooks=[OnlyBefore()])("Echo", HI)) == "changed"


def test_settings_may_describe_hooks() -> None:
    several = executor(hooks=[{"type": OnlyBefore}, {"type": "lagent.hooks.ActionPreprocessor"}])
    assert several("Echo", HI) == "changed"


@pytest.mark.parametrize("thing", [Echo(), object(), len])
def test_object_without_hook_methods_is_refused(thing: object) -> None:
    with pytest.raises(TypeError, match="before_action"):
        executor(hooks=[thing])


@pytest.mark.parametrize(
    "formatted",
    [
        FunctionCall("Echo", HI),
        {"name": "Echo", "parameters": HI},
        {"action": {"name": "Echo", "parameters": HI}, "thought": "Hm."},
        None,
    ],
)
def test_preprocessor_moves_the_call_to_the_content_and_the_answer_to_text(
    formatted: Any,
) -> None:
    several = executor(hooks=[ActionPreprocessor()])
    content = {"name": "Echo", "parameters": HI} if formatted is None else "I call Echo."
    answer = several(AgentMessage(content, sender="Agent", formatted=formatted))
    assert (answer.content, answer.sender) == ("hi", "ActionExecutor")


def test_preprocessor_turns_failures_into_text() -> None:
    several = executor(hooks=[ActionPreprocessor()])
    assert (
        several(AgentMessage("", formatted={"name": "Echo", "parameters": "{}"})).content
        == "arguments.text: is missing"
    )


def test_text_action_is_code_for_the_first_action() -> None:
    class Interpreter(BaseAction):
        def run(self, command: str, session_id: int = -1) -> str:
            return f"{session_id}: {command}"

    several = ActionExecutor([Interpreter(), Echo()], hooks=[InternLMActionProcessor()])
    found = {"tool_type": "interpreter", "thought": "", "action": "1 + 1", "status": 1}
    message = AgentMessage("I run it.", sender="Agent", formatted=found)

    assert several(message, session_id=7).content == "7: 1 + 1"
    assert message.formatted["action"] == "1 + 1"
    plugin = {**found, "action": {"name": "Echo", "parameters": HI}}
    assert several(AgentMessage("I call it.", formatted=plugin)).content == "hi"


def test_messages_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    executor(hooks=[MessageLogger("tests.messages")])(
        AgentMessage(FunctionCall("Echo", HI), sender="Agent"), 7
    )
    asked, answered = caplog.messages
    assert asked.startswith("session 7, message from Agent: FunctionCall(name='Echo'")
    assert answered.startswith("session 7, message from ActionExecutor: ActionReturn(")


def test_call_without_hooks_is_forwarded() -> None:
    assert text(executor(hooks=[Rewriting()]).forward("Echo", HI)) == "hi"


# --- asynchronous ---------------------------------------------------------------------------------


class Threads(BaseAction):
    def run(self) -> str:
        return threading.current_thread().name


class AsyncRewriting:
    async def before_action(self, executor: Any, message: Any, session_id: int) -> Any:
        await asyncio.sleep(0)
        return AgentMessage({"name": "Waiting", "parameters": {"text": "later"}})

    def after_action(self, executor: Any, message: Any, session_id: int) -> None:
        pass


def test_the_asynchronous_executor_awaits_actions_and_hooks() -> None:
    async def ask() -> None:
        several = AsyncActionExecutor([Waiting(), Echo(), Threads()])
        assert text(await several("Waiting", HI)) == "hi"
        assert text(await several("Echo", HI)) == "hi"
        assert (
            await several(AgentMessage(FunctionCall("Waiting", HI)))
        ).sender == "AsyncActionExecutor"
        assert (await several("Wating", HI)).valid == ActionValidCode.INVALID
        assert text(await several("Threads", {})) != threading.current_thread().name
        several.register_hook(AsyncRewriting())
        assert text(await several("Echo", HI)) == "later"

    asyncio.run(ask())


def test_a_blocking_action_does_not_block_the_others() -> None:
    class Gate(BaseAction):
        def __init__(self) -> None:
            super().__init__()
            self.opened = threading.Event()

        def run(self) -> str:
            return str(self.opened.wait(60))

    class Opener(BaseAction):
        def __init__(self, gate: Gate) -> None:
            super().__init__()
            self.gate = gate

        async def run(self) -> str:
            self.gate.opened.set()
            return "opened"

    async def ask() -> list[str]:
        gate = Gate()
        several = AsyncActionExecutor([gate, Opener(gate)])
        return [
            text(each) for each in await asyncio.gather(several("Gate", {}), several("Opener", {}))
        ]

    assert asyncio.run(ask()) == ["True", "opened"]
