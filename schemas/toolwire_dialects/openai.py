"""Tools as OpenAI's APIs and all that imitate them want functions.

Chat completions nest the function (`{"type": "function", "function": {…}}`); the Responses API does
not. There `strict` is said in any case, because that API makes what says nothing strict by itself.

A name has at most 64 letters, digits, underscores and hyphens: `Names(names, "openai")` makes such
names, and leads back.
"""

from __future__ import annotations

from typing import Any

from .tool_entry import Entry, Malformed, Schema, as_schema, read_text


def from_entry(entry: Entry, *, strict: bool = False, flat: bool = False) -> dict[str, Any]:
    """Return the tool of an *entry* for chat completions, or for the Responses API if it is to be
    *flat*.

    Arguments of a *strict* function have to go through `arguments`.

    Raises:
        NotStrict: if it is to be *strict*, and strict mode has no form for its input schema.
    """
    # An object without `properties` is refused ("object schema missing properties").
    parameters: Schema = {"type": "object", "properties": {}, **as_schema(entry.get("inputSchema"))}
    function: dict[str, Any] = {"name": read_text(entry.get("name"))}
    if description := read_text(entry.get("description")):
        function["description"] = description
    if strict:
        from . import openai_strict  # imports jsonschema, which is slow

        parameters = openai_strict.make_strict(parameters)
    function["parameters"] = parameters
    if strict or flat:
        function["strict"] = strict
    if flat:
        return {"type": "function", **function}
    return {"type": "function", "function": function}


def to_entry(tool: dict[str, Any]) -> Entry:
    """Return the entry of a function in either form, or in the older one, without a `type`.

    Raises:
        Malformed: with the path to what is wrong.
    """
    if not isinstance(tool, dict):
        raise Malformed("", "a tool is an object")
    if tool.get("type", "function") != "function":
        raise Malformed("type", f"{tool['type']!r} is one of the API's own tools, not a function")
    function, where = tool.get("function", tool), "function." if "function" in tool else ""
    if not isinstance(function, dict):
        raise Malformed("function", "it is not an object")
    schema = function.get("parameters") or {}
    if not isinstance(schema, dict):
        raise Malformed(f"{where}parameters", "it is not an object")
    if not read_text(function.get("name")):
        raise Malformed(f"{where}name", "it is missing")
    description = read_text(function.get("description"))
    about = {"description": description} if description else {}
    return {"name": function["name"], **about, "inputSchema": {"type": "object", **schema}}


def restore_arguments(given: dict[str, Any], entry: Entry) -> dict[str, Any]:
    """Return the arguments of a call of the strict function made of *entry* as the tool itself
    wants them.

    A null that means an omitted member is removed: one where the tool would not accept null.
    """
    from .strict_arguments import restore_arguments

    return restore_arguments(given, as_schema(entry.get("inputSchema")))
