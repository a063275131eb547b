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

from .json_schema.subschemas import COMBINING, get_reference, iterate_subschemas

if TYPE_CHECKING:
    from collections.abc import Iterator

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


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
        tool = "all tools"
        if self.tool:
            tool = f"tool {self.tool!r}"
        return f"{tool}{self.where and f', {self.where}'}: {self.problem}; {self.remedy}"


class Problem(msgspec.Struct, frozen=True):
    """A `Finding` about a tool that is not named yet."""

    where: str
    text: str
    remedy: str
    severity: Severity = "error"
    concerns: str = ""

    def make_finding(self, tool: str) -> Finding:
        """Return the finding about the tool of this name."""
        return Finding(tool, self.where, self.text, self.remedy, self.severity, self.concerns)


# Which clients stumble over what was tried with servers that deviate in one thing each.
ALL_CLIENTS = "all MCP clients"
TYPESCRIPT = "clients on the TypeScript SDK"
SOME_HOSTS = "some hosts"
MCP_NAMES = "MCP since 2025-11-25"

_BESIDES_LETTERS = str.maketrans("_.-", "aaa")
_SAYS_SOMETHING = COMBINING | {
    *("type", "anyOf", "oneOf", "enum", "const", "$dynamicRef"),
    *("properties", "items", "not", "if"),
}


def lint(
    name: str, input_schema: dict[str, Any], output_schema: dict[str, Any] | None = None
) -> list[Finding]:
    """Return what is wrong with a tool, errors first; an empty list if every known client takes
    it.
    """
    problems = [*_check_name(name), *check_schema(input_schema, "inputSchema")]
    if output_schema is not None:
        problems += check_schema(output_schema, "outputSchema")
    if len(problems) > 1:
        problems.sort(key=lambda problem: SEVERITIES.index(problem.severity))
    return [problem.make_finding(name) for problem in problems]


def _check_name(name: str) -> Iterator[Problem]:
    if not name:
        yield Problem("name", "it is empty", "give the tool a name", "error", ALL_CLIENTS)
    elif len(name) > 128 or not (name.isascii() and name.translate(_BESIDES_LETTERS).isalnum()):
        text = "it has characters, or a length, that many hosts refuse"
        remedy = "use 1 to 128 of A-Z, a-z, 0-9, underscore, hyphen and dot"
        yield Problem("name", text, remedy, "warning", MCP_NAMES)
    elif len(name) > 64:
        text = f"its {len(name)} characters are too many for some hosts"
        yield Problem("name", text, "use at most 64", "warning", SOME_HOSTS)
    if "." in name:
        remedy = "choose another separator for them"
        yield Problem("name", "some hosts forbid dots", remedy, "note", SOME_HOSTS)


def check_schema(schema: Any, where: str) -> list[Problem]:
    """Return what is wrong with an input or output schema; *where* names it in the paths."""
    if not isinstance(schema, dict):
        remedy = 'use {"type": "object", …}'
        return [Problem(where, "it is not a JSON object", remedy, "error", ALL_CLIENTS)]
    problems: list[Problem] = []
    if schema.get("type") != "object":
        text = "its root is not of the type object"
        problems.append(Problem(where, text, 'give it "type": "object"', "error", ALL_CLIENTS))
    for word in COMBINATORS:
        if word in schema:
            text = f"some hosts drop tools with {word} at the root"
            remedy = "move it into a property"
            problems.append(Problem(f"{where}.{word}", text, remedy, "warning", SOME_HOSTS))
    if not str(schema.get("$schema", DIALECTS[0])).startswith(DIALECTS):
        text = "clients do not know this dialect"
        remedy = "remove $schema: 2020-12 is the default"
        problems.append(Problem(f"{where}.$schema", text, remedy, "error", TYPESCRIPT))
    _walk(schema, where, problems)
    return problems


COMBINATORS = ("anyOf", "oneOf", "allOf", "not", "enum")
"""What may not stand at the root of an input schema."""

DIALECTS = (
    "https://json-schema.org/draft/2020-12/schema",
    "http://json-schema.org/draft-07/schema",
)


def _walk(schema: dict[str, Any], where: str, problems: list[Problem]) -> None:
    """Add what is wrong with *schema*, and with all schemas in it as they are written."""
    if isinstance(schema.get("type"), list):
        text = "some hosts cannot read a list of types"
        remedy = 'use anyOf, such as {"anyOf": [{"type": "string"}, {"type": "null"}]}'
        problems.append(Problem(where, text, remedy, "warning", "Gemini, some hosts"))
    reference = get_reference(schema)
    if reference is not None and not str(reference).startswith("#"):
        text = f"clients do not fetch {reference!r}"
        remedy = "put the definition under $defs"
        problems.append(Problem(where, text, remedy, "error", ALL_CLIENTS))
    if schema.get("pattern") is not None:
        _add_pattern(schema["pattern"], f"{where}.pattern", problems)
    if isinstance(schema.get("patternProperties"), dict):
        for pattern in schema["patternProperties"]:
            _add_pattern(pattern, f"{where}.patternProperties.{pattern}", problems)
    if schema.keys().isdisjoint(_SAYS_SOMETHING):
        remedy = "say what is meant, if that can be said"
        problems.append(Problem(where, "it has no type", remedy, "note", SOME_HOSTS))
    for path, inner in iterate_subschemas(schema, where):
        if isinstance(inner, dict):
            _walk(inner, path, problems)
        elif isinstance(inner, bool) and path != f"{where}.additionalProperties":
            text = "a boolean instead of a schema makes clients drop all tools"
            remedy = "use {} for true; leave the property out for false"
            problems.append(Problem(path, text, remedy, "error", TYPESCRIPT))


def _add_pattern(pattern: Any, where: str, problems: list[Problem]) -> None:
    if not isinstance(pattern, str):
        remedy = "write it as one"
        problems.append(Problem(where, "a pattern is a string", remedy, "error", ALL_CLIENTS))
        return
    from .json_schema.portable_regex import find_problem

    fault = find_problem(pattern)
    if fault:
        text = f"not every client can compile {pattern!r}: {fault}"
        problems.append(Problem(where, text, "change the pattern", "error", TYPESCRIPT))
