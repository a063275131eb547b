"""The APIs of an action: each with its method, its options and its tool."""

from __future__ import annotations

import inspect
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_dialects.lagent import to_entry
from toolwire_schemas.did_you_mean import say_unknown_name
from toolwire_schemas.language import say
from toolwire_schemas.signatures import read_signature
from toolwire_tools.context.context import NULL_CALLER
from toolwire_tools.discovery import find_decorated
from toolwire_tools.errors import RegistrationError, ToolError, WrongContext
from toolwire_tools.options import Options, get_options
from toolwire_tools.schema.annotations import is_async
from toolwire_tools.tool import Tool, make_function_handler, make_tool

from .metaclass import RUN, find_method

if TYPE_CHECKING:
    from collections.abc import Callable

_UNCHECKED = {"type": "object"}
"""Replaces a return hint that may have no form in JSON. Calls within the process do not check
results.
"""


class ActionApi:
    """The API called *name* of *action*.

    Its arguments are defined by the signature of its method; or by the action's description if that
    was written *by_hand*, with the types of the method's hints for parameters of the same name.
    """

    def __init__(self, action: Any, name: str, *, by_hand: bool) -> None:
        self.action = action
        self.name = name
        self.by_hand = by_hand
        self._method = find_method(action.__class__, name, by_hand=by_hand)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(vars(self))
        state.pop("tool", None)  # it is made again
        return state

    @property
    def description(self) -> dict[str, Any]:
        """Its part of the action's description: not a copy."""
        whole: dict[str, Any] = self.action.description
        if not self.action.is_toolkit:
            return whole
        apis: dict[str, dict[str, Any]] = {api["name"]: api for api in whole["api_list"]}
        return apis[self.name]

    @property
    def is_callable(self) -> bool:
        """False if it is only described."""
        return self._method is not None

    @property
    def method(self) -> Callable[..., Any]:
        method: Callable[..., Any] = getattr(self.action, self._method or self.name)
        return method

    @cached_property
    def is_async(self) -> bool:
        return self.is_callable and is_async(self.method)

    @property
    def returns_awaitable(self) -> bool:
        """True if its method is not async, and belongs to an action whose calls are all awaited."""
        return not self.is_async and inspect.iscoroutinefunction(type(self.action).__call__)

    @property
    def full_name(self) -> str:
        """Its name among the APIs of other actions: `Toolkit.api`, or the name of a simple
        action.
        """
        kit = str(self.action.name)
        return f"{kit}.{self.name}" if self.action.is_toolkit else kit

    @property
    def _naming(self) -> dict[str, Any]:
        kit = str(self.action.name)
        if self.action.is_toolkit:
            return {"toolkit": kit, "name": self.name}
        return {"toolkit": None, "name": kit}

    @property
    def options(self) -> Options:
        """The options of the method, completed by the description."""
        options = get_options(self.method)
        if options is None:
            options = find_decorated(type(self.action)).get(self._method or "") or Options()
        schema = options.input_schema
        if self.by_hand:
            schema = self._make_schema()
        text = self.description.get("description") or None
        return msgspec.structs.replace(options, description=text, input_schema=schema)

    def as_tool(self) -> Tool:
        """Return its tool, as servers offer it; raises a RegistrationError if a hint has no form in
        JSON.
        """
        members = self.description.get("return_data", [])
        return make_tool(self.method, **self._naming, options=self.options, return_data=members)

    @cached_property
    def tool(self) -> Tool:
        """The tool for calls within the process, where a hint may have no form in JSON."""
        try:
            return self.as_tool()
        except WrongContext:  # which no form of the other arguments makes right
            raise
        except RegistrationError:
            options = msgspec.structs.replace(self.options, output_schema=_UNCHECKED)
            return make_tool(_loosen(self.method), **self._naming, options=options)

    def run(self, arguments: dict[str, Any]) -> Any:
        return make_function_handler(self.tool).run(arguments, NULL_CALLER)

    async def run_async(self, arguments: dict[str, Any]) -> Any:
        """As `run`, for any method: if calls of the action are awaited, so is the value of the
        method.
        """
        if not (self.tool.is_async or self.returns_awaitable):
            return self.run(arguments)
        return await make_function_handler(self.tool).run_async(arguments, NULL_CALLER)

    def _make_schema(self) -> dict[str, Any]:
        """Return the input schema that the description and the method's hints define."""
        schema: dict[str, Any] = to_entry(self.description)["inputSchema"]
        try:
            hinted = make_tool(self.method, **self._naming).entry.input_schema
        except RegistrationError:
            return schema
        properties = schema["properties"]
        for name, described in properties.items():
            by_hint = dict(hinted["properties"].get(name, {}))
            by_hint.pop("description", None)
            properties[name] = _complete_parameter(described, by_hint)
        if "$defs" in hinted:
            schema["$defs"] = hinted["$defs"]
        return schema


def _complete_parameter(described: dict[str, Any], hinted: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a parameter: *hinted* if the method has a hint, and else *described*,
    with the default.
    """
    text = {"description": described["description"]} if "description" in described else {}
    has_hint = not hinted.keys() <= {"default"}
    if has_hint:
        return {**hinted, **text}
    if hinted.get("default", 0) is None and "type" in described:
        typed = dict(described)
        typed.pop("description", None)
        described = {"anyOf": [typed, {"type": "null"}], **text}
    return {**described, **hinted}


def list_apis(action: Any, *, by_hand: bool) -> dict[str, ActionApi]:
    """Return the APIs of *action* by their names; that of a simple one is called `run`."""
    names = [RUN]
    if action.is_toolkit:
        names = [api["name"] for api in action.description["api_list"]]
    return {name: ActionApi(action, name, by_hand=by_hand) for name in names}


def find_api(action: Any, name: str) -> ActionApi:
    """Return the API of *action* called *name*.

    Raises:
        ToolError: if it does not exist or has no method.
    """
    api: ActionApi | None = action.__toolwire_apis__.get(name)
    if api is None:
        needed_setting = action.__toolwire_needs__.get(name)
        if needed_setting is not None:
            why = say(needed_setting)
        else:
            which = say_unknown_name("API", name, action.__toolwire_apis__)
            why = say("{action} has {which}", action=action.name, which=which)
        raise ToolError(say("invalid API: {name}; {why}", name=name, why=why))
    if not api.is_callable:
        problem = "invalid API: {name}; {action} is only described and has no code: {remedy}"
        remedy = say("subclass BaseAction and write the method")
        raise ToolError(say(problem, name=name, action=action.name, remedy=remedy))
    return api


def _loosen(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return *method* called by keywords alone, and with any value where its hint has no form in
    JSON.
    """

    def call(**arguments: Any) -> Any:
        return method(**arguments)

    function: Any = call
    function.__wrapped__ = method  # whose names the hints use
    parameters = []
    for parameter in read_signature(method).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            continue
        if parameter.kind is not parameter.VAR_KEYWORD:
            parameter = parameter.replace(kind=parameter.KEYWORD_ONLY)
        # A tool with this parameter alone shows whether its hint has a form in JSON.
        function.__signature__ = inspect.Signature([parameter])
        try:
            make_tool(call, name=parameter.name, options=Options(output_schema=_UNCHECKED))
        except RegistrationError:
            parameter = parameter.replace(annotation=Any)
        parameters.append(parameter)
    function.__signature__ = inspect.Signature(parameters)
    return call
