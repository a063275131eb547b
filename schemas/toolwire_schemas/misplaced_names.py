"""Where the public names are that people look for in another package of Toolwire.

The packages do not import each other, so the table is kept here; a test imports every name from its
place.
"""

from __future__ import annotations

_LAGENT = (
    *(
        "ActionExecutor",
        "ActionReturn",
        "ActionStatusCode",
        "ActionValidCode",
        "AsyncActionExecutor",
    ),
    *(
        "AsyncActionMixin",
        "BaseAction",
        "BaseParser",
        "FinishAction",
        "InvalidAction",
        "JsonParser",
        "NoAction",
    ),
    *("TupleParser", "get_tool", "list_tools"),
)
_PLACES: dict[str, str] = {
    **dict.fromkeys(("RequestError", "Server", "serve"), "toolwire"),
    **dict.fromkeys(("Env", "Executor", "Tool", "tool_api", "tools_of"), "toolwire_tools"),
    **dict.fromkeys(("AgentStep", "StepState", "ToolConfig", "load_tool_config"), "toolwire_tools"),
    **dict.fromkeys(
        ("CodeExecutor", "PythonInterpreter", "WebBrowser", "WebSearch"), "toolwire_tools"
    ),
    **dict.fromkeys((*_LAGENT, "BingBrowser"), "toolwire_tools.lagent"),
    **dict.fromkeys(("Agent", "AsyncToolbox", "Client", "Toolbox", "connect"), "toolwire_client"),
    **dict.fromkeys(("BaseProtocol", "DoubaoProtocol", "ReAct", "State"), "toolwire_client.groot"),
    **dict.fromkeys(("DoubaoAPI", "GPTAPI"), "toolwire_client.models"),
    **dict.fromkeys(("generate_instruction", "use_tool"), "toolwire_client.instructions"),
}


def missing(module: str, name: str) -> AttributeError | ImportError:
    """Return the error of a *module* that has no *name*, with the place that has it if there is
    one.

    Then it is an ImportError, since `from … import` replaces the text of an AttributeError.
    """
    place = _PLACES.get(name, module)
    if place == module:
        return AttributeError(f"module {module!r} has no attribute {name!r}")
    return ImportError(f"{name} is not in {module}; write: from {place} import {name}", name=module)
