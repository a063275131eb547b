"""Classes of actions: which methods are their APIs, and how the class describes itself.

Strategy. An error in a class is reported at its definition; its description is made when it is
first read.
"""

from __future__ import annotations

import inspect
import warnings
from abc import ABCMeta
from typing import TYPE_CHECKING, Any, NoReturn

from toolwire_dialects.lagent import to_entries
from toolwire_schemas import is_ours
from toolwire_schemas.did_you_mean import unknown_name
from toolwire_tools.api_description import description_of
from toolwire_tools.discovery import decorated
from toolwire_tools.errors import RegistrationError
from toolwire_tools.options import is_stale
from toolwire_tools.signature import docstring as docstrings

if TYPE_CHECKING:
    from collections.abc import Iterable

RUN = "run"
"""The one API of a simple action."""

classes: dict[str, ActionMeta] = {}
"""Every action class that is not abstract, by its name."""


class ActionMeta(ABCMeta):
    """The metaclass of actions; raises a RegistrationError at a class whose methods cannot be APIs
    together.
    """

    def __init__(
        cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **kwargs: Any
    ) -> None:
        super().__init__(name, bases, namespace, **kwargs)
        # Names of the usual kind, with one underscore or none, belong to those who write actions.
        cls.__toolwire_methods__: dict[str, str] = methods_of(cls)
        cls.__tool_description__: Any = _Described()
        register(cls)


class _Described:
    """Replaces a class's description until it is read."""

    def __get__(self, _: object, owner: ActionMeta) -> dict[str, Any]:
        made = owner.__tool_description__ = described(owner)
        return made


class NotSetUp:
    """Replaces what `BaseAction.__init__` sets, and reports that it has not been called."""

    def __get__(self, action: object, owner: type) -> Any:
        if action is not None:
            _fail(
                owner,
                "its __init__ does not call that of its base",
                "begin it with super().__init__()",
            )
        return self


def methods_of(cls: type) -> dict[str, str]:
    """Return the method of each API, inherited ones included, by the API's name: `run` alone, or
    those decorated.
    """
    found: dict[str, str] = {}
    for method, options in decorated(cls).items():
        if cls is not _root(cls) and method in vars(_root(cls)):
            _fail(
                cls,
                f"{_where(cls, method)} overrides a member of every action",
                "give it another name",
            )
        if method == RUN or (method.startswith("_") and options.name is None):
            continue
        other = found.setdefault(options.name or method, method)
        if other != method:
            problem = (
                f"{_where(cls, other)} and {_where(cls, method)} are both called"
                f" {options.name or method!r}"
            )
            _fail(cls, problem, 'rename one: tool_api(name="...")')
    run = getattr(cls, RUN, None)
    if run is None:
        return found
    if not callable(run):
        _fail(
            cls,
            f"{_where(cls, RUN)} is of type {type(run).__name__} and cannot be called",
            "make it a method",
        )
    if found:
        others = ", ".join(_where(cls, method) for method in found.values())
        remedy = "a simple action has only `run`; in a toolkit, give it another name"
        _fail(cls, f"{_where(cls, RUN)} is an API, and so is {others}", remedy)
    return {RUN: RUN}


def method_of(cls: ActionMeta, api: str, *, by_hand: bool) -> str | None:
    """Return the method of *api*, or None. A description *by_hand* may name methods that are not
    decorated.
    """
    known = cls.__toolwire_methods__
    may_be_plain = (
        by_hand and not known and not api.startswith("_") and not hasattr(_root(cls), api)
    )
    return api if may_be_plain and callable(getattr(cls, api, None)) else known.get(api)


def complete(description: dict[str, Any], cls: ActionMeta) -> None:
    """Complete a *description* by hand; raises a ValueError if it is malformed, or has APIs that
    *cls* has not.
    """
    to_entries(description)
    for api in description.get("api_list", [description]):
        api.setdefault("parameters", [])
        api.setdefault("required", [])
    known = cls.__toolwire_methods__
    if known and ("api_list" in description) == (RUN in known):
        problem = (
            "not a toolkit: it describes no api_list"
            if RUN in known
            else "a toolkit, and needs an api_list"
        )
        raise ValueError(f"{cls.__name__} is {problem}")
    for api in description.get("api_list", []):
        if known and api["name"] not in known:
            raise ValueError(f"{cls.__name__} has {unknown_name('API', api['name'], known)}")


def described(cls: ActionMeta) -> dict[str, Any]:
    """Return Lagent's description of *cls*: that of `run`, or the `api_list` of a toolkit."""
    about = _first_description(
        base for base in cls.__mro__ if isinstance(base, ActionMeta) and base is not _root(cls)
    )
    if RUN in cls.__toolwire_methods__:
        options = decorated(cls).get(RUN)
        run = _described_api(cls, (options and options.name) or action_name(cls), RUN)
        return {**run, "description": run["description"] or about}
    apis = [_described_api(cls, name, method) for name, method in cls.__toolwire_methods__.items()]
    members = {"api_list": apis} if apis else {"parameters": [], "required": []}
    return {"name": action_name(cls), "description": about, **members}


def _described_api(cls: type, name: str, method: str) -> dict[str, Any]:
    function = getattr(cls, method)
    made = description_of(function, decorated(cls).get(method), name=name)
    if not made["description"]:  # that of the method that it overrides
        members = (vars(base).get(method) for base in cls.__mro__)
        made["description"] = _first_description(members)
    return made


def _first_description(documented: Iterable[Any]) -> str:
    texts = (getattr(thing, "__doc__", None) for thing in documented if thing is not None)
    return docstrings.read(next(filter(None, texts), None)).description


def _root(cls: type) -> type:
    """`BaseAction`, also while that is being defined."""
    return [base for base in cls.__mro__ if isinstance(base, ActionMeta)][-1]


def _where(cls: type, method: str) -> str:
    owner = next(base for base in cls.__mro__ if method in vars(base))
    return f"`{method}`" if owner is cls else f"`{method}` of {owner.__name__}"


def _fail(cls: type, problem: str, remedy: str) -> NoReturn:
    raise RegistrationError(problem, tool=cls.__name__, remedy=remedy)


def register(cls: ActionMeta) -> None:
    """Make *cls* known by its name, unless it is abstract; a user's class has precedence over
    Toolwire's.
    """
    if inspect.isabstract(cls):
        return
    name = action_name(cls)
    former = classes.get(name)
    if former is not None and _is_ours(cls):
        return
    if former is not None and not _is_ours(former) and not is_stale(*vars(former).values()):
        text = f"the action {name!r} of {cls.__module__} replaces the one of {former.__module__}"
        warnings.warn(text, stacklevel=3)
    classes[name] = cls


def action_name(cls: type) -> str:
    """Return the name of objects of *cls*: the `__tool_name__` in its own body, or the name of the
    class.
    """
    return str(vars(cls).get("__tool_name__", cls.__name__))


def _is_ours(cls: type) -> bool:
    return is_ours(cls.__module__)
