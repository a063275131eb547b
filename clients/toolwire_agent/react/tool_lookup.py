"""Finds the tools of a conversation by name, and validates parameters before a call."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any

from toolwire_client.validation import LenientValidator
from toolwire_dialects.name_mapping import Names
from toolwire_dialects.search.near_tools import write_near_tools
from toolwire_dialects.search.search_index import SearchableTool, SearchIndex
from toolwire_dialects.tool_entry import get_list, get_properties, list_required
from toolwire_schemas.wire.codec import DecodingError, decode

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from toolwire_schemas.json_schema.error_text import Fault

Entry = dict[str, Any]
Schema = dict[str, Any]
Params = dict[str, Any]

_CAPITALS = re.compile(r"_|(?<=[a-z])(?=[A-Z])")
_PYTHON = re.compile(r"\w?python|\binterpret|代码", re.IGNORECASE)
_RUNS = re.compile(
    rf"{_PYTHON.pattern}|\b(?:runs?|runner|exec\w*|eval\w*|sandbox|repl|jupyter)\b|执行|运行",
    re.IGNORECASE,
)
_CODE_PARAMETERS = {
    "code": _RUNS,
    **dict.fromkeys(("command", "script", "source", "program", "snippet"), _PYTHON),
}
"""Parameters that may take code, each with a pattern that the tool's name or description must
match.

A `command`, for instance, is mostly a shell's.
"""


class Tools:
    """Tools as `tools/list` describes them; their entries are not trusted to be valid.

    `entries` and `names` are those of the tools *shown* to the model, in that order; by default
    all. The others, in `all_entries` and `all_names`, can be called, too, also by the tool
    *call_tool*.

    Raises:
        ValueError: if two tools share a name, or one has no name.
    """

    def __init__(
        self, entries: Iterable[Entry], *, shown: Sequence[str] = (), call_tool: str = ""
    ) -> None:
        self.all_entries = tuple(entries)
        self.all_names = tuple(map(_get_name, self.all_entries))
        self._entries = dict(zip(self.all_names, self.all_entries, strict=True))
        names = self.all_names
        if shown:
            names = tuple(name for name in shown if name in self._entries)
        self.names = names
        self.entries = tuple(self._entries[name] for name in names)
        self._call_tool = call_tool
        self._validators: dict[str, LenientValidator] = {}
        if len(self._entries) < len(self.all_names):
            twice = next(name for name in self.all_names if self.all_names.count(name) > 1)
            raise ValueError(f"there are two tools called {twice!r}; give one of them another name")

    def find(self, name: str) -> str | None:
        """Return the tool that *name* means: its own name, that of its stub in a prompt, or
        `Toolkit.api`.

        Descriptions mention other APIs of their toolkit with a dot, also where the tools are called
        `Toolkit_api`.
        """
        if name in self._entries:
            return name
        if name in self._stubs.ours:
            return self._stubs.ours[name]
        served = name.replace(".", "_")
        if served in self._entries:
            return served
        return None

    def has(self, name: str) -> bool:
        """Whether a tool, shown or not, is called *name*."""
        return name in self._entries

    def open_call(self, tool: str, params: Params) -> tuple[str, Params]:
        """Return the tool and the parameters that a call of *tool* means: those in *params*, if it
        calls others by name.
        """
        if tool != self._call_tool or not tool:
            return tool, params
        name, inner = params.get("name"), params.get("arguments", {})
        if isinstance(inner, str):
            inner = _decode_object(inner)
        if not isinstance(name, str) or not isinstance(inner, dict) or name == tool:
            return tool, params
        return self.find(name) or name, inner

    def get_schema(self, name: str) -> Schema:
        """Return the tool's input schema, empty if it has no valid one."""
        schema = self._entries[name].get("inputSchema")
        if isinstance(schema, dict):
            return schema
        return {}

    def sample(self) -> tuple[str, Params] | None:
        """Return a call of the first tool with values of the right types; `None` without tools."""
        for name in self.names[:1]:
            members = get_properties(self.get_schema(name))
            return name, {
                each: _sample(members.get(each, {}))
                for each in list_required(self.get_schema(name))
            }
        return None

    def find_code_runners(self) -> list[tuple[str, str]]:
        """Return the tools that run Python code, each with its code parameter.

        That is the only required parameter, a string with a telling name, of a tool that describes
        running code.
        """
        found = []
        for name in self.names:
            schema = self.get_schema(name)
            match schema.get("required"):
                case [str(parameter)] if parameter in _CODE_PARAMETERS:
                    about = (
                        f"{_CAPITALS.sub(' ', name)} {self._entries[name].get('description', '')}"
                    )
                    takes_text = (
                        schema.get("properties", {}).get(parameter, {}).get("type", "string")
                        == "string"
                    )
                    if takes_text and _CODE_PARAMETERS[parameter].search(about):
                        found.append((name, parameter))
        return found

    def fit_params(self, name: str, params: Params) -> tuple[Params, list[Fault]]:
        """Return *params* as the tool takes them, and the faults that its schema finds.

        Arguments are read as a server reads them: JSON in texts, and null for an optional
        parameter, which OpenAI's strict mode cannot omit.
        """
        if name not in self._validators:
            self._validators[name] = LenientValidator(self.get_schema(name))
        return self._validators[name].read(params, "params")

    def explain_unchecked(self, name: str) -> str:
        """Return why the tool's last parameters were not validated; empty if they were."""
        if name in self._validators:
            return self._validators[name].trouble
        return ""

    def write_near_stubs(self, name: str) -> str:
        """Return stubs of the tools that may be meant by *name*, which no tool has; "" without such
        tools, or if the model gets no search in place of the list.
        """
        if not self._call_tool:
            return ""
        return write_near_tools(name, SearchIndex(map(SearchableTool, self.all_entries)))

    @cached_property
    def _stubs(self) -> Names:
        return Names(self.all_names, "python")


def _decode_object(text: str) -> Any:
    try:
        return decode(text)
    except DecodingError:
        return None


def _sample(schema: Schema) -> Any:
    if choices := get_list(schema, "enum"):
        return choices[0]
    values: dict[str, Any] = {
        "integer": 1,
        "number": 1.5,
        "boolean": True,
        "array": [],
        "object": {},
        "null": None,
    }
    return values.get(str(schema.get("type")), "…")


def _get_name(entry: Entry) -> str:
    name = entry.get("name")
    if not isinstance(name, str) or not name:
        raise ValueError(f"a tool has no name: {str(entry)[:200]}")
    return name
