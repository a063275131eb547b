"""A call of an action with what a model wrote: whatever goes wrong is told by the `ActionReturn`.

Only orders to stop, such as KeyboardInterrupt, pass.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from toolwire_schemas.language import speaking

from ..errors import ArgumentsError
from ..results.failures import text_of
from .action_return import ActionReturn, ActionStatusCode
from .api import api_of
from .parsers import ParseError

if TYPE_CHECKING:
    from .base import BaseAction


def is_async(action: BaseAction) -> bool:
    """True if a call of *action* is to be awaited."""
    return inspect.iscoroutinefunction(type(action).__call__) or has_async_apis(action)


def has_async_apis(action: BaseAction) -> bool:
    """True if one of the APIs of *action* is `async`."""
    return any(api.is_async for api in action.__toolwire_apis__.values())


def call(action: BaseAction, inputs: Any, name: str) -> ActionReturn:
    """The outcome of the API *name* with *inputs*."""
    arguments = {"inputs": inputs, "name": name}
    with speaking(action.__toolwire_language__):
        try:
            api = api_of(action, name)
            arguments = action._parser.parse_inputs(inputs, name)
            return _returned(action, arguments, api.run(arguments))
        except Exception as error:  # whoever calls for a model wants the failure as an answer
            return _failed(action, arguments, error)


async def call_async(action: BaseAction, inputs: Any, name: str) -> ActionReturn:
    """As `call`, also for an API that is not async."""
    arguments = {"inputs": inputs, "name": name}
    with speaking(action.__toolwire_language__):
        try:
            api = api_of(action, name)
            arguments = action._parser.parse_inputs(inputs, name)
            return _returned(action, arguments, await api.run_async(arguments))
        except Exception as error:
            return _failed(action, arguments, error)


def _returned(action: BaseAction, arguments: dict[str, Any], value: Any) -> ActionReturn:
    if not isinstance(value, ActionReturn):
        return ActionReturn(arguments, type=action.name, result=action._parser.parse_outputs(value))
    value.args = value.args or arguments
    value.type = value.type or action.name
    return value


def _failed(action: BaseAction, arguments: dict[str, Any], error: Exception) -> ActionReturn:
    return ActionReturn(arguments, type=action.name, errmsg=_said(error), state=_state(error))


def _state(error: Exception) -> ActionStatusCode:
    """What the error says of itself by an attribute `state`, or else what its class says."""
    if isinstance(said := getattr(error, "state", None), ActionStatusCode):
        return said
    about_arguments = isinstance(error, ParseError | ArgumentsError)
    return ActionStatusCode.ARGS_ERROR if about_arguments else ActionStatusCode.API_ERROR


def _said(error: Exception) -> str:
    text, name = text_of(error), type(error).__name__
    if isinstance(error, KeyError):  # whose text is the key alone
        return f"{name}: {text}"
    return text or name
