"""pydantic's types, by pydantic's own means. Imported only if the program has imported pydantic.

Strategy. pydantic gives the schema, made portable here; its strict JSON mode reads values, because
the lax one takes what the published schema refuses ("5" for an integer). Once jsonschema has passed
a value, the lax one may read it. Times are published as `scalars` has them: pydantic's own formats
demand an offset, which its values may lack.
"""

from __future__ import annotations

import datetime as dt
from contextlib import suppress
from functools import cache
from typing import Any, get_args

import msgspec
from toolwire_schemas.json_schema.graph import SchemaGraph, SchemaNode
from toolwire_schemas.json_schema.member_names import write_listing
from toolwire_schemas.json_schema.subschemas import map_subschemas, refer_to_definition

from .native_types import make_native_type
from .scalars import plan_clock, plan_scalar
from .shape import (
    JUDGE,
    WALK,
    Build,
    Direction,
    Schema,
    TypePlan,
    Unsupported,
    ValueRefused,
    make_any_of,
    make_hook,
)
from .validator import ToolSchemaValidator

_TIMES: dict[Any, Any] = {"date-time": dt.datetime, "time": dt.time, "duration": dt.timedelta}
_LEFT_OUT = ("title", "discriminator", "uniqueItems")
"""Keywords that some clients refuse, and that no argument needs."""


@cache
def _make_generator() -> Any:
    """Return pydantic's generator of schemas, with what these leave out: as `tz`, whether a time
    may lack an offset, and the names of an enumeration's numbers.
    """
    from pydantic.json_schema import GenerateJsonSchema

    def with_tz(method: Any) -> Any:
        def make_schema(self: Any, schema: Any) -> Schema:
            found: Schema = method(self, schema)
            tz = schema.get("tz_constraint", "any")
            if tz in ("any", "naive") and found.get("format") in _TIMES:
                return {**found, "tz": tz}
            return found

        return make_schema

    def enum_schema(self: Any, schema: Any) -> Schema:
        made: Schema = GenerateJsonSchema.enum_schema(self, schema)
        members = list(dict.fromkeys(schema["members"]))  # a second name of a value is there again
        if not all(type(member.value) in (int, float) for member in members):
            return made
        names = write_listing((member.value, member.name) for member in members)
        made["enum"] = [member.value for member in members]
        return {**made, "description": f"{made.get('description', '')} {names}".lstrip()}

    times = ("datetime_schema", "time_schema", "timedelta_schema")
    methods = {name: with_tz(getattr(GenerateJsonSchema, name)) for name in times}
    return type("Generator", (GenerateJsonSchema,), {**methods, "enum_schema": enum_schema})


def _make_time_schema(schema: Schema, direction: Direction) -> Schema:
    """Return what is published for a time that need not have an offset, or must not."""
    kind, tz = _TIMES[schema.pop("format")], schema.pop("tz")
    if tz == "any":
        plan = plan_scalar(kind, direction)
    else:
        plan = plan_clock(kind, has_offset=False)[direction == "output"]
    assert plan is not None
    if "description" in schema:
        schema["description"] = plan.write_text_about(schema["description"])
    return {**plan.schema, **schema}


def _inline_references(schema: Schema, defs: dict[str, Schema], direction: Direction) -> Schema:
    """Return *schema* with references written out; those of recursive types stay, their definitions
    go into *defs*.
    """
    definitions: dict[str, Schema] = schema.pop("$defs", {})
    portable: Schema = _PortableWriter(definitions, defs, direction).write(schema)
    return portable


class _PortableWriter:
    """Writes schemas of pydantic with the keywords that every client knows."""

    def __init__(
        self, definitions: dict[str, Schema], defs: dict[str, Schema], direction: Direction
    ) -> None:
        self._graph = SchemaGraph({"$defs": definitions})
        self._defs = defs
        self._direction = direction
        self._inside: list[str] = []
        """The names of the definitions that are being written, the innermost last."""

    def write(self, schema: Any) -> Any:
        if not isinstance(schema, dict):
            if schema is True:
                return {}
            return schema
        node = self._graph.get_node(schema)
        if node.reference is not None:
            return self._write_reference(node, node.reference)
        written = {word: value for word, value in schema.items() if word not in _LEFT_OUT}
        is_open = written.setdefault("additionalProperties", "properties" not in written)
        if is_open is True:
            del written["additionalProperties"]
        return self._replace_keywords(map_subschemas(written, self.write))

    def _replace_keywords(self, schema: Schema) -> Schema:
        if "tz" in schema and schema.get("format") in _TIMES:
            schema = _make_time_schema(schema, self._direction)
        if isinstance(schema.get("type"), list):
            schema = make_any_of([{**schema, "type": word} for word in schema["type"]])
        if "const" in schema:
            schema["enum"] = [schema.pop("const")]
        if "prefixItems" in schema:
            schema.setdefault("items", {"anyOf": schema["prefixItems"]})
        return schema

    def _write_reference(self, place: SchemaNode, definition: SchemaNode) -> Schema:
        """Return the *definition* that *place* refers to, or a reference to it if it contains
        itself.
        """
        name = place.reference_name
        reference = {**refer_to_definition(name), **place.besides_reference}
        if name in self._inside or name in self._defs:
            self._defs.setdefault(name, {})
            return reference
        self._inside.append(name)
        written = self.write(definition.schema)
        self._inside.pop()
        if name in self._defs:  # it contains itself
            self._defs[name] = written
            return reference
        return {**written, **place.besides_reference}


def plan_of(hint: Any, direction: Direction, defs: dict[str, Schema]) -> TypePlan:
    """Return the plan of a type that pydantic describes; definitions it cannot do without go into
    *defs*.

    Raises:
        Unsupported: if pydantic does not know the type either.
    """
    from pydantic import TypeAdapter
    from pydantic.errors import PydanticUserError

    try:
        adapter: Any = TypeAdapter(hint)
        mode: Any = "serialization" if direction == "output" else "validation"
        schema = _inline_references(
            adapter.json_schema(mode=mode, schema_generator=_make_generator()), defs, direction
        )
    except (
        PydanticUserError,
        NameError,
        ImportError,
    ) as error:  # ImportError: EmailStr has a package of its own
        raise Unsupported(str(error).partition("\n")[0], "see pydantic's message") from error
    if direction == "output":
        native = make_native_type(schema)
        return TypePlan(schema, native, check_level=JUDGE if native is Any else WALK)
    return TypePlan(schema, make_hook(Any, _make_reader(adapter, schema, defs)), check_level=JUDGE)


def _make_reader(adapter: Any, schema: Schema, defs: dict[str, Schema]) -> Build:
    from pydantic import VERSION, ValidationError
    from pydantic_core.core_schema import ErrorType

    # Before 2.12 only the model's own configuration can forbid unknown members.
    forbids = tuple(map(int, VERSION.split(".")[:2])) >= (2, 12)
    # The other types of error carry the text of a validator that the tool's author wrote.
    own = set(get_args(ErrorType)) - {"value_error", "assertion_error"}
    accepts = cache(lambda: ToolSchemaValidator({**schema, "$defs": defs}).accepts)

    def build(value: Any) -> Any:
        data = msgspec.json.encode(value)
        if forbids:
            with suppress(ValidationError):
                return adapter.validate_json(data, strict=True, extra="forbid")
        if not accepts()(value):
            raise ValueRefused("the schema refuses it")  # and jsonschema says why
        try:
            return adapter.validate_json(data)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False)[0]
            raise ValueRefused(
                first["msg"], first["loc"], private=first["type"] not in own
            ) from error

    return build
