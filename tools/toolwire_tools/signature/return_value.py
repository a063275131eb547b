"""What one tool returns: its output schema, and how a Python value becomes plain JSON data that
keeps to it.

Strategy. msgspec makes the value plain and checks it, both in C, wherever it can; where a value may
hold anything, or tuples, a walk in Python makes it plain. jsonschema judges what these two refuse,
and what only it can check.
"""

from __future__ import annotations

import collections.abc
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, Never, NoReturn

import msgspec
from toolwire_schemas.wire.codec import encode_plain

from ..errors import OutputError
from ..schema.annotations import (
    Names,
    evaluate,
    get_arguments,
    get_origin,
    list_members,
    mentions,
    unwrap_annotation,
)
from ..schema.shape import JUDGE, WALK, make_converter, plan_basic

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..schema.shape import Schema, TypePlan
    from ..schema.validator import ToolSchemaValidator

Kind = Literal["undeclared", "text", "blocks", "structured"]


class Returns:
    """What one tool gives back.

    *kind* is "undeclared" (no promise), "text" (a str), "blocks" (images, files, bytes and the
    like) or "structured" (there is an *output_schema*). If *wraps*, a value travels as
    `{"result": value}`. *is_tuple* if it is annotated as a tuple, which the schema of an array does
    not tell.
    """

    def __init__(
        self,
        kind: Kind,
        output_schema: Schema | None = None,
        *,
        wraps: bool = False,
        shape: TypePlan | None = None,
        is_tuple: bool = False,
        is_basic: bool = False,
    ) -> None:
        self.kind: Kind = kind
        self.output_schema = output_schema
        self.wraps = wraps
        self.is_tuple = is_tuple
        self.is_basic = is_basic or output_schema is None
        self._shape = shape
        self._judge: ToolSchemaValidator | None = None
        self._quick: Callable[[Any], Any] | None = None
        self.builtins = self._choose()
        """Returns the value as plain JSON data, not yet wrapped; raises OutputError if the schema
        refuses it.
        """

    def _choose(self) -> Callable[[Any], Any]:
        if self.output_schema is None:
            from ..schema.to_json import make_plain_result

            return make_plain_result
        check = self._check
        exact = self._shape and list_exact_types(self._shape.schema)
        if not exact:
            return check
        if float in exact:
            others = exact - {float} | {int}  # an integer is a number, too

            def keep_number(value: Any) -> Any:
                kind = type(value)
                if kind in others or (kind is float and isfinite(value)):
                    return value
                return check(value)

            return keep_number
        return lambda value: value if type(value) in exact else check(value)

    def _check(self, value: Any) -> Any:
        # With a plan that only jsonschema can check, there is nothing quick to try.
        if self._shape is not None and self._shape.check_level != JUDGE:
            self._quick = self._quick or _make_quick_presenter(self._shape)
            try:
                return self._quick(value)
            except (msgspec.ValidationError, TypeError, ValueError, OverflowError, RecursionError):
                pass
        from ..schema.to_json import make_plain_result

        made = make_plain_result(value)
        if self._judge is None:
            from ..schema.validator import ToolSchemaValidator

            self._judge = ToolSchemaValidator(self.output_schema or {})
        root = "$" if self.wraps else "result"
        if faults := self._judge.find_faults({"result": made} if self.wraps else made, root):
            raise OutputError(
                [(where.replace("$.result", "result", 1), problem) for where, problem in faults]
            )
        return made

    def get_presenter(self) -> Callable[[Any], dict[str, Any]]:
        """Return the function that makes the MCP result from what the tool returned; it raises
        `OutputError`.
        """
        builtins = self.builtins
        if self.wraps:
            return lambda value: wrap_result(builtins(value))
        return lambda value: make_object_result(builtins(value))


def wrap_result(data: Any) -> dict[str, Any]:
    """The MCP result for data that is no object."""
    # The commonest answers are spelled here, as JSON spells them.
    if type(data) is int and -_LARGE < data < _LARGE:
        text = str(data)
    elif data is None:
        text = "null"
    else:
        text = as_text(data)
    return {
        "content": [{"type": "text", "text": text}],
        "structuredContent": {"result": data},
        "isError": False,
    }


def make_object_result(data: Any) -> dict[str, Any]:
    """The MCP result for an object."""
    return {
        "content": [{"type": "text", "text": as_text(data)}],
        "structuredContent": data,
        "isError": False,
    }


def as_text(data: Any) -> str:
    """Return *data* as JSON, and a string as it is."""
    if type(data) is str:
        return data
    replaced: list[str] = []
    try:
        text = encode_plain(data, replaced).decode()
    except ValueError as error:
        raise OutputError([("result", str(error))]) from None
    if replaced:  # so that encoding the text again reports it, too
        import json

        return json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text


_LARGE = 2**64

_TYPES = {
    "integer": int,
    "number": float,
    "string": str,
    "boolean": bool,
    "null": type(None),
}
_WITHOUT_EFFECT = {"title", "description", "default"}


def list_exact_types(schema: Schema) -> frozenset[type]:
    """Return the types of Python whose values *schema* takes, but for NaN and infinities; none if
    it takes only some values of a type.

    Most results are scalars: to look up the type takes a tenth of the time of a check.
    """
    found = set()
    for option in schema.get("anyOf", (schema,)):
        name = str(option.get("type"))
        if option.keys() - _WITHOUT_EFFECT != {"type"} or name not in _TYPES:
            return frozenset()
        found.add(_TYPES[name])
    return frozenset(found)


def _make_quick_presenter(shape: TypePlan) -> Callable[[Any], Any]:
    """Return a function that makes a value plain and checks it, without jsonschema."""
    from ..schema.to_json import to_jsonable

    native, to_builtins, walk = shape.msgspec_type, msgspec.to_builtins, shape.check_level == WALK
    convert = make_converter(native)

    def present(value: Any) -> Any:
        made = (
            to_jsonable(value) if walk else to_builtins(value, str_keys=True, enc_hook=to_jsonable)
        )
        convert(made, native)
        return made

    return present


def from_hint(hint: Any, names: Names, *, is_generator: bool) -> Returns:
    """Return how results of the type *hint* travel, if it is that of a function or generator
    function.

    Raises:
        Unsupported: if the type has no form in JSON.
        Unresolved: if it names something unknown.
    """
    bared = unwrap_annotation(hint, names).hint
    # Also where the function is no generator itself: it may return that of another one.
    if is_generator or (get_origin(bared) or bared) in _GENERATORS:
        hint = _find_hint_of_generator(bared, names)
        bared = unwrap_annotation(hint, names).hint
    if bared in (Any, object, Never, NoReturn):
        return Returns("undeclared")
    if bared is str:
        return Returns("text")
    if (plan := plan_basic(bared, "output")) is not None and evaluate(hint, names) is bared:
        return Returns(
            "structured", wrap_schema(plan.schema), wraps=True, shape=plan, is_basic=True
        )
    if bared in (bytes, bytearray, memoryview) or mentions(hint, _is_content, names):
        return Returns("blocks")
    from ..schema.types import Types

    types = Types("output", names)
    shape = types.plan_type(hint)
    schema = shape.schema
    if not schema:
        return Returns("undeclared")
    definitions = {"$defs": types.defs} if types.defs else {}
    if definitions:
        from toolwire_schemas.json_schema.graph import SchemaGraph  # few types have definitions

        schema = SchemaGraph(definitions).get_node(schema).target.schema
    if schema.get("type") == "object":
        return Returns("structured", {**schema, **definitions}, shape=shape)
    is_tuple = (get_origin(bared) or bared) is tuple
    return Returns(
        "structured",
        {**wrap_schema(schema), **definitions},
        wraps=True,
        shape=shape,
        is_tuple=is_tuple,
    )


def wrap_schema(schema: Schema) -> Schema:
    """The schema of `{"result": value}` for values of *schema*."""
    definitions: Schema = {
        word: schema[word] for word in ("$defs", "definitions", "$schema") if word in schema
    }
    inner = {word: value for word, value in schema.items() if word not in definitions}
    return {
        "type": "object",
        "properties": {"result": inner},
        "required": ["result"],
        "additionalProperties": False,
        **definitions,
    }


def _is_content(hint: Any) -> bool:
    """True for what becomes content blocks: our own helpers, whatever has `to_content`, pictures
    and figures.
    """
    if not isinstance(hint, type):
        return False
    # By its name, since its module is imported with the first tool that has content.
    is_block = any((base.__module__, base.__name__) == _CONTENT for base in hint.__mro__)
    return (
        is_block
        or callable(getattr(hint, "to_content", None))
        or hint.__module__.startswith(_PICTURES)
    )


_CONTENT = ("toolwire_tools.content", "Content")
_PICTURES = ("PIL.", "matplotlib.figure")
_GENERATORS = (
    collections.abc.Iterator,
    collections.abc.Generator,
    collections.abc.AsyncIterator,
    collections.abc.AsyncGenerator,
)


def _find_hint_of_generator(hint: Any, names: Names) -> Any:
    """Return the hint of the answer of a generator: its text, the list of its yields, or its return
    value.
    """
    arguments = get_arguments(hint)
    if not arguments:
        return Any
    if get_origin(hint) is collections.abc.Generator and len(arguments) == 3:
        final = unwrap_annotation(arguments[2], names).hint
        if final not in (None, type(None)):
            options = list_members(final, names) or (final,)
            # None means "no return value", and then the yields count: nothing can be promised.
            if type(None) in options or final is Any:
                return Any
            return arguments[2]
    item = arguments[0]
    bared = unwrap_annotation(item, names).hint
    if bared in (str, Any):
        return bared
    return _LIST[item]


_LIST: Any = list
