"""Prints a client in Lua for Neovim: a function for each tool, with types as LuaCATS annotations.

Strategy. Lua has no types of its own, so values are tables as vim.json has them, and annotations
are for the editor. Objects are classes; unions, texts and lists are written where they are.
Annotations are comments, from which printable text cannot escape; a line of a description that
would be an annotation gets a backslash.
"""

from __future__ import annotations

import string
from typing import Any

from ..name_mapping import NameRule, to_pascal_case, to_snake_case
from ..shapes import (
    ArrayShape,
    Definition,
    ObjectShape,
    ReferenceShape,
    ScalarShape,
    Shape,
    UnionShape,
    ValuesShape,
)
from ..tool_entry import on_one_line
from .plan import Field, Function, Naming, Plan

RUNTIME = "lua/toolwire.lua"
_MODULE = "tools"
"""The module whose name goes before those of classes, unless the caller names it."""

_LETTERS = frozenset(string.ascii_letters + string.digits + "_")
_KEYWORDS = (
    "and break do else elseif end false for function goto if in local nil not or repeat return then"
    " true until while"
)
_SCALARS = {
    "string": "string",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
    "null": "vim.NIL",
}


def _make_name_rule(convention: Any, *reserved: str) -> NameRule:
    return NameRule(
        _LETTERS.__contains__,
        may_begin=lambda letter: not letter.isdigit(),
        is_reserved=frozenset((*_KEYWORDS.split(), *reserved)).__contains__,
        convention=convention,
    )


NAMING = Naming(
    functions=_make_name_rule(to_snake_case, "client"),
    types=_make_name_rule(to_pascal_case),
    members=_make_name_rule(str),  # they are members of tables as they come over the wire
    taken_types=frozenset({"Tools"}),
    names_objects=True,
    names_arguments=True,
)


def write(plan: Plan, runtime: str | None) -> str:
    """Return the file, a module with `connect`; *runtime* is embedded, None is required as
    `toolwire`.
    """
    made = 'require("toolwire")'
    if runtime is not None:
        body = "".join(f"  {line}".rstrip() + "\n" for line in runtime.rstrip("\n").split("\n"))
        made = f"(function() -- the same in all clients\n{body}end)()"
    command = ", ".join(map(_write_literal, plan.command))
    module = plan.package or _MODULE
    printer = _Printer(plan, f"{module}.")
    return f"""-- Made by `toolwire client lua`; changes get lost.
{_comment(plan.head, "")}
local toolwire = {made}

local M = {{ wait = toolwire.wait, encode = toolwire.encode }}

--- The command that starts the server, from the folder where this file was generated.
M.command = {{ {command} }}

--- The tools by their own names: the function, the names of its arguments, and what it does.
M.tools = {{
{"".join(map(_write_entry, plan.functions))}}}

{"".join(printer.write_definition(each) for each in plan.types)}\
---@class {module}.Tools A function for each tool of the server.
---@field client toolwire.Client

--- Starts the server and returns its tools at once. Each takes arguments, options and a callback, which gets an error,
--- or nil and the result. In a coroutine and without a callback it returns the result, or raises the error.
---@param how? toolwire.Options
---@return {module}.Tools
function M.connect(how)
  local client = toolwire.connect(vim.tbl_extend("force", {{ command = M.command }}, how or {{}}))
  local tools = {{ client = client }} --[[@as {module}.Tools]]
{"".join(map(printer.write_function, plan.functions))}
  return tools
end

return M
"""  # noqa: E501


class _Printer:
    """Prints what is of one server; *prefix* goes before the names of classes."""

    def __init__(self, plan: Plan, prefix: str) -> None:
        self._plan = plan
        self._prefix = prefix

    def write_function(self, tool: Function) -> str:
        given = "table<string, any>"
        if tool.arguments_type:
            given = f"{self._prefix}{tool.arguments_type}"
        mark = "?"
        if any(member.is_required for member in tool.arguments.members):
            mark = ""
        result = "toolwire.Result"
        if tool.result is not None:
            result = self._write_type(tool.result)
        callback = f"fun(err: toolwire.Error?, result: {result})"
        if tool.result is None:
            call = f"client:call_tool({_write_literal(tool.wire_name)}"
        else:
            is_wrapped = str(tool.is_wrapped).lower()
            call = f"client:call_typed({is_wrapped}, {_write_literal(tool.wire_name)}"
        given_first = f"arguments: {given}{mark}"
        return f"""
{_comment(tool.docs, "  ")}  ---@param arguments{mark} {given}
  ---@param options? toolwire.CallOptions
  ---@return {result} # in a coroutine
  ---@overload fun({given_first}, callback: {callback}): toolwire.Handle
  ---@overload fun({given_first}, options: toolwire.CallOptions?, callback: {callback}): toolwire.Handle
  function tools.{tool.name}(arguments, options, callback)
    return {call}, arguments, options, callback)
  end
"""  # noqa: E501

    def write_definition(self, definition: Definition) -> str:
        about = on_one_line(definition.description)
        shape = definition.shape
        if not isinstance(shape, ObjectShape) or not shape.members:
            return f"---@alias {self._prefix}{definition.name} {self._write_type(shape)}\n\n"
        fields = "".join(self._write_field(field) for field in self._plan.plan_fields(shape))
        rest = ""
        if shape.rest is not None:
            rest = f"---@field [string] {self._write_type(shape.rest)}\n"
        return f"---@class {self._prefix}{definition.name} {about}".rstrip() + f"\n{fields}{rest}\n"

    def _write_field(self, field: Field) -> str:
        is_plain = NAMING.members.allows(field.wire_name)
        name = field.wire_name if is_plain else f"[{_write_literal(field.wire_name)}]"
        mark = ""
        if not field.is_required:
            mark = "?"
        line = f"---@field {name}{mark} {self._write_type(field.shape)} {' '.join(field.docs)}"
        return f"{line.rstrip()}\n"

    def _write_type(self, shape: Shape) -> str:
        match shape:
            case ScalarShape(kind=kind):
                return _SCALARS.get(kind, "any")
            case ValuesShape(values=values):
                return "|".join(dict.fromkeys(map(_write_value, values))) or "nil"
            case ArrayShape(first=[], rest=rest) if rest is not None:
                return f"{self._write_part(rest)}[]"
            case ArrayShape(first=first, rest=None):
                return f"[{', '.join(map(self._write_type, first))}]"
            case ArrayShape():
                return "any[]"
            case UnionShape(parts=parts):
                return "|".join(dict.fromkeys(map(self._write_part, parts)))
            case ReferenceShape(name=name):
                return f"{self._prefix}{name}"
            case ObjectShape(rest=rest):
                return f"table<string, {'any' if rest is None else self._write_type(rest)}>"

    def _write_part(self, shape: Shape) -> str:
        if isinstance(shape, UnionShape | ValuesShape):
            return f"({self._write_type(shape)})"
        return self._write_type(shape)


def _write_entry(tool: Function) -> str:
    names = ", ".join(_write_literal(member.name) for member in tool.arguments.members)
    arguments = f"{{ {names} }}" if names else "{}"
    call = _write_literal(tool.name)
    about = _write_literal(tool.docs[0] if tool.docs else "")
    members = f"call = {call}, arguments = {arguments}, about = {about}"
    return f"  [{_write_literal(tool.wire_name)}] = {{ {members} }},\n"


def _write_value(value: Any) -> str:
    match value:
        case str():
            return _write_literal(value)
        case bool() | int():
            return str(value).lower()
        case float():
            return "number"
        case None:
            return "vim.NIL"
    return "table"


def _comment(lines: list[str], indent: str) -> str:
    lines = [f"\\{line}" if line.startswith(("@", "|")) else line for line in map(str.strip, lines)]
    return "".join(f"{indent}--- {line}".rstrip() + "\n" for line in lines)


def _write_literal(text: str) -> str:
    """*text* as Lua writes it, with the bytes of what is not printable as decimal numbers."""
    made = ""
    for letter in text:
        escapes = "".join(f"\\{byte:03d}" for byte in letter.encode("utf-8", "replace"))
        made += letter if letter.isprintable() and letter not in '"\\' else escapes
    return f'"{made}"'
