"""A plain function as a tool: described by its signature and docstring, called with JSON.

Enough for functions on simple types. A function decorated with `toolwire.tool_api` brings its own, full description.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Annotated, Any

import docstring_parser
import msgspec
from toolwire_schemas.codec import encode

if TYPE_CHECKING:
    from collections.abc import Callable

_POSITIONAL = inspect.Parameter.POSITIONAL_ONLY
_OPEN = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_SIMPLE = (str, int, float, bool, type(None))


class FunctionTool:
    """The tool that *function* is; see `ToolLike`. *name* and *description* win over its own.

    Raises:
        TypeError: if its parameters cannot be described.
    """

    def __init__(self, function: Callable[..., Any], name: str | None = None, description: str | None = None) -> None:
        self.name: str = name or getattr(function, "__name__", "") or type(function).__name__
        self.is_async = inspect.iscoroutinefunction(function)
        self._function = function
        try:
            self._parameters = inspect.signature(function, eval_str=True).parameters.values()
            self._described = self._describe(docstring_parser.parse(inspect.getdoc(function) or ""), description)
        except (TypeError, ValueError, NameError) as error:
            problem = " ".join(str(error).split())
            raise TypeError(
                f"the function {self.name} cannot be described: {problem}; try toolwire.tool_api"
            ) from error

    def describe(self) -> dict[str, Any]:
        """As `ToolLike.describe`."""
        return self._described

    def call(self, arguments: dict[str, Any], caller: object) -> dict[str, Any]:
        """As `ToolLike.call`."""
        positional, keywords = self._bound(arguments)
        return _result(self._function(*positional, **keywords))

    async def call_async(self, arguments: dict[str, Any], caller: object) -> dict[str, Any]:
        """As `ToolLike.call_async`."""
        positional, keywords = self._bound(arguments)
        return _result(await self._function(*positional, **keywords))

    def _describe(self, documented: docstring_parser.Docstring, description: str | None) -> dict[str, Any]:
        texts = {parameter.arg_name: parameter.description for parameter in documented.params}
        self._arguments = msgspec.defstruct(
            "arguments",
            [_field(parameter, texts.get(parameter.name)) for parameter in self._parameters],
            kw_only=True,
            forbid_unknown_fields=True,
        )
        _, definitions = msgspec.json.schema_components([self._arguments], ref_template="#/$defs/{name}")
        schema = definitions.pop("arguments")
        del schema["title"]
        if definitions:
            schema["$defs"] = definitions
        return {"name": self.name, "description": description or documented.description or "", "inputSchema": schema}

    def _bound(self, arguments: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        try:
            values = msgspec.convert(arguments, self._arguments)
        except msgspec.ValidationError as error:
            raise TypeError(f"{self.name} does not take these arguments: {error}") from None
        given = {parameter.name: (parameter.kind, getattr(values, parameter.name)) for parameter in self._parameters}
        return (
            [value for kind, value in given.values() if kind is _POSITIONAL],
            {name: value for name, (kind, value) in given.items() if kind is not _POSITIONAL},
        )


def _field(parameter: inspect.Parameter, text: str | None) -> tuple[str, Any] | tuple[str, Any, Any]:
    if parameter.kind in _OPEN:
        raise TypeError(f"{parameter} can be anything")
    hint = Any if parameter.annotation is parameter.empty else parameter.annotation
    if parameter.default is None and hint is not Any:
        hint = hint | None
    if text:
        hint = Annotated[hint, msgspec.Meta(description=text)]
    if parameter.default is parameter.empty:
        return parameter.name, hint
    default = parameter.default
    if type(default) in _SIMPLE:
        return parameter.name, hint, default
    return parameter.name, hint, msgspec.field(default_factory=lambda: default)


def _result(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        return {"content": [{"type": "text", "text": value}]}
    data = msgspec.to_builtins(value, enc_hook=str)
    structured = data if isinstance(data, dict) else {"result": data}
    return {"content": [{"type": "text", "text": encode(data).decode()}], "structuredContent": structured}
