"""What one tool returns: its output schema, and how a Python value becomes plain JSON data that keeps to it.

Strategy. msgspec makes the value plain and checks it, both in C, wherever it can; where a value may hold anything, or
tuples, a walk in Python makes it plain. jsonschema judges what these two refuse, and what only it can check.
"""

from __future__ import annotations

import collections.abc
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from ..content.blocks import Content
from ..errors import OutputError
from ..schema.annotations import Names, members, mentions, unwrap_annotation
from ..schema.scalars import scalar
from ..schema.shape import JUDGE, WALK
from ..schema.to_json import NotJsonable, to_jsonable
from ..schema.types import Types

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..schema.shape import Schema, TypePlan
    from ..schema.validator import SchemaValidator

Kind = Literal["undeclared", "text", "blocks", "structured"]


class Returns:
    """What one tool gives back.

    *kind* is "undeclared" (no promise), "text" (a str), "blocks" (images, files, bytes and the like) or
    "structured" (there is an *output_schema*). If *wraps*, a value travels as `{"result": value}`. *is_tuple* if it is
    annotated as a tuple, which the schema of an array does not tell.
    """

    def __init__(
        self,
        kind: Kind,
        output_schema: Schema | None = None,
        *,
        wraps: bool = False,
        shape: TypePlan | None = None,
        is_tuple: bool = False,
    ) -> None:
        self.kind: Kind = kind
        self.output_schema = output_schema
        self.wraps = wraps
        self.is_tuple = is_tuple
        self._shape = shape
        self._judge: SchemaValidator | None = None
        self._quick = _quick(shape)
        self.builtins = self._chosen()
        """Returns the value as plain JSON data, not yet wrapped; raises OutputError if the schema refuses it."""

    def _chosen(self) -> Callable[[Any], Any]:
        if self.output_schema is None:
            return plain_result
        exact = None if self._shape is None else _EXACT.get(self._shape.msgspec_type)
        if exact is None:
            return self._checked

        if exact is float:
            return lambda value: value if type(value) is float and isfinite(value) else self._checked(value)
        return lambda value: value if type(value) is exact else self._checked(value)

    def _checked(self, value: Any) -> Any:
        if self._quick is not None:
            try:
                return self._quick(value)
            except (msgspec.ValidationError, TypeError, ValueError, OverflowError, RecursionError):
                pass
        made = plain_result(value)
        if self._judge is None:
            from ..schema.validator import SchemaValidator

            self._judge = SchemaValidator(self.output_schema or {})
        if faults := self._judge.faults(
            {"result": made} if self.wraps else made, "structuredContent" if not self.wraps else "$"
        ):
            raise OutputError(
                [
                    (where.replace("$.result", "result", 1).replace("structuredContent", "result", 1), said)
                    for where, said in faults
                ]
            )
        return made


_EXACT: dict[Any, type] = {
    int: int,
    str: str,
    bool: bool,
    None: type(None),
    scalar(float, "output").msgspec_type: float,
}


def _quick(shape: TypePlan | None) -> Callable[[Any], Any] | None:
    """Make plain and check without jsonschema; None if only that knows all the schema says."""
    if shape is None or shape.check_level == JUDGE:
        return None
    native, build = shape.msgspec_type, shape.convert
    to_builtins, convert, walk = msgspec.to_builtins, msgspec.convert, shape.check_level == WALK

    def quick(value: Any) -> Any:
        made = to_jsonable(value) if walk else to_builtins(value, str_keys=True, enc_hook=to_jsonable)
        checked = convert(made, native)
        if build is not None:
            build(checked)
        return made

    return quick


_SHOWN = 20
"""Steps of a place in messages: data that contains itself is hundreds of levels deep."""


def plain_result(value: Any) -> Any:
    """Return the value of a tool as plain JSON data.

    Raises:
        OutputError: naming the place of what JSON cannot express.
    """
    try:
        return to_jsonable(value)
    except NotJsonable as error:
        from toolwire_schemas.json_schema.error_text import place

        steps, further = error.path[:_SHOWN], "…" if len(error.path) > _SHOWN else ""
        raise OutputError([(place("result", steps) + further, error.sentence)]) from None
    except RecursionError:
        raise OutputError([("result", "is nested too deeply")]) from None


def from_hint(hint: Any, names: Names, *, is_generator: bool) -> Returns:
    """Return how results of the type *hint* travel, if it is that of a function or generator function.

    Raises:
        Unsupported: if the type has no form in JSON.
        Unresolved: if it names something unknown.
    """
    from typing import Never, NoReturn

    bared = unwrap_annotation(hint, names).hint
    # Also where the function is no generator itself: it may return that of another one.
    if is_generator or getattr(bared, "__origin__", bared) in _GENERATORS:
        hint = _of_generator(bared, names)
        bared = unwrap_annotation(hint, names).hint
    if bared in (Any, object, Never, NoReturn):
        return Returns("undeclared")
    if bared is str:
        return Returns("text")
    if bared in (bytes, bytearray, memoryview) or mentions(hint, is_content, names):
        return Returns("blocks")
    types = Types("output", names)
    shape = types.of(hint)
    schema = shape.schema
    if not schema:
        return Returns("undeclared")
    if set(schema) == {"$ref"}:
        schema = types.defs[schema["$ref"].rpartition("/")[2]]
    definitions = {"$defs": types.defs} if types.defs else {}
    if schema.get("type") == "object":
        return Returns("structured", {**schema, **definitions}, shape=shape)
    is_tuple = getattr(bared, "__origin__", bared) is tuple
    return Returns("structured", {**wrapped(schema), **definitions}, wraps=True, shape=shape, is_tuple=is_tuple)


def wrapped(schema: Schema) -> Schema:
    """The schema of `{"result": value}` for values of *schema*."""
    definitions: Schema = {word: schema[word] for word in ("$defs", "definitions", "$schema") if word in schema}
    inner = {word: value for word, value in schema.items() if word not in definitions}
    return {
        "type": "object",
        "properties": {"result": inner},
        "required": ["result"],
        "additionalProperties": False,
        **definitions,
    }


def is_content(hint: Any) -> bool:
    """True for what becomes content blocks: our own helpers, whatever has `to_content`, pictures and figures."""
    if not isinstance(hint, type):
        return False
    if issubclass(hint, Content) or callable(getattr(hint, "to_content", None)):
        return True
    return hint.__module__.startswith(("PIL.", "matplotlib.figure"))


_GENERATORS = (
    collections.abc.Iterator,
    collections.abc.Generator,
    collections.abc.AsyncIterator,
    collections.abc.AsyncGenerator,
)


def _of_generator(hint: Any, names: Names) -> Any:
    """Return the hint of the answer of a generator: its text, the list of its yields, or its return value."""
    arguments = getattr(hint, "__args__", ())
    if not arguments:
        return Any
    if getattr(hint, "__origin__", None) is collections.abc.Generator and len(arguments) == 3:
        final = unwrap_annotation(arguments[2], names).hint
        if final not in (None, type(None)):
            options = members(final, names) or (final,)
            # None means "no return value", and then the yields count: nothing can be promised.
            return Any if type(None) in options or final is Any else arguments[2]
    item = arguments[0]
    bared = unwrap_annotation(item, names).hint
    return bared if bared in (str, Any) else _LIST[item]


_LIST: Any = list
