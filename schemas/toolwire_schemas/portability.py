"""Checks a tool's name and schemas for what MCP clients refuse: cheap enough for every start of a
server.

Strategy. One walk over each schema. An *error* is what makes some client drop the tool, or all
tools; a *warning* is what some host reads wrongly; a *note* is for those who serve such hosts. What
Toolwire makes of hints passes anyway: this is for names, and for schemas and patterns that people
wrote. `audit.py` asks more, of any server's tools.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from .json_schema.subschemas import directly_inside

if TYPE_CHECKING:
    from collections.abc import Iterator

Severity = Literal["error", "warning", "note"]


class Finding(msgspec.Struct, frozen=True):
    """One thing to fix: *where* is `name`, or a path such as `inputSchema.properties.limit`; empty
    for the whole tool, and *tool* too for the whole list.

    `concerns` names the clients, hosts or model vendors that are affected.
    """

    tool: str
    where: str
    problem: str
    remedy: str
    severity: Severity = "error"
    concerns: str = ""

    def __str__(self) -> str:
        tool = f"tool {self.tool!r}" if self.tool else "all tools"
        return f"{tool}{self.where and f', {self.where}'}: {self.problem}; {self.remedy}"


Found = tuple[str, str, str, Severity, str]
"""The fields of a `Finding` but the first."""

# Which clients stumble over what was tried with servers that deviate in one thing each.
ALL_CLIENTS = "all MCP clients"
TYPESCRIPT = "clients on the TypeScript SDK"
SOME_HOSTS = "some hosts"
MCP_NAMES = "MCP since 2025-11-25"

_BESIDES_LETTERS = str.maketrans("_.-", "aaa")
_SAYS_SOMETHING = frozenset(
    (
        "type",
        "anyOf",
        "oneOf",
        "allOf",
        "enum",
        "const",
        "$ref",
        "$dynamicRef",
        "properties",
        "items",
        "not",
        "if",
    )
)


def lint(
    name: str, input_schema: dict[str, Any], output_schema: dict[str, Any] | None = None
) -> list[Finding]:
    """Return what is wrong with a tool, errors first; an empty list if every known client takes
    it.
    """
    found = [*_about_name(name), *about_schema(input_schema, "inputSchema")]
    if output_schema is not None:
        found += about_schema(output_schema, "outputSchema")
    if len(found) > 1:
        found.sort(key=lambda item: ("error", "warning", "note").index(item[3]))
    return [Finding(name, *item) for item in found]


def _about_name(name: str) -> Iterator[Found]:
    if not name:
        yield "name", "it is empty", "give the tool a name", "error", ALL_CLIENTS
    elif len(name) > 128 or not (name.isascii() and name.translate(_BESIDES_LETTERS).isalnum()):
        remedy = "use 1 to 128 of A-Z, a-z, 0-9, underscore, hyphen and dot"
        yield (
            "name",
            "it has characters, or a length, that many hosts refuse",
            remedy,
            "warning",
            MCP_NAMES,
        )
    elif len(name) > 64:
        yield (
            "name",
            f"its {len(name)} characters are too many for some hosts",
            "use at most 64",
            "warning",
            SOME_HOSTS,
        )
    if "." in name:
        yield (
            "name",
            "some hosts forbid dots",
            "choose another separator for them",
            "note",
            SOME_HOSTS,
        )


def about_schema(schema: Any, where: str) -> list[Found]:
    """Return what is wrong with an input or output schema; *where* names it in the paths."""
    if not isinstance(schema, dict):
        return [
            (where, "it is not a JSON object", 'use {"type": "object", …}', "error", ALL_CLIENTS)
        ]
    found: list[Found] = []
    if schema.get("type") != "object":
        found.append(
            (
                where,
                "its root is not of the type object",
                'give it "type": "object"',
                "error",
                ALL_CLIENTS,
            )
        )
    for word in COMBINATORS:
        if word in schema:
            problem = f"some hosts drop tools with {word} at the root"
            found.append(
                (f"{where}.{word}", problem, "move it into a property", "warning", SOME_HOSTS)
            )
    if not str(schema.get("$schema", DIALECTS[0])).startswith(DIALECTS):
        remedy = "remove $schema: 2020-12 is the default"
        found.append(
            (f"{where}.$schema", "clients do not know this dialect", remedy, "error", TYPESCRIPT)
        )
    _walk(schema, where, found)
    return found


COMBINATORS = ("anyOf", "oneOf", "allOf", "not", "enum")
"""What may not stand at the root of an input schema."""

DIALECTS = (
    "https://json-schema.org/draft/2020-12/schema",
    "http://json-schema.org/draft-07/schema",
)


def _walk(schema: dict[str, Any], where: str, found: list[Found]) -> None:
    if isinstance(schema.get("type"), list):
        remedy = 'use anyOf, such as {"anyOf": [{"type": "string"}, {"type": "null"}]}'
        found.append(
            (
                where,
                "some hosts cannot read a list of types",
                remedy,
                "warning",
                "Gemini, some hosts",
            )
        )
    if (reference := schema.get("$ref")) is not None and not str(reference).startswith("#"):
        remedy = "put the definition under $defs"
        found.append((where, f"clients do not fetch {reference!r}", remedy, "error", ALL_CLIENTS))
    if (pattern := schema.get("pattern")) is not None:
        _pattern(pattern, f"{where}.pattern", found)
    if isinstance(names := schema.get("patternProperties"), dict):
        for name in names:
            _pattern(name, f"{where}.patternProperties.{name}", found)
    if schema.keys().isdisjoint(_SAYS_SOMETHING):
        found.append(
            (where, "it has no type", "say what is meant, if that can be said", "note", SOME_HOSTS)
        )
    for path, inner in directly_inside(schema, where):
        if isinstance(inner, dict):
            _walk(inner, path, found)
        elif isinstance(inner, bool) and path != f"{where}.additionalProperties":
            remedy = "use {} for true; leave the property out for false"
            problem = "a boolean instead of a schema makes clients drop all tools"
            found.append((path, problem, remedy, "error", TYPESCRIPT))


def _pattern(pattern: Any, where: str, found: list[Found]) -> None:
    if not isinstance(pattern, str):
        found.append((where, "a pattern is a string", "write it as one", "error", ALL_CLIENTS))
        return
    from .json_schema.portable_regex import problem

    if fault := problem(pattern):
        text = f"not every client can compile {pattern!r}: {fault}"
        found.append((where, text, "change the pattern", "error", TYPESCRIPT))
