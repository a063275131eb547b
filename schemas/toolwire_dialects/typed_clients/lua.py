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
    return f"""-- Made by `toolwire client lua`; changes get lost.
{_comment(plan.head, "")}
local toolwire = {made}

local M = {{ wait = toolwire.wait, encode = toolwire.encode }}

--- The command that starts the server, from the folder where this file was generated.
M.command = {{ {command} }}

--- The tools by their own names: the function, the names of its arguments, and what it does.
M.tools = {{
{"".join(map(_write_entry, plan.functions))}}}

{"".join(_write_definition(plan, each) for each in plan.types)}\
---@class Tools A function for each tool of the server.
---@field client toolwire.Client

--- Starts the server and returns its tools at once. Each takes arguments, options and a callback, which gets an error,
--- or nil and the result. In a coroutine and without a callback it returns the result, or raises the error.
---@param how? toolwire.Options
---@return Tools
function M.connect(how)
  local client = toolwire.connect(vim.tbl_extend("force", {{ command = M.command }}, how or {{}}))
  local tools = {{ client = client }}
{"".join(map(_write_function, plan.functions))}
  return tools
end

return M
"""  # noqa: E501


def _write_entry(tool: Function) -> str:
    names = ", ".join(_write_literal(member.name) for member in tool.arguments.members)
    about = _write_literal(next(iter(tool.docs), ""))
    called = f"call = {_write_literal(tool.name)}, arguments = {{{names and f' {names} '}}}"
    return f"  [{_write_literal(tool.wire_name)}] = {{ {called}, about = {about} }},\n"


def _write_function(tool: Function) -> str:
    given = tool.arguments_type or "table<string, any>"
    mark = "?"
    if any(member.is_required for member in tool.arguments.members):
        mark = ""
    result = "toolwire.Result"
    if tool.result is not None:
        result = _write_type(tool.result)
    if tool.result is None:
        call = f"client:call_tool({_write_literal(tool.wire_name)}"
    else:
        call = f"client:call_typed({str(tool.is_wrapped).lower()}, {_write_literal(tool.wire_name)}"
    return f"""
{_comment(tool.docs, "  ")}  ---@param arguments{mark} {given}
  ---@param options? toolwire.CallOptions
  ---@param callback? fun(err: toolwire.Error?, result: {result})
  ---@return {result}
  function tools.{tool.name}(arguments, options, callback)
    return {call}, arguments, options, callback)
  end
"""


def _write_definition(plan: Plan, definition: Definition) -> str:
    about = on_one_line(definition.description)
    shape = definition.shape
    if not isinstance(shape, ObjectShape) or not shape.members:
        return f"---@alias {definition.name} {_write_type(shape)}\n\n"
    fields = "".join(_write_field(field) for field in plan.plan_fields(shape))
    rest = ""
    if shape.rest is not None:
        rest = f"---@field [string] {_write_type(shape.rest)}\n"
    return f"---@class {definition.name} {about}".rstrip() + f"\n{fields}{rest}\n"


def _write_field(field: Field) -> str:
    is_plain = NAMING.members.allows(field.wire_name)
    name = field.wire_name if is_plain else f"[{_write_literal(field.wire_name)}]"
    mark = ""
    if not field.is_required:
        mark = "?"
    return (
        f"---@field {name}{mark} {_write_type(field.shape)} {' '.join(field.docs)}".rstrip() + "\n"
    )


def _write_type(shape: Shape) -> str:
    match shape:
        case ScalarShape(kind=kind):
            return _SCALARS.get(kind, "any")
        case ValuesShape(values=values):
            return "|".join(dict.fromkeys(map(_write_value, values))) or "nil"
        case ArrayShape(first=[], rest=rest) if rest is not None:
            return f"{_write_part(rest)}[]"
        case ArrayShape(first=first, rest=None):
            return f"[{', '.join(map(_write_type, first))}]"
        case ArrayShape():
            return "any[]"
        case UnionShape(parts=parts):
            return "|".join(dict.fromkeys(map(_write_part, parts)))
        case ReferenceShape(name=name):
            return name
        case ObjectShape(rest=rest):
            return f"table<string, {'any' if rest is None else _write_type(rest)}>"


def _write_part(shape: Shape) -> str:
    if isinstance(shape, UnionShape | ValuesShape):
        return f"({_write_type(shape)})"
    return _write_type(shape)


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
