"""The action `PythonInterpreter`."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from toolwire_compat.lagent.action_return import ActionReturn
from toolwire_compat.lagent.base import BaseAction
from toolwire_compat.lagent.parsers import BaseParser, JsonParser
from toolwire_schemas.did_you_mean import explain_unknown_name
from toolwire_tools.byte_sizes import parse_size
from toolwire_tools.context.context import Context  # read by what describes the tool
from toolwire_tools.decorator import tool_api

from ..settings import check_positive
from .job import DEFAULT_MAX_OUTPUT_BYTES, Job

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_SANDBOXES = ("auto", "required", "off")

_DESCRIPTION = """Run Python code and return its result.

The result is what `solution()` returns if the code defines that function, or else the value of the last expression, as
in a notebook. Printed text is returned, too. Every call starts anew, without the variables and files of earlier
ones. The standard library and the packages installed with this tool can be imported. Do not count on a network, on
input, or on files other than your own in the present folder."""  # noqa: E501

_META = "toolwire/python"
"""The member of a content block's `_meta` that says how the code was run."""


@dataclass
class PythonReturn(ActionReturn):
    """The outcome of a piece of code, and in *protection* how it was kept from the rest of the
    machine.
    """

    protection: dict[str, str] = field(default_factory=dict)

    def to_content(self) -> Any:
        """As `ActionReturn.to_content`; the first text says in its `_meta` what the protection
        was.
        """
        blocks = [{"type": "text", "text": text} for _, text in self.list_items()]
        return [{**blocks[0], "_meta": {_META: self.protection}}, *blocks[1:]]


class PythonInterpreter(BaseAction):
    """Runs Python code, each call in a process of its own that starts with nothing.

    The machine decides how far code is confined: [the sandbox](sandbox.md#the-sandbox).
    """

    def __init__(
        self,
        answer_symbol: str | None = None,
        answer_expr: str | None = "solution()",
        answer_from_stdout: bool = False,
        timeout: float = 20,
        description: dict[str, Any] | None = None,
        parser: Callable[..., BaseParser] = JsonParser,
        enable: bool = True,
        *,
        lang: str | None = None,
        sandbox: Literal["auto", "required", "off"] = "auto",
        readable: Sequence[str | os.PathLike[str]] = (),
        memory_limit: int | str = "2 GiB",
        max_processes: int = 256,
        max_output_bytes: int = DEFAULT_MAX_OUTPUT_BYTES,
    ) -> None:
        """Prepare to run code.

        The first of these that is asked for is the answer of the code: the last line that it
        prints, a variable, an expression. By default it is what `solution()` returns, or, if the
        code defines no such function, the value of its last expression.

        Args:
            answer_symbol: the variable that is the answer
            answer_expr: the expression that is the answer; None for the last one of the code
            answer_from_stdout: whether the last line that is printed is the answer
            timeout: seconds that a call may take
            sandbox: "auto" runs the code in a sandbox of bubblewrap's where that is possible, and
                without one where it is not; "required" refuses to run it then; "off" never makes
                one
            readable: folders that code in a sandbox can read in addition to Python and its packages
            memory_limit: what each process may use, in bytes or like "512 MiB"
            max_processes: processes and threads in a sandbox
            max_output_bytes: bytes of the answer, and of the printed text; the middle of a longer
                one is left out

        Raises:
            ValueError: for an invalid limit, another kind of sandbox, or folders that are not
                there.
        """
        super().__init__(description, parser, enable, lang=lang)
        if sandbox not in _SANDBOXES:
            raise ValueError(f"sandbox: {explain_unknown_name('kind', sandbox, _SANDBOXES)}")
        self._sandbox = sandbox
        self._job = Job(
            code="",
            answer_symbol=answer_symbol,
            answer_expr=answer_expr,
            answer_from_stdout=answer_from_stdout,
            timeout_seconds=check_positive("timeout", timeout),
            memory_bytes=parse_size(str(memory_limit)),
            max_processes=check_positive("max_processes", max_processes),
            max_output_bytes=check_positive("max_output_bytes", max_output_bytes),
            readable=tuple(map(_make_path, readable)),
        )

    @tool_api(destructive=True, open_world=True, description=_DESCRIPTION)
    def run(self, command: str, context: Context) -> ActionReturn:
        """Run Python code.

        Args:
            command (str): Python code; its last line should be an expression, or print what is of
                interest
        """
        return self._run(command, context)

    def _run(self, code: str, context: Context) -> ActionReturn:
        from .outcome import write_outcome
        from .process import execute
        from .sandbox_probe import find_protection

        found = find_protection(self._sandbox)
        if not found.sandboxed and self._sandbox == "auto":
            _warn_once(found.reason, context)
        job = msgspec.structs.replace(self._job, code=code)
        texts = write_outcome(execute(job, sandboxed=found.sandboxed, check=context.check), job)
        return PythonReturn(
            result=[{"type": "text", "content": text} for text in texts],
            protection=found.describe(),
        )


_warned: set[str] = set()
"""The reasons that were logged in this process. Each result has its own, too."""


def _warn_once(reason: str, context: Context) -> None:
    if reason not in _warned:
        _warned.add(reason)
        context.log(f"the code runs without a sandbox: {reason}", level="warning")


class CodeExecutor(PythonInterpreter):
    """PythonInterpreter, by the name that Groot has for it, and for its parameter."""

    @tool_api(destructive=True, open_world=True, description=_DESCRIPTION)
    def run(self, code: str, context: Context) -> ActionReturn:
        """Run Python code.

        Args:
            code (str): Python code; its last line should be an expression, or print what is of
                interest
        """
        return self._run(code, context)


def _make_path(path: str | os.PathLike[str]) -> str:
    if not os.path.isdir(path) or os.path.realpath(path) == "/":
        raise ValueError(f"readable: {os.fspath(path)!r} is no folder below the root")
    return os.path.abspath(path)
