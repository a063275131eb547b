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
from toolwire_schemas.did_you_mean import explain_unknown_name
from toolwire_tools.api_description import describe_api
from toolwire_tools.discovery import find_decorated
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
        cls.__toolwire_methods__: dict[str, str] = find_methods(cls)
        cls.__tool_description__: Any = _LazyDescription()
        register(cls)


class _LazyDescription:
    """Replaces a class's description until it is read."""

    def __get__(self, _: object, owner: ActionMeta) -> dict[str, Any]:
        description = describe_class(owner)
        owner.__tool_description__ = description
        return description


class NotSetUp:
    """Replaces what `BaseAction.__init__` sets, and reports that it has not been called."""

    def __get__(self, action: object, owner: type) -> Any:
        if action is not None:
            problem = "its __init__ does not call that of its base"
            _fail(owner, problem, "begin it with super().__init__()")
        return self


def find_methods(cls: type) -> dict[str, str]:
    """Return the method of each API, inherited ones included, by the API's name: `run` alone, or
    those decorated.
    """
    methods = _find_decorated_methods(cls)
    run = getattr(cls, RUN, None)
    if run is None:
        return methods
    if not callable(run):
        problem = f"{_name_place(cls, RUN)} is of type {type(run).__name__} and cannot be called"
        _fail(cls, problem, "make it a method")
    if methods:
        others = ", ".join(_name_place(cls, method) for method in methods.values())
        remedy = "a simple action has only `run`; in a toolkit, give it another name"
        _fail(cls, f"{_name_place(cls, RUN)} is an API, and so is {others}", remedy)
    return {RUN: RUN}


def _find_decorated_methods(cls: type) -> dict[str, str]:
    """Return the decorated methods by the names of their APIs, without `run`."""
    root = _get_root(cls)
    methods: dict[str, str] = {}
    for method, options in find_decorated(cls).items():
        if cls is not root and method in vars(root):
            problem = f"{_name_place(cls, method)} overrides a member of every action"
            _fail(cls, problem, "give it another name")
        is_private = method.startswith("_") and options.name is None
        if method == RUN or is_private:
            continue
        name = options.name or method
        other = methods.setdefault(name, method)
        if other != method:
            problem = (
                f"{_name_place(cls, other)} and {_name_place(cls, method)} are both called {name!r}"
            )
            _fail(cls, problem, 'rename one: tool_api(name="...")')
    return methods


def find_method(cls: ActionMeta, api: str, *, by_hand: bool) -> str | None:
    """Return the method of *api*, or None. A description *by_hand* may name methods that are not
    decorated.
    """
    known = cls.__toolwire_methods__
    is_private = api.startswith("_") or hasattr(_get_root(cls), api)
    if by_hand and not known and not is_private and callable(getattr(cls, api, None)):
        return api
    return known.get(api)


def complete(description: dict[str, Any], cls: ActionMeta) -> None:
    """Complete a *description* by hand.

    Raises:
        ValueError: if it is malformed, or has APIs that *cls* has not.
    """
    to_entries(description)
    for api in description.get("api_list", [description]):
        api.setdefault("parameters", [])
        api.setdefault("required", [])
    known = cls.__toolwire_methods__
    if not known:
        return
    is_described_as_toolkit = "api_list" in description
    is_toolkit = RUN not in known
    if is_toolkit and not is_described_as_toolkit:
        raise ValueError(f"{cls.__name__} is a toolkit, and needs an api_list")
    if is_described_as_toolkit and not is_toolkit:
        raise ValueError(f"{cls.__name__} is not a toolkit: it describes no api_list")
    for api in description.get("api_list", []):
        if api["name"] not in known:
            raise ValueError(
                f"{cls.__name__} has {explain_unknown_name('API', api['name'], known)}"
            )


def describe_class(cls: ActionMeta) -> dict[str, Any]:
    """Return Lagent's description of *cls*: that of `run`, or the `api_list` of a toolkit."""
    root = _get_root(cls)
    bases = [base for base in cls.__mro__ if isinstance(base, ActionMeta) and base is not root]
    about = _find_description(bases)
    name = find_action_name(cls)
    if RUN in cls.__toolwire_methods__:
        options = find_decorated(cls).get(RUN)
        own_name = options.name if options is not None else None
        run = _describe_api(cls, own_name or name, RUN)
        return {**run, "description": run["description"] or about}
    apis = []
    for api_name, method in cls.__toolwire_methods__.items():
        apis.append(_describe_api(cls, api_name, method))
    if not apis:
        return {"name": name, "description": about, "parameters": [], "required": []}
    return {"name": name, "description": about, "api_list": apis}


def _describe_api(cls: type, name: str, method: str) -> dict[str, Any]:
    function = getattr(cls, method)
    description = describe_api(function, find_decorated(cls).get(method), name=name)
    if not description["description"]:  # that of the method that it overrides
        members = [vars(base).get(method) for base in cls.__mro__]
        description["description"] = _find_description(members)
    return description


def _find_description(members: Iterable[Any]) -> str:
    """Return the description in the docstring of the first of *members* that has one."""
    for member in members:
        text = None if member is None else getattr(member, "__doc__", None)
        if text:
            return docstrings.read(text).description
    return docstrings.read(None).description


def _get_root(cls: type) -> type:
    """Return `BaseAction`, also while that is being defined."""
    return [base for base in cls.__mro__ if isinstance(base, ActionMeta)][-1]


def _name_place(cls: type, method: str) -> str:
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
    name = find_action_name(cls)
    former = classes.get(name)
    if former is not None:
        if _is_ours(cls):
            return
        if not _is_ours(former) and not is_stale(*vars(former).values()):
            modules = f"{cls.__module__} replaces the one of {former.__module__}"
            warnings.warn(f"the action {name!r} of {modules}", stacklevel=3)
    classes[name] = cls


def find_action_name(cls: type) -> str:
    """Return the name of objects of *cls*: the `__tool_name__` in its own body, or the name of the
    class.
    """
    return str(vars(cls).get("__tool_name__", cls.__name__))


def _is_ours(cls: type) -> bool:
    return is_ours(cls.__module__)
