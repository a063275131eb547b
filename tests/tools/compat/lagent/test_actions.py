"""Classes of actions: which methods are their APIs, how they describe themselves, and what a call
of one comes to.
"""

from __future__ import annotations

import asyncio
import copy
import datetime as dt
import pickle
import re
from abc import abstractmethod
from typing import Any

import pytest
from toolwire_compat.lagent import (
    ActionExecutor,
    ActionReturn,
    ActionStatusCode,
    ActionValidCode,
    AsyncActionExecutor,
    AsyncActionMixin,
    BaseAction,
    BaseParser,
    FinishAction,
    InvalidAction,
    NoAction,
    ParseError,
    list_tools,
)
from toolwire_tools import (
    Context,
    Image,
    RegistrationError,
    ResourceLink,
    Text,
    ToolError,
    find_tools,
    tool_api,
)

TEXT = {"name": "text", "type": "STRING", "description": "input text"}


class Shout(BaseAction):
    """Says it louder."""

    def run(self, text: str, times: int = 1) -> str:
        """Shout a text.

        Args:
            text: input text
        """
        return text.upper() * times


class Phrases(BaseAction):
    """Styles of text."""

    @tool_api
    def bold(self, text: str) -> str:
        """Make it bold.

        Args:
            text: input text
        """
        return f"**{text}**"

    @tool_api(name="slanted")
    def italic(self, text: str) -> str:
        return f"*{text}*"

    def helper(self, text: str) -> str:
        return text


def outcome(returned: ActionReturn) -> tuple[Any, str | None, int]:
    return returned.result, returned.errmsg, returned.state


def make_outcome(text: str) -> tuple[Any, None, int]:
    return [{"type": "text", "content": text}], None, ActionStatusCode.SUCCESS


# --- classes --------------------------------------------------------------------------------------


def test_an_inherited_run_is_described_and_called() -> None:
    class Louder(Shout):
        pass

    assert Louder.__tool_description__ == {**Shout.__tool_description__, "name": "Louder"}
    assert outcome(Louder()({"text": "hi"})) == make_outcome("HI")


def test_a_toolkit_inherits_apis_adds_some_and_overrides_others() -> None:
    class More(Phrases):
        @tool_api
        def struck(self, text: str) -> str:
            return f"~~{text}~~"

        def bold(self, text: str, stars: int = 2) -> str:
            return "*" * stars + text + "*" * stars

    described = More.__tool_description__
    assert [api["name"] for api in described["api_list"]] == ["bold", "slanted", "struck"]
    assert described["description"] == "Styles of text."
    assert described["api_list"][0]["description"] == "Make it bold."
    assert [parameter["name"] for parameter in described["api_list"][0]["parameters"]] == [
        "text",
        "stars",
    ]
    assert outcome(More()({"text": "hi", "stars": 1}, "bold")) == make_outcome("*hi*")
    assert [api["name"] for api in Phrases.__tool_description__["api_list"]] == ["bold", "slanted"]


def test_api_set_to_none_in_a_subclass_is_removed() -> None:
    class Fewer(Phrases):
        bold = None  # type: ignore[assignment]

    assert [api["name"] for api in Fewer().description["api_list"]] == ["slanted"]


def test_class_docstring_describes_an_undocumented_run() -> None:
    class Quiet(BaseAction):
        """Says nothing."""

        def run(self) -> None: ...

    assert Quiet.__tool_description__ == {
        "name": "Quiet",
        "description": "Says nothing.",
        "parameters": [],
        "required": [],
    }


def test_decorated_run_describes_its_return_value() -> None:
    class Bold(BaseAction):
        @tool_api(returns_named_value=True)
        def run(self, text: str) -> str:
            """Make it bold.

            Args:
                text: input text

            Returns:
                bold_text (str): the same in bold
            """
            return f"**{text}**"

    assert Bold.__tool_description__ == {
        "name": "Bold",
        "description": "Make it bold.",
        "parameters": [TEXT],
        "required": ["text"],
        "return_data": [{"name": "bold_text", "description": "the same in bold", "type": "STRING"}],
    }


def test_class_may_have_another_tool_name() -> None:
    class Shouting(Shout):
        __tool_name__ = "shout.loud"

    assert Shouting().name == "shout.loud"
    assert "shout.loud" in list_tools()
    assert type("Sub", (Shouting,), {})().name == "Sub"


def test_static_and_class_methods_are_apis() -> None:
    class Kinds(BaseAction):
        @staticmethod
        @tool_api
        def static(text: str) -> str:
            return text

        @tool_api
        @classmethod
        def of_class(cls, text: str) -> str:
            return cls.__name__ + text

    kinds = Kinds()
    assert [api["parameters"] for api in kinds.description["api_list"]] == [
        [{**TEXT, "description": ""}]
    ] * 2
    assert outcome(kinds({"text": "a"}, "static")) == make_outcome("a")
    assert outcome(kinds({"text": "a"}, "of_class")) == make_outcome("Kindsa")


def _run_beside_others() -> None:
    class Mixed(BaseAction):
        def run(self) -> None: ...

        @tool_api
        def other(self) -> None: ...


def _others_beside_an_inherited_run() -> None:
    class Mixed(Shout):
        @tool_api
        def other(self) -> None: ...


def _two_of_one_name() -> None:
    class Mixed(BaseAction):
        @tool_api(name="same")
        def other(self) -> None: ...

        @tool_api
        def same(self) -> None: ...


def _what_every_action_has() -> None:
    class Mixed(BaseAction):
        @tool_api
        def description(self) -> None: ...  # type: ignore[override]


def _no_method() -> None:
    class Mixed(BaseAction):
        run = 5


@pytest.mark.parametrize(
    ("define", "words"),
    [
        (_run_beside_others, ["'Mixed'", "`run`", "`other`", "give it another name"]),
        (
            _others_beside_an_inherited_run,
            ["'Mixed'", "`run` of Shout", "`other`", "give it another name"],
        ),
        (_two_of_one_name, ["'Mixed'", "`other`", "`same`", "rename"]),
        (_what_every_action_has, ["'Mixed'", "`description`", "another name"]),
        (_no_method, ["'Mixed'", "`run`", "int", "method"]),
    ],
)
def test_conflicting_apis_are_refused_at_the_class_definition(
    define: Any, words: list[str]
) -> None:
    with pytest.raises(RegistrationError) as caught:
        define()
    assert [word for word in words if word not in str(caught.value)] == []
    assert "Mixed" not in list_tools()


def test_abstract_class_is_not_registered() -> None:
    class Abstract(BaseAction):
        @abstractmethod
        def run(self) -> str: ...

    assert "Abstract" not in list_tools()
    with pytest.raises(TypeError):
        Abstract()  # type: ignore[abstract]


@pytest.mark.parametrize("use", [lambda action: action({}), lambda action: action.name, find_tools])
def test_action_without_super_init_is_an_error_with_the_remedy(use: Any) -> None:
    class Forgetful(Shout):
        def __init__(self) -> None:
            self.volume = 3

    with pytest.raises(RegistrationError, match=r"'Forgetful'.*super\(\).__init__\(\)"):
        use(Forgetful())


# --- objects --------------------------------------------------------------------------------------


def test_each_object_has_a_description_of_its_own() -> None:
    first, second = Shout(), Shout()
    first.description["parameters"].clear()

    assert second.description["parameters"] != []
    assert "parameter_description" not in Shout.__tool_description__


def test_handwritten_description_defines_the_arguments() -> None:
    class Anything(BaseAction):
        def run(self, **arguments: Any) -> str:
            return ", ".join(f"{name}={value!r}" for name, value in sorted(arguments.items()))

    action = Anything(
        {
            "name": "anything",
            "description": "Whatever.",
            "parameters": [
                {"name": "a", "type": "number"},
                {"name": "b", "type": "LIST", "items": {"type": "STRING"}},
            ],
            "required": ["a"],
        }
    )
    assert outcome(action('{"a": 1.5, "b": ["x"]}')) == make_outcome("a=1.5, b=['x']")
    assert action('{"a": "one"}').errmsg == 'arguments.a: "one" is not a number'
    assert action('{"b": [1]}').state == ActionStatusCode.ARGS_ERROR
    assert action('{"a": 1, "c": 2}').errmsg == "arguments.c: is unknown; known here: a, b"


def test_hints_complete_a_handwritten_description() -> None:
    described = copy.deepcopy(Shout.__tool_description__)
    described["parameters"][1]["description"] = "how often"
    action = Shout(described)
    assert action.description["parameters"][1]["description"] == "how often"
    assert action({"text": "a", "times": 1.5}).errmsg == "arguments.times: 1.5 is not an integer"


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda: BaseAction({"description": "no name"}), "name"),
        (lambda: BaseAction({"name": "a", "parameters": [], "required": ["b"]}), "required"),
        (lambda: Shout({"name": "a", "api_list": []}), "Shout is not a toolkit"),
        (lambda: Phrases({"name": "a", "parameters": []}), "Phrases is a toolkit"),
        (lambda: Phrases({"name": "a", "api_list": [{"name": "bald"}]}), "did you mean 'bold'?"),
    ],
)
def test_an_invalid_or_misplaced_description_is_refused(made: Any, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        made()


def test_api_without_a_method_cannot_be_called() -> None:
    returned = BaseAction({"name": "bold", "parameters": [TEXT], "required": ["text"]})(
        '{"text": "a"}'
    )

    assert returned.state == ActionStatusCode.API_ERROR
    assert returned.errmsg is not None
    assert returned.errmsg.startswith("invalid API: run; bold is only described")
    assert "subclass BaseAction" in returned.errmsg


def test_handwritten_description_may_name_undecorated_methods() -> None:
    class Plain(BaseAction):
        def find(self, **arguments: Any) -> str:
            return str(arguments)

    described = {"name": "find", "parameters": [TEXT], "required": ["text"]}
    helper = {"name": "_hidden", "parameters": []}
    action = Plain(
        {"name": "Plain", "api_list": [described, {**described, "name": "lost"}, helper]}
    )

    assert outcome(action('{"text": "a"}', "find")) == make_outcome("{'text': 'a'}")
    assert action("{}", "find").errmsg == "arguments.text: is missing"
    assert str(action("{}", "lost").errmsg).startswith("invalid API: lost; Plain is only described")
    assert str(action("{}", "_hidden").errmsg).startswith(
        "invalid API: _hidden; Plain is only described"
    )
    assert [tool.name for tool in find_tools(action)] == ["Plain_find"]


def test_current_description_of_an_action_is_used() -> None:
    class Renamed(Shout):
        def __init__(self, how: str) -> None:
            super().__init__()
            self._name = f"{how}Shout"
            self._description = {
                **self._description,
                "name": self._name,
                "description": f"{how} shouting.",
            }

    quiet = Renamed("Quiet")
    ((name, text),) = [
        (info["name"], info["description"]) for info in ActionExecutor([quiet]).get_actions_info()
    ]
    assert (name, text) == ("QuietShout", "Quiet shouting.")
    assert (find_tools(quiet)[0].name, find_tools(quiet)[0].describe()["description"]) == (
        name,
        text,
    )
    assert outcome(ActionExecutor([quiet])("QuietShout", {"text": "a"})) == make_outcome("A")


def test_action_may_use_any_attribute_names() -> None:
    class Busy(BaseAction):
        """Has helpers and attributes called as ours might be."""

        def __init__(self) -> None:
            self._apis = self._bound = self._api = 1
            super().__init__()
            self._returned = self._failed = self._check = self._tool = self._method = (
                self.is_async
            ) = 2

        def _call(self, text: str) -> str:
            return text

        def run(self, text: str) -> str:
            return self._call(text) + str(self._apis + self._check)

    assert outcome(Busy()({"text": "a"})) == make_outcome("a3")
    ours = {
        name
        for name in (*vars(BaseAction), *vars(Shout()))
        if name.startswith("_") and not name.startswith("__")
    }
    assert ours - {"_abc_impl"} == {
        "_name",
        "_description",
        "_parser",
    }  # what Lagent's have as well


@pytest.mark.parametrize("twin", [copy.deepcopy, lambda action: pickle.loads(pickle.dumps(action))])
def test_an_action_is_copied_and_pickled(twin: Any) -> None:
    action = Shout()
    action('{"text": "a"}')
    assert outcome(twin(action)('{"text": "a"}')) == make_outcome("A")


# --- calls ----------------------------------------------------------------------------------------


class Returning(BaseAction):
    def run(self, what: str) -> Any:
        return {
            "dict": {"name": "größe 😀 한", "at": dt.date(2026, 3, 1)},
            "list": ["a"],
            "none": None,
            "text": "a😀b한c",
            "opaque": {"a": [object()]},
            "nan": {"a": float("nan")},
            "bare": ActionReturn(result=[]),
            "whole": ActionReturn({"a": 1}, type="Other", valid=ActionValidCode.FINISH),
            "awaitable": asyncio.sleep(0) if what == "awaitable" else None,
            "stream": (letter for letter in "abc"),
        }[what]


@pytest.mark.parametrize(
    ("what", "text"),
    [
        ("dict", '{"name": "größe 😀 한", "at": "2026-03-01"}'),
        ("list", "['a']"),
        ("none", "None"),
        ("text", "a😀b한c"),
        ("stream", "abc"),
    ],
)
def test_result_becomes_text_without_loss(what: str, text: str) -> None:
    assert Returning()({"what": what}) == ActionReturn(
        {"what": what}, type="Returning", result=[{"type": "text", "content": text}]
    )


def test_content_survives_as_items_of_a_result() -> None:
    picture = Image(data=b"\x89PNG\r\n\x1a\n")

    class Drawing(BaseAction):
        def run(self) -> list[Any]:
            return [Text(text="Here"), picture, "and", ResourceLink(uri="https://a.example/b")]

    returned = Drawing()()
    assert returned.result == [
        {"type": "text", "content": "Here"},
        {"type": "image", "content": "data:image/png;base64,iVBORw0KGgo="},
        {"type": "text", "content": "and"},
        {"type": "file", "content": "https://a.example/b"},
    ]
    assert returned.to_content()[1] == picture


def test_action_return_is_completed_and_passed_on() -> None:
    assert Returning()({"what": "bare"}) == ActionReturn(
        {"what": "bare"}, type="Returning", result=[]
    )
    assert Returning()({"what": "whole"}) == ActionReturn(
        {"a": 1}, type="Other", valid=ActionValidCode.FINISH
    )


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("opaque", "result.a[0]"),
        ("nan", "result.a"),
        ("awaitable", "async def"),
        ("lost", "'lost'"),
    ],
)
def test_result_without_a_form_in_json_is_a_failure(what: str, words: str) -> None:
    returned = Returning()({"what": what})
    assert (returned.state, returned.result, returned.args) == (
        ActionStatusCode.API_ERROR,
        None,
        {"what": what},
    )
    assert words in str(returned.errmsg)


class Failing(BaseAction):
    def run(self, error: str) -> str:
        raise {
            "value": ValueError("no such place"),
            "key": KeyError("city"),
            "empty": RuntimeError(),
            "unsayable": Unsayable(),
            "tool": ToolError("closed on Sundays"),
            "exit": SystemExit(3),
            "interrupt": KeyboardInterrupt(),
            "cancelled": asyncio.CancelledError(),
        }[error]


class Unsayable(Exception):
    def __str__(self) -> str:
        raise ValueError("not even this")


@pytest.mark.parametrize(
    ("error", "text"),
    [
        ("value", "no such place"),
        ("key", "KeyError: 'city'"),
        ("empty", "RuntimeError"),
        ("unsayable", "(its message cannot be shown: ValueError in __str__)"),
        ("tool", "closed on Sundays"),
    ],
)
def test_exception_becomes_an_error_message(error: str, text: str) -> None:
    assert Failing()({"error": error}) == ActionReturn(
        {"error": error}, type="Failing", errmsg=text, state=ActionStatusCode.API_ERROR
    )


def test_exception_may_carry_its_state() -> None:
    class Offline(ToolError):
        state = ActionStatusCode.HTTP_ERROR

    class Weather(BaseAction):
        def run(self, place: str) -> str:
            raise Offline(f"nothing is heard from {place}")

    assert Weather()({"place": "Oslo"}) == ActionReturn(
        {"place": "Oslo"},
        type="Weather",
        errmsg="nothing is heard from Oslo",
        state=ActionStatusCode.HTTP_ERROR,
    )


@pytest.mark.parametrize(
    ("error", "kind"),
    [("exit", SystemExit), ("interrupt", KeyboardInterrupt), ("cancelled", asyncio.CancelledError)],
)
def test_interrupts_are_raised(error: str, kind: type[BaseException]) -> None:
    with pytest.raises(kind):
        Failing()({"error": error})


@pytest.mark.parametrize(
    "name", ["helper", "name", "__init__", "_call", "bald", "", "run", "bold.bold"]
)
def test_unknown_api_is_a_failure_that_lists_the_known_ones(name: str) -> None:
    returned = Phrases()({"text": "a"}, name)

    assert returned.state == ActionStatusCode.API_ERROR
    assert returned.args == {"inputs": {"text": "a"}, "name": name}
    assert str(returned.errmsg).startswith(f"invalid API: {name}; ")
    assert str(returned.errmsg).endswith("Known: bold, slanted")


def test_arguments_are_converted_to_the_hinted_types() -> None:
    class Calendar(BaseAction):
        def run(self, day: dt.date, /, weeks: int = 1, *, context: Context) -> str:
            context.progress(1)
            return str(day + dt.timedelta(weeks=weeks))

    assert Calendar()({"day": "2026-03-01"}) == ActionReturn(
        {"day": "2026-03-01"}, type="Calendar", result=[{"type": "text", "content": "2026-03-08"}]
    )
    assert Calendar()({"day": "soon"}).state == ActionStatusCode.ARGS_ERROR
    assert "context" not in str(Calendar().description)


def test_hint_without_a_form_in_json_does_not_prevent_calls() -> None:
    class Session:
        pass

    class Loose(BaseAction):
        def run(self, text: str, *rest: Any, session: type[Session] = Session) -> str:
            """Take what comes.

            Args:
                text: input text
            """
            return text + session.__name__

    assert outcome(Loose()({"text": "a"})) == make_outcome("aSession")
    assert outcome(Loose()({"text": "a", "session": Loose})) == make_outcome("aLoose")
    assert Loose()({"text": 5}).errmsg == "arguments.text: 5 is not a string"


def test_programs_may_pass_objects_for_hints_without_a_form_in_json() -> None:
    class Crop(BaseAction):
        def run(self, picture: "Unknown", day: dt.date, sizes: list[int]) -> "Unknown":  # type: ignore[name-defined]  # noqa: F821, UP037
            return f"{picture} {day!r} {sizes}"

    class Copied(BaseAction):
        async def run(self, stream: asyncio.StreamReader, times: int = 1) -> str:
            return f"{stream}" * times

    assert outcome(
        Crop()({"picture": Ellipsis, "day": "2026-03-01", "sizes": [1]})
    ) == make_outcome("Ellipsis datetime.date(2026, 3, 1) [1]")
    assert (
        Crop()({"picture": Ellipsis, "day": "today", "sizes": [1]}).state
        == ActionStatusCode.ARGS_ERROR
    )
    assert outcome(asyncio.run(_awaited(Copied(), {"stream": 5, "times": 2}))) == make_outcome("55")


def test_custom_parser_reads_inputs_and_formats_outputs() -> None:
    class Comma(BaseParser):
        PARAMETER_DESCRIPTION = "separated by commas"

        def parse_inputs(self, inputs: Any, name: str = "run") -> dict[str, Any]:
            text, comma, times = str(inputs).partition(",")
            if not comma:
                raise ParseError("a comma is wanted")
            return {"text": text, "times": int(times)}

        def parse_outputs(self, outputs: Any) -> list[dict[str, Any]]:
            return [{"type": "html", "content": f"<b>{outputs}</b>"}]

    action = Shout(parser=Comma)
    assert action.description["parameter_description"] == "separated by commas"
    assert action("a,2").result == [{"type": "html", "content": "<b>AA</b>"}]
    assert outcome(action("a")) == (None, "a comma is wanted", ActionStatusCode.ARGS_ERROR)
    assert action("a,b").state == ActionStatusCode.API_ERROR


# --- asynchronous actions -------------------------------------------------------------------------


class Later(BaseAction):
    async def run(self, text: str) -> str:
        await asyncio.sleep(0)
        if not text:
            raise ValueError("nothing to say")
        return text


class Both(AsyncActionMixin, Phrases):
    """An asynchronous toolkit with APIs that are not."""

    @tool_api
    async def stream(self) -> Any:
        for letter in "abc":
            yield letter


async def _awaited(action: BaseAction, *given: Any) -> ActionReturn:
    returned: ActionReturn = await action(*given)
    return returned


@pytest.mark.parametrize(
    ("action", "given", "result"),
    [
        (Later(), ({"text": "a"},), make_outcome("a")),
        (Later(), ({"text": ""},), (None, "nothing to say", ActionStatusCode.API_ERROR)),
        (Later(), ({},), (None, "arguments.text: is missing", ActionStatusCode.ARGS_ERROR)),
        (Both(), ({"text": "a"}, "bold"), make_outcome("**a**")),
        (Both(), ({}, "stream"), make_outcome("abc")),
    ],
)
def test_asynchronous_action_is_awaited_for_any_outcome(
    action: BaseAction, given: Any, result: Any
) -> None:
    assert outcome(asyncio.run(_awaited(action, *given))) == result


def test_custom_call_may_be_asynchronous() -> None:
    class Checked(Phrases):
        async def __call__(self, inputs: Any = None, name: str = "run") -> Any:
            await asyncio.sleep(0)
            return super().__call__(inputs, name)

    executor = AsyncActionExecutor([Checked()])
    returned = asyncio.run(executor.forward("Checked.bold", {"text": "a"}))
    assert outcome(returned) == make_outcome("**a**")


def test_a_name_that_is_no_api_of_an_asynchronous_action_is_reported_when_awaited() -> None:
    returned = asyncio.run(_awaited(Later(), {}, "walk"))
    assert str(returned.errmsg).startswith("invalid API: walk; ")


def test_cancelling_an_asynchronous_action_cancels_it() -> None:
    class Forever(BaseAction):
        async def run(self) -> None:
            await asyncio.Event().wait()

    async def cancel() -> None:
        task = asyncio.ensure_future(_awaited(Forever(), {}))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())


# --- built-in actions -----------------------------------------------------------------------------


def complaint(action: str, given: str | None, text: str) -> ActionReturn:
    return ActionReturn(
        {"text": given},
        type=action,
        errmsg=text,
        state=ActionStatusCode.API_ERROR,
        valid=ActionValidCode.INVALID,
    )


def test_built_in_actions_answer_with_their_texts() -> None:
    usual = "The action is invalid, please check the action name."
    assert InvalidAction()() == complaint("InvalidAction", None, usual)
    assert InvalidAction()("no such thing") == complaint(
        "InvalidAction", "no such thing", "no such thing"
    )
    assert InvalidAction("nope")("") == complaint("InvalidAction", "", "nope")
    assert NoAction()("") == complaint("NoAction", "", "Please follow the format")
    done = ActionReturn(
        {"text": "42"},
        type="FinishAction",
        result=[{"type": "text", "content": "42"}],
        valid=ActionValidCode.FINISH,
    )
    assert FinishAction()("42") == done
    assert FinishAction()({"response": "42"}) == done
    assert FinishAction()().state == ActionStatusCode.ARGS_ERROR


def test_built_in_actions_describe_arguments_of_any_type() -> None:
    for action in (InvalidAction(), NoAction(), FinishAction()):
        assert list(action.description) == ["name", "description", "parameters", "required"]
    assert (InvalidAction().enable, NoAction().enable, FinishAction().enable) == (
        False,
        False,
        True,
    )
