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
from toolwire_schemas.portability import COMBINATORS, Problem, Severity

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
# References and definitions exist under other names in newer versions.
OF_GEMINI = frozenset(
    (
        *("additionalProperties", "anyOf", "default", "description", "enum", "example", "format"),
        *("items", "maxItems", "maxLength", "maxProperties", "maximum", "minItems", "minLength"),
        *("minProperties", "minimum", "nullable", "pattern", "properties", "propertyOrdering"),
        *("required", "title", "type"),
    )
)
# [e] "only 'enum' and 'date-time' are supported for STRING type", google-gemini/gemini-cli 2237
FORMATS_OF_GEMINI = ("enum", "date-time")

# [3] OpenAI's guide to structured outputs, as others tell it; "'allOf' is not permitted" [e]
# makenotion 102.
_NOT_STRICT = frozenset(
    (
        *("allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas"),
        *("patternProperties", "propertyNames", "unevaluatedProperties", "unevaluatedItems"),
        *("contains", "minContains", "maxContains", "minProperties", "maxProperties"),
        *("uniqueItems", "prefixItems"),
    )
)
_STRICT_DEPTH, _STRICT_PROPERTIES, _STRICT_ENUM = 10, 5000, 1000

_SHOWN = 3


def check_name(name: str) -> Iterator[Problem]:
    """Yield what vendors have against the name of a tool that is not empty."""
    yield from _check_letters(name)
    too_long = [vendor for vendor, (_, limit) in _NAMES.items() if len(name) > limit]
    left = MAX_NAME_WITH_SERVER - len(name) - 1
    if too_long:
        text = f"its {len(name)} characters are too many"
        yield Problem("name", text, "use at most 64", "warning", ", ".join(too_long))
    elif len(name) > MAX_NAME_WITH_SERVER - 12:
        text = (
            f"it leaves {max(left, 0)} characters for the server's name, of {MAX_NAME_WITH_SERVER}"
            " for both"
        )
        severity: Severity = "note" if left > 0 else "warning"
        yield Problem("name", text, "choose a shorter one", severity, "Cursor")
    if name[0] in "0123456789-":
        text = f"it begins with {name[0]!r}"
        yield Problem("name", text, "begin it with a letter", "note", "Vertex AI")


def _check_letters(name: str) -> Iterator[Problem]:
    vendors = [vendor for vendor, (pattern, _) in _NAMES.items() if not pattern.fullmatch(name)]
    if not vendors:
        return
    letters = sorted({letter for letter in name if not re.fullmatch("[a-zA-Z0-9_-]", letter)})
    refused = _list_first(letters)
    remedy = "use an underscore, as Toolwire does without --separator"
    if not set(refused) <= set("'.'"):
        remedy = "use only A-Z, a-z, 0-9, underscore and hyphen"
        vendors.insert(0, "MCP since 2025-11-25")
    text = f"it is refused for its {refused} unless the host renames it"
    yield Problem("name", text, remedy, "warning", ", ".join(vendors))


def check_description(description: str) -> Iterator[Problem]:
    """Yield what vendors have against a tool's description."""
    if not description.strip():
        text = "it is missing, and models choose tools by it"
        concerns = f"every model; {BEDROCK} if it is empty"
        yield Problem("description", text, "say what the tool is for", "warning", concerns)
    elif len(description) > MAX_DESCRIPTION:
        text = (
            f"its {len(description):,} characters are more than the {MAX_DESCRIPTION:,} that some"
            " take"
        )
        remedy = "shorten it; describe parameters where they are declared"
        concerns = f"{OPENAI} until 2025, hosts and proxies that keep its limit"
        yield Problem("description", text, remedy, "warning", concerns)


def check_input(schema: dict[str, Any]) -> Iterator[Problem]:
    """Yield what vendors have against an input schema."""
    yield from _check_root(schema)
    properties = schema.get("properties")
    if isinstance(properties, dict):
        yield from _check_parameters(properties)
    # Findings name places as they are written, so these checks do not visit the schema graph.
    for where, inner in walk(schema, "inputSchema"):
        yield from _check_schema(inner, where)
    yield from _check_gemini(schema)
    yield from check_strict(schema)


def _check_root(schema: dict[str, Any]) -> Iterator[Problem]:
    # [e] "input_schema does not support oneOf, allOf, or anyOf at the top level",
    # anthropics/claude-code 5973; [e] "... not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top
    # level", langchain-ai/langchainjs 9804
    for word in COMBINATORS:
        if word not in schema:
            continue
        vendors = OPENAI
        if word in ("anyOf", "oneOf", "allOf"):
            vendors = f"{ANTHROPIC}, {OPENAI}"
        text = f"{word} at the root makes the API refuse the whole request"
        remedy = "check it in the tool, or move it into a property"
        yield Problem(f"inputSchema.{word}", text, remedy, "error", vendors)


def _check_parameters(properties: dict[str, Any]) -> Iterator[Problem]:
    for name in properties:
        where = f"inputSchema.properties.{name}"
        if not _PARAMETER.fullmatch(name):
            text = "this name of a parameter makes the API refuse the whole request"
            remedy = "use 1 to 64 of A-Z, a-z, 0-9, underscore, dot and hyphen"
            yield Problem(where, text, remedy, "error", f"{ANTHROPIC}, {BEDROCK}, Vertex AI")
        elif not _PARAMETER_OF_VERTEX.fullmatch(name):
            text = "this name of a parameter is refused"
            remedy = "use letters, digits and underscore"
            yield Problem(where, text, remedy, "note", "Vertex AI")
    silent = []
    for name, inner in properties.items():
        if isinstance(inner, dict) and not inner.get("description"):
            silent.append(name)
    if silent:
        text = f"there is no description of {_list_first(silent)}"
        remedy = "say what it means, in the docstring or by Annotated"
        yield Problem("inputSchema", text, remedy, "note", "every model")


def _check_schema(schema: dict[str, Any], where: str) -> Iterator[Problem]:
    # [e] "array schema missing items", apify/apify-mcp-server 36; VS Code: "array type must have
    # items", agentscope-ai/ReMe 84. `prefixItems` does not help there.
    if schema.get("type") == "array" and "items" not in schema:
        text = "an array without items is refused"
        remedy = 'add "items", {} at least'
        yield Problem(where, text, remedy, "error", f"{OPENAI}, {GEMINI}, VS Code")
    # For these two the messages were not found again, only hosts that take care of it:
    # anomalyco/opencode 11889.
    if schema.get("enum") == []:
        text = "an enum without values is refused"
        yield Problem(where, text, "remove it", "warning", f"{OPENAI}, {GEMINI}")
    missing = _list_required_without_schema(schema)
    if missing and schema.get("type") == "object":
        text = f"it requires {_list_first(missing)}, which it does not describe"
        remedy = "describe it under properties, or do not require it"
        yield Problem(where, text, remedy, "warning", GEMINI)


def _list_required_without_schema(schema: dict[str, Any]) -> list[str]:
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if not isinstance(properties, dict) or not isinstance(required, list):
        return []
    return [name for name in required if isinstance(name, str) and name not in properties]


def _check_gemini(schema: dict[str, Any]) -> Iterator[Problem]:
    unknown: dict[str, None] = {}
    for where, inner in walk(schema, ""):
        if where.startswith(("[", ".$defs", ".definitions")):
            continue
        unknown |= dict.fromkeys(word for word in inner if word not in OF_GEMINI)
        text_format = inner.get("format")
        is_text = inner.get("type") == "string" and isinstance(text_format, str)
        if is_text and text_format not in FORMATS_OF_GEMINI:
            unknown[f"format {text_format}"] = None
        values = inner.get("enum")
        if isinstance(values, list) and not all(isinstance(value, str) for value in values):
            unknown["enum of other than strings"] = None
    if unknown:
        text = f"it uses {_list_first(unknown)}, unknown to `parameters` of the API"
        remedy = "nothing, if your host rewrites schemas or sends them as parametersJsonSchema"
        yield Problem("inputSchema", text, remedy, "note", GEMINI)


def check_strict(schema: dict[str, Any]) -> Iterator[Problem]:
    """Yield what OpenAI's strict mode has against an input schema."""
    reasons: dict[str, None] = {}
    properties_count = values_count = 0
    for where, inner in walk(schema, ""):
        reasons |= dict.fromkeys(_find_keywords_not_strict(inner))
        properties_count += _count(inner.get("properties"), dict)
        values_count += _count(inner.get("enum"), list)
        if where.count(".properties.") + where.count(".items") > _STRICT_DEPTH:
            reasons[f"more than {_STRICT_DEPTH} levels"] = None
    if properties_count > _STRICT_PROPERTIES:
        reasons[f"more than {_STRICT_PROPERTIES:,} properties"] = None
    if values_count > _STRICT_ENUM:
        reasons[f"more than {_STRICT_ENUM:,} values of enums"] = None
    if reasons:
        text = f"strict mode has no {_list_first(reasons)}"
        remedy = (
            "nothing, unless a host sends it with strict: true; then require all, and allow null"
            " instead"
        )
        yield Problem("inputSchema", text, remedy, "note", f"{OPENAI}'s strict mode")


def _find_keywords_not_strict(schema: dict[str, Any]) -> Iterator[str]:
    """Yield what strict mode does not have of a schema itself."""
    yield from (word for word in schema if word in _NOT_STRICT)
    if _has_optional_member(schema):
        yield "parameters that may be left out"
    is_object = schema.get("type") == "object" or "properties" in schema
    if is_object and schema.get("additionalProperties") is not False:
        yield "objects that may have further members"


def _has_optional_member(schema: dict[str, Any]) -> bool:
    properties, required = schema.get("properties"), schema.get("required", [])
    if not isinstance(properties, dict) or not isinstance(required, list):
        return False
    return not properties.keys() <= {name for name in required if isinstance(name, str)}


def _count(value: Any, kind: type[dict[Any, Any] | list[Any]]) -> int:
    if not isinstance(value, kind):
        return 0
    return len(value)


def _list_first(words: Iterable[str]) -> str:
    """Return the first few of *words* as a list in a sentence; arbitrary text is quoted."""
    quoted = [word if re.fullmatch(r"[\w$][\w$ -]*", word) else repr(word) for word in words]
    first = ", ".join(quoted[:_SHOWN])
    more = len(quoted) - _SHOWN
    if more > 0:
        return f"{first} and {more} more"
    return first
