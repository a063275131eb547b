"""One resource: a function whose value clients read under a URI, or under all URIs of a template.

Strategy. A resource is a `Tool` whose argument is the URI, so that a server runs it like any tool.
Only the form of its value and of its failure differ.
"""

from __future__ import annotations

import re
from functools import partial
from posixpath import normpath
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import msgspec

from ..content import detect_media_type, encode_base64, is_media_type, is_textual
from ..entry import SEPARATOR, Entry, show
from ..errors import OutputError, RegistrationError, ToolError, name_noun
from ..handler import make_handler
from ..options import Options, name_of
from ..outer_handler import OuterHandler
from ..results import find_blocks
from ..schema.annotations import get_annotations
from ..schema.to_json import make_plain_result
from ..signature.return_value import Returns, as_text
from ..tool import Tool, name_parts, read_function
from .uri_template import UriTemplate

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..context.context import Caller
    from ..handler import FunctionHandler


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

    made_by: ClassVar[str | None] = "toolwire_tools.resources.resource:make_resource"

    uri: str
    media_type: str | None = None
    annotations: dict[str, Any] | None = None
    any_path: bool = False

    def __post_init__(self) -> None:
        msgspec.convert(self.annotations or {}, Annotations)


class ResourceHandler(OuterHandler, frozen=True, eq=False, kw_only=True):
    """Reads a resource: a call takes `{"uri": …}` and returns the result of `resources/read`."""

    inner: FunctionHandler
    """Runs the function, whose arguments are the variables of the template."""
    template: UriTemplate
    takes_any_path: bool
    present: Callable[[str, Any], dict[str, Any]]
    """Returns the result for a URI and the value of the function."""
    not_found: type[ToolError]
    """The class of the error for a URI that the template does not match."""

    def call(
        self, arguments: dict[str, Any], caller: Caller, strict_arguments: bool = False
    ) -> dict[str, Any]:
        """Run a synchronous function and return the result of `resources/read`.

        Raises:
            ResourceNotFound: if the URI does not match the template, or the function returns None.
            ArgumentsError, OutputError, Cancelled, Exception: as `Handler.call` does.
        """
        uri = arguments["uri"]
        value = self.inner.run(self._match_variables(uri), caller)
        return self.present(uri, value)

    async def call_async(
        self, arguments: dict[str, Any], caller: Caller, strict_arguments: bool = False
    ) -> dict[str, Any]:
        """As `call`, for an asynchronous function."""
        uri = arguments["uri"]
        value = await self.inner.run_async(self._match_variables(uri), caller)
        return self.present(uri, value)

    def _match_variables(self, uri: str) -> dict[str, str]:
        values = self.template.match(uri)
        if values is None:
            raise self.not_found(f"{uri[:200]} does not match {self.inner.name}")
        if self.takes_any_path:
            return values
        for name, value in values.items():
            if may_leave_folder(value):
                problem = f"{name!r} is a path out of its folder"
                raise self.not_found(f"there is no resource {uri[:200]}: {problem}")
        return values


def make_resource(
    function: Callable[..., Any],
    *,
    options: ResourceOptions,
    name: str | None = None,
    toolkit: str | None = None,
    is_adopted: bool = False,
) -> Tool:
    """Return *function* as a resource, called by its URI or URI template.

    The function gets the variables of the template as arguments, and may take a `Context`. *name*
    is what people see, instead of the function's. *is_adopted* is that of `make_tool`.

    Raises:
        RegistrationError: if the URI is no template, or its variables are not the parameters of the
            function.
    """
    with name_noun("resource"):
        uri = options.uri
        name_parts(function, uri, options, None)
        signature = read_function(
            function, uri, options, returns=Returns("undeclared"), is_adopted=is_adopted
        )
        own_name = name or options.name or name_of(function)
        shown_name = f"{toolkit}{SEPARATOR}{own_name}" if toolkit else own_name
        template = _read_template(uri)
        _check_variables(template, signature.arguments.input_schema, uri)
        _check_media_type(options.media_type, uri)
        entry = Entry(
            kind="resourceTemplates" if template.is_template else "resources",
            name=uri,
            parts=(uri,),
            shown=_show(function, options, shown_name, template, signature.description),
            options=options,
            input_schema=signature.arguments.input_schema,
            function=function,
            template=template,
        )
        handler = ResourceHandler(
            inner=make_handler(function, uri, options, signature),
            template=template,
            takes_any_path=options.any_path,
            present=partial(read_contents, options.media_type),
            not_found=ResourceNotFound,
        )
    return Tool(entry, handler)


def read_contents(media_type: str | None, uri: str, value: Any) -> dict[str, Any]:
    """Return the result of `resources/read` for the *value* of the resource *uri*.

    Raises:
        ResourceNotFound: if the value is None.
        OutputError: if it has no form in a result.
    """
    if value is None:
        raise ResourceNotFound(f"there is no resource {uri[:200]}: its function returned None")
    return {"contents": make_contents(value, uri, media_type)}


def _read_template(uri: str) -> UriTemplate:
    try:
        return UriTemplate(uri)
    except ValueError as error:
        raise RegistrationError("its URI cannot be used", tool=uri, remedy=str(error)) from None


def _check_variables(template: UriTemplate, schema: dict[str, Any], uri: str) -> None:
    known, required = schema.get("properties", {}), schema.get("required", ())
    takes_others = schema.get("additionalProperties")
    missing = [name for name in required if name not in template.names]
    unknown = [name for name in template.names if name not in known and not takes_others]
    if missing or unknown:
        if missing:
            problem = f"its parameter {missing[0]!r} is not in the URI"
        else:
            problem = f"it has no {unknown[0]!r}"
        remedy = (
            "the variables of the URI and the parameters of the function must have the same names"
        )
        raise RegistrationError(problem, tool=uri, remedy=remedy)
    forced = [name for name in template.optional if name in required]
    if forced:
        problem = f"{forced[0]!r} is in the query of the URI, where it may be absent"
        raise RegistrationError(problem, tool=uri, remedy="give the parameter a default")


def _check_media_type(media_type: str | None, uri: str) -> None:
    if media_type is not None and not is_media_type(media_type):
        problem = f"{media_type!r} is not a media type"
        raise RegistrationError(problem, tool=uri, remedy='write it like "text/markdown"')


def _show(
    function: Callable[..., Any],
    options: ResourceOptions,
    name: str,
    template: UriTemplate,
    description: str,
) -> dict[str, Any]:
    """Return the member of `resources/list` or `resources/templates/list`."""
    media_type = options.media_type or _guess_media_type(options.uri)
    returns_text = get_annotations(function).get("return") in (str, "str")
    if media_type is None and returns_text and not template.is_template:
        media_type = "text/plain"
    uri_member = "uriTemplate" if template.is_template else "uri"
    names = {uri_member: options.uri, "name": name}
    own = {"mimeType": media_type, "annotations": options.annotations}
    return show(names, options, description, own)


def may_leave_folder(path: str) -> bool:
    """Return whether *path*, joined to a folder, may be outside of it: absolute, with `..` at its
    start, or with NUL.

    Functions that open a file of a template's variable need not check it then, on any platform.
    """
    return "\0" in path or bool(_OUTSIDE.match(normpath(path.replace("\\", "/"))))


_OUTSIDE = re.compile(r"/|\.\.(/|$)|[A-Za-z]:")


def make_contents(value: Any, uri: str, media_type: str | None = None) -> list[dict[str, Any]]:
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
            or detect_media_type(data)
            or _guess_media_type(uri)
            or "application/octet-stream"
        )
        return [_make_contents_of_bytes(data, uri, known)]
    if type(value) is str:
        return [
            {
                "uri": uri,
                "mimeType": media_type or _guess_media_type(uri) or "text/plain",
                "text": value,
            }
        ]
    if _is_contents(value):
        return [{"uri": uri, **value}]
    if isinstance(value, list | tuple) and value and all(map(_is_contents, value)):
        return [{"uri": uri, **item} for item in value]
    blocks = find_blocks(value)
    if blocks is not None:
        return [_make_contents_of_block(block, uri, media_type) for block in blocks]
    text = as_text(make_plain_result(value))
    return [{"uri": uri, "mimeType": media_type or "application/json", "text": text}]


def _make_contents_of_bytes(data: bytes, uri: str, media_type: str) -> dict[str, Any]:
    if is_textual(media_type):
        try:
            return {"uri": uri, "mimeType": media_type, "text": data.decode()}
        except UnicodeDecodeError:
            pass
    return {"uri": uri, "mimeType": media_type, "blob": encode_base64(data)}


def _make_contents_of_block(
    block: dict[str, Any], uri: str, media_type: str | None
) -> dict[str, Any]:
    match block["type"]:
        case "text":
            return {"uri": uri, "mimeType": media_type or "text/plain", "text": block["text"]}
        case "image" | "audio":
            return {"uri": uri, "mimeType": block["mimeType"], "blob": block["data"]}
        case "resource":
            inner: dict[str, Any] = block["resource"]
            if inner["uri"] == "attachment:///data":
                return {**inner, "uri": uri}
            return inner
    raise OutputError([("result", "is a link to another resource; return what it links to")])


def _is_contents(value: Any) -> bool:
    """True for a dict that has the form of `contents` already."""
    if type(value) is not dict or not value.keys() <= {"uri", "mimeType", "text", "blob", "_meta"}:
        return False
    for member, inner in value.items():
        if member != "_meta" and not isinstance(inner, str):
            return False
    return ("text" in value) is not ("blob" in value)


def _guess_media_type(uri: str) -> str | None:
    """Return the media type by the ending of the path in *uri*, if it has one."""
    scheme, _, rest = uri.partition(":")
    path = rest.partition("?")[0].removeprefix("//")
    end = ""
    if "/" in path or scheme not in ("http", "https"):
        end = path.rpartition("/")[2]
    stem, dot, ending = end.rpartition(".")
    if not (stem and dot) or "}" in ending:
        return None
    from ..content import guess_media_type

    return guess_media_type(f"x.{ending}")
