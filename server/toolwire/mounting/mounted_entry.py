"""The tools, resources and prompts of mounted servers.

Strategy. A lock offers the entries of a hundred servers, none of which runs: what only calls need
is imported by them.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from msgspec.structs import replace
from toolwire_schemas.wire.codec import DecodingError, decode
from toolwire_tools import ArgumentsError, Entry, Options, Tool, ToolError

from ..protocol.connection_handler import ConnectionHandler

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from toolwire_schemas.json_schema.bounded_validator import SchemaValidator
    from toolwire_tools.resources.uri_template import UriTemplate

    from ..protocol.call import Call

    Response = Coroutine[Any, Any, dict[str, Any]]
    Forward = Callable[[dict[str, Any], Call], Response]

_KEYS = {
    "tools": "name",
    "prompts": "name",
    "resources": "uri",
    "resourceTemplates": "uriTemplate",
}
"""The member by which calls name an entry of each list."""

_NUMBERS = (int, float, bool)


def find_key(kind: str, entry: dict[str, Any]) -> str:
    """Return what calls name an entry of the list of *kind* by: its name or URI."""
    key: str = entry[_KEYS[kind]]
    return key


def has_name(kind: str) -> bool:
    """Return whether calls name entries of the list of *kind* by a name, and not by a URI."""
    return _KEYS[kind] == "name"


def mount_entry(prefix: str, forward: Forward, kind: str, listed: dict[str, Any]) -> Tool:
    """Return what a server's list of *kind* shows as *listed*, whose calls *forward* sends there.

    Tools and prompts have the *prefix* in front of their names.
    """
    name_there = find_key(kind, listed)
    parts: tuple[str, ...] = (name_there,)
    if prefix and has_name(kind):
        parts = (prefix, name_there)
    name = "_".join(parts)
    template = None
    if kind == "resourceTemplates":
        template = _read_template(name_there)
    schema: dict[str, Any] = listed.get("inputSchema", {})
    entry = Entry(
        kind=kind,
        name=name,
        parts=parts,
        shown=_show(kind, name, listed),
        options=Options(task=_choose_task_option(listed)),
        input_schema=schema,
        template=template,
    )
    return Tool(entry, _make_handler(forward, kind, name_there, schema))


def _make_handler(
    forward: Forward, kind: str, name: str, schema: dict[str, Any]
) -> ConnectionHandler:
    """Return the handler of the entry that is called *name* there."""
    handler = ConnectionHandler(
        send=partial(_SENDERS[kind], forward, name),
        complete=partial(_send_completion, forward, kind, name),
        finish=_check_result,
    )
    if kind != "tools":
        return handler
    return replace(handler, finish=_check_tool_result, read=ArgumentReader(schema).read)


def _choose_task_option(listed: dict[str, Any]) -> Literal["auto"] | None:
    """Return `auto` if the list of the server says that calls may be tasks: ours do then.

    A tool that runs only as a task there runs otherwise here, too: `forward` waits for its task.
    """
    execution = listed.get("execution")
    if not isinstance(execution, dict):
        return None
    if execution.get("taskSupport") in ("optional", "required"):
        return "auto"
    return None


def _show(kind: str, name: str, listed: dict[str, Any]) -> dict[str, Any]:
    if not has_name(kind):
        return listed
    shown = {**listed, "name": name}
    output = listed.get("outputSchema")
    if output is not None and output.get("type") != "object":  # which only modern hosts take
        del shown["outputSchema"]
    return shown


def _read_template(uri: str) -> UriTemplate | None:
    """Return the URI template; `None` for one of a part of RFC 6570 that is not supported: its URIs
    are found by asking.
    """
    from toolwire_tools.resources.uri_template import UriTemplate

    with suppress(ValueError):
        return UriTemplate(uri)
    return None


def _send_call(forward: Forward, name: str, arguments: Any, call: Call) -> Response:
    return forward({"name": name, "arguments": arguments}, call)


def _send_read(forward: Forward, uri: str, arguments: Any, call: Call) -> Response:
    return forward({name: value for name, value in arguments.items() if name != "_meta"}, call)


_SENDERS = {
    "tools": _send_call,
    "prompts": _send_call,
    "resources": _send_read,
    "resourceTemplates": _send_read,
}


def _send_completion(forward: Forward, kind: str, name: str, params: Any, call: Call) -> Response:
    """Send a request that completes an argument of the prompt or template called *name* there."""
    key = "name" if kind == "prompts" else "uri"
    return forward({**params, "ref": {**params["ref"], key: name}}, call)


def _check_result(result: dict[str, Any], call: Call) -> dict[str, Any]:
    if not isinstance(result.get("_meta", {}), dict):
        del result["_meta"]
    return result


def _check_tool_result(result: dict[str, Any], call: Call) -> dict[str, Any]:
    """Return the result of a tool, without structured content that the host cannot read.

    Raises:
        ToolError: if it is no result of a tool.
    """
    from toolwire_client.errors import BrokenRules
    from toolwire_client.protocol.results import read_call_result

    result = _check_result(result, call)
    try:
        read_call_result(result)
    except BrokenRules as error:
        raise ToolError(f"{call.entry.name}: {error}") from None
    is_object = isinstance(result.get("structuredContent", {}), dict)
    if not (call.origin.modern or is_object):
        result.pop("structuredContent", None)
    return result


class ArgumentReader:
    """Reads arguments as a tool with this *schema* takes them, where they can be read in one way
    only.
    """

    def __init__(self, schema: dict[str, Any]) -> None:
        self._schema = schema
        self._validator: SchemaValidator | None = None
        self._texts = set()
        fields = schema.get("properties")
        if not isinstance(fields, dict):
            return
        for name, field in fields.items():
            if isinstance(field, dict) and field.get("type") == "string":
                self._texts.add(name)

    def read(self, arguments: Any, strict: bool) -> Any:
        """Return the arguments to send: *arguments* if they fit, or cannot be made to fit, else how
        they read.

        Raises:
            ArgumentsError: if they are a text, and not that of a JSON object.
        """
        if isinstance(arguments, str):
            arguments = _decode_object(arguments)
        # Only null and JSON as text are read again: most arguments need no validation to go as they
        # are.
        if strict or self._are_plain(arguments):
            return arguments
        return self._read_again(arguments)

    def _read_again(self, arguments: dict[str, Any]) -> dict[str, Any]:
        from toolwire_schemas.json_schema.bounded_validator import CannotJudge, SchemaValidator
        from toolwire_schemas.json_schema.lossless import read

        try:
            if self._validator is None:
                self._validator = SchemaValidator(self._schema)
            validate = self._validator.find_errors
            reading = read(arguments, validate(arguments), validate)
        except (CannotJudge, RecursionError):  # too expensive, or no valid schema
            return arguments
        return arguments if reading is None else reading.value

    def _are_plain(self, arguments: dict[str, Any]) -> bool:
        """Return whether nothing in *arguments* could be the text of another value."""
        for name, value in arguments.items():
            is_text = type(value) is str and name in self._texts
            if not is_text and type(value) not in _NUMBERS:
                return False
        return True


def _decode_object(text: str) -> dict[str, Any]:
    try:
        decoded = decode(text.encode())
    except (DecodingError, UnicodeEncodeError):
        decoded = None
    if not isinstance(decoded, dict):
        raise ArgumentsError([("arguments", "is text, and not that of a JSON object")])
    return decoded
