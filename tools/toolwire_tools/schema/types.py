"""From a type hint to its plan.

Strategy. `Types` reads the hints of one function (or of one result). It takes the wrappers off a
hint, looks the bare type up, and puts texts and constraints back on. Classes are written out in
place, since many hosts do not follow references; only a class that contains itself keeps a
definition.
"""

from __future__ import annotations

import enum
import itertools
import re
import sys
import typing
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from toolwire_schemas.json_schema.subschemas import get_reference, refer_to_definition

from ..content import Content
from . import record_fields as fields
from .annotations import Names, Unresolved, evaluate, get_origin, is_union, unwrap_annotation
from .constraints import is_only_descriptive, list_keywords, narrow, read
from .containers import CONTAINERS, OBJECT, plan_union
from .scalars import (
    ANYTHING,
    CLOCKS,
    from_text,
    plan_clock,
    plan_enumeration,
    plan_literal,
    plan_scalar,
)
from .shape import (
    QUICK,
    Direction,
    RecordMember,
    Schema,
    TypePlan,
    Unsupported,
    allow_null,
    is_field,
    load,
    make_hook,
    make_object_schema,
    make_struct,
    make_values_reader,
    plan_basic,
)

if typing.TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Types:
    """Makes shapes from hints. *names* are those that string annotations may use."""

    def __init__(self, direction: Direction, names: Names) -> None:
        self.direction = direction
        self.names = names
        self.defs: dict[str, Schema] = {}
        self.enums: list[type[enum.Enum]] = []
        """Those that values are members of."""
        self._done: dict[Any, TypePlan] = {}
        self._open: list[Any] = []
        self._labels: dict[Any, str] = {}
        """Names of the definitions, by the type that contains itself."""

    def plan_type(self, hint: Any) -> TypePlan:
        """Return the shape of *hint*.

        Raises:
            Unsupported: if the hint has none.
            Unresolved: if it names something unknown.
        """
        if (plan := plan_basic(hint, self.direction)) is not None:
            return plan
        if isinstance(hint, str | typing.ForwardRef):
            return self._read_text(hint)
        peeled = unwrap_annotation(hint, self.names)
        if any(_is_pydantic(item) for item in peeled.metadata):
            return self._plan_model(Annotated[(peeled.hint, *peeled.metadata)])
        texts, constraints, schema = read(peeled.metadata)
        plan = (
            self._narrow(peeled.hint, constraints) if constraints else self._plan_bare(peeled.hint)
        )
        if "description" in texts:
            texts["description"] = plan.write_text_about(texts["description"])
        if texts or schema:
            return plan.with_schema(**texts, **schema)
        return plan

    def _read_text(self, hint: str | typing.ForwardRef) -> TypePlan:
        """The shape of a type given as text, as it must be inside of itself: `Tree =
        list["Tree"]`.
        """
        found = evaluate(hint, self.names)
        if isinstance(found, type) or not _is_hashable(found):
            return self.plan_type(found)
        name = hint if isinstance(hint, str) else hint.__forward_arg__
        return self._define(found, name, lambda: self.plan_type(found))

    def _plan_bare(self, hint: Any) -> TypePlan:
        if _is_hashable(hint):
            if (plan := plan_scalar(hint, self.direction)) is not None:
                return plan
            if hint in self._done:
                return self._done[hint]
        if is_union(hint):
            return self._plan_union_type(hint)
        origin = get_origin(hint)
        if "TypeAliasType" in (type(hint).__name__, type(origin).__name__):
            return self._define(hint, hint.__name__, lambda: self.plan_type(_alias_value(hint)))
        if isinstance(hint, TypeVar):
            return self._plan_type_variable(hint)
        kind = hint if origin is None else origin
        arguments = _read_arguments(hint, origin)
        if kind is Literal:
            self.enums += {
                type(member): None for member in arguments if isinstance(member, enum.Enum)
            }
            return plan_literal(arguments, self.direction)
        if _is_hashable(kind) and kind in CONTAINERS:
            return CONTAINERS[kind](self, arguments)
        if isinstance(kind, type) or typing.is_typeddict(kind):
            return self._plan_class(hint, kind, arguments)
        raise self._refuse(hint)

    def _plan_enumeration(self, cls: type[enum.Enum]) -> TypePlan:
        if issubclass(cls, enum.Flag):  # which sums of flags there are is for the class to say
            return self._plan_subclass(cls, int)
        self.enums.append(cls)
        return plan_enumeration(cls, self.direction)

    def _plan_type_variable(self, variable: TypeVar) -> TypePlan:
        if variable.__constraints__:
            return self._plan_union(variable.__constraints__)
        if variable.__bound__ is None:
            return ANYTHING
        return self.plan_type(variable.__bound__)

    def _plan_class(self, hint: Any, cls: Any, arguments: tuple[Any, ...]) -> TypePlan:
        if isinstance(cls, type) and issubclass(cls, enum.Enum):
            return self._plan_enumeration(cls)
        if isinstance(cls, type) and issubclass(cls, Content):
            raise Unsupported(
                f"{cls.__name__} is content of an answer and no data",
                f"return it by itself, or a list[{cls.__name__}]; as an argument, take bytes or a"
                " Path",
            )
        if _is_of_pydantic(cls):
            return self._plan_model(hint)
        try:
            found = fields.read_members(cls, arguments, self.names)
        except TypeError as error:
            raise Unsupported(str(error), "use a dataclass or a TypedDict instead") from None
        if found is not None:
            return self._define(hint, cls.__name__, lambda: self._plan_object(cls, found))
        if (shape := from_text(cls, self.direction)) is not None:
            return shape
        base = next((base for base in (int, float, dict, list) if issubclass(cls, base)), None)
        if base is not None and cls is not bool:
            return self._plan_subclass(cls, base)
        # Classes have this that tell pydantic what they are: HttpUrl, SecretStr, and users' own.
        if "__get_pydantic_core_schema__" in dir(cls) and "pydantic" in sys.modules:
            return self._plan_model(hint)
        raise self._refuse(hint)

    def _plan_subclass(self, cls: type, base: type) -> TypePlan:
        plan = self._plan_bare(base)
        if self.direction == "output":
            return plan
        return plan.build_with(cls, private=True)

    def _refuse(self, hint: Any) -> Unsupported:
        name = getattr(hint, "__qualname__", None) or repr(hint)
        return Unsupported(
            f"the type {name} has no form in JSON",
            "annotate it with a JSON-like type (int, str, list, a dataclass, a TypedDict, …), "
            f"or give a schema of your own: tool_api({self.direction}_schema={{...}})",
        )

    # Wrappers and unions

    def _plan_union_type(self, hint: Any) -> TypePlan:
        if any(map(_is_left_out, hint.__args__)):
            return self._plan_model(hint)
        return self._plan_union(hint.__args__)

    def _plan_union(self, hints: Iterable[Any]) -> TypePlan:
        given = [hint for hint in hints if hint is not msgspec.UnsetType]
        plans = [self.plan_type(hint) for hint in given]
        objects = [plan for plan in plans if plan.schema.get("type") == "object"]
        if len(objects) > 1:
            plans = list(map(_entitle, plans, given))
        return plan_union(plans)

    def _narrow(self, hint: Any, constraints: dict[str, Any]) -> TypePlan:
        if is_union(hint):
            return plan_union([self._plan_member(member, constraints) for member in hint.__args__])
        if hint in CLOCKS and constraints.keys() == {"tz"}:
            return plan_clock(hint, has_offset=bool(constraints["tz"]))[self.direction == "output"]
        constraints = {name: value for name, value in constraints.items() if name != "tz"}
        plan = self._plan_bare(hint)
        if constraints:
            return narrow(plan, constraints, self.direction)
        return plan

    def _plan_member(self, hint: Any, constraints: dict[str, Any]) -> TypePlan:
        """The member of a union under those of the constraints that say something about it."""
        inner = unwrap_annotation(hint, self.names).hint
        if "tz" in constraints and inner in CLOCKS:
            return self._narrow(inner, constraints)
        plan = self.plan_type(hint)
        wanted = {name: value for name, value in constraints.items() if name in list_keywords(plan)}
        if wanted:
            return narrow(plan, wanted, self.direction)
        return plan

    # Classes

    def _plan_object(self, cls: Any, found: fields.Members) -> TypePlan:
        is_output = self.direction == "output"
        members = [
            self._make_record_member(field, is_output)
            for field in found.fields
            if field.taken or is_output
        ]
        # The tag comes last, so that it is no argument of the constructor, but first in the schema.
        tag = []
        if found.tag:
            name, value = found.tag
            tag = [RecordMember(name, "", plan_literal([value], "input"))]
        schema = make_object_schema([*tag, *members])
        care = max((member.plan.check_level for member in members), default=QUICK)
        struct = make_struct(cls.__name__, [*members, *tag])
        plan = TypePlan(schema, struct, OBJECT, check_level=care)
        if text := _read_own_text(cls):
            plan = plan.describe_type(text)
        if is_output:
            return plan
        values, make = make_values_reader(members), found.make
        if make is not None:
            return plan.build_with(lambda struct: make(**values(struct)), private=True)
        same = all(member.plan.is_identity for member in members)
        return msgspec.structs.replace(plan.build_with(values), is_identity=same)

    def _make_record_member(self, field: fields.Field, is_output: bool) -> RecordMember:
        plan = (
            allow_null(self.plan_type(field.hint))
            if field.default is None
            else self.plan_type(field.hint)
        )
        if is_output:
            return RecordMember(field.key, field.name, plan, field.shown, field.text)
        return RecordMember(field.key, field.name, plan, field.required, field.text, field.default)

    def _plan_model(self, hint: Any) -> TypePlan:
        from .pydantic_types import plan_of

        return plan_of(hint, self.direction, self.defs)

    def _define(self, key: Any, name: str, make: Callable[[], TypePlan]) -> TypePlan:
        """The shape of a type that may contain itself: written out, or kept as a definition if it
        does.
        """
        if key in self._open:
            label = self._labels.setdefault(key, self._make_label(name))
            inside = make_hook(Any, lambda value: load(value, self._done[key].msgspec_type))
            return TypePlan(refer_to_definition(label), inside)
        self._open.append(key)
        try:
            shape = make()
        finally:
            self._open.remove(key)
        label = self._labels.get(key, "")
        if label:
            reference = refer_to_definition(label)
            for member in shape.schema.get("anyOf", ()):
                if get_reference(member) == get_reference(reference):
                    remedy = "let it contain itself in a list or a dict"
                    raise Unsupported(f"{name} is a union with itself", remedy)
            self.defs[label] = shape.schema
            shape = msgspec.structs.replace(shape, schema=reference)
        self._done[key] = shape
        return shape

    def _make_label(self, name: str) -> str:
        name = re.sub(r"[^A-Za-z0-9_.-]", "_", name)
        taken = {*self._labels.values(), *self.defs}
        return next(
            label
            for number in itertools.count(1)
            if (label := f"{name}{number if number > 1 else ''}") not in taken
        )


def _entitle(plan: TypePlan, hint: Any) -> TypePlan:
    """Return the plan of a member of a union, whose schema names its class if that is a record:
    people and models do not have to guess from the fields which one is meant.
    """
    cls = get_origin(hint) or hint
    if "properties" not in plan.schema or not hasattr(cls, "__name__"):
        return plan
    return plan.with_schema(title=cls.__name__)


def _read_own_text(cls: Any) -> str | None:
    """Return the first paragraph of the class's own docstring, unless it is generated."""
    text = cls.__dict__.get("__doc__")
    if not isinstance(text, str) or text.startswith(f"{cls.__name__}("):
        return None
    paragraph = text.strip().partition("\n\n")[0]
    return " ".join(paragraph.split()) or None


def _read_arguments(hint: Any, origin: Any) -> tuple[Any, ...]:
    arguments: tuple[Any, ...] | None = None
    if origin is not None:
        arguments = getattr(hint, "__args__", None)
    if origin is tuple and arguments == ():  # tuple[()], which is not the bare tuple
        return ((),)
    return arguments or ()


def _is_of_pydantic(cls: Any) -> bool:
    """Return whether *cls* is one of pydantic's models or dataclasses."""
    marks = ("__pydantic_core_schema__", "__pydantic_validator__")
    return any(hasattr(cls, mark) for mark in marks)


def _is_hashable(hint: Any) -> bool:
    try:
        hash(hint)
    except TypeError:  # a hint with unhashable metadata somewhere inside, or no hint at all
        return False
    return True


def _alias_value(alias: Any) -> Any:
    origin = get_origin(alias)
    try:
        if origin is None:
            return alias.__value__
        return origin.__value__[alias.__args__]
    except NameError as error:  # which Python looks up now
        raise Unresolved(alias.__name__, error) from None


def _is_left_out(hint: Any) -> bool:
    """Return whether pydantic takes such a member of a union, and leaves it out of the schema."""
    for item in getattr(hint, "__metadata__", ()):
        if type(item).__name__ == "SkipJsonSchema":
            return True
    return False


def _is_pydantic(item: Any) -> bool:
    if is_field(item):
        return not is_only_descriptive(item)
    return type(item).__module__.startswith("pydantic.") or getattr(
        item, "__module__", ""
    ).startswith("pydantic.")
