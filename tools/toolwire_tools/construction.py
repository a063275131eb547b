"""The object of a class whose methods are tools. Imported for the first such class."""

from __future__ import annotations

import inspect
from typing import Any

from toolwire_schemas.signatures import read_signature

from .errors import RegistrationError

_OPTIONAL = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def construct(kind: type) -> Any:
    """Return an object of *kind*, made without arguments.

    Raises:
        RegistrationError: if the class is abstract, or cannot be created without arguments.
    """
    if inspect.isabstract(kind):
        problem = "an abstract class cannot be instantiated"
        remedy = "serve a subclass that implements it"
        raise RegistrationError(problem, tool=kind.__name__, remedy=remedy)
    needed = _list_needed_arguments(kind)
    if needed:
        values = ", ".join(f"{name}=..." for name in needed)
        example = f"{kind.__name__}({values})"
        problem = f"it cannot be created without {', '.join(needed)}"
        remedy = f"create the object yourself and list it: __tools__ = [{example}]"
        raise RegistrationError(problem, tool=kind.__name__, remedy=remedy)
    return kind()


def _list_needed_arguments(kind: type) -> list[str]:
    try:
        parameters = read_signature(kind).parameters.values()
    except (ValueError, TypeError):  # written in C: trying is the only way to know
        return []
    needed = []
    for parameter in parameters:
        if parameter.default is parameter.empty and parameter.kind not in _OPTIONAL:
            needed.append(parameter.name)
    return needed
