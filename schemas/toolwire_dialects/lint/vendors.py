"""Checks for what the vendors of language models refuse in a tool's name, description and input
schema.

MCP itself allows more. Hosts hand tools on to a model's API; many rename tools and rewrite schemas
on the way, but not all do, and one tool that is refused usually costs the whole request.

Severity: *error* where the API refuses a tool and hosts are known to lose it; *warning* where most
hosts fix it, or only some APIs refuse; *note* where it matters only to those who pass schemas on
unchanged, or want a strict mode.

Sources, looked up in October 2026. [d] the vendor's own reference, [e] the API's error message as
users report it, [3] a third party's page: OpenAI's guide itself could not be read, so treat the
numbers of its strict mode as likely. A description's limit beyond OpenAI's, and limits on the
number of tools beyond OpenAI's, could not be verified.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from toolwire_schemas.json_schema.subschemas import walk
from toolwire_schemas.portability import COMBINATORS, Found

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

OPENAI, ANTHROPIC, BEDROCK, GEMINI = "OpenAI", "Anthropic", "Amazon Bedrock", "Gemini"

# Which characters and how many of them a name may have.
_NAMES = {
    # [d] chat completions, FunctionObject.name in the published OpenAPI file
    OPENAI: (re.compile(r"[a-zA-Z0-9_-]+"), 64),
    # [e] "should match pattern '^[a-zA-Z0-9_-]{1,128}$'", anthropics/claude-code 96152 and
    # home-assistant/core 147760; the limit was 64 until mid-2025.
    ANTHROPIC: (re.compile(r"[a-zA-Z0-9_-]+"), 128),
    BEDROCK: (re.compile(r"[a-zA-Z0-9_-]+"), 64),  # [d] Converse API, ToolSpecification
    # [d] FunctionDeclaration of the Gemini API (with colons) and of Vertex AI (a letter or
    # underscore first)
    GEMINI: (re.compile(r"[a-zA-Z0-9_.:-]+"), 64),
}

# [e] "Property keys should match pattern", anthropics/claude-code 79418, decocms/studio PR 6874;
# only the keys at the root are checked.
_PARAMETER = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
# [d] FunctionDeclaration of Vertex AI
_PARAMETER_OF_VERTEX = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]{0,63}")

# [e] "string too long. Expected a string with maximum length 1024", getsentry/sentry-mcp 106.
# OpenAI itself lifted it in 2025 (run-llama/llama_index PR 18784); no source says so of Azure and
# of the libraries that copied the limit.
MAX_DESCRIPTION = 1024

# [e] "Invalid 'tools': array too long. Expected an array with maximum length 128",
# zed-industries/zed 42393
MAX_TOOLS = 128

# [e] Cursor: "Combined server and tool name length exceeds 60 characters", ComposioHQ/composio 2788
MAX_NAME_WITH_SERVER = 60

# [d] Schema of the Gemini API, v1beta: a selection from OpenAPI 3.0. What is not in it is an
# "Unknown name" [e]. `additionalProperties` is left out here although old versions refuse it
# (promptfoo 6902): every generator writes it, and hosts for Gemini have learnt to take it away.
# `$ref` and `$defs` exist under other names in newer versions.
OF_GEMINI = frozenset(
    (
        *(
            "additionalProperties",
            "anyOf",
            "default",
            "description",
            "enum",
            "example",
            "format",
            "items",
            "maxItems",
        ),
        *(
            "maxLength",
            "maxProperties",
            "maximum",
            "minItems",
            "minLength",
            "minProperties",
            "minimum",
            "nullable",
        ),
        *("pattern", "properties", "propertyOrdering", "required", "title", "type"),
    )
)
# [e] "only 'enum' and 'date-time' are supported for STRING type", google-gemini/gemini-cli 2237
FORMATS_OF_GEMINI = ("enum", "date-time")

# [3] OpenAI's guide to structured outputs, as others tell it; "'allOf' is not permitted" [e]
# makenotion 102.
_NOT_STRICT = frozenset(
    (
        *(
            "allOf",
            "oneOf",
            "not",
            "if",
            "then",
            "else",
            "dependentRequired",
            "dependentSchemas",
            "patternProperties",
        ),
        *(
            "propertyNames",
            "unevaluatedProperties",
            "unevaluatedItems",
            "contains",
            "minContains",
            "maxContains",
        ),
        *("minProperties", "maxProperties", "uniqueItems", "prefixItems"),
    )
)
_STRICT_DEPTH, _STRICT_PROPERTIES, _STRICT_ENUM = 10, 5000, 1000

_SHOWN = 3


def about_name(name: str) -> Iterator[Found]:
    """Yield what vendors have against the name of a tool that is not empty."""
    letters = [vendor for vendor, (pattern, _) in _NAMES.items() if not pattern.fullmatch(name)]
    too_long = [vendor for vendor, (_, limit) in _NAMES.items() if len(name) > limit]
    if letters:
        refused = _listed(
            sorted({letter for letter in name if not re.fullmatch("[a-zA-Z0-9_-]", letter)})
        )
        remedy = "use only A-Z, a-z, 0-9, underscore and hyphen"
        if set(refused) <= set("'.'"):
            remedy = "use an underscore, as Toolwire does without --separator"
        else:
            letters.insert(0, "MCP since 2025-11-25")
        problem = f"it is refused for its {refused} unless the host renames it"
        yield "name", problem, remedy, "warning", ", ".join(letters)
    if too_long:
        yield (
            "name",
            f"its {len(name)} characters are too many",
            "use at most 64",
            "warning",
            ", ".join(too_long),
        )
    elif len(name) > MAX_NAME_WITH_SERVER - 12:
        left = MAX_NAME_WITH_SERVER - len(name) - 1
        problem = (
            f"it leaves {max(left, 0)} characters for the server's name, of {MAX_NAME_WITH_SERVER}"
            " for both"
        )
        yield "name", problem, "choose a shorter one", "note" if left > 0 else "warning", "Cursor"
    if name[0] in "0123456789-":
        yield "name", f"it begins with {name[0]!r}", "begin it with a letter", "note", "Vertex AI"


def about_description(description: str) -> Iterator[Found]:
    """Yield what vendors have against a tool's description."""
    if not description.strip():
        problem = "it is missing, and models choose tools by it"
        yield (
            "description",
            problem,
            "say what the tool is for",
            "warning",
            f"every model; {BEDROCK} if it is empty",
        )
    elif len(description) > MAX_DESCRIPTION:
        problem = (
            f"its {len(description):,} characters are more than the {MAX_DESCRIPTION:,} that some"
            " take"
        )
        remedy = "shorten it; describe parameters where they are declared"
        yield (
            "description",
            problem,
            remedy,
            "warning",
            f"{OPENAI} until 2025, hosts and proxies that keep its limit",
        )


def about_input(schema: dict[str, Any]) -> Iterator[Found]:
    """Yield what vendors have against an input schema."""
    yield from _root(schema)
    yield from _parameters(schema)
    for where, inner in walk(schema, "inputSchema"):
        yield from _schema(inner, where)
    yield from _gemini(schema)
    yield from about_strict(schema)


def _root(schema: dict[str, Any]) -> Iterator[Found]:
    # [e] "input_schema does not support oneOf, allOf, or anyOf at the top level",
    # anthropics/claude-code 5973; [e] "... not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top
    # level", langchain-ai/langchainjs 9804
    for word in COMBINATORS:
        if word in schema:
            vendors = f"{ANTHROPIC}, {OPENAI}" if word in ("anyOf", "oneOf", "allOf") else OPENAI
            problem = f"{word} at the root makes the API refuse the whole request"
            yield (
                f"inputSchema.{word}",
                problem,
                "check it in the tool, or move it into a property",
                "error",
                vendors,
            )


def _parameters(schema: dict[str, Any]) -> Iterator[Found]:
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return
    for name in properties:
        where = f"inputSchema.properties.{name}"
        if not _PARAMETER.fullmatch(name):
            problem = "this name of a parameter makes the API refuse the whole request"
            remedy = "use 1 to 64 of A-Z, a-z, 0-9, underscore, dot and hyphen"
            yield where, problem, remedy, "error", f"{ANTHROPIC}, {BEDROCK}, Vertex AI"
        elif not _PARAMETER_OF_VERTEX.fullmatch(name):
            problem, remedy = (
                "this name of a parameter is refused",
                "use letters, digits and underscore",
            )
            yield where, problem, remedy, "note", "Vertex AI"
    silent = [
        name
        for name, inner in properties.items()
        if isinstance(inner, dict) and not inner.get("description")
    ]
    if silent:
        problem = f"there is no description of {_listed(silent)}"
        yield (
            "inputSchema",
            problem,
            "say what it means, in the docstring or by Annotated",
            "note",
            "every model",
        )


def _schema(schema: dict[str, Any], where: str) -> Iterator[Found]:
    # [e] "array schema missing items", apify/apify-mcp-server 36; VS Code: "array type must have
    # items", agentscope-ai/ReMe 84. `prefixItems` does not help there.
    if schema.get("type") == "array" and "items" not in schema:
        problem, remedy = "an array without items is refused", 'add "items", {} at least'
        yield where, problem, remedy, "error", f"{OPENAI}, {GEMINI}, VS Code"
    # For these two the messages were not found again, only hosts that take care of it:
    # anomalyco/opencode 11889.
    if schema.get("enum") == []:
        yield (
            where,
            "an enum without values is refused",
            "remove it",
            "warning",
            f"{OPENAI}, {GEMINI}",
        )
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if isinstance(properties, dict) and isinstance(required, list):
        missing = [name for name in required if isinstance(name, str) and name not in properties]
        if missing and schema.get("type") == "object":
            problem = f"it requires {_listed(missing)}, which it does not describe"
            yield (
                where,
                problem,
                "describe it under properties, or do not require it",
                "warning",
                GEMINI,
            )


def _gemini(schema: dict[str, Any]) -> Iterator[Found]:
    unknown: dict[str, None] = {}
    for where, inner in walk(schema, ""):
        if where.startswith(("[", ".$defs", ".definitions")):
            continue
        unknown |= dict.fromkeys(word for word in inner if word not in OF_GEMINI)
        if isinstance(inner.get("format"), str) and inner.get("type") == "string":
            unknown |= (
                {f"format {inner['format']}": None}
                if inner["format"] not in FORMATS_OF_GEMINI
                else {}
            )
        if isinstance(inner.get("enum"), list) and not all(
            isinstance(value, str) for value in inner["enum"]
        ):
            unknown["enum of other than strings"] = None
    if unknown:
        problem = f"it uses {_listed(unknown)}, unknown to `parameters` of the API"
        remedy = "nothing, if your host rewrites schemas or sends them as parametersJsonSchema"
        yield "inputSchema", problem, remedy, "note", GEMINI


def about_strict(schema: dict[str, Any]) -> Iterator[Found]:
    """Yield what OpenAI's strict mode has against an input schema."""
    reasons: dict[str, None] = {}
    count = enums = 0
    for where, inner in walk(schema, ""):
        reasons |= dict.fromkeys(word for word in inner if word in _NOT_STRICT)
        properties, required = inner.get("properties"), inner.get("required", [])
        if isinstance(inner.get("enum"), list):
            enums += len(inner["enum"])
        if isinstance(properties, dict):
            count += len(properties)
            named = (
                {name for name in required if isinstance(name, str)}
                if isinstance(required, list)
                else properties
            )
            if properties.keys() - named:
                reasons["parameters that may be left out"] = None
        if (inner.get("type") == "object" or "properties" in inner) and inner.get(
            "additionalProperties"
        ) is not False:
            reasons["objects that may have further members"] = None
        if where.count(".properties.") + where.count(".items") > _STRICT_DEPTH:
            reasons[f"more than {_STRICT_DEPTH} levels"] = None
    if count > _STRICT_PROPERTIES:
        reasons[f"more than {_STRICT_PROPERTIES:,} properties"] = None
    if enums > _STRICT_ENUM:
        reasons[f"more than {_STRICT_ENUM:,} values of enums"] = None
    if reasons:
        problem = f"strict mode has no {_listed(reasons)}"
        remedy = (
            "nothing, unless a host sends it with strict: true; then require all, and allow null"
            " instead"
        )
        yield "inputSchema", problem, remedy, "note", f"{OPENAI}'s strict mode"


def _listed(words: Iterable[str]) -> str:
    """Return the first few of *words* as a list in a sentence; arbitrary text is quoted."""
    quoted = [word if re.fullmatch(r"[\w$][\w$ -]*", word) else repr(word) for word in words]
    more = len(quoted) - _SHOWN
    return ", ".join(quoted[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
