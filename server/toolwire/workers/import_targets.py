"""Where another process imports a tool from: the target of the object that it was made of."""

from __future__ import annotations

import os
import sys
from functools import partial
from types import MethodType, ModuleType
from typing import TYPE_CHECKING

from toolwire_tools import RegistrationError, Tool, find_tools, make_tool
from toolwire_tools.discovery import find_finder

if TYPE_CHECKING:
    import ast
    from collections.abc import Collection, Iterator

NOT_IMPORTABLE = "it cannot run in a process of its own: the process could not import it"
AT_THE_TOP = (
    "define it, or assign it to a name, at the top level of a module and outside of `if __name__ =="
    ' "__main__":`'
)


def find_target(tool: Tool, things: object) -> str:
    """Return the target, for `load`, of the one of *things* that *tool* was made of.

    Raises:
        RegistrationError: if no process can import it.
    """
    thing = _find_origin(tool, things)
    target = find_import_target(thing)
    if target is None and isinstance(thing, Tool) and _has_only_defaults(thing):
        target = find_import_target(thing.entry.function)
    if target is None:
        raise RegistrationError(
            NOT_IMPORTABLE, tool=tool.name, remedy=f"{AT_THE_TOP}, and serve that"
        )
    return target


def find_import_target(thing: object) -> str | None:
    """Return the target, for `load`, that is *thing* in every process; `None` without one.

    *thing* must have a name at the top level of its module, or of the script that runs.
    """
    made_by = thing.func if isinstance(thing, partial) else thing
    for module_name in (getattr(made_by, "__module__", None), type(made_by).__module__, "__main__"):
        module = sys.modules.get(str(module_name))
        place = None if module is None else _find_module_target(module)
        if module is None or place is None:
            continue
        for name, value in list(vars(module).items()):
            if not _are_same(value, thing):
                continue
            if module_name != "__main__" or name in _list_names_in_script(module):
                return f"{place}:{name}"
    return None


def _find_origin(tool: Tool, things: object) -> object:
    for thing in _iterate_things(things):
        if _is_made_of(tool, thing):
            return thing
    return tool.entry.function


def _iterate_things(found: object) -> Iterator[object]:
    if isinstance(found, list | tuple):
        for thing in found:
            yield from _iterate_things(thing)
    else:
        yield found


def _is_made_of(tool: Tool, thing: object) -> bool:
    function = tool.entry.function
    owner = getattr(function, "__self__", None)
    if thing is tool or thing is function or thing is owner or thing is type(owner):
        return True
    if isinstance(thing, type):
        return tool.entry.name_with(".").startswith(f"{thing.__name__}.")
    if find_finder(type(thing)) is None:
        return False
    # A container of tools, such as an executor of actions.
    return any(tool.name == other.name for other in find_tools(thing))


def _has_only_defaults(tool: Tool) -> bool:
    """Return whether *tool* is shown as one that is made of its function without options."""
    return make_tool(tool.entry.function).describe() == tool.describe()


def _are_same(value: object, thing: object) -> bool:
    if value is thing:
        return True
    # Each access makes a new bound method.
    return type(value) is type(thing) is MethodType and value == thing


def _find_module_target(module: ModuleType) -> str | None:
    """Return the target of *module*: its name if `load` finds it by that, or its file."""
    name = getattr(getattr(module, "__spec__", None), "name", module.__name__)
    file = os.path.realpath(getattr(module, "__file__", None) or "")
    is_file = file.endswith(".py") and os.path.isfile(file)
    if name == "__main__":
        return file if is_file else None
    if is_file and not _is_found_by_name(name, file):
        return file
    return name


def _is_found_by_name(name: str, file: str) -> bool:
    """Return whether an import of *name* finds *file*; so does any of a module in a package."""
    from importlib.machinery import PathFinder

    if "." in name:
        return True
    found = PathFinder.find_spec(name)
    return found is not None and os.path.realpath(found.origin or "") == file


def _list_names_in_script(module: ModuleType) -> Collection[str]:
    """Return the names that a script uses at its top level, without those that exist only if it is
    run.
    """
    import ast

    with open(str(module.__file__), "rb") as source:
        script = ast.parse(source.read())
    script.body = [part for part in script.body if not _is_for_run(part)]
    return compile(script, "", "exec").co_names


def _is_for_run(part: ast.stmt) -> bool:
    """Return whether *part* is `if __name__ == "__main__":`."""
    import ast

    return isinstance(part, ast.If) and "'__name__'" in ast.dump(part.test)
