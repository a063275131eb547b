"""Annotations as objects: strings evaluated, wrappers taken off.

Strategy. `typing.get_type_hints` gives up on a whole function for one bad name and costs more than
the rest of a registration, so each annotation is evaluated by itself, and only if it is a string.
"""

from __future__ import annotations

import sys
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, ClassVar, ForwardRef, Union

import msgspec

Names = Mapping[str, Any]


class Unresolved(Exception):
    """An annotation that is no type at run time, mostly since its module lacks the name, and what
    to do about it.
    """

    def __init__(self, annotation: str, error: Exception) -> None:
        problem = f"cannot be resolved ({error})"
        self.remedy = (
            "define or import the name at the top of the module, so that it is there at run"
            " time (not only under TYPE_CHECKING, and not inside a function)"
        )
        if isinstance(error, SyntaxError):  # it is prose
            problem = "is no type"
            self.remedy = (
                "write a type, such as int; words about it go next to it:"
                ' Annotated[int, "how many"]'
            )
        super().__init__(f"the annotation {annotation!r} {problem}")
        self.annotation = annotation


class UnwrappedHint(msgspec.Struct, frozen=True):
    """A hint without its wrappers, and what `Annotated` says of it, the outermost last."""

    hint: Any
    metadata: tuple[Any, ...] = ()


def get_annotations(thing: Any) -> dict[str, Any]:
    """Return the annotations of a function, or of a class without those of its bases; none of
    anything else.

    If Python evaluates them late and one fails, each is text.
    """
    try:
        return thing.__annotations__ or {}
    except Exception as error:
        from toolwire_schemas.signatures import read_annotation_texts

        return read_annotation_texts(thing, error)


def get_origin(hint: Any) -> Any:
    """Return the class or special form that *hint* is a form of, `list` for `list[int]`; None for
    plain types.
    """
    # Of classes, only `typing.Union` has this attribute: since Python 3.14 it is a class, and this
    # a descriptor of it.
    if isinstance(hint, type):
        return None
    return getattr(hint, "__origin__", None)


def get_arguments(hint: Any) -> tuple[Any, ...]:
    """Return what *hint* has in brackets, or the members of a union."""
    if isinstance(hint, type):
        return ()
    return getattr(hint, "__args__", None) or ()


_QUALIFIERS = {"Required", "NotRequired", "ReadOnly", "Final", "ClassVar"}


def unwrap_annotation(hint: Any, names: Names) -> UnwrappedHint:
    """Take `Annotated`, `NewType`, `Final`, `Required` and the like off *hint*, evaluating it if it
    is a string.
    """
    metadata: tuple[Any, ...] = ()
    while True:
        hint = evaluate(hint, names)
        if metadata_here := getattr(hint, "__metadata__", None):
            metadata = (*metadata_here, *metadata)
            hint = hint.__origin__
        elif (parent := getattr(hint, "__supertype__", None)) is not None:
            hint = parent
        elif _is_qualified(hint):
            arguments = get_arguments(hint)
            hint = arguments[0] if arguments else Any
        else:
            return UnwrappedHint(hint, metadata)


def _is_qualified(hint: Any) -> bool:
    origin = get_origin(hint)
    return hint is ClassVar or hint is typing.Final or getattr(origin, "_name", None) in _QUALIFIERS


def evaluate(hint: Any, names: Names) -> Any:
    """Return the object that a string or forward reference names; anything else as it is.

    Raises:
        Unresolved: if it names something unknown.
    """
    if isinstance(hint, ForwardRef):
        module = hint.__forward_module__
        if isinstance(module, str) and module in sys.modules:
            names = vars(sys.modules[module])
        hint = hint.__forward_arg__
    if not isinstance(hint, str):
        return hint
    try:
        return evaluate(eval(hint.strip(), dict(_EVERYWHERE), names), names)
    except Unresolved:
        raise
    except Exception as error:
        raise Unresolved(hint, error) from None


# What people write in annotations although their file imports it for the type checker only.
_PLAIN = ("Any", "Union", "Optional", "Literal", "Annotated", "Sequence", "Mapping", "Callable")
_ITERATORS = ("Iterable", "Iterator", "AsyncIterator", "Generator", "AsyncGenerator")
_EVERYWHERE = {name: getattr(typing, name) for name in (*_PLAIN, *_ITERATORS)}


def collect_names(function: Callable[..., Any]) -> Names:
    """Return the names that the annotations of *function* may use: those of its module, its closure
    and itself.
    """
    plain = unwrap_function(function)
    names: dict[str, Any] = getattr(plain, "__globals__", {})
    inner: dict[str, Any] = {p.__name__: p for p in getattr(plain, "__type_params__", ())}
    code = getattr(plain, "__code__", None)
    for name, cell in zip(
        getattr(code, "co_freevars", ()), getattr(plain, "__closure__", None) or (), strict=False
    ):
        try:
            inner[name] = cell.cell_contents
        except ValueError:  # a variable that is not set yet
            continue
    if inner:
        return {**names, **inner}
    return names


def unwrap_function(function: Any) -> Any:
    """Return the function that was written with `def`, below partials, methods, wrappers and
    callable objects.
    """
    *_, inmost = iterate_layers(function)
    return inmost


def iterate_layers(function: Any) -> Iterator[Any]:
    """Yield *function*, what it wraps, what that wraps, and so on."""
    while True:
        yield function
        if isinstance(function, partial):
            function = function.func
        elif isinstance(function, types.MethodType):
            function = function.__func__
        elif (wrapped := getattr(function, "__wrapped__", None)) is not None:
            function = wrapped
        elif not isinstance(function, types.FunctionType | types.BuiltinFunctionType | type):
            call = getattr(type(function), "__call__", None)  # noqa: B004 (it is wanted, not asked for)
            if not isinstance(call, types.FunctionType):
                return
            function = call
        else:
            return


def is_async(function: Any) -> bool:
    """True if a call of *function* itself returns a coroutine or an async generator, whatever it
    wraps.

    That includes functions only marked as coroutine functions (inspect.markcoroutinefunction).
    """
    if type(function) is types.FunctionType and "_is_coroutine_marker" not in vars(function):
        return bool(function.__code__.co_flags & _CO_ASYNCHRONOUS)
    import inspect  # it takes long, and most functions need nothing of it

    # The method itself is wanted, not whether there is one.
    call_method = getattr(type(function), "__call__", None)  # noqa: B004
    called = (function, call_method)
    return any(map(inspect.iscoroutinefunction, called)) or any(
        map(inspect.isasyncgenfunction, called)
    )


_CO_ASYNCHRONOUS = 0x80 | 0x200  # coroutine functions and asynchronous generators


def list_members(hint: Any, names: Names) -> tuple[Any, ...] | None:
    """Return the members of a union, evaluated, or None if *hint* is not one."""
    if not is_union(hint):
        return None
    return tuple(evaluate(member, names) for member in hint.__args__)


def is_union(hint: Any) -> bool:
    """True for `A | B`, `Union[A, B]` and `Optional[A]`."""
    return isinstance(hint, types.UnionType) or get_origin(hint) is Union


def mentions(
    hint: Any, wanted: Callable[[Any], bool], names: Names, around: tuple[Any, ...] = ()
) -> bool:
    """True if *hint*, or any hint inside it, is wanted. *around* are those that it is inside of."""
    try:
        plain = unwrap_annotation(hint, names).hint
    except Unresolved:
        return False
    if wanted(plain):
        return True
    if get_origin(plain) is typing.Literal or plain in around:
        return False
    around = (*around, plain)
    return any(mentions(inner, wanted, names, around) for inner in get_arguments(plain))
