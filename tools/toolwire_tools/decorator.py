"""`tool_api`: say that a function is a tool, and what is special about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from .errors import RegistrationError
from .lagent import description_of
from .options import ATTRIBUTE, Options, checked

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

Function = TypeVar("Function", bound="Callable[..., Any] | staticmethod[..., Any] | classmethod[Any, ..., Any]")


@overload
def tool_api(function: Function, /) -> Function: ...


@overload
def tool_api(
    *,
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    read_only: bool | None = None,
    destructive: bool | None = None,
    idempotent: bool | None = None,
    open_world: bool | None = None,
    timeout_seconds: float | None = None,
    runs_in: Literal["process"] | None = None,
    memory_limit: int | str | None = None,
    tags: Collection[str] = (),
    icons: Sequence[dict[str, Any]] = (),
    input_schema: dict[str, Any] | None = None,
    output_schema: dict[str, Any] | None = None,
    meta: dict[str, Any] | None = None,
) -> Callable[[Function], Function]: ...


def tool_api(function: Any = None, /, **options: Any) -> Any:
    """The function itself, marked as a tool: `@tool_api` or `@tool_api(read_only=True)`.

    It stays a plain function. On a method it makes the class a toolkit; `@staticmethod` and `@classmethod`
    go above or below it.

    Args:
        name: what callers call it; the function's name by default.
        title: what people see instead of the name.
        description: what it does; the docstring by default.
        read_only: it changes nothing.
        destructive: it may overwrite or delete.
        idempotent: calling it again with the same arguments changes nothing more.
        open_world: it reaches beyond this machine.
        timeout_seconds: when a call is given up, instead of the server's limit.
        runs_in: `"process"` keeps it in a process of its own, so that a crash of it is one failed call.
        memory_limit: what that process may use beyond what loading the tools takes, in bytes or like `"512 MiB"`.
        tags: words to choose tools by.
        icons: `{"src": "https://...", "mimeType": ..., "sizes": ["48x48"], "theme": ...}` each.
        input_schema: JSON Schema of the arguments, instead of the one made from the type hints.
        output_schema: JSON Schema of the result, instead of the one made from the type hints.
        meta: the tool's `_meta`, for hosts that read it.

    Raises:
        TypeError: for an option that does not exist, or a value of the wrong type.
        ValueError: for a value out of range.
        RegistrationError: for something that cannot be marked, such as a class.
    """
    said = checked(options)
    return _marked(function, said) if function is not None else lambda function: _marked(function, said)


def _marked(thing: Any, options: Options) -> Any:
    target = thing.__func__ if isinstance(thing, staticmethod | classmethod) else thing
    if isinstance(target, str):
        raise RegistrationError(
            "the first argument of tool_api is the function", tool=target, remedy=f"write name={target!r}"
        )
    name = getattr(target, "__name__", None) or type(target).__name__
    if isinstance(target, type):
        raise RegistrationError(
            "a class is not decorated itself",
            tool=name,
            remedy="decorate the methods that are to be its tools",
        )
    if not callable(target):
        raise RegistrationError(
            f"an object of type {type(target).__name__} cannot be called",
            tool=name,
            remedy="decorate a function",
        )
    try:
        setattr(target, ATTRIBUTE, options)
    except (AttributeError, TypeError):
        raise RegistrationError(
            f"a {type(target).__name__} cannot carry options",
            tool=name,
            remedy="decorate a function that calls it, or the method in its class",
        ) from None
    target.api_description = description_of(target, options)
    return thing
