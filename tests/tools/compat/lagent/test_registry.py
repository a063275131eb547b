"""Classes of actions are known by name as soon as they are defined."""

from __future__ import annotations

import subprocess
import sys
import types
from pathlib import Path

import pytest
from toolwire_compat.lagent import ActionExecutor, BaseAction, get_tool, get_tool_cls, list_tools
from toolwire_compat.lagent.registry import UnknownAction

SOURCE = (
    "from toolwire_compat.lagent import BaseAction\n"
    "class Settled(BaseAction):\n    def run(self) -> int: return {}\n"
)


class Greeting(BaseAction):
    def __init__(self, name: str = "you", *, loud: bool = False) -> None:
        super().__init__()
        self.name_of_guest = name.upper() if loud else name

    def run(self) -> str:
        return f"Hello {self.name_of_guest}"


def greeting(action: BaseAction) -> str:
    (item,) = action().result
    return str(item["content"])


def test_an_action_is_made_by_its_name_with_arguments() -> None:
    assert get_tool_cls("Greeting") is Greeting
    assert greeting(get_tool("Greeting")) == "Hello you"
    assert greeting(get_tool("Greeting", "Ann", loud=True)) == "Hello ANN"
    assert ("Greeting", Greeting) in list_tools(with_class=True)


def test_an_unknown_name_is_reported_with_the_closest_known_one() -> None:
    with pytest.raises(KeyError) as caught:
        get_tool("Greting")
    assert isinstance(caught.value, UnknownAction)
    assert str(caught.value).startswith(
        "no action 'Greting', did you mean 'Greeting'? Known: BaseAction, "
    )


def test_a_class_that_is_defined_again_takes_the_place_of_the_first_with_a_warning() -> None:
    first = type(BaseAction)("Twice", (BaseAction,), {"run": lambda self: 1})
    with pytest.warns(UserWarning, match="'Twice'"):
        second = type(BaseAction)("Twice", (BaseAction,), {"run": lambda self: 2})
    assert get_tool_cls("Twice") is second is not first


@pytest.mark.process
def test_a_users_class_has_precedence_over_a_bundled_one_in_any_order(
    tmp_path: Path,
) -> None:
    define = (
        "class FinishAction(BaseAction):\n    def run(self, response: str) -> str:\n        return"
        " response\n"
    )
    for imports in (
        ["BaseAction", "ActionExecutor"],
        ["ActionExecutor, BaseAction", "FinishAction as _"],
    ):
        first, later = (f"from toolwire_compat.lagent import {names}\n" for names in imports)
        script = f"{first}{define}{later}"
        script += (
            "from toolwire_compat.lagent import get_tool_cls\n"
            "assert get_tool_cls('FinishAction') is FinishAction\n"
        )
        subprocess.run([sys.executable, "-W", "error", "-c", script], check=True, timeout=60)


def test_a_module_that_is_loaded_anew_replaces_its_actions_without_a_warning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def load(result: int) -> types.ModuleType:
        module = types.ModuleType("settled_tools")
        monkeypatch.setitem(sys.modules, module.__name__, module)
        exec(SOURCE.format(result), vars(module))
        return module

    load(1)
    again = load(2)
    assert get_tool_cls("Settled") is again.Settled

    with pytest.warns(UserWarning, match="'Settled'"):  # in the same module, it is a mistake
        exec(SOURCE.format(3), vars(again))


def test_settings_name_a_class_in_each_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "places_of_actions.py").write_text(SOURCE.format(5), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)

    executor = ActionExecutor(
        [
            {"type": "Greeting", "name": "Ann", "loud": True},
            {"type": "lagent.actions.FinishAction"},
            {"type": "places_of_actions.Settled"},
        ]
    )

    assert executor.action_names() == ["Greeting", "FinishAction", "Settled"]
    assert executor("Greeting", {}).result == [{"type": "text", "content": "Hello ANN"}]
    assert executor("Settled", {}).result == [{"type": "text", "content": "5"}]


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"name": "Ann"}, TypeError, "type"),
        ({"type": "Greting"}, KeyError, "did you mean 'Greeting'"),
        ({"type": "lagent.actions.Greting"}, KeyError, "did you mean 'Greeting'"),
        ({"type": "nowhere_at_all.Greeting"}, ImportError, "nowhere_at_all"),
        ({"type": "json.Greeting"}, ImportError, "no Greeting in json"),
        ({"type": "Greeting", "colour": "red"}, TypeError, "colour"),
        ({"type": "json.JSONDecoder"}, TypeError, "subclass BaseAction"),
        ("Greeting", TypeError, "subclass BaseAction"),
    ],
)
def test_settings_of_unknown_classes_are_refused(
    settings: object, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        ActionExecutor([settings])


def test_settings_are_not_changed() -> None:
    listed = [{"type": "Greeting", "name": "Ann"}]
    ActionExecutor(listed, finish_in_action=True)
    assert listed == [{"type": "Greeting", "name": "Ann"}]
