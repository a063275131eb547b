"""pydantic's types, by pydantic's own means. Imported only if the program has imported pydantic.

Strategy. pydantic gives the schema, made portable here; its strict JSON mode reads values, because the lax one takes
what the published schema refuses ("5" for an integer). Once jsonschema has passed a value, the lax one may read it.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from typing import Any, get_args

import msgspec
from toolwire_schemas.json_schema.subschemas import children

from .shape import JUDGE, Build, Direction, Refused, Schema, TypePlan, Unsupported, any_of, hooked
from .validator import SchemaValidator


def portable(schema: Schema, defs: dict[str, Schema]) -> Schema:
    """Return *schema* with references written out; those of recursive types stay, their definitions go into *defs*."""
    made: Schema = _Writer(schema.get("$defs", {}), defs).written({k: v for k, v in schema.items() if k != "$defs"})
    return made


class _Writer:
    def __init__(self, given: dict[str, Schema], defs: dict[str, Schema]) -> None:
        self.given = given
        self.defs = defs
        self.open: list[str] = []

    def written(self, schema: Any) -> Any:
        if schema is True:
            return {}
        if not isinstance(schema, dict):
            return schema
        if "$ref" in schema:
            return self._reference(schema)
        made = {word: value for word, value in schema.items() if word not in ("title", "discriminator")}
        if made.get("additionalProperties") is True:
            del made["additionalProperties"]
            closed = True
        else:
            closed = "additionalProperties" in made
        made = children(made, self.written)
        if isinstance(made.get("type"), list):
            made = any_of([{**made, "type": word} for word in made["type"]])
        if "const" in made:
            made["enum"] = [made.pop("const")]
        if "properties" in made and not closed:
            made["additionalProperties"] = False
        if "prefixItems" in made:
            made.setdefault("items", {"anyOf": made["prefixItems"]})
        made.pop("uniqueItems", None)
        return made

    def _reference(self, schema: Schema) -> Schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        beside = {word: value for word, value in schema.items() if word != "$ref"}
        if name in self.open or name in self.defs:
            self.defs.setdefault(name, {})
            return {"$ref": f"#/$defs/{name}", **beside}
        self.open.append(name)
        made = self.written(self.given[name])
        self.open.pop()
        if name in self.defs:
            self.defs[name] = made
            return {"$ref": f"#/$defs/{name}", **beside}
        return {**made, **beside}


def shape(hint: Any, direction: Direction, defs: dict[str, Schema]) -> TypePlan:
    """Return the shape of a type that pydantic describes; definitions it cannot do without go into *defs*.

    Raises:
        Unsupported: if pydantic does not know the type either.
    """
    from pydantic import TypeAdapter
    from pydantic.errors import PydanticUserError

    try:
        adapter: Any = TypeAdapter(hint)
        mode: Any = "serialization" if direction == "output" else "validation"
        schema = portable(adapter.json_schema(mode=mode), defs)
    except (PydanticUserError, NameError, ImportError) as error:  # ImportError: EmailStr has a package of its own
        raise Unsupported(str(error).partition("\n")[0], "see pydantic's message") from error
    if direction == "output":
        return TypePlan(schema, Any, check_level=JUDGE)
    return TypePlan(schema, hooked(Any, _reader(adapter, schema, defs)), check_level=JUDGE)


def _reader(adapter: Any, schema: Schema, defs: dict[str, Schema]) -> Build:
    from pydantic import VERSION, ValidationError
    from pydantic_core.core_schema import ErrorType

    # Before 2.12 only the model's own configuration can forbid unknown members.
    forbids = tuple(map(int, VERSION.split(".")[:2])) >= (2, 12)
    # The other types of error carry the text of a validator that the tool's author wrote.
    own = set(get_args(ErrorType)) - {"value_error", "assertion_error"}
    accepts = cache(lambda: SchemaValidator({**schema, "$defs": defs}).accepts)

    def build(value: Any) -> Any:
        data = msgspec.json.encode(value)
        if forbids:
            with suppress(ValidationError):
                return adapter.validate_json(data, strict=True, extra="forbid")
        if not accepts()(value):
            raise Refused("the schema refuses it")  # and jsonschema says why
        try:
            return adapter.validate_json(data)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False)[0]
            raise Refused(first["msg"], first["loc"], private=first["type"] not in own) from error

    return build
