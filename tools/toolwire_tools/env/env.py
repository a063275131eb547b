"""Groot's environment: whatever an agent may use, behind one call."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

from ..actions.action_set import no_such_action
from ..errors import RegistrationError
from .sources import Entry, source_of

if TYPE_CHECKING:
    from ..tool import Tool


class Env:
    """Actions by name: `env("Search.find", {"text": "hi"})` returns what the action returns.

    *actions* may be functions, actions, toolkits, executors, connected servers (anything with `list_tools` and
    `call_tool`), agents (anything with `run`), other environments, and settings such as `{"type": "PPT"}`.

    Raises:
        RegistrationError: for what is none of these, and if two actions have one name.
    """

    def __init__(self, actions: Any) -> None:
        things = actions if isinstance(actions, list | tuple) else [actions]
        self._sources = [source_of(thing) for thing in things]
        self._entries: dict[str, Entry] = {}
        for entry in self.entries():
            if entry.name in self._entries:
                remedy = "leave one out, or give it another name"
                raise RegistrationError("two actions have this name", tool=entry.name, remedy=remedy)
            self._entries[entry.name] = entry

    def get_actions_info(self) -> list[dict[str, Any]]:
        """Lagent's description of each action; the APIs of toolkits are called `Toolkit.api`."""
        return [deepcopy(entry.description) for entry in self._entries.values()]

    def describe_actions(self) -> list[dict[str, Any]]:
        """Return each action as an entry of MCP's `tools/list`: with the schemas by which its arguments are checked."""
        return [deepcopy(entry.describe()) for entry in self._entries.values()]

    def __call__(self, name: str, parameters: Any = None) -> Any:
        """Execute an action, with a dict of arguments, and return its result; a text if there is no such action.

        A bare name means the API `run`.

        Raises:
            ToolError: for wrong arguments, and for what the action itself calls a failure.
            Exception: whatever the action raises.
        """
        entry = self._entries.get(name) or self._entries.get(str(name).removesuffix(".run"))
        if entry is None:
            return no_such_action(name, self._entries)
        return entry.call(parameters)

    def entries(self) -> list[Entry]:
        """All actions, as they are called."""
        return [entry for source in self._sources for entry in source.entries()]

    def tools(self) -> list[Tool]:
        """All actions, as a server offers them."""
        return [tool for source in self._sources for tool in source.tools()]

    @staticmethod
    def __toolwire_tools__(env: Env) -> list[Tool]:
        return env.tools()
