"""One resource: a function whose value clients read under a URI, or under all URIs of a template.

Strategy. A `Resource` is a `Tool` whose arguments are the URI, so that a server runs it like any
tool. Only the form of its value and of its failure differ.
"""

from __future__ import annotations

import re
from posixpath import normpath
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import msgspec

from ..content import base64_of, is_media_type, is_textual, media_type_of
from ..errors import OutputError, RegistrationError, ToolError, naming
from ..options import Options, name_of
from ..results import blocks_in
from ..schema.annotations import annotations_of
from ..schema.to_json import plain_result
from ..signature.return_value import as_text
from ..tool import SEPARATOR, Tool, entry
from .uri_template import UriTemplate

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..context.context import Caller


class ResourceNotFound(ToolError):
    """There is no resource with the URI. A function with `@resource` may raise it, or return
    None.
    """


class Annotations(msgspec.Struct):
    """The members of MCP's annotations that clients check; a wrong one can make them refuse the
    whole list.
    """

    audience: list[Literal["user", "assistant"]] | None = None
    priority: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None
    lastModified: str | None = None  # noqa: N815 (MCP's name)


class ResourceOptions(Options, frozen=True, kw_only=True):
    """The options of `resource`."""

    made_by: ClassVar[str | None] = "toolwire_tools.resources.resource:Resource"

    uri: str
    media_type: str | None = None
    annotations: dict[str, Any] | None = None
    any_path: bool = False

    def __post_init__(self) -> None:
        msgspec.convert(self.annotations or {}, Annotations)


class Resource(Tool):
    """A function as a resource: `name` is its URI or template, by which clients find it.

    The function gets the variables of the template as arguments, and may take a `Context`. `call`
    takes `{"uri": …}` and returns the result of `resources/read`. *name* is what people see,
    instead of the function's.

    Raises:
        RegistrationError: if the URI is no template, or its variables are not the parameters of the
            function.
    """

    _describes_result = False
    _not_found = ResourceNotFound
    """The class of the error for a URI that it does not serve."""

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        options: ResourceOptions,
        name: str | None = None,
        toolkit: str | None = None,
    ) -> None:
        with naming("resource"):
            super().__init__(function, name=options.uri, options=options)
            own_name = name or options.name or name_of(function)
            shown_name = SEPARATOR.join([*([toolkit] if toolkit else []), own_name])
            self._read_options(options, shown_name)

    def _read_options(self, options: ResourceOptions, shown_name: str) -> None:
        try:
            self.template = UriTemplate(options.uri)
        except ValueError as error:
            raise RegistrationError(
                "its URI cannot be used", tool=self.name, remedy=str(error)
            ) from None
        self.kind = "resourceTemplates" if self.template.is_template else "resources"
        self._check_variables()
        self._takes_any_path = options.any_path
        self._media_type = options.media_type
        if self._media_type is not None and not is_media_type(self._media_type):
            problem = f"{self._media_type!r} is not a media type"
            raise RegistrationError(problem, tool=self.name, remedy='write it like "text/markdown"')
        hint = annotations_of(self.function).get("return")
        is_text = hint in (str, "str") and not self.template.is_template
        shown = (
            self._media_type or _media_type_of_uri(self.name) or ("text/plain" if is_text else None)
        )
        self._description = self._entry(options, shown_name, shown)

    def call(
        self, arguments: dict[str, Any], caller: Caller, strict_arguments: bool = False
    ) -> dict[str, Any]:
        """Run a synchronous function and return the result of `resources/read` for
        `arguments["uri"]`.

        Raises:
            ResourceNotFound: if the URI does not match the template, or the function returns None.
            ArgumentsError, OutputError, Cancelled, Exception: as `Tool.call` does.
        """
        uri = arguments["uri"]
        return self._read(uri, self.run(self._variables(uri), caller))

    async def call_async(
        self, arguments: dict[str, Any], caller: Caller, strict_arguments: bool = False
    ) -> dict[str, Any]:
        """As `call`, for an asynchronous function."""
        uri = arguments["uri"]
        return self._read(uri, await self.run_async(self._variables(uri), caller))

    def _variables(self, uri: str) -> dict[str, str]:
        values = self.template.match(uri)
        if values is None:
            raise self._not_found(f"{uri[:200]} does not match {self.name}")
        if not self._takes_any_path:
            for name, value in values.items():
                if leaves_folder(value):
                    problem = f"{name!r} is a path out of its folder"
                    raise self._not_found(f"there is no resource {uri[:200]}: {problem}")
        return values

    def _read(self, uri: str, value: Any) -> dict[str, Any]:
        if value is None:
            raise ResourceNotFound(
                f"there is no resource {uri[:200]}: the function of {self.name} returned None"
            )
        return {"contents": contents_of(value, uri, self._media_type)}

    def _check_variables(self) -> None:
        schema = self._signature.arguments.input_schema
        known, required = schema.get("properties", {}), schema.get("required", ())
        names, optional = self.template.names, self.template.optional
        missing = [name for name in required if name not in names]
        unknown = [
            name for name in names if name not in known and not schema.get("additionalProperties")
        ]
        if missing or unknown:
            problem = (
                f"its parameter {missing[0]!r} is not in the URI"
                if missing
                else f"it has no {unknown[0]!r}"
            )
            remedy = (
                "the variables of the URI and the parameters of the function must have the same"
                " names"
            )
            raise RegistrationError(problem, tool=self.name, remedy=remedy)
        if forced := [name for name in optional if name in required]:
            problem = f"{forced[0]!r} is in the query of the URI, where it may be absent"
            raise RegistrationError(problem, tool=self.name, remedy="give the parameter a default")

    def _entry(self, options: ResourceOptions, name: str, media_type: str | None) -> dict[str, Any]:
        """Return the entry in `resources/list` or `resources/templates/list`."""
        names = {"uriTemplate" if self.template.is_template else "uri": self.name, "name": name}
        own = {"mimeType": media_type, "annotations": options.annotations}
        return entry(names, options, self._signature, own)


def leaves_folder(path: str) -> bool:
    """Return whether *path*, joined to a folder, may be outside of it: absolute, with `..` at its
    start, or with NUL.

    Functions that open a file of a template's variable need not check it then, on any platform.
    """
    return "\0" in path or bool(_OUTSIDE.match(normpath(path.replace("\\", "/"))))


_OUTSIDE = re.compile(r"/|\.\.(/|$)|[A-Za-z]:")


def contents_of(value: Any, uri: str, media_type: str | None = None) -> list[dict[str, Any]]:
    """Return the `contents` for the *value* of the resource *uri*.

    A str is text, bytes are a blob, and content blocks and lists of them are what they hold. Other
    data is JSON.

    Raises:
        OutputError: if it can be none of these.
    """
    if isinstance(value, bytes | bytearray | memoryview):
        data = bytes(value)
        known = (
            media_type
            or media_type_of(data)
            or _media_type_of_uri(uri)
            or "application/octet-stream"
        )
        return [_of_bytes(data, uri, known)]
    if type(value) is str:
        return [
            {
                "uri": uri,
                "mimeType": media_type or _media_type_of_uri(uri) or "text/plain",
                "text": value,
            }
        ]
    if _is_contents(value):
        return [{"uri": uri, **value}]
    if isinstance(value, list | tuple) and value and all(map(_is_contents, value)):
        return [{"uri": uri, **item} for item in value]
    blocks = blocks_in(value)
    if blocks is not None:
        return [_of_block(block, uri, media_type) for block in blocks]
    text = as_text(plain_result(value))
    return [{"uri": uri, "mimeType": media_type or "application/json", "text": text}]


def _of_bytes(data: bytes, uri: str, media_type: str) -> dict[str, Any]:
    if is_textual(media_type):
        try:
            return {"uri": uri, "mimeType": media_type, "text": data.decode()}
        except UnicodeDecodeError:
            pass
    return {"uri": uri, "mimeType": media_type, "blob": base64_of(data)}


def _of_block(block: dict[str, Any], uri: str, media_type: str | None) -> dict[str, Any]:
    match block["type"]:
        case "text":
            return {"uri": uri, "mimeType": media_type or "text/plain", "text": block["text"]}
        case "image" | "audio":
            return {"uri": uri, "mimeType": block["mimeType"], "blob": block["data"]}
        case "resource":
            inner = block["resource"]
            return {**inner, "uri": uri} if inner["uri"] == "attachment:///data" else inner
    raise OutputError([("result", "is a link to another resource; return what it links to")])


def _is_contents(value: Any) -> bool:
    """True for a dict that has the form of `contents` already."""
    if type(value) is not dict or not value.keys() <= {"uri", "mimeType", "text", "blob", "_meta"}:
        return False
    return all(isinstance(value[member], str) for member in value.keys() - {"_meta"}) and (
        ("text" in value) is not ("blob" in value)
    )


def _media_type_of_uri(uri: str) -> str | None:
    """Return the media type by the ending of the path in *uri*, if it has one."""
    scheme, _, rest = uri.partition(":")
    path = rest.partition("?")[0].removeprefix("//")
    end = path.rpartition("/")[2] if "/" in path or scheme not in ("http", "https") else ""
    stem, dot, ending = end.rpartition(".")
    if not (stem and dot) or "}" in ending:
        return None
    from ..content import media_type_of_path

    return media_type_of_path(f"x.{ending}")
