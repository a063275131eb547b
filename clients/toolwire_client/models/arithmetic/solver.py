"""What to do next: the plan for a question, step by step, and what becomes of it when a result comes. No I/O.

The same questions and results always lead to the same decisions, so that a conversation can be taken up anywhere.
"""

from __future__ import annotations

import math
import re
from typing import Any

import msgspec
from toolwire_schemas import codec

from .abilities import Abilities, Entry, Params, Unsuitable
from .expressions import (
    Expression,
    Number,
    Operation,
    Value,
    after,
    filled,
    first_missing,
    first_step,
    operators_in,
    written_number,
)
from .questions import asked_in, numbers_in
from .speech import Speech
from .words import NotUnderstood

_MOST_FACTORS = 10  # a power of up to so many is multiplied out if nothing else can do it
_MOST_QUESTIONS = 2  # about the same number


class Act(msgspec.Struct, frozen=True):
    """Have a tool run."""

    thought: str
    tool: str
    params: Params


class Ask(msgspec.Struct, frozen=True):
    """Ask the user for a number."""

    thought: str
    content: str


class Answer(msgspec.Struct, frozen=True):
    """Be done."""

    thought: str
    ok: bool
    result: str


Decision = Act | Ask | Answer


class Goal(msgspec.Struct):
    """One thing that was asked for: as it was, and what is left of it to do; or why it cannot be done."""

    asked: Expression
    left: Expression
    problem: str = ""

    @property
    def is_done(self) -> bool:
        return bool(self.problem) or isinstance(self.left, Number)


class Solver:
    """Solves one question after the other with *tools*."""

    def __init__(self, tools: list[Entry]) -> None:
        self._abilities = Abilities(tools)
        self._goals: list[Goal] = []
        self._speech = Speech(in_chinese=False)
        self._not_understood = ""
        self._asked = 0
        self._last: Value | None = None
        self._is_open = False

    def question(self, text: str) -> None:
        """Take a new question; what was asked before is over."""
        self._last = next((goal.left.value for goal in reversed(self._goals) if isinstance(goal.left, Number)), None)
        self._goals, self._asked, self._not_understood = [], 0, ""
        self._speech = Speech(in_chinese=re.search("[\u4e00-\u9fff]", text) is not None)
        self._is_open = True
        try:
            expressions = asked_in(text, before=self._last)
        except NotUnderstood as error:
            self._not_understood = str(error)
            return
        self._goals = [Goal(expression, self._prepared(expression)) for expression in expressions]

    def result(self, success: bool, value: Any) -> None:
        """Take what has come of the action decided on last."""
        goal = self._current()
        if goal is None or first_missing(goal.left):
            return
        number = _number_in(value)
        if not success:
            goal.problem = self._speech.failed(goal.asked, _told(value))
        elif number is None:
            goal.problem = self._speech.no_number(goal.asked, _told(value))
        elif self._abilities.whole(goal.left):
            goal.left = Number(number)
        elif step := first_step(goal.left):
            goal.left = after(goal.left, step, number)

    def response(self, text: str) -> None:
        """Take what the user said when asked for a number."""
        numbers = numbers_in(text)
        self._asked += 1
        while numbers and (goal := self._lacking()):
            self._asked = 0
            told = numbers.pop(0)
            goal.left = self._prepared(filled(goal.left, told))
            goal.asked = filled(goal.asked, told)

    def decide(self) -> Decision:
        """Return what to do now. Asked again without news, it is the same again."""
        if not self._is_open:
            return Answer(self._speech.nothing_asked(), False, self._speech.nothing_asked())
        if not self._goals:
            return Answer(
                self._speech.thought_not_understood(self._not_understood),
                False,
                self._speech.not_understood(self._not_understood),
            )
        if goal := self._lacking():
            if self._asked >= _MOST_QUESTIONS:
                return Answer(self._speech.thought_missing(), False, self._speech.still_missing(goal.asked))
            return Ask(self._speech.thought_missing(), self._speech.ask(goal.left))
        while goal := self._current():
            decision = self._next(goal)
            if decision:
                return decision
        return self._answer()

    def give_up(self) -> Answer:
        """Return the answer as far as there is one: no further action is possible."""
        for goal in self._goals:
            if not goal.is_done:
                goal.problem = self._speech.not_finished(goal.asked)
        return self._answer() if self._goals else Answer("", False, self._speech.not_understood(self._not_understood))

    # --- one goal ---

    def _next(self, goal: Goal) -> Act | None:
        """The next action for a goal; `None` if there is none, and then the goal has a problem."""
        if whole := self._abilities.whole(goal.left):
            return Act(self._speech.thought_whole(goal.left), *whole)
        step = first_step(goal.left)
        assert step is not None
        try:
            call = self._abilities.step(step)
        except Unsuitable as error:
            goal.problem = self._speech.unsuitable(goal.asked, str(error))
            return None
        if call is None:
            goal.problem = self._speech.no_tool(goal.asked, step.operator)
            return None
        return Act(self._speech.thought_step(step, goal.left), *call)

    def _current(self) -> Goal | None:
        return next((goal for goal in self._goals if not goal.is_done), None)

    def _lacking(self) -> Goal | None:
        return next((goal for goal in self._goals if not goal.is_done and first_missing(goal.left)), None)

    def _prepared(self, expression: Expression) -> Expression:
        """The expression, powers multiplied out if nothing can raise to one but something can multiply."""
        can_raise = self._abilities.has("power") or self._abilities.whole(expression)
        if "power" not in operators_in(expression) or can_raise or not self._abilities.has("multiply"):
            return expression
        return _multiplied_out(expression)

    def _answer(self) -> Answer:
        lines = [goal.problem or self._equation(goal) for goal in self._goals]
        ok = not any(goal.problem for goal in self._goals)
        return Answer(self._speech.thought_done(ok), ok, "\n".join(lines))

    def _equation(self, goal: Goal) -> str:
        assert isinstance(goal.left, Number)
        return f"{self._speech.written(goal.asked)} = {written_number(goal.left.value)}"


def _multiplied_out(expression: Expression) -> Expression:
    if not isinstance(expression, Operation):
        return expression
    left, right = _multiplied_out(expression.left), _multiplied_out(expression.right)
    factors = right.value if isinstance(right, Number) and right.value in range(2, _MOST_FACTORS + 1) else 0
    # Powers of powers would take more steps than anybody waits for.
    if expression.operator != "power" or not factors or "power" in operators_in(expression.left):
        return Operation(expression.operator, left, right)
    made = left
    for _ in range(int(factors) - 1):
        made = Operation("multiply", made, left)
    return made


def _number_in(value: Any) -> Value | None:
    """The number that a tool's result is: itself, as text, or as the one number in an object, however often."""
    match value:
        case bool() | None:
            return None
        case int() | float():
            return value if math.isfinite(value) else None
        case str():
            text = value.strip()
            if re.fullmatch(r"[+-]?\d+", text):
                return int(text) if len(text) < 4_000 else None
            try:
                return _number_in(float(text))
            except ValueError:
                return None
        case [single]:
            return _number_in(single)
        case dict():
            numbers = {number for inner in value.values() if (number := _number_in(inner)) is not None}
            return numbers.pop() if len(numbers) == 1 else None
    return None


def _told(value: Any) -> str:
    """What a tool said, in short."""
    if isinstance(value, dict) and isinstance(value.get("message"), str):
        value = value["message"]
    return " ".join((value if isinstance(value, str) else codec.encode(value).decode()).split())[:300]
