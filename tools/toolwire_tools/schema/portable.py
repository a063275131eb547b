"""A generated JSON Schema in the form that most hosts read: references written out, no noise, no type arrays."""

from __future__ import annotations

from typing import Any

from toolwire_schemas.json_schema.subschemas import children

from .shape import Schema, any_of


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
