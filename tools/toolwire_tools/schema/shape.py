"""One type hint, two facts: its JSON Schema, and the type by which msgspec makes the author's value
from JSON data.

Strategy. msgspec converts JSON data in C, but some hints it refuses (`Path`, mixed enums,
`str | datetime`, unions of dataclasses) and some it reads too kindly (it drops the unknown members
of a dataclass). In the place of these it gets a `DecodeHook`, a type that it does not know, and
calls back into Python for each value. Most hints need none. `types.py` makes plans from hints,
`containers.py` combines them. This file has what a server of numbers and strings needs: the other
files of this room are imported for the first hint that needs them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from operator import call
from typing import Annotated, Any, Literal, Union

import msgspec

from .annotations import get_arguments, get_origin

Schema = dict[str, Any]
Build = Callable[[Any], Any]

ALL_KINDS = frozenset({"string", "integer", "number", "boolean", "null", "array", "object"})


QUICK, WALK, JUDGE = 0, 1, 2
"""msgspec makes a result plain and checks it; or a walk in Python makes it plain; or jsonschema
must check it, too.
"""


class ValueRefused(ValueError):
    """A value that cannot be converted; *path* leads to it from the outside.

    *private* says that *sentence* is the message of an exception raised by the tool author's code.
    """

    def __init__(
        self, sentence: str, path: tuple[str | int, ...] = (), *, private: bool = False
    ) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.path = path
        self.private = private

    def move_inside(self, step: str) -> ValueRefused:
        """Return the same refusal of a value that has this one at *step*."""
        return ValueRefused(self.sentence, (step, *self.path), private=self.private)


class Unsupported(TypeError):
    """A type that has no form in JSON, and what to write instead."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.remedy = remedy


class DecodeHook(type):
    """A type that msgspec does not know: called with JSON data, it converts that to `native`, and
    `make` does the rest.

    What `make` raises is *private* if it is the tool author's.
    """

    native: Any
    make: Build
    finish: Build
    """As `make`, but raises only `ValueRefused`."""
    private: bool

    def __instancecheck__(cls, value: object) -> bool:
        return True  # msgspec checks what it gets from its hook


def make_hook(native: Any, make: Build, *, private: bool = False) -> DecodeHook:
    """Return a type for msgspec whose values *make* makes from those of *native*."""
    convert = make_converter(native)

    def finish(made: Any) -> Any:
        try:
            return make(made)
        except ValueRefused:
            raise
        except (ValueError, TypeError, ArithmeticError) as error:
            raise ValueRefused(str(error) or type(error).__name__, private=private) from error

    def build(_: DecodeHook, value: Any) -> Any:
        try:
            made = value if native is Any else convert(value, native)
        except NOT_CONVERTED as error:
            refused = make_refusal(error)
            raise refused from refused.__cause__
        return finish(made)

    members = {
        "native": native,
        "make": staticmethod(make),
        "finish": staticmethod(finish),
        "private": private,
        "__new__": build,
    }
    return DecodeHook("value", (), members)


def make_converter(native: Any) -> Callable[[Any, Any], Any]:
    """Return msgspec's conversion to *native*, with hooks only if it needs them: they make each
    call slower.
    """
    if has_hook(native):
        return partial(msgspec.convert, dec_hook=call)
    return msgspec.convert


def has_hook(native: Any) -> bool:
    """True if there is a hook anywhere in *native*."""
    inside = (get_origin(native), *get_arguments(native))
    return (
        isinstance(native, DecodeHook)
        or getattr(native, "has_hook", False)
        or any(map(has_hook, filter(None, inside)))
    )


def load(value: Any, native: Any) -> Any:
    """Return what msgspec makes of JSON data, its hooks included.

    Raises:
        Refused: if *value* does not fit.
    """
    if isinstance(native, DecodeHook):
        return native(value)
    try:
        return msgspec.convert(value, native, dec_hook=call)
    except NOT_CONVERTED as error:
        refused = make_refusal(error)
        raise refused from refused.__cause__


class TypePlan(msgspec.Struct, frozen=True):
    """What one type hint means on the wire and in Python."""

    schema: Schema
    msgspec_type: Any = Any
    """The type msgspec converts JSON data to."""
    kinds: frozenset[str] = ALL_KINDS
    """JSON types that may occur."""
    is_identity: bool = False
    """The JSON data, once checked, is the author's value already."""
    union_order: int = 0
    """In a union, members of a lower rank are tried first."""
    check_level: int = QUICK
    """What making results plain and checking them takes: `QUICK`, `WALK` or `JUDGE`."""
    own_text: str | None = None
    """The text of the type itself, which is in the description: it follows the text about a place.
    """

    def with_schema(self, **members: Any) -> TypePlan:
        """The same plan with members added to its schema."""
        return msgspec.structs.replace(self, schema={**self.schema, **members})

    def describe_type(self, own_text: str) -> TypePlan:
        """The same plan with a text that belongs to the type."""
        return msgspec.structs.replace(self.with_schema(description=own_text), own_text=own_text)

    def write_text_about(self, place: str) -> str:
        """Return the text about a *place* of this type, with the type's own."""
        if not self.own_text:
            return place
        return f"{place}{'' if place.endswith(('.', '!', '?', ':')) else '.'} {self.own_text}"

    def build_with(self, make: Build, *, private: bool = False) -> TypePlan:
        """The same plan for what *make* makes of its values; *private* if *make* is the tool
        author's.
        """
        hook = make_hook(self.msgspec_type, make, private=private)
        return msgspec.structs.replace(self, msgspec_type=hook, is_identity=False)


NOT_CONVERTED = (msgspec.ValidationError, UnicodeEncodeError)
"""What `msgspec.convert` raises for a value that it does not take; the second for half of a
character, `"\\ud800"`.
"""


def make_refusal(error: Exception) -> ValueRefused:
    """One of these as a refusal: "sentence - at `$.a[2]`" has its path, without what msgspec hides
    of it.
    """
    if isinstance(error, UnicodeEncodeError):
        from toolwire_schemas.language import say

        return ValueRefused(
            say("has half of a character in it (a lone surrogate), which is no text")
        )
    sentence, _, place = (
        str(error).rpartition(" - at `") if str(error).endswith("`") else (str(error), "", "")
    )
    steps: list[str | int] = []
    for step in (
        place.rpartition("$")[2].rstrip("`").replace("[...]", "").replace("[", ".[").split(".")[1:]
    ):
        steps.append(int(step[1:-1]) if step[:1] == "[" and step[1:-1].isdigit() else step)
    inner = error.__cause__
    if not isinstance(inner, ValueRefused):
        return ValueRefused(sentence, tuple(steps))
    refused = ValueRefused(inner.sentence, (*steps, *inner.path), private=inner.private)
    refused.__cause__ = inner.__cause__
    return refused


def allow_null(plan: TypePlan) -> TypePlan:
    """The plan, or null."""
    if takes_null(plan.schema):
        return plan
    return msgspec.structs.replace(
        plan,
        schema=make_any_of([plan.schema, {"type": "null"}]),
        msgspec_type=unite_natives([plan.msgspec_type, None]),
        kinds=plan.kinds | {"null"},
    )


def takes_null(schema: Schema) -> bool:
    """True if null fits *schema*; of a reference nothing is known."""
    for word in ("anyOf", "oneOf"):
        if word in schema:
            return any(map(takes_null, schema[word]))
    return (
        "$ref" not in schema
        and None in schema.get("enum", [None])
        and schema.get("type", "null") == "null"
    )


def unite_natives(natives: Sequence[Any]) -> Any:
    """The union of native types."""
    return Union[tuple(natives)]  # noqa: UP007 (an operator takes no sequence)


def make_any_of(schemas: Sequence[Schema]) -> Schema:
    """A schema for any of the given ones: flat, without repetitions, null last, and no `anyOf`
    round a single one.

    Integers are numbers, so they are left out next to numbers.
    """
    flat: list[Schema] = []
    for schema in schemas:
        members = [schema]
        if schema.keys() == {"anyOf"}:
            members = schema["anyOf"]
        flat += [member for member in members if member not in flat]
    if {} in flat:
        return {}
    flat = [
        one for one in flat if one.get("type") != "integer" or {**one, "type": "number"} not in flat
    ]
    flat.sort(key=lambda member: member == {"type": "null"})
    if len(flat) == 1:
        return flat[0]
    return {"anyOf": flat}


Direction = Literal["input", "output"]
"""How a plan is meant: for arguments or for results."""

_LARGEST = sys.float_info.max
_NULL = TypePlan({"type": "null"}, None, frozenset({"null"}), True)
_BASIC = {
    bool: TypePlan({"type": "boolean"}, bool, frozenset({"boolean"}), True),
    int: TypePlan({"type": "integer"}, int, frozenset({"integer"}), True),
    float: TypePlan({"type": "number"}, float, frozenset({"number"})),
    str: TypePlan({"type": "string"}, str, frozenset({"string"}), True, 1),
    None: _NULL,
    type(None): _NULL,
}
# NaN and the infinities fail these bounds, at the speed of C.
FINITE: Any = Annotated[float, msgspec.Meta(ge=-_LARGEST, le=_LARGEST)]
_FINITE = msgspec.structs.replace(_BASIC[float], msgspec_type=FINITE)


def plan_basic(hint: Any, direction: Direction) -> TypePlan | None:
    """Return the plan of bool, int, float, str or None; None for any other hint."""
    if type(hint) is not type and hint is not None:
        return None
    if direction == "output" and hint is float:
        return _FINITE
    return _BASIC.get(hint)


def is_field(item: Any) -> bool:
    """True for what pydantic's `Field(...)` returns."""
    return type(item).__name__ == "FieldInfo" and type(item).__module__ == "pydantic.fields"


MISSING: Any = msgspec.UNSET
"""No default that could be shown."""


class RecordMember(msgspec.Struct, frozen=True):
    """A member of a JSON object: it is called *key* there, and *name* in Python."""

    key: str
    name: str
    plan: TypePlan
    required: bool = True
    text: str | None = None
    default: Any = MISSING


def make_object_schema(
    members: Sequence[RecordMember], others: Schema | Literal[False] = False
) -> Schema:
    """Return the schema of an object with *members*, and *others* that have a schema, if there may
    be any.
    """
    schema: Schema = {
        "type": "object",
        "properties": {member.key: _describe(member) for member in members},
    }
    if required := [member.key for member in members if member.required]:
        schema["required"] = required
    if others != {}:
        schema["additionalProperties"] = others
    return schema


def _describe(member: RecordMember) -> Schema:
    """The schema of a member with its text, unless it has one, and with its default, if JSON can
    express it.
    """
    schema, default = dict(member.plan.schema), member.default
    if member.text and schema.get("description") in (None, member.plan.own_text):
        schema["description"] = (
            member.plan.write_text_about(member.text) if "description" in schema else member.text
        )
    elif not schema:
        schema["description"] = "Any JSON value."
    if default is None or type(default) in (bool, int, str):
        schema["default"] = default
    elif default is not MISSING:
        from .to_json import to_jsonable

        with suppress(TypeError, ValueError, RecursionError):
            schema["default"] = to_jsonable(default)
    return schema


def make_struct(
    title: str, members: Sequence[RecordMember], types: Sequence[Any] | None = None
) -> Any:
    """Return a msgspec Struct with *members* alone: it refuses unknown ones. Its *types* are those
    of the members by default.
    """
    if types is None:
        types = [member.plan.msgspec_type for member in members]
    # Fields have names of their own: a key may be anything, a Struct's field may not.
    specification: list[Any] = []
    for index, (member, type_) in enumerate(zip(members, types, strict=True)):
        absent = () if member.required else (msgspec.UNSET,)
        specification.append((f"f{index}", type_, *absent))
    rename = {f"f{index}": member.key for index, member in enumerate(members)}
    namespace = {"has_hook": any(map(has_hook, types))}
    return msgspec.defstruct(
        title,
        specification,
        rename=rename,
        namespace=namespace,
        forbid_unknown_fields=True,
        kw_only=True,
    )


def make_values_reader(members: Sequence[RecordMember]) -> Callable[[Any], dict[str, Any]]:
    """Return a function that takes the values out of such a Struct, by their names in Python."""
    slots = [(f"f{index}", member.name) for index, member in enumerate(members)]

    def list_values(struct: Any) -> dict[str, Any]:
        made = {}
        for slot, name in slots:
            value = getattr(struct, slot)
            if value is not msgspec.UNSET:
                made[name] = value
        return made

    return list_values
