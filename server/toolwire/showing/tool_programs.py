"""Replaces the list of many tools by a search and a tool that runs programs which call the others.

The program runs in the sandbox of `PythonInterpreter` (toolwire_bundled/programs); its calls are
those of `ProgramCalls`.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from msgspec.structs import replace
from toolwire_schemas import meta_tools
from toolwire_tools import Cancelled, Options, Tool, ToolError, make_tool
from toolwire_tools.tool import make_function_handler

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from toolwire_bundled.programs.limits import ProgramLimits
    from toolwire_bundled.programs.program import Sandbox
    from toolwire_dialects.search.program_names import ProgramName

    from ..protocol.call import Call
    from ..settings import Settings


class ToolPrograms:
    """Runs the programs of one server, which has *settings*."""

    def __init__(self, settings: Settings) -> None:
        self._sandbox = choose_sandbox(settings)
        self._settings = settings
        self._tools: Mapping[str, Tool] = {}
        self._names: dict[str, ProgramName] = {}
        self._room = threading.Semaphore(settings.max_programs)

    def set_tools(self, tools: Sequence[Tool]) -> None:
        """Have programs call these *tools* from now on, also those that run."""
        from toolwire_dialects.search.program_names import NamedTool, name_functions

        named = []
        for tool in tools:
            *groups, own_name = tool.entry.parts
            named.append(NamedTool(tool.describe(), "_".join(groups), own_name))
        self._tools = {tool.name: tool for tool in tools}
        self._names = name_functions(named)

    def write_stubs(self, entries: Sequence[dict[str, Any]]) -> str:
        """Return the stubs of the functions that programs call for the tools of *entries*."""
        from toolwire_dialects.search.found_tools import write_program_stubs

        return write_program_stubs(entries, self._names)

    def make_tool(self, name: str, search_name: str, wait: Callable[[Call], list[str]]) -> Tool:
        """Return the tool `run_program`, called *name*; *wait* returns when all tools are
        listed, or the servers for which that takes too long.
        """
        only_reads = meta_tools.are_read_only([tool.describe() for tool in self._tools.values()])
        options = Options(
            description=meta_tools.describe_program(search_name, self._sandbox),
            read_only=only_reads or None,
            structured=False,
        )
        tool = make_tool(_run_program, name=name, options=options)
        handler = make_function_handler(tool)
        running = replace(
            handler,
            function=partial(self._run, wait),
            bind=partial(_bind_with_caller, handler.bind),
            notices_cancellation=True,
        )
        return Tool(tool.entry, running)

    def _run(
        self, wait: Callable[[Call], list[str]], code: str, caller: Call
    ) -> list[dict[str, Any]]:
        from ..protocol.call import Call

        if not isinstance(caller, Call):
            raise TypeError("a program calls tools of a server, so only a server can run it")
        unlisted = wait(caller)
        with self._turn():
            try:
                return self._run_in_turn(code, caller)
            except ToolError as error:
                wanted = [name for name in unlisted if name.replace("-", "_") in code]
                if not wanted:
                    raise
                raise ToolError(f"{error}\n{meta_tools.describe_unlisted(wanted)}") from None

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if not self._room.acquire(blocking=False):
            limit = f"{self._settings.max_programs} programs run, which is the limit"
            raise ToolError(f"{limit} (--limit max_programs); try again when one has ended.")
        try:
            yield
        finally:
            self._room.release()

    def _run_in_turn(self, code: str, caller: Call) -> list[dict[str, Any]]:
        from toolwire_bundled.programs.limits import ToolFunction
        from toolwire_bundled.programs.program import Program

        from .program_calls import ProgramCalls

        functions = []
        for tool, name in self._names.items():
            functions.append(ToolFunction(tool, name.group, name.function))
        program = Program(code, functions, self._limits(), self._sandbox)
        calls = ProgramCalls(caller, program, lambda: self._tools, self._settings.trust_hints)

        # Its own thread only waits, and its calls need threads.
        with caller.host.pause(caller):
            caller.limit = None  # the program has its own, which questions suspend
            texts = program.run(calls.start, calls.attach, calls.end, partial(_check, caller))
        facts = {"calls": calls.done, "seconds": round(calls.seconds, 3)}
        blocks: list[dict[str, Any]] = [{"type": "text", "text": text} for text in texts]
        blocks[0]["_meta"] = {meta_tools.META_PROGRAM: facts}
        return blocks

    def _limits(self) -> ProgramLimits:
        from toolwire_bundled.programs.door import DoorLimits
        from toolwire_bundled.programs.limits import ProgramLimits

        settings = self._settings
        return ProgramLimits(
            seconds=settings.program_seconds,
            max_output_bytes=settings.max_program_output_bytes,
            memory_bytes=settings.max_program_memory_bytes,
            door=DoorLimits(settings.max_program_calls, settings.max_program_bytes),
        )


def choose_sandbox(settings: Settings) -> Sandbox:
    """Return the sandbox for programs here.

    Raises:
        ValueError: with the reason, if nothing confines them here.
    """
    from toolwire_bundled.programs.program import NoSandbox, find_sandbox

    try:
        return find_sandbox(settings.sandbox)
    except NoSandbox as error:
        raise ValueError(f"--show code: {error}; or use --show search") from None


def _run_program(code: Annotated[str, meta_tools.ABOUT_CODE]) -> str:
    raise AssertionError("this function is replaced, and only describes the tool")


def _bind_with_caller(
    bind: Callable[..., Any], arguments: Any, strict: bool = False, caller: Any = None
) -> Any:
    positional, keywords = bind(arguments, strict, caller)
    return positional, {**keywords, "caller": caller}


def _check(caller: Call) -> None:
    if caller.ended:
        raise Cancelled(f"the call of {caller.entry.name} was cancelled")
