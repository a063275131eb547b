"""Schemas in the form that OpenAI's strict mode takes, and arguments back from the calls that come
of it.

Strategy. In strict mode every member of an object has to be given, so what may be left out may be
null instead, and `restored` leaves it out again. Limits that the mode cannot enforce are said in
descriptions, where a model reads them; the tool refuses values that break them. So a strict schema
may allow more than the tool takes, but a call loses no value. Where the mode has no form at all
(any value, objects with members of any name, …), `NotStrict` is raised.

Sources for what the mode accepts: OpenAI's guide to structured outputs, and the API's messages as
users report them: "$ref cannot have keywords {'description'}" (camel-ai/camel 3001), "schema must
have a 'type' key" (can1357/oh-my-pi 211), "'uri' is not a valid format" (can1357/oh-my-pi 206).
`default`, `minLength` and `maxLength` are refused by some of the API's hosts only
(openai/openai-agents-python 4390, openai/openai-node 1988), so they are said in words, too.
"""

from __future__ import annotations

import re
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from toolwire_schemas.json_schema.bounded_validator import (
    Budget,
    CannotJudge,
    SchemaValidator,
    TooExpensive,
    faults_of_schema,
)
from toolwire_schemas.portability import COMBINATORS

from .lint.vendors import about_strict
from .tool_entry import (
    FaultAt,
    Schema,
    as_json,
    followed,
    listed,
    properties,
    required,
    schema_of,
    text,
)

_OF_NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_KEPT = {
    "string": ("pattern", "format"),
    "integer": _OF_NUMBERS,
    "number": _OF_NUMBERS,
    "array": ("minItems", "maxItems"),
}
"""Keywords that the mode knows, for each type."""
_SAID = {
    "string": (
        "pattern",
        "format",
        "minLength",
        "maxLength",
        "contentEncoding",
        "contentMediaType",
    ),
    "array": ("prefixItems", "uniqueItems", "contains", "minContains", "maxContains"),
    "object": (
        "minProperties",
        "maxProperties",
        "propertyNames",
        "patternProperties",
        "dependentRequired",
    ),
}
"""Keywords that are said in the description unless they are kept. Others do not restrict values."""
_SAID_OF_ALL = ("anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "examples")
_KINDS = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}
_NULL: Schema = {"type": "null"}
_FORMATS = ("date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid")
_LOOKS_AROUND = re.compile(r"\(\?(?!:)|\\[1-9]")


class NotStrict(FaultAt):
    """A schema that strict mode has no form for: *where* is the path to the part that is to
    blame.
    """


def strict(schema: Schema) -> Schema:
    """Return an input schema in the form that strict mode takes.

    Raises:
        NotStrict: if no such form exists.
    """
    try:
        if error := best_match(iter(faults_of_schema(schema, dialect=Draft202012Validator))):
            raise NotStrict(
                ".".join(map(str, error.absolute_path)),
                f"it is not a valid JSON Schema: {error.message}",
            )
        for word in ("$ref", *COMBINATORS):
            if word in schema:
                raise NotStrict(word, "it is not allowed at the root")
        made = _Writer(schema).root()
    except RecursionError:
        raise NotStrict("", "it is nested too deeply") from None
    except CannotJudge as error:
        raise NotStrict("", str(error)) from None
    for _, problem, *_ in about_strict(made):  # its limits
        raise NotStrict("", problem)
    return made


def restored(arguments: dict[str, Any], schema: Schema) -> dict[str, Any]:
    """Return the *arguments* of a strict call as the tool's own input *schema* wants them.

    A null goes where the schema knows a member that may be left out and may not be null. One that
    may be null stays null, since either could be meant. Values that do not fit the schema stay
    unchanged; the tool refuses them.
    """
    try:
        made: dict[str, Any] = _restored(arguments, schema, _judge_of(schema), Budget())
    except (
        RecursionError,
        CannotJudge,
    ):  # a circle of alternatives, arguments nested too deeply, too many branches
        return arguments
    return made


def _judge_of(schema: Schema) -> SchemaValidator:
    return SchemaValidator(schema, dialect=Draft202012Validator, checks=False)


class _Writer:
    def __init__(self, root: Schema) -> None:
        self._root = root
        self._judge = _judge_of(root)
        self._names: dict[str, str] = {}
        self._definitions: dict[str, Schema] = {}

    def root(self) -> Schema:
        made = self._object(self._root, "", may_be_empty=True)
        made = _described(made, self._root, "object")
        return {**made, "$defs": self._definitions} if self._definitions else made

    def schema(self, schema: Any, where: str) -> Schema:
        if not isinstance(schema, dict):
            return self._of_kind(None, {}, where)
        if "$ref" in schema:
            return self._reference(schema, where)
        if "const" in schema:
            schema = {**schema, "enum": [schema["const"]]}
        if "enum" in schema:
            return self._enum(schema, where)
        if "allOf" in schema:
            return self._all_of(schema, where)
        kinds = schema.get("type", "object" if "properties" in schema else None)
        is_open = kinds is None or (kinds == "object" and not properties(schema))
        for word in ("anyOf", "oneOf"):
            if is_open and (members := listed(schema, word)):
                base = {} if kinds is None else {"type": kinds}
                members = [
                    {**base, **member} if isinstance(member, dict) else member for member in members
                ]
                return self._any_of(schema, members, f"{where}.{word}")
        if isinstance(kinds, list):
            bare = {word: value for word, value in schema.items() if word != "description"}
            return self._any_of(schema, [{**bare, "type": kind} for kind in kinds], where)
        return _described(self._of_kind(kinds, schema, where), schema, str(kinds))

    def _of_kind(self, kind: Any, schema: Schema, where: str) -> Schema:
        match kind:
            case "object":
                return self._object(schema, where)
            case "array":
                return {"type": "array", "items": self._items(schema, where), **_kept(schema, kind)}
            case "string" | "integer" | "number" | "boolean" | "null":
                return {"type": kind, **_kept(schema, kind)}
        raise NotStrict(where, "it may be any value, but strict mode requires a type")

    def _object(self, schema: Schema, where: str, *, may_be_empty: bool = False) -> Schema:
        more = schema.get("additionalProperties", False)
        members, needed = properties(schema), set(required(schema))
        is_free = not members and "additionalProperties" not in schema and not may_be_empty
        if more is not False or is_free or (not members and "patternProperties" in schema):
            raise NotStrict(
                where, "it may have members of any name, but strict mode requires all names"
            )
        made = {}
        for name, inner in members.items():
            at = f"{where}.properties.{name}".removeprefix(".")
            made[name] = self.schema(inner, at)
            if name not in needed:
                made[name] = self._optional(made[name], inner)
        return {
            "type": "object",
            "properties": made,
            "required": list(made),
            "additionalProperties": False,
        }

    def _optional(self, made: Schema, original: Schema) -> Schema:
        """*made*, which may be null now instead of being left out, and says what that means."""
        default = (
            f"default: {as_json(original['default'])}"
            if original.get("default") is not None
            else ""
        )
        if _takes(self._judge, original, None):
            return _saying(made, default)
        bare = {word: value for word, value in made.items() if word != "description"}
        about = {"description": made["description"]} if "description" in made else {}
        return _saying(
            _either([bare, _NULL]) | about,
            f"null for the {default}" if default else "null to leave it out",
        )

    def _items(self, schema: Schema, where: str) -> Schema:
        members = list(listed(schema, "prefixItems"))
        if schema.get("items") or not members:
            members.append(schema.get("items"))
        return _either([self.schema(member, f"{where}.items") for member in members])

    def _enum(self, schema: Schema, where: str) -> Schema:
        rest = {word: value for word, value in schema.items() if word != "enum"}
        of_kinds: dict[str | None, list[Any]] = {}
        for value in listed(schema, "enum"):
            if _takes(self._judge, rest, value):
                of_kinds.setdefault(_KINDS.get(type(value)), []).append(value)
        if not of_kinds or None in of_kinds:
            raise NotStrict(
                where, "strict mode allows only strings, numbers, booleans and null as values"
            )
        parts = [
            _NULL if kind == "null" else {"type": kind, "enum": group}
            for kind, group in of_kinds.items()
        ]
        return _described(_either(parts), schema)

    def _all_of(self, schema: Schema, where: str) -> Schema:
        members = schema["allOf"]
        if not isinstance(members, list) or len(members) != 1 or not isinstance(members[0], dict):
            raise NotStrict(f"{where}.allOf", "strict mode has no allOf; write one schema")
        rest = {word: value for word, value in schema.items() if word != "allOf"}
        if twice := (members[0].keys() & rest.keys()) - {"description", "title", "default", "type"}:
            raise NotStrict(
                f"{where}.allOf", f"strict mode cannot put schemas together; both have {min(twice)}"
            )
        return self.schema({**members[0], **rest}, where)

    def _any_of(self, schema: Schema, members: list[Any], where: str) -> Schema:
        made = _either(
            [self.schema(member, f"{where}[{index}]") for index, member in enumerate(members)]
        )
        return _described(made, schema, but=("anyOf", "oneOf"))

    def _reference(self, schema: Schema, where: str) -> Schema:
        pointer = text(schema["$ref"])
        target = followed(schema, self._root)
        if not target or "$ref" in target:
            raise NotStrict(where, f"{pointer} leads nowhere")
        if pointer not in self._names:
            name = re.sub("[^a-zA-Z0-9_.-]", "_", pointer.rpartition("/")[2]) or "root"
            while name in self._definitions:
                name += "_"
            self._names[pointer] = name
            self._definitions[name] = {}  # while it is written, it may refer to itself
            self._definitions[name] = self.schema(target, pointer)
        made: Schema = {"$ref": f"#/$defs/{self._names[pointer]}"}
        # A reference may have no other keywords next to it.
        said = _described({"anyOf": [made]}, schema)
        return said if "description" in said else made


def _either(parts: list[Schema]) -> Schema:
    """One of *parts*, each once; those that are such alternatives themselves are taken apart."""
    flat = [
        part
        for whole in parts
        for part in (whole["anyOf"] if whole.keys() == {"anyOf"} else [whole])
    ]
    unique = {as_json(part): part for part in flat}
    return {"anyOf": list(unique.values())} if len(unique) > 1 else flat[0]


def _kept(schema: Schema, kind: str) -> Schema:
    """The words of *schema* that strict mode knows for this type."""
    kept = {word: schema[word] for word in _KEPT.get(kind, ()) if word in schema}
    if kept.get("format") not in _FORMATS:
        kept.pop("format", None)
    if _LOOKS_AROUND.search(text(kept.get("pattern"))):
        del kept["pattern"]
    return kept


def _described(made: Schema, schema: Schema, kind: str = "", but: tuple[str, ...] = ()) -> Schema:
    """*made*, with the description of *schema* and what *made* lost of it, except for the words in
    *but*.
    """
    lost = [
        word
        for word in (*_SAID.get(kind, ()), *_SAID_OF_ALL)
        if word in schema and word not in (*made, *but)
    ]
    said = text(schema.get("description")).strip()
    return _saying(
        {**made, **({"description": said} if said else {})},
        *(f"{word}: {as_json(schema[word])}" for word in lost),
    )


def _saying(made: Schema, *notes: str) -> Schema:
    """*made*, with *notes* in parentheses at the end of its description."""
    note = "; ".join(filter(None, notes))
    return (
        {**made, "description": f"{made.get('description', '')} ({note})".strip()} if note else made
    )


def _restored(value: Any, schema: Schema, judge: SchemaValidator, budget: Budget) -> Any:
    budget.spend()
    schema = followed(schema, judge.schema)
    for word in ("anyOf", "oneOf"):
        for member in listed(schema, word):
            candidate = _restored(value, schema_of(member), judge, budget)
            if _takes(judge, member, candidate):
                value = candidate
                break
    for member in listed(schema, "allOf"):
        value = _restored(value, schema_of(member), judge, budget)
    if isinstance(value, list):
        first = listed(schema, "prefixItems")
        items = [*first, *[schema.get("items")] * (len(value) - len(first))]
        return [
            _restored(item, schema_of(inner), judge, budget)
            for item, inner in zip(value, items, strict=False)
        ]
    if not isinstance(value, dict):
        return value
    members, needed = properties(schema), set(required(schema))
    return {
        name: _restored(item, members.get(name, {}), judge, budget)
        for name, item in value.items()
        if item is not None
        or name in needed
        or name not in members
        or _takes(judge, members[name], None)
    }


def _takes(judge: SchemaValidator, schema: Any, value: Any) -> bool:
    """Whether *value* is valid by *schema*, a part of the one that *judge* is for.

    Raises:
        TooExpensive: as `SchemaValidator`.
    """
    try:
        return judge.is_valid(value, schema)
    except TooExpensive:
        raise
    except CannotJudge:
        return False
