"""From one YAML document to the config of one tool, and all that is wrong with it.

Strategy. Every fault is noted in the document and reading goes on, so that all of them are reported at once. After a
fault, the returned value only serves to find more.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from toolwire_schemas.did_you_mean import unknown_name
from toolwire_schemas.json_schema.error_text import shown

from ..decorator import checked
from ..options import Options
from .command_reader import KEYS, command
from .model import ExecutorName, Function, Reference, ToolConfig, canonical
from .parameters import INSTRUCTION, input_schema

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .command import Command
    from .yaml_document import Document, Path

_GUIDE = ("tool_name", "description")
_PROMPT = ("tool_name", "tool_prompt", "return_format")
_BINDINGS = ("command", "function", "executor")
_OPTIONS = (
    *("title", "read_only", "destructive", "idempotent", "open_world", "timeout_seconds", "runs_in", "memory_limit"),
    *("tags", "icons", "output_schema", "meta"),
)
_KEYS = ("use_guide", "use_prompt", "parameters", "required", "input_schema", *_BINDINGS, *KEYS, *_OPTIONS)

LEAST = "use_guide: {tool_name: ..., description: ...}"
"""The least that every tool needs."""


def config_of(document: Document) -> ToolConfig | None:
    """The config that *document* is; None if it is not one. Every fault is added to the document's."""
    return _Reading(document).config()


class _Reading:
    def __init__(self, document: Document) -> None:
        self._document = document

    def config(self) -> ToolConfig | None:
        document = self._document
        given = document.value
        if not isinstance(given, dict):
            if not document.faults:
                document.add((), f"{shown(given)} describes no tool, which has at least {LEAST}")
            return None
        self._refuse_unknown((), given, _KEYS)
        guide = self._section("use_guide", _GUIDE)
        name = self._name(guide)
        description = self._text("use_guide", guide, "description", "say what the tool is good for")
        prompt = self._section("use_prompt", _PROMPT) if "use_prompt" in given else {}
        self._compare_names(name, prompt)
        schema = input_schema(document)
        return ToolConfig(
            name=name,
            description=description,
            tool_prompt=self._prompt(prompt, "tool_prompt"),
            return_format=self._prompt(prompt, "return_format"),
            input_schema=schema,
            binding=self._binding(schema),
            options=self._options(),
            file=document.file,
            line=document.lines.get(("use_guide", "tool_name"), 0),
        )

    def _add(self, path: Path, problem: str) -> None:
        self._document.add(path, problem)

    def _refuse_unknown(self, path: Path, given: dict[str, Any], known: Iterable[str]) -> None:
        for key in given:
            if key not in known:
                self._add((*path, key), unknown_name("key", key, known))

    def _section(self, key: str, known: tuple[str, ...]) -> dict[str, Any]:
        given = self._document.value.get(key)
        if not isinstance(given, dict) or not given:
            said = "is missing" if given is None else "is empty" if given == {} else f"{shown(given)} is no mapping"
            self._add((key,), f"{said}; write {key}: {{{': ..., '.join(known)}: ...}}")
            return {}
        self._refuse_unknown((key,), given, known)
        return given

    def _text(self, section: str, given: dict[str, Any], key: str, remedy: str) -> str:
        value = given.get(key)
        if isinstance(value, str) and value.strip():
            return value.strip()
        if value is not None and not isinstance(value, str):
            self._add((section, key), f"{shown(value)} is no text; put it in quotes")
        elif given:  # else the section is missing altogether, and that has been said
            self._add((section, key), f"{'is empty' if key in given else 'is missing'}; {remedy}")
        return ""

    def _name(self, guide: dict[str, Any]) -> str:
        name = self._text("use_guide", guide, "tool_name", "give the tool a name")
        if not name.isprintable() or any(sign.isspace() or sign in "<>/" for sign in name):
            self._add(("use_guide", "tool_name"), f"{name!r} cannot stand in a tag: use no space and none of < > /")
        return name

    def _compare_names(self, name: str, prompt: dict[str, Any]) -> None:
        other = self._text("use_prompt", prompt, "tool_name", f"repeat the name: {name}")
        if other and name and canonical(other) != canonical(name):
            self._add(("use_prompt", "tool_name"), f"{other!r} is not {name!r}, as use_guide says; a tool has one name")

    def _prompt(self, prompt: dict[str, Any], key: str) -> str | None:
        value = prompt.get(key)
        if value is not None and not isinstance(value, str):
            self._add(("use_prompt", key), f"{shown(value)} is no text; write it behind a | to keep its lines")
            return None
        return value or None

    def _binding(self, schema: dict[str, Any] | None) -> Command | Function | ExecutorName | None:
        given = self._document.value
        bound = [key for key in _BINDINGS if key in given]
        for key in bound[1:]:
            self._add((key,), f"{bound[0]} says already what runs the tool; keep one of them")
        if "command" not in bound:
            for key in KEYS:
                if key in given:
                    self._add((key,), "it belongs to a command, and there is none")
        match bound[:1]:
            case ["command"]:
                folder = os.path.abspath(os.path.dirname(self._document.file))
                return command(self._document, INSTRUCTION if schema is None else schema, folder)
            case ["function"]:
                found = self._reference("function", "module:function")
                return None if found is None or found.module is None else Function(found.name, found.module)
            case ["executor"]:
                found = self._reference("executor", "NAME or module:NAME")
                return None if found is None else ExecutorName(found.name, found.module)
        return None

    def _reference(self, key: str, wanted: str) -> Reference | None:
        given = self._document.value[key]
        module, colon, name = given.rpartition(":") if isinstance(given, str) else ("", "", "")
        if not name or (colon and not module) or (key == "function" and not colon):
            self._add((key,), f"{shown(given)} is not of the form {wanted}")
            return None
        return Reference(name, module or None)

    def _options(self) -> Options:
        values = {}
        for key in _OPTIONS:
            if key not in self._document.value:
                continue
            value = self._document.value[key]
            try:
                if value is None:
                    raise ValueError("is empty; leave it out if there is nothing to say")
                values[key] = getattr(checked({key: value, **_NEEDS.get(key, {})}), key)
            except (TypeError, ValueError) as error:
                self._add((key,), str(error).removeprefix("tool_api: ").removeprefix(f"{key} "))
        if "memory_limit" in values and "runs_in" not in values:
            self._add(("memory_limit",), "it needs a process of its own; say runs_in: process as well")
        return Options(**values)


_NEEDS: dict[str, dict[str, Any]] = {"memory_limit": {"runs_in": "process"}}
"""Other options that the check of an option needs."""
