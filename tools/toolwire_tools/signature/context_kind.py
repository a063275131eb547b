"""The parameter for a context: one, by keyword, and of the right kind. Imported for the first tool
that has one.
"""

from __future__ import annotations

from ..errors import WrongContext


def name_in(annotation: str) -> str:
    """Return the name of the class in an *annotation* that is imported for the type checker only:
    it says enough.
    """
    written = annotation.replace("Optional[", "").replace("]", "").split("|")[0].strip()
    return written.rpartition(".")[2]


def check_context(
    tool: str, names: list[str], is_named: bool, kinds: frozenset[str], is_async: bool | None
) -> None:
    """Do nothing if a call can pass the context that the function of *tool* asks for.

    The `ask` of the other kind is not what the function, and a type checker, takes it for. *names*
    are those of the parameters for a context, and *is_named* says that the first can be passed by
    name. *kinds* are the names of the classes that its hint is or derives from. *is_async* is None
    if any of them will do.

    Raises:
        WrongContext: if not.
    """

    def refuse(name: str, problem: str, remedy: str) -> None:
        raise WrongContext(problem, tool=tool, parameter=f"parameter {name!r}", remedy=remedy)

    first, *others = names
    if others:
        refuse(others[0], "it has two parameters for the context", "keep one of them")
    if not is_named:
        refuse(first, "the context is passed by keyword", "make it an ordinary parameter")
    if is_async is True and "Context" in kinds and "AsyncContext" not in kinds:
        problem = (
            "an `async def` gets an AsyncContext, whose `ask` is awaited, and the hint says Context"
        )
        remedy = (
            "write AsyncContext (from toolwire import AsyncContext) and `await context.ask(...)`"
        )
        refuse(first, problem, remedy)
    if is_async is False and "AsyncContext" in kinds and "Context" not in kinds:
        problem = (
            "a `def` gets a Context, whose `ask` returns the answer, and the hint says AsyncContext"
        )
        refuse(first, problem, "write Context, or the function with `async def`")
