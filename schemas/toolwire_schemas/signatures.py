"""Signatures and annotations of functions, where an annotation may name what is not there at run
time.

Strategy. Python 3.14 evaluates all annotations of a function when they are first read. One that
fails, for example by a name that is imported for the type checker only, then makes
`inspect.signature` raise. The annotations of such a function are taken as text, as with
`from __future__ import annotations`, so that each is evaluated by itself.
"""

from __future__ import annotations

import inspect
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def read_signature(function: Callable[..., Any]) -> inspect.Signature:
    """Return the signature of *function*. If one of its annotations cannot be evaluated, each is
    text.

    Raises:
        ValueError: if the function has no signature, as some written in C.
        TypeError: likewise.
    """
    try:
        return inspect.signature(function)
    except Exception:  # also a TypeError or ValueError may be that of an annotation
        if sys.version_info >= (3, 14):
            import annotationlib  # expensive, and only such functions need it

            return inspect.signature(function, annotation_format=annotationlib.Format.STRING)
        raise


def read_annotation_texts(thing: Any, error: Exception) -> dict[str, Any]:
    """Return the annotations of *thing* as text, after reading them has raised *error*; none if it
    has none.
    """
    has_some = not isinstance(error, AttributeError) or error.name != "__annotations__"
    if has_some and sys.version_info >= (3, 14):
        import annotationlib

        return annotationlib.get_annotations(thing, format=annotationlib.Format.STRING)
    return {}
