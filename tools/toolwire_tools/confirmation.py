"""The question that a tool with the option `confirm` asks before each call. Imported for the first
such tool.

Strategy. All ways of calling a tool end in `Tool`, which asks after the arguments are bound and
before the function runs: so the question shows the values that the function gets. A template is
read when the tool is made, and has no more than names in braces: a format such as
`{path!r:>{width}}` could do more than show a value. A value is shown as JSON, so an argument can
end neither its quotes nor its line.
"""

from __future__ import annotations

import json
import unicodedata
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum
from string import Formatter
from typing import TYPE_CHECKING, Any

from toolwire_schemas.did_you_mean import explain_unknown_name
from toolwire_schemas.output import make_printable

from .context.context import AsyncContext, Context
from .errors import Declined, NotAnswered, RegistrationError
from .schema.annotations import is_async
from .schema.to_json import NotJsonable, to_jsonable
from .signature import EMPTY, OPEN, POSITIONAL_ONLY, is_required, read_parameters

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .context.context import Caller
    from .signature import Signature
    from .signature.second_reading import Bound

MAX_VALUE = 200
"""Characters of a value in a question: a long path fits. Of a longer one, the user sees both ends
and the length.
"""

MAX_QUESTION = 2000
"""Characters of a template, or of the text that a function returns: more than a dialog shows, and
nothing is hidden.
"""

_INVISIBLE = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and symbols that have no ink."""
_VARIATION_SELECTORS = range(0xFE00, 0xFE10)

_approved: ContextVar[str | None] = ContextVar("approved", default=None)


class Confirmation:
    """Asks the user of a call of *tool*: by *confirm*, a template or a function over the arguments
    of its *signature*.

    Raises:
        RegistrationError: if a template has something else than those names in braces, or a
            function takes others.
    """

    def __init__(
        self,
        confirm: str | Callable[..., str],
        tool: str,
        function: Callable[..., Any],
        signature: Signature,
    ) -> None:
        self._tool = tool
        self._declared = [one for one in read_parameters(function).every if one.kind not in OPEN]
        self._names = list(signature.arguments.input_schema.get("properties", {}))
        self._bind: Callable[[dict[str, Any]], Bound] | None = None
        if isinstance(confirm, str):
            self._parts = self._split_template(confirm)
            self._function = None
        else:
            self._function = confirm
            self._wanted = self._list_parameters(confirm)

    def bind_by(self, bind: Callable[[dict[str, Any]], Bound]) -> Confirmation:
        """Return the same question for a tool that takes arguments by name, as they came; *bind*
        reads them.
        """
        twin = object.__new__(Confirmation)
        vars(twin).update(vars(self))
        twin._bind = bind
        return twin

    def ask(self, bound: Bound, caller: Caller, tool: str) -> None:
        """Return if the user agrees to a call of *tool*, as it is called there, with the *bound*
        arguments.

        Raises:
            NotAnswered: or `CannotAsk`, `Declined` or `Dismissed`, if not. The text says that the
                tool has not run.
            Cancelled: if the call is cancelled before the answer.
        """
        question = self.write_question(bound)
        if question == _approved.get():
            return
        try:
            is_agreed = Context(caller, tool).ask(question, bool)
        except NotAnswered as error:
            raise _make_refusal(error, tool) from error
        if is_agreed is not True:
            raise _make_refusal(Declined("The user said no."), tool)

    async def ask_async(self, bound: Bound, caller: Caller, tool: str) -> None:
        """As `ask`, on an event loop."""
        question = self.write_question(bound)
        if question == _approved.get():
            return
        try:
            is_agreed = await AsyncContext(caller, tool).ask(question, bool)
        except NotAnswered as error:
            raise _make_refusal(error, tool) from error
        if is_agreed is not True:
            raise _make_refusal(Declined("The user said no."), tool)

    @contextmanager
    def keep_approved(self, arguments: dict[str, Any]) -> Iterator[None]:
        """Do not ask again, inside the `with` block, what the user was asked for a call with these
        *arguments*.
        """
        token = _approved.set(self.write_question(((), arguments)))
        try:
            yield
        finally:
            _approved.reset(token)

    def write_question(self, bound: Bound) -> str:
        """Return the text of the question for a call with the *bound* arguments.

        Raises:
            TypeError: if the author's function returns no text.
            Exception: whatever that function raises.
        """
        if self._bind is not None:
            _, arguments = bound
            bound = self._bind(arguments)
        values = self._list_values(bound)
        if self._function is None:
            return "".join(
                part if name is None else show(values.get(name, EMPTY))
                for part, name in self._parts
            )
        text = self._function(**{name: values[name] for name in self._wanted if name in values})
        if not isinstance(text, str) or not text.strip():
            problem = "an empty text"
            if not isinstance(text, str):
                problem = type(text).__name__
            raise TypeError(
                f"{self._tool}: the function of confirm returned {problem} instead of a question"
            )
        text = make_printable(text)
        if len(text) <= MAX_QUESTION:
            return text
        return _cut_middle(text, MAX_QUESTION)

    def _list_values(self, bound: Bound) -> dict[str, Any]:
        """Return the arguments by name, with the defaults that Python puts in."""
        positional, keywords = bound
        values = {one.name: one.default for one in self._declared if not is_required(one)}
        in_order = [one.name for one in self._declared if one.kind == POSITIONAL_ONLY]
        values.update(zip(in_order, positional, strict=False))
        return {**values, **keywords}

    # What the author wrote

    def _split_template(self, template: str) -> list[tuple[str, str | None]]:
        """Return the pieces of *template*: a text and None, or an empty one and the name of an
        argument.
        """
        if len(template) > MAX_QUESTION or not template.strip():
            self._fail(
                f"it has {len(template)} characters", f"write a question of 1 to {MAX_QUESTION}"
            )
        try:
            found = list(Formatter().parse(template))
        except ValueError as error:
            self._fail(
                f"it is no template: {error}", "double the braces that are to be shown: {{ and }}"
            )
        parts: list[tuple[str, str | None]] = []
        for text, name, form, conversion in found:
            parts.append((make_printable(text), None))
            if name is None:
                continue
            if form or conversion:
                self._fail(
                    f"{{{name}}} has a format", f"write {{{name}}}: values are shown as JSON"
                )
            self._check(name)
            parts.append(("", name))
        return parts

    def _list_parameters(self, function: Callable[..., str]) -> list[str]:
        if any(map(is_async, (function, getattr(function, "func", None)))):
            self._fail("its function is asynchronous", "write it with `def`")
        try:
            found = read_parameters(function).every
        except (ValueError, TypeError):
            self._fail("the parameters of its function cannot be read", "write it with `def`")
        wanted = []
        for parameter in found:
            if parameter.kind in OPEN:
                self._fail(
                    f"its function has *{parameter.name}",
                    "name the arguments that the question is about",
                )
            if parameter.kind == POSITIONAL_ONLY:
                self._fail(f"its function takes {parameter.name} by position", "take it by name")
            self._check(parameter.name)
            wanted.append(parameter.name)
        return wanted

    def _check(self, name: str) -> None:
        if name in self._names:
            return
        plain = name.partition(".")[0].partition("[")[0]
        if plain in self._names:
            self._fail(
                f"{{{name}}} is a part of an argument",
                f"write {{{plain}}}, or a function of the arguments",
            )
        self._fail(
            f"it has {explain_unknown_name('argument', name, self._names)}",
            "name an argument that callers give",
        )

    def _fail(self, problem: str, remedy: str) -> Any:
        raise RegistrationError(problem, tool=self._tool, parameter="option confirm", remedy=remedy)


def show(value: Any) -> str:
    """Return *value*, an argument, for a question: one line of JSON without anything invisible, and
    never long.

    Bytes are shown by their number, and members of an Enum by their names.
    """
    if value is EMPTY:
        return "(not given)"
    if isinstance(value, bytes | bytearray):
        return f"({len(value):,} bytes)"
    if isinstance(value, Enum) and value.name:
        return value.name
    try:
        plain = to_jsonable(value)
    except (NotJsonable, RecursionError):
        plain = str(value)
    if isinstance(plain, str):
        return _quote(plain)
    text = _make_visible(json.dumps(plain, ensure_ascii=False))
    if len(text) <= MAX_VALUE:
        return text
    return _quote(text)


def _quote(text: str) -> str:
    quoted = _make_visible(json.dumps(text[: MAX_VALUE + 1], ensure_ascii=False))
    if len(text) <= MAX_VALUE and len(quoted) <= 2 * MAX_VALUE:
        return quoted
    half = MAX_VALUE // 4  # a character may take up to six
    start = _make_visible(json.dumps(text[:half], ensure_ascii=False))
    end = _make_visible(json.dumps(text[-half:], ensure_ascii=False))
    return f"{start} … {end} ({len(text):,} characters)"


def _make_visible(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_show_letter, text))


def _show_letter(letter: str) -> str:
    is_invisible = letter in _INVISIBLE or ord(letter) in _VARIATION_SELECTORS
    if letter == " " or (
        letter.isprintable() and not is_invisible and unicodedata.category(letter) != "Zs"
    ):
        return letter
    return json.dumps(letter)[1:-1]


def _cut_middle(text: str, most: int) -> str:
    half = most // 2
    return f"{text[:half]} … ({len(text):,} characters) … {text[-half:]}"


def _make_refusal(error: NotAnswered, tool: str) -> NotAnswered:
    return type(error)(f"{tool} did not run, since it needs the user's consent. {error}")
