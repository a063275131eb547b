"""Tools written as Python stubs, read without running anything.

Strategy. The text is parsed, and of Python's types those are understood that JSON has: the plain ones, `list`, `dict`
with text as keys, `tuple`, `Literal`, unions, and the TypedDicts and aliases of the same text, which become
definitions. Anything else is refused with its line rather than guessed at.
"""

from __future__ import annotations

import ast
from copy import deepcopy
from inspect import cleandoc
from math import isfinite
from typing import Any

from docstring_parser import ParseError, google

from ..subschemas import walk
from .entries import Entry, Malformed, Schema, kind_of

_PLAIN: dict[str, Schema] = {
    "str": {"type": "string"},
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "bool": {"type": "boolean"},
    "None": {"type": "null"},
    "Any": {},
    "object": {},
    "list": {"type": "array", "items": {}},
    "tuple": {"type": "array", "items": {}},
    "dict": {"type": "object"},
    "Never": {"enum": []},
}
_OLD = {"List": "list", "Tuple": "tuple", "Dict": "dict"}
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def to_entries(stubs: str) -> list[Entry]:
    """Return the entries of the tools that *stubs* declare, in their order.

    A function that says what it returns gets an output schema: of this object, or of `{"result": …}`.

    Raises:
        Malformed: with the line of what is no Python, no declaration of a function or type, or a type that JSON lacks.
    """
    try:
        body = ast.parse(stubs).body
    except SyntaxError as error:
        raise Malformed(f"line {error.lineno}" if error.lineno else "", f"this is no Python: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:  # null characters, nested too deeply
        raise Malformed("", f"this is no Python: {error or 'it is nested too deeply'}") from None
    functions: dict[str, _Function] = {}
    types: dict[str, ast.stmt] = {}
    for node in body:
        if isinstance(node, _Function):
            if node.name in functions:
                raise _refused(node, f"there is another function {node.name!r}")
            functions[node.name] = node
        elif isinstance(node, ast.ClassDef):
            types[node.name] = node
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            types[node.targets[0].id] = node
        elif not isinstance(node, ast.Import | ast.ImportFrom | ast.Pass) and not _is_text(node):
            raise _refused(node, "only functions and the types they need are declared here")
    return [_Declared(types).entry(function) for function in functions.values()]


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


class _Declared:
    """Reads one function, with the definitions it needs."""

    def __init__(self, types: dict[str, ast.stmt]) -> None:
        self._types = types
        self._definitions: dict[str, Schema] = {}

    def entry(self, function: _Function) -> Entry:
        described, parameters, returned = _documented(ast.get_docstring(function, clean=False) or "")
        entry: Entry = {"name": function.name}
        if described:
            entry["description"] = described
        entry["inputSchema"] = self._with_definitions(self._arguments(function.args, parameters))
        if function.returns is not None:
            entry["outputSchema"] = self._with_definitions(self._output(function.returns, returned))
        return entry

    def _arguments(self, given: ast.arguments, described: dict[str, str]) -> Schema:
        if given.vararg:
            raise _refused(given.vararg, "arguments have names, so there is no *args")
        positional = [*given.posonlyargs, *given.args]
        defaults = [*[None] * (len(positional) - len(given.defaults)), *given.defaults, *given.kw_defaults]
        properties: dict[str, Schema] = {}
        required: list[str] = []
        for argument, default in zip([*positional, *given.kwonlyargs], defaults, strict=True):
            schema = dict(self._schema(argument.annotation))
            if said := described.get(argument.arg):
                schema["description"] = said
            if default is None:
                required.append(argument.arg)
            elif not (isinstance(default, ast.Constant) and default.value is ...):
                schema["default"] = _value(default)
            properties[argument.arg] = schema
        more = self._schema(given.kwarg.annotation) if given.kwarg else False
        return _object(properties, required, more)

    def _output(self, annotation: ast.expr, described: str) -> Schema:
        schema = self._schema(annotation)
        if schema.get("$ref", "").startswith("#/$defs/"):
            definition = self._definitions[schema["$ref"].removeprefix("#/$defs/")]
            schema = definition if definition.get("type") == "object" else schema
        if schema.get("type") != "object":
            schema = _object({"result": schema}, ["result"], False)
        return {**schema, "description": described} if described else schema

    def _with_definitions(self, schema: Schema) -> Schema:
        needed: dict[str, Schema] = {}
        ahead = list(_names(schema))
        while ahead:
            if (name := ahead.pop()) not in needed:
                needed[name] = self._definitions[name]
                ahead += _names(needed[name])
        return {**schema, "$defs": dict(sorted(needed.items()))} if needed else schema

    # --- types ---

    def _schema(self, annotation: ast.expr | None) -> Schema:
        """The schema of a type; no annotation is any value."""
        match annotation:
            case None:
                return {}
            case ast.Constant(value=None):
                return _PLAIN["None"]
            case ast.Constant(value=str(written)):
                return self._schema(_parsed(annotation, written))
            case ast.Name(id=name) | ast.Attribute(attr=name):
                return self._named(annotation, name)
            case ast.BinOp(op=ast.BitOr(), left=left, right=right):
                return _any_of([self._schema(left), self._schema(right)])
            case ast.Subscript(value=ast.Name(id=name) | ast.Attribute(attr=name), slice=inner):
                parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
                return self._generic(annotation, _OLD.get(name, name), parts)
        raise _refused(annotation, f"{ast.unparse(annotation)} is no type that JSON has")

    def _named(self, node: ast.expr, name: str) -> Schema:
        name = _OLD.get(name, name)
        if name in self._types:
            if name not in self._definitions:
                self._definitions[name] = {}  # while it is read, it may refer to itself
                self._definitions[name] = self._definition(self._types[name])
            return {"$ref": f"#/$defs/{name}"}
        if name not in _PLAIN:
            known = ", ".join([*_PLAIN, "Literal", "Optional", "Union", *self._types])
            raise _refused(node, f"no type {name!r} is known; known: {known}")
        return deepcopy(_PLAIN[name])

    def _generic(self, node: ast.expr, name: str, parts: list[ast.expr]) -> Schema:
        match name, parts:
            case "Literal", _:
                values = [_value(part) for part in parts]
                kind = kind_of(values)
                return {**({"type": kind} if kind else {}), "enum": values}
            case "Optional", [part]:
                return _any_of([self._schema(part), _PLAIN["None"]])
            case "Union", _:
                return _any_of([self._schema(part) for part in parts])
            case "Annotated", [part, ast.Constant(value=str(said))]:
                return {**self._schema(part), "description": said}
            case "list", [part]:
                return {"type": "array", "items": self._schema(part)}
            case "dict", [ast.Name(id="str"), part]:
                inner = self._schema(part)
                return {"type": "object", "additionalProperties": False if inner == _PLAIN["Never"] else inner}
            case "tuple", _:
                return self._tuple(parts)
        raise _refused(node, f"{ast.unparse(node)} is no type that JSON has")

    def _tuple(self, parts: list[ast.expr]) -> Schema:
        match parts:
            case [part, ast.Constant(value=value)] if value is ...:
                return {"type": "array", "items": self._schema(part)}
            case [ast.Tuple(elts=[])]:
                return {"type": "array", "maxItems": 0, "items": {}}
            case [
                *first,
                ast.Starred(value=ast.Subscript(value=ast.Name(id="tuple"), slice=ast.Tuple(elts=[rest, _]))),
            ]:
                schemas = [self._schema(part) for part in first]
                return {"type": "array", "prefixItems": schemas, "minItems": len(first), "items": self._schema(rest)}
        schemas = [self._schema(part) for part in parts]
        size = len(schemas)
        return {"type": "array", "minItems": size, "maxItems": size, "prefixItems": schemas, "items": _any_of(schemas)}

    def _definition(self, node: ast.stmt) -> Schema:
        match node:
            case ast.ClassDef():
                fields = {}
                for line in node.body:
                    if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
                        fields[line.target.id] = line.annotation
                    elif not _is_text(line) and not isinstance(line, ast.Pass):
                        raise _refused(line, "a type has fields with types, and nothing else")
                made = self._typed_dict(fields)
                return {**made, "description": said} if (said := ast.get_docstring(node)) else made
            case ast.Assign(
                value=ast.Call(func=ast.Name(id="TypedDict"), args=[_, ast.Dict(keys=keys, values=values)])
            ):
                return self._typed_dict({_value(key): value for key, value in zip(keys, values, strict=True) if key})
            case ast.Assign(value=value):
                return self._schema(value)
        raise AssertionError(node)

    def _typed_dict(self, fields: dict[str, ast.expr]) -> Schema:
        properties: dict[str, Schema] = {}
        required: list[str] = []
        for name, annotation in fields.items():
            match annotation:
                case ast.Subscript(value=ast.Name(id="NotRequired"), slice=inner):
                    properties[name] = self._schema(inner)
                case _:
                    properties[name] = self._schema(annotation)
                    required.append(name)
        return _object(properties, required, False)


def _object(properties: dict[str, Schema], required: list[str], more: Schema | bool) -> Schema:
    made: Schema = {"type": "object", "properties": properties}
    if required:
        made["required"] = required
    if more != {}:
        made["additionalProperties"] = more
    return made


def _any_of(schemas: list[Schema]) -> Schema:
    parts = [part for schema in schemas for part in (schema["anyOf"] if schema.keys() == {"anyOf"} else [schema])]
    different = [part for place, part in enumerate(parts) if part not in parts[:place]]
    if {} in different or not different:
        return {}
    return different[0] if len(different) == 1 else {"anyOf": different}


def _names(schema: Schema) -> list[str]:
    """The definitions that *schema* refers to itself."""
    return [part["$ref"].removeprefix("#/$defs/") for _, part in walk(schema, "") if "$ref" in part]


def _value(node: ast.expr) -> Any:
    try:
        return _as_json(ast.literal_eval(node))
    except (ValueError, TypeError, RecursionError):
        raise _refused(node, f"{ast.unparse(node)} is no JSON value") from None


def _as_json(value: Any) -> Any:
    match value:
        case None | bool() | int() | str():
            return value
        case float() if isfinite(value):
            return value
        case list() | tuple():
            return [_as_json(item) for item in value]
        case dict() if all(isinstance(name, str) for name in value):
            return {name: _as_json(item) for name, item in value.items()}
    raise ValueError


def _parsed(node: ast.expr, written: str) -> ast.expr:
    try:
        return ast.parse(written, mode="eval").body
    except (SyntaxError, ValueError):
        raise _refused(node, f"{written!r} is no type") from None


def _documented(text: str) -> tuple[str, dict[str, str], str]:
    """What a docstring says of the tool, of each parameter, and of what is returned."""
    try:
        found = google.parse(text)
    except ParseError:  # a section without content, for one
        return cleandoc(text), {}, ""
    gap = "\n\n" if found.blank_after_short_description else "\n"
    described = gap.join(filter(None, (found.short_description, found.long_description)))
    parameters = {parameter.arg_name: parameter.description or "" for parameter in found.params}
    return described, parameters, (found.returns.description or "") if found.returns else ""


def _refused(node: ast.expr | ast.stmt | ast.arg, problem: str) -> Malformed:
    return Malformed(f"line {node.lineno}", problem)
