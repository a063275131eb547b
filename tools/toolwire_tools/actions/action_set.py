"""Actions by name: which there are, what a model is told of them, and which API a name means."""

from __future__ import annotations

import warnings
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from toolwire_schemas.language import say

from ..did_you_mean import unknown
from .base import BaseAction
from .metaclass import RUN
from .registry import action_from

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, KeysView

    from .api import Api


def no_such_action(name: object, known: Collection[str]) -> str:
    """A sentence for a model that asked for *name*: which it may have meant, and which there are."""
    apis = [other for other in known if other.startswith(f"{name}.")]
    if apis:
        return say("{name!r} is a toolkit; call one of {apis}", name=name, apis=", ".join(apis))
    return say("There is {which}", which=unknown("action", name, known))


class ActionSet:
    """Actions, or settings they are made from (see `action_from`), each once by its name."""

    def __init__(self, actions: Iterable[Any]) -> None:
        self.actions: dict[str, BaseAction] = {}
        for action in actions:
            made = self._made(action)
            if self.actions.get(made.name, made) is not made:
                warnings.warn(f"of two actions called {made.name!r}, only the last is kept", stacklevel=3)
            self.actions[made.name] = made

    def add_action(self, action: Any) -> None:
        """Add an action, in the place of one of the same name."""
        made = self._made(action)
        self.actions[made.name] = made

    def del_action(self, name: str) -> None:
        """Forget the action called *name*, if there is one."""
        self.actions.pop(name, None)

    def __contains__(self, name: object) -> bool:
        return name in self.actions

    def __getitem__(self, name: str) -> BaseAction:
        return self.actions[name]

    def __setitem__(self, name: str, action: Any) -> None:
        self.add_action(action)  # it goes by its own name

    def __delitem__(self, name: str) -> None:
        del self.actions[name]

    def keys(self) -> KeysView[str]:
        """The names of the actions."""
        return self.actions.keys()

    def action_names(self, only_enable: bool = True) -> list[str]:
        """The names of the enabled actions, or of all."""
        return [name for name, action in self.actions.items() if action.enable or not only_enable]

    def is_valid(self, name: str) -> bool:
        """True for the name of an enabled action, or of an API of one."""
        return name in self.action_names() or self._found(name) is not None

    def get_actions_info(self) -> list[dict[str, Any]]:
        """The description of each API of the enabled actions, those of toolkits called `Toolkit.api`."""
        return [{**deepcopy(api.description), "name": api.full_name} for api in self._apis()]

    def description(self) -> list[dict[str, Any]]:
        """As `get_actions_info`."""
        return self.get_actions_info()

    def _apis(self) -> Iterator[Api]:
        for action in self.actions.values():
            if action.enable:
                yield from action.__toolwire_apis__.values()

    def _found(self, name: str) -> tuple[BaseAction, str] | None:
        """The enabled action, and the name of the API, that *name* means. Either name may have dots in it."""
        for known, action in self.actions.items():
            if name == known or name.startswith(f"{known}."):
                api = RUN if name == known else name[len(known) + 1 :]
                if action.enable and api in action.__toolwire_apis__:
                    return action, api
        return None

    def _made(self, action: Any) -> BaseAction:
        made = action_from(action)
        if not isinstance(made, BaseAction):
            raise TypeError(f"an action is wanted, not {made!r}; subclass BaseAction, or put it into an Env")
        return made
