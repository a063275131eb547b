"""Copies a recording for a bug report: shapes in place of all texts and numbers.

Strategy. A *shape* names the type, the length and a digest. The digest has a random key that is
thrown away with the process: equal values of one copy have equal shapes, and no guess at a value
can be tried. What stays are words that the protocol defines, at places where the protocol defines
them. Names of members stay by the same rule, since those of arguments and results are data.
Booleans, null and the order of messages stay; times count from the first entry.
"""

from __future__ import annotations

import hashlib
import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.wire.messages import LEGACY_VERSIONS, MODERN_VERSIONS

from .recording import RecordedLine

if TYPE_CHECKING:
    from collections.abc import Iterable

_START = datetime(1970, 1, 1, tzinfo=UTC)
_DIGEST_BYTES = 6  # of a million values, two different ones have one digest in 1 of 560 copies

_NOTE = "A copy by `toolwire replay --shapes`: texts and numbers are types, lengths and digests."


def _split_words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_METHODS = _split_words("""
    initialize ping server/discover completion/complete logging/setLevel tools/list tools/call
    resources/list resources/templates/list resources/read resources/subscribe resources/unsubscribe
    subscriptions/listen prompts/list prompts/get sampling/createMessage elicitation/create
    roots/list tasks/get tasks/list tasks/result tasks/cancel tasks/update notifications/initialized
    notifications/cancelled notifications/progress notifications/message
    notifications/tools/list_changed notifications/resources/list_changed
    notifications/resources/updated notifications/prompts/list_changed
    notifications/roots/list_changed notifications/elicitation/complete
    notifications/subscriptions/acknowledged notifications/tasks/status
    """)

_ENVELOPE = {"jsonrpc": frozenset({"2.0"}), "method": _METHODS}
"""The values that are defined for a member of a message itself."""

_MEMBERS = _split_words("""
    _meta action annotations argument arguments audience blob capabilities clientInfo code
    completion completions content contents context data description destructiveHint elicitation
    error execution experimental extensions form hasMore icons id idempotentHint inputRequests
    inputResponses inputSchema instructions isError lastModified level listChanged logger logging
    message messages method mimeType mode name nextCursor openWorldHint outputSchema params priority
    progress progressToken prompts protocolVersion readOnlyHint reason ref requestId requestState
    requestedSchema required resource resourceTemplates resources result resultType role roots
    sampling serverInfo size sizes src structuredContent subscribe supportedVersions tasks text
    title tool tools total type uri uriTemplate url value values version websiteUrl jsonrpc cursor
    ttlMs cacheScope io.modelcontextprotocol/clientCapabilities io.modelcontextprotocol/clientInfo
    io.modelcontextprotocol/logLevel io.modelcontextprotocol/protocolVersion
    io.modelcontextprotocol/serverInfo io.modelcontextprotocol/subscriptionId
    """)
"""Names that MCP gives to members of messages."""

_DATA = frozenset(
    {"arguments", "structuredContent", "data", "experimental", "extensions", "inputResponses"}
)
"""Members whose contents a tool, a server or a user defines."""

_SCHEMAS = frozenset({"inputSchema", "outputSchema", "requestedSchema"})

_KEYWORDS = _split_words("""
    $schema $id $ref $defs $anchor $dynamicRef $dynamicAnchor $comment $vocabulary additionalItems
    additionalProperties allOf anyOf const contains contentEncoding contentMediaType contentSchema
    default definitions dependentRequired dependentSchemas deprecated description else enum
    enumNames examples exclusiveMaximum exclusiveMinimum format if items maxContains maxItems
    maxLength maxProperties maximum minContains minItems minLength minProperties minimum multipleOf
    not nullable oneOf pattern patternProperties prefixItems properties propertyNames readOnly
    required then title type unevaluatedItems unevaluatedProperties uniqueItems writeOnly
    """)
_NAMED_SCHEMAS = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
)
_VALUES_OF_SCHEMAS = frozenset(
    {"const", "default", "enum", "enumNames", "examples", "dependentRequired"}
)
_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})

_WORDS = {
    "type": frozenset(
        {"audio", "image", "resource", "resource_link", "text", "ref/prompt", "ref/resource"}
    ),
    "role": frozenset({"assistant", "user"}),
    "action": frozenset({"accept", "cancel", "decline"}),
    "protocolVersion": frozenset({*LEGACY_VERSIONS, *MODERN_VERSIONS}),
    "io.modelcontextprotocol/protocolVersion": frozenset({*LEGACY_VERSIONS, *MODERN_VERSIONS}),
}
"""The values that MCP defines for a member."""


class Shapes:
    """Makes the shapes of one copy."""

    def __init__(self) -> None:
        self._key = os.urandom(32)
        self._first: datetime | None = None

    def copy(self, entries: Iterable[RecordedLine]) -> list[RecordedLine]:
        """Return *entries* with shapes in place of texts and numbers."""
        return [self._copy_entry(entry) for entry in entries]

    def make_shape(self, value: Any) -> Any:
        """Return the shape of a JSON value: objects and lists keep their form alone."""
        match value:
            case bool() | None:
                return value
            case str():
                return self._make_shape_of_text("string", value)
            case int():
                return self._make_shape_of_text("integer", str(value))
            case float():
                return self._make_shape_of_text("number", repr(value))
            case list():
                return [self.make_shape(item) for item in value]
        return {self.make_shape(name): self.make_shape(item) for name, item in value.items()}

    def _copy_entry(self, entry: RecordedLine) -> RecordedLine:
        if self._first is None:
            self._first = entry.at
        return RecordedLine(
            type=entry.type,
            at=_START + (entry.at - self._first),
            version=entry.version,
            command=None if entry.command is None else self.make_shape(entry.command),
            environment=None if entry.environment is None else self.make_shape(entry.environment),
            note=_NOTE if entry.type == "Started" else "",
            sender=entry.sender,
            message=self._copy_message(entry.message),
            text=self.make_shape(entry.text),
            max_bytes=entry.max_bytes,
            reason=self.make_shape(entry.reason) if entry.reason else "",
            stderr=self.make_shape(entry.stderr),
        )

    def _copy_message(self, message: Any) -> Any:
        """Return the shape of a message, or of a batch."""
        if isinstance(message, list):
            return [self._copy_message(item) for item in message]
        if not isinstance(message, dict):
            return self.make_shape(message)
        copied = {}
        for name, value in message.items():
            if name in ("params", "result"):
                copied[name] = self._copy_member(value)
            elif name == "error":
                copied[name] = self._copy_error(value)
            elif isinstance(value, str) and value in _ENVELOPE.get(name, ()):
                copied[name] = value
            else:
                copied[self._replace_unknown(name, _MEMBERS)] = self.make_shape(value)
        return copied

    def _copy_error(self, error: Any) -> Any:
        if not isinstance(error, dict):
            return self.make_shape(error)
        copied = {
            self._replace_unknown(name, _MEMBERS): self.make_shape(value)
            for name, value in error.items()
        }
        code = error.get("code")
        if type(code) is int and -32768 <= code <= -32000:  # those that JSON-RPC keeps for itself
            copied["code"] = code
        return copied

    def _copy_member(self, value: Any) -> Any:
        """Return the shape of *value*, whose members the protocol names."""
        if isinstance(value, list):
            return [self._copy_member(item) for item in value]
        if not isinstance(value, dict):
            return self.make_shape(value)
        is_form = isinstance(value.get("action"), str)  # whose content has the names of its fields
        copied = {}
        for name, item in value.items():
            known = self._replace_unknown(name, _MEMBERS)
            if name in _DATA or (is_form and name == "content"):
                copied[known] = self.make_shape(item)
            elif name in _SCHEMAS:
                copied[known] = self._copy_schema(item)
            elif isinstance(item, str) and item in _WORDS.get(name, ()):
                copied[known] = item
            elif known == name:
                copied[known] = self._copy_member(item)
            else:
                copied[known] = self.make_shape(item)
        return copied

    def _copy_schema(self, schema: Any) -> Any:
        """Return the shape of a JSON Schema: its keywords and types stay."""
        if isinstance(schema, list):
            return [self._copy_schema(item) for item in schema]
        if not isinstance(schema, dict):
            return self.make_shape(schema)
        copied = {}
        for name, value in schema.items():
            known = self._replace_unknown(name, _KEYWORDS)
            if name in _NAMED_SCHEMAS and isinstance(value, dict):
                copied[known] = {
                    self.make_shape(member): self._copy_schema(inner)
                    for member, inner in value.items()
                }
            elif name == "type":
                copied[known] = self._copy_types(value)
            elif name in _VALUES_OF_SCHEMAS or known != name:
                copied[known] = self.make_shape(value)
            else:
                copied[known] = self._copy_schema(value)
        return copied

    def _copy_types(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._copy_types(item) for item in value]
        return value if isinstance(value, str) and value in _TYPES else self.make_shape(value)

    def _replace_unknown(self, name: str, known: frozenset[str]) -> str:
        """Return *name* if it is *known*, else its shape."""
        return name if name in known else self._make_shape_of_text("string", name)

    def _make_shape_of_text(self, kind: str, text: str) -> str:
        data = f"{kind} {text}".encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(data, key=self._key, digest_size=_DIGEST_BYTES).hexdigest()
        return f"<{kind} {len(text)} {digest}>"


def copy_shapes(entries: Iterable[RecordedLine]) -> bytes:
    """Return the copy of *entries* as the contents of a recording."""
    copied = Shapes().copy(entries)
    return b"".join(msgspec.json.encode(entry) + b"\n" for entry in copied)
