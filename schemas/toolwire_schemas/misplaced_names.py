"""Where the public names are that people look for in another package of Toolwire.

The packages do not import each other, so the table is kept here; a test imports every name from its
place.
"""

from __future__ import annotations

_NAMES_BY_PACKAGE = {
    "toolwire": "RequestError Server serve",
    "toolwire_tools": "Tool tool_api find_tools",
    "toolwire_compat.lagent": (
        "ActionExecutor ActionReturn ActionStatusCode ActionValidCode AsyncActionExecutor "
        "AsyncActionMixin BaseAction BaseParser FinishAction InvalidAction JsonParser NoAction "
        "TupleParser get_tool list_tools"
    ),
    "toolwire_compat.groot": "Env",
    "toolwire_compat.mas": "AgentStep Executor StepState",
    "toolwire_compat.yaml": "ToolConfig load_tool_config",
    "toolwire_bundled": (
        "BINGMap BingBrowser Calculator Clock CodeExecutor Files GoogleSearch IPythonInterpreter "
        "PythonInterpreter WebBrowser WebSearch"
    ),
    "toolwire_client": "Client connect",
    "toolwire_agent": "Agent AsyncToolbox Toolbox",
    "toolwire_agent.groot": "BaseProtocol DoubaoProtocol ReAct State",
    "toolwire_agent.models": "DoubaoAPI GPTAPI",
    "toolwire_agent.instructions": "generate_instruction use_tool",
}
_PLACES = {name: package for package, names in _NAMES_BY_PACKAGE.items() for name in names.split()}


def make_missing_error(module: str, name: str) -> AttributeError | ImportError:
    """Return the error of a *module* that has no *name*, with the place that has it if there is
    one.

    Then it is an ImportError, since `from … import` replaces the text of an AttributeError.
    """
    place = _PLACES.get(name, module)
    if place == module:
        return AttributeError(f"module {module!r} has no attribute {name!r}")
    return ImportError(f"{name} is not in {module}; write: from {place} import {name}", name=module)
