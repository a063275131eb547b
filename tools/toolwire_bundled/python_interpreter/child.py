"""The process that runs a piece of code: sets its limits, runs it, and reports the outcome.

Strategy. Starting is what a call costs most, so nothing is imported that is not needed: json, ast
and typing take longer than Python itself. The code shares this process and can do anything to it.
This file withstands its accidents; the reader of the result has to judge what it does on purpose.
"""

from __future__ import annotations

import builtins
import io
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType
    from typing import Any, NoReturn

DEFAULT_ANSWER = "solution()"
"""The one expression that code need not make sense of: if it has no `solution`, its last expression
is the answer.
"""

_NAME = "<code>"
_ANSWER = "<answer>"
_ONLY_AST = 0x400  # ast.PyCF_ONLY_AST
_TOP_LEVEL_AWAIT = 0x2000  # ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, which programs may have
_FRAMES = 12
"""The number of a traceback's places that are reported, those closest to the error."""
_MAX_LINE_CHARS = 1000
"""Of a line with a syntax error that is reported."""

_LAST_LINE = 1024**2
"""Characters."""

_SPARE = {"RLIMIT_AS": 64 * 1024**2, "RLIMIT_NOFILE": 16}
"""Memory kept in reserve to report that memory ran out."""


class NoAnswer(Exception):
    """The code ended well, and what was to be its answer is not there."""


class _Output(io.TextIOWrapper):
    """sys.stdout, and the last line that was printed to it."""

    last = ""

    def write(self, text: str) -> int:
        told = (self.last + text)[-_LAST_LINE:]
        self.last = told[told.rstrip().rfind("\n") + 1 :]
        return super().write(text)


def main(order: dict[str, Any]) -> NoReturn:
    """Run the code as *order* says, write the kind of result, a newline and the result, and end the
    process.

    The kinds are `value`, `none` if the code has no answer and need not have one, and `error`.
    """
    result = os.dup(1)
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    _offer_itself_to_oom_killer()
    _limit(order["limits"])
    sys.path.insert(0, "")
    sys.argv = [""]
    output = sys.stdout = _Output(
        sys.stdout.buffer, "utf-8", "backslashreplace", "\n", line_buffering=True
    )
    exit_, write, errors = os._exit, os.write, sys.stderr
    kind, text = _compute_outcome(order, output, _make_repair())
    for stream in (output, errors):
        try:  # noqa: SIM105  # contextlib is one of those modules
            stream.flush()
        except (OSError, ValueError):
            pass
    try:
        data = kind.encode() + b"\n" + cut(text, order["max_bytes"])
        while data:
            data = data[write(result, data) :]
    finally:
        exit_(0)  # whatever threads there are still


def _make_repair() -> Callable[[], None]:
    """Return what makes this process able to report the outcome, whatever the code has changed in
    it.
    """
    names, usual = vars(builtins), dict(vars(builtins))
    trace, recurse, depth, spare = (
        sys.settrace,
        sys.setrecursionlimit,
        sys.getrecursionlimit(),
        _use_spare,
    )

    def repair() -> None:
        names.update(usual)
        trace(None)
        recurse(depth)
        spare()

    return repair


def _compute_outcome(
    order: dict[str, Any], output: _Output, repair: Callable[[], None]
) -> tuple[str, str]:
    text = order["code"].lstrip("\ufeff")
    space = _make_main_module()
    try:
        text = without_fence(text)
        try:
            answer = _find_runner(order)(order, text, space, output)
        finally:
            repair()
        return ("none", "") if answer is None else ("value", str(answer))
    except NoAnswer as error:
        return "error", str(error)
    except SystemExit as error:
        return ("none", "") if not error.code else ("error", f"SystemExit: {error.code}")
    except BaseException as error:
        if isinstance(error, MemoryError):
            space.clear()
        try:
            return "error", _report(error, text, order.get("runner"))
        except BaseException:  # it takes some modules
            return "error", type(error).__name__


def _find_runner(order: dict[str, Any]) -> Callable[..., object]:
    """Return what runs the code: `run` of the module whose code is in *order*, if there is any."""
    if "runner" not in order:
        return _answer
    names: dict[str, Any] = {"__name__": "runner"}
    exec(order["runner"], names)
    runner: Callable[..., object] = names["run"]
    return runner


def _answer(order: dict[str, Any], text: str, space: dict[str, Any], output: _Output) -> object:
    """Return the value of the code. None means no value, and "None" a requested value that is
    None.
    """
    value = _run(*_compile_code(text), space)
    symbol, expression = order["answer_symbol"], order["answer_expr"]
    if order["answer_from_stdout"]:
        if not (line := output.last.rstrip()):
            raise NoAnswer("The code printed nothing; its answer is the last line that it prints.")
        return line
    if symbol:
        if symbol not in space:
            raise NoAnswer(f"The code defines no {symbol}, which is to be its answer.")
        value = space[symbol]
    elif expression and (expression != DEFAULT_ANSWER or "solution" in space):
        value = eval(compile(expression, _ANSWER, "eval", dont_inherit=True), space)
    else:
        return value
    return "None" if value is None else value


def _compile_code(text: str) -> tuple[CodeType, CodeType | None]:
    """The code but for a last expression, and that."""
    from _ast import Expr, Expression  # of which ast is made

    tree: Any = compile(text, _NAME, "exec", _ONLY_AST, dont_inherit=True)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], Expr) else None
    body = compile(tree, _NAME, "exec", dont_inherit=True)
    return body, last and compile(Expression(last.value), _NAME, "eval", dont_inherit=True)


def _run(body: CodeType, last: CodeType | None, space: dict[str, Any]) -> object:
    exec(body, space)
    return None if last is None else eval(last, space)


def without_fence(text: str) -> str:
    """What stands in the first Markdown fence of *text*, or all of it if it has none or is Python
    as it is.
    """
    lines = text.split("\n")
    marks = [number for number, line in enumerate(lines) if line.lstrip().startswith("```")]
    if not marks or _is_python(text):
        return text
    first = lines[marks[0]].strip()
    if len(first) > 6 and first.endswith("```"):  # on one line
        return first.strip("`")
    inside = lines[marks[0] + 1 : marks[1] if len(marks) > 1 else None]
    return "\n".join(inside).rstrip().removesuffix("```")


def _is_python(text: str) -> bool:
    try:
        compile(text, _NAME, "exec", _ONLY_AST | _TOP_LEVEL_AWAIT, dont_inherit=True)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return True


def _make_main_module() -> dict[str, Any]:
    """The names of a new module `__main__`, which dataclasses and pickle look for."""
    module = type(sys)("__main__")
    sys.modules["__main__"] = module
    return vars(module)


# The report of a failure


def _report(error: BaseException, text: str, runner: CodeType | None) -> str:
    import linecache
    import traceback

    linecache.cache[_NAME] = (len(text), None, text.splitlines(keepends=True), _NAME)
    place = error.__traceback__
    while place is not None and place.tb_frame.f_code.co_filename != _NAME:
        place = place.tb_next
    if place is None and isinstance(error, MemoryError):
        return "MemoryError: the code is too large, or nested too deeply"
    if isinstance(error, SyntaxError) and len(str(error.text)) > _MAX_LINE_CHARS:
        error.text = None
    told = traceback.TracebackException(type(error), error, place, limit=-_FRAMES, compact=True)
    if runner is not None:  # whose places say nothing about the code
        frames = [frame for frame in told.stack if frame.filename != runner.co_filename]
        told.stack = traceback.StackSummary.from_list(frames)
    return "".join(told.format()).rstrip()


def cut(text: str, most: int) -> bytes:
    """*text* as UTF-8 of at most about *most* bytes; of what is too long its beginning and its end,
    with a note.
    """
    data = text[: most + 1].encode("utf-8", "backslashreplace")
    if len(data) <= most:
        return data
    half = most // 2
    start = data[: most - half].decode("utf-8", "ignore")
    last = text[max(0, len(text) - half) :].encode(
        "utf-8", "backslashreplace"
    )  # [-0:] would be all of it
    end = last[max(0, len(last) - half) :].decode("utf-8", "ignore")
    left_out = len(text) - len(start) - len(end)
    return f"{start}\n[... {left_out:,} characters left out ...]\n{end}".encode()


# What is done before the code runs


def _offer_itself_to_oom_killer() -> None:
    """If memory runs out, this process is the first to go."""
    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
    except OSError:
        pass


def _limit(limits: dict[str, int]) -> None:
    """Set each of *limits* that this system knows, or leave it as it is if it is lower."""
    if sys.platform == "win32":
        return
    import resource

    for name, most in limits.items():
        kind = getattr(resource, name, None)
        if kind is None:
            continue
        _, hard = resource.getrlimit(kind)
        upper = most + _SPARE.get(name, 0)
        upper = upper if hard == resource.RLIM_INFINITY else min(upper, hard)
        try:  # noqa: SIM105
            resource.setrlimit(kind, (min(most, upper), upper))
        except (ValueError, OSError):  # macOS knows some and refuses them
            pass


def _use_spare() -> None:
    if sys.platform == "win32":
        return
    import resource

    try:
        for name in _SPARE:
            kind = getattr(resource, name)
            _, hard = resource.getrlimit(kind)
            resource.setrlimit(kind, (hard, hard))
    except (ValueError, OSError):
        pass
