"""The tools, resources and prompts of mounted servers."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from toolwire_client.errors import BrokenRules
from toolwire_client.protocol.results import (
    PromptDescription,
    ResourceDescription,
    ResourceTemplate,
    ToolDescription,
    described,
    outcome,
)
from toolwire_dialects.lint.audit import about_members
from toolwire_schemas.json_schema.bounded_validator import CannotJudge, SchemaValidator
from toolwire_schemas.json_schema.lossless import read
from toolwire_schemas.wire.codec import DecodingError, EncodingError, decode, encode
from toolwire_tools import ArgumentsError, Tool, ToolError
from toolwire_tools.resources.uri_template import UriTemplate

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolwire_tools import Caller

    from ..protocol.call import Call

    Forward = Callable[["MountedTool", dict[str, Any], Call], dict[str, Any]]

_KINDS: dict[str, tuple[Any, str]] = {
    "tools": (ToolDescription, "tool"),
    "resources": (ResourceDescription, "resource"),
    "resourceTemplates": (ResourceTemplate, "resource template"),
    "prompts": (PromptDescription, "prompt"),
}
_NUMBERS = (int, float, bool)


def problem_of(entry: Any, kind: str, keys: set[tuple[str, str]]) -> str | None:
    """Return why *entry*, of a server's list of *kind*, is left out; `None` if its kind and name
    are added to *keys*.

    Hosts on the TypeScript SDK would refuse the whole list for it.
    """
    try:
        encode([[[entry]]])  # as deep as it is in a response
        described(entry, *_KINDS[kind])
    except (BrokenRules, EncodingError) as error:
        return str(error)
    present = {name: value for name, value in entry.items() if value is not None}
    name = key_of(kind, entry)
    if not name or (kind, name) in keys:
        return f"{name[:100]!r} is listed twice" if name else "its name is empty"
    keys.add((kind, name))
    if kind != "tools":
        return None
    if present.get("inputSchema", {}).get("type") != "object":
        return f"the inputSchema of {name[:100]} is not of the type object"
    wrong = next(about_members(present), None)
    return None if wrong is None else f"{wrong[0]} of {name[:100]}: {wrong[1]}"


def key_of(kind: str, entry: dict[str, Any]) -> str:
    """Return what calls name an entry of the list of *kind* by: its name or URI."""
    key: str = entry[{"resources": "uri", "resourceTemplates": "uriTemplate"}.get(kind, "name")]
    return key


_TEMPLATE = Tool(lambda: None, name="template")


class MountedTool(Tool):
    """The *entry* of a server's list, as a `Tool` of *kind*, whose calls *forward* sends there.

    Tools and prompts have the *prefix* in front of their names.
    """

    template: UriTemplate | None = None

    def __init__(self, prefix: str, forward: Forward, kind: str, entry: dict[str, Any]) -> None:
        self._become(_TEMPLATE)
        self.kind = kind
        self._forward = forward
        self._there = key_of(kind, entry)
        self._parts = (
            (prefix, self._there) if prefix and kind in ("tools", "prompts") else (self._there,)
        )
        self.name = self.name_with("_")
        self._schema: dict[str, Any] = entry.get("inputSchema", {})
        self._description = {**entry, "name": self.name} if kind in ("tools", "prompts") else entry
        output = entry.get("outputSchema")
        if output is not None and output.get("type") != "object":  # which only modern hosts take
            self._description.pop("outputSchema")
        fields = self._schema.get("properties")
        texts = fields.items() if isinstance(fields, dict) else ()
        self._texts = {
            name
            for name, field in texts
            if isinstance(field, dict) and field.get("type") == "string"
        }
        self.notices_cancellation = True
        self._is_structured = True
        self._validator: SchemaValidator | None = None
        if kind == "resourceTemplates":
            with suppress(
                ValueError
            ):  # of a part of RFC 6570 that is not supported: its URIs are found by asking
                self.template = UriTemplate(self._there)

    def with_entry(self, entry: dict[str, Any]) -> MountedTool:
        """Return the same tool with another *entry* of its list, whose behaviour is the same."""
        twin = self._twin(self.name)
        twin._description = entry
        return cast("MountedTool", twin)

    def without_structured(self) -> Tool:
        """As `Tool.without_structured`."""
        twin = super().without_structured()
        twin._is_structured = False  # type: ignore[attr-defined]
        return twin

    def completion(self, params: dict[str, Any]) -> tuple[Tool, dict[str, Any]]:
        """Return what completes an argument of this prompt or template, and its arguments."""
        twin = self._twin(self.name)
        twin.kind = "completions"
        key = "name" if self.kind == "prompts" else "uri"
        return twin, {**params, "ref": {**params["ref"], key: self._there}}

    def call(
        self, arguments: Any, caller: Caller, strict_arguments: bool = False
    ) -> dict[str, Any]:
        """As `Tool.call`: return the result of the mounted server as it came."""
        call: Call = caller  # type: ignore[assignment]
        if self.kind == "tools":
            params = {"name": self._there, "arguments": self._read(arguments, strict_arguments)}
        elif self.kind == "prompts":
            params = {"name": self._there, "arguments": arguments}
        else:
            params = {name: value for name, value in arguments.items() if name != "_meta"}
        result = self._forward(self, params, call)
        if not isinstance(result.get("_meta", {}), dict):
            del result["_meta"]
        if self.kind == "tools":
            try:
                outcome(result)
            except BrokenRules as error:
                raise ToolError(f"{self.name}: {error}") from None
            takes_any = call.origin.modern or isinstance(result.get("structuredContent", {}), dict)
            if not (takes_any and self._is_structured):
                result.pop("structuredContent", None)
        return result

    def _read(self, arguments: Any, strict: bool) -> Any:
        """Return the arguments to send: what was given if it fits, or cannot be made to fit, else
        how it reads.
        """
        if isinstance(arguments, str):
            try:
                decoded = decode(arguments.encode())
            except (DecodingError, UnicodeEncodeError):
                decoded = None
            if not isinstance(decoded, dict):
                raise ArgumentsError([("arguments", "is text, and not that of a JSON object")])
            arguments = decoded
        # Only null and JSON as text are read again: most arguments need no validation to go as they
        # are.
        if strict or all(
            type(arguments[name]) in _NUMBERS
            or (type(arguments[name]) is str and name in self._texts)
            for name in arguments
        ):
            return arguments
        try:
            if self._validator is None:
                self._validator = SchemaValidator(self._schema)
            validate = self._validator.errors
            reading = read(arguments, validate(arguments), validate)
            return arguments if reading is None else reading.value
        except (CannotJudge, RecursionError):  # too expensive, or no valid schema
            return arguments
