"""From the words of a question to the expressions that it asks for.

Precedence is that of arithmetic. What comes behind "then", a comma or "的和" works on all that stands before it:
"12加3再乘以4" is (12 + 3) × 4, while "12加3乘以4" is 12 + 3 × 4.
"""

from __future__ import annotations

import re

from .expressions import PRECEDENCE, Expression, Missing, Number, Operation, Operator, Value
from .words import Kind, NotUnderstood, Word, words_of

_OPERANDS: tuple[Kind, ...] = ("number", "open", "function", "unary", "it", "gap")
_BEFORE_SIGNS: tuple[Kind, ...] = ("operator", "verb", "function", "unary", "joint", "open", "equals", "percent_of")
_DEEPEST = 100
_OPENINGS: tuple[Kind, ...] = ("joint", "comma", "then")
_SIGNS = ("+", "-", "−", "–")
_SPOKEN_SIGNS = ("plus", "minus")
_MOST_WORDS = 400
_NUMBERING = re.compile(r"^[ \t]*\(?(\d{1,2})(?:[):、]|\.(?!\d))", re.MULTILINE)


def asked_in(question: str, *, before: Value | None = None) -> list[Expression]:
    """Return what the question asks for, each part of it. *before* is what the last answer was, if there was one.

    Raises:
        NotUnderstood: if it is not arithmetic, or none that is understood.
    """
    asked: list[Expression] = []
    sentence: list[Word] = []
    known = Missing() if before is None else Number(before)
    words = words_of(_without_numbering(question))
    if len(words) > _MOST_WORDS:
        raise NotUnderstood(f"{question[:40]}…")
    for word in [*words, Word("end")]:
        if word.kind != "end":
            sentence.append(word)
        elif sentence:
            _Sentence(sentence, asked, known).read()
            sentence = []
    # A number that nothing is to be done with was meant for something that is not understood.
    if not asked or not all(isinstance(each, Operation) and _has_number(each) for each in asked):
        raise NotUnderstood(question.strip()[:40])
    return asked


def numbers_in(answer: str) -> list[Expression]:
    """Return the numbers, or what comes to one, in the answer to a question for missing ones; or nothing."""
    try:
        words = [
            word for word in words_of(answer) if word.kind not in ("end", "comma", "joint", "it", "equals", "then")
        ]
        match words:
            case [Word("operator", "subtract"), Word("number", value)]:
                return [Number(-value)]
            case [Word("operator" | "verb"), Word("number", value)]:  # "times 4", to the question what to multiply with
                return [Number(value)]
        if words and all(word.kind == "number" for word in words):
            return [Number(word.meaning) for word in words]
        return asked_in(answer)
    except NotUnderstood:
        return []


def _without_numbering(question: str) -> str:
    """The question without the numbers of its parts: 1. 2. 3. at the beginning of lines."""
    numbers = [int(found[1]) for found in _NUMBERING.finditer(question)]
    is_numbered = len(numbers) > 1 and numbers == list(range(1, len(numbers) + 1))
    return _NUMBERING.sub("", question) if is_numbered else question


def _has_number(expression: Expression) -> bool:
    if isinstance(expression, Operation):
        return _has_number(expression.left) or _has_number(expression.right)
    return isinstance(expression, Number)


class _Sentence:
    """Reads one sentence and adds to *asked*. *known* is what it may refer to, besides what is asked already."""

    def __init__(self, words: list[Word], asked: list[Expression], known: Expression) -> None:
        self._words = words
        self._at = 0
        self._asked = asked
        self._known = known
        self._group = len(asked)  # where the list that is being told begins
        self._depth = 0

    def read(self) -> None:
        while (word := self._peek()) is not None:
            match word.kind:
                case "comma":
                    self._skip()
                    if self._kind() in _OPERANDS:
                        self._group = len(self._asked)
                case "joint" | "then" | "gap":
                    self._skip()
                case "equals":
                    self._skip()
                    if self._kind() in ("number", "open", "gap") and self._asked:
                        raise NotUnderstood(word.text)  # an equation
                case "fold":
                    self._skip()
                    self._fold(word)
                case "verb":
                    self._skip()
                    self._asked.append(self._verb(word.meaning))
                case "operator" | "percent_of" | "behind" if not self._is_sign(self._at):
                    self._asked.append(self._more(self._before()))
                case "it" if self._kind(1) not in ("operator", "behind", "fold", "percent_of"):
                    self._skip()
                case "close":
                    raise NotUnderstood(word.text)
                case _:
                    self._asked.append(self._expression(0))

    # --- what is told before and behind ---

    def _before(self) -> Expression:
        """What came before, which goes into what follows."""
        return self._asked.pop() if self._asked else self._known

    def _fold(self, word: Word) -> None:
        """3和4的和; also 3加4的和, which is in parentheses from here on."""
        items = self._asked[self._group :]
        if len(items) < 2 and not (items and isinstance(items[0], Operation)):
            items = self._asked[:]
            self._group = 0
        match items:
            case [Operation("divide", left, right)] if word.meaning == "modulo":
                made: Expression = Operation("modulo", left, right)
            case [Operation(operator)] if operator == word.meaning:
                made = items[0]
            case [_, _, *_]:
                made = _joined(word.meaning, items)
            case _:
                raise NotUnderstood(word.text)
        self._asked[self._group :] = [made]

    def _verb(self, operator: Operator) -> Expression:
        """Add 3 to 4, add 3 and 4, add 3, multiply by 3."""
        if self._kind() == "joint":
            self._skip()
            return self._more(Operation(operator, self._before(), self._expression(0)))
        items, joint = self._list()
        if len(items) == 1:
            return self._more(Operation(operator, self._before(), items[0]))
        if joint in ("to", "from") and len(items) == 2:
            items.reverse()
        return self._more(_joined(operator, items))

    def _list(self) -> tuple[list[Expression], str]:
        """Operands, and the word between the last two."""
        first = self._expression(0)
        items, joint = [first], ""
        # In "the sum of 3 and 4 times 2" the last word is about the sum; in "… 3 times 2 and 4 times 5" it is not.
        signs_only = not isinstance(first, Operation)
        while (self._kind() == "joint" or (self._kind() == "comma" and not joint)) and self._kind(1) in _OPERANDS:
            word = self._next()
            joint = word.text if word.kind == "joint" else joint
            items.append(self._expression(0, signs_only=signs_only))
        if self._kind() == "joint" and self._kind(1) is None:  # the sum of 3 and …
            self._skip()
            items.append(Missing())
        return items, joint

    # --- expressions ---

    def _expression(self, lowest: int, *, signs_only: bool = False) -> Expression:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise NotUnderstood("…")
        made = self._more(self._operand(), lowest, signs_only=signs_only)
        self._depth -= 1
        return made

    def _more(self, left: Expression, lowest: int = 0, *, signs_only: bool = False) -> Expression:
        """*left* with the operations that follow and bind at least as strongly as *lowest*."""
        while (word := self._peek()) is not None:
            if word.kind == "behind":
                self._skip()
                left = Operation(word.meaning[0], left, Number(word.meaning[1]))
            elif word.kind == "number" and self._kind(1) in ("times_behind", "power_behind"):
                operator: Operator = "multiply" if self._kind(1) == "times_behind" else "power"
                left = Operation(operator, left, Number(word.meaning))
                self._skip(2)
            elif word.kind == "percent_of" and lowest <= PRECEDENCE["multiply"]:
                self._skip()
                whole = self._expression(PRECEDENCE["multiply"] + 1)
                left = Operation("divide", Operation("multiply", left, whole), Number(100))
            elif word.kind == "operator" and PRECEDENCE[word.meaning] >= lowest and not (signs_only and _is_word(word)):
                self._skip()
                left = Operation(word.meaning, left, self._right(word))
            else:
                break
        return left

    def _right(self, word: Word) -> Expression:
        if self._kind() in _OPERANDS or self._is_sign(self._at):
            # Powers are grouped from the right, all others from the left.
            return self._expression(PRECEDENCE[word.meaning] + (word.meaning != "power"))
        if word.text == "%":
            raise NotUnderstood(word.text)  # a percentage, of which nobody says what of
        return Missing()

    def _operand(self) -> Expression:
        word = self._peek()
        if word is None:
            return Missing()
        self._skip()
        match word.kind:
            case "number":
                return Number(word.meaning)
            case "gap":
                return Missing()
            case "it":
                return self._before()
            case "open":
                return self._parenthesis()
            case "unary":
                return Operation(word.meaning[0], self._expression(PRECEDENCE["power"] + 1), Number(word.meaning[1]))
            case "function":
                items, _ = self._list()
                if word.meaning == "modulo" and len(items) == 1 and isinstance(items[0], Operation):
                    return Operation("modulo", items[0].left, items[0].right)
                return _joined(word.meaning, items if len(items) > 1 else [*items, Missing()])
            case "operator" if self._is_sign(self._at - 1):
                operand = self._expression(PRECEDENCE["power"])
                if word.meaning == "add":
                    return operand
                if isinstance(operand, Number):
                    return Number(-operand.value)
                return Operation("subtract", Number(0), operand)
        raise NotUnderstood(word.text)

    def _parenthesis(self) -> Expression:
        inner = self._expression(0)
        if self._kind() != "close":
            raise NotUnderstood("(")
        self._skip()
        return inner

    # --- words ---

    def _is_sign(self, place: int) -> bool:
        """Whether the word at this place is a sign before a number, and no operation between two."""
        if place >= len(self._words) or self._words[place].text not in (*_SIGNS, *_SPOKEN_SIGNS):
            return False
        if all(word.kind in _OPENINGS for word in self._words[:place]):
            # In "and minus 5" it is spoken of what came before.
            return self._words[place].text in _SIGNS or not (self._asked or isinstance(self._known, Number))
        return self._words[place - 1].kind in _BEFORE_SIGNS

    def _peek(self, further: int = 0) -> Word | None:
        at = self._at + further
        return self._words[at] if at < len(self._words) else None

    def _kind(self, further: int = 0) -> Kind | None:
        word = self._peek(further)
        return word.kind if word else None

    def _skip(self, count: int = 1) -> None:
        self._at += count

    def _next(self) -> Word:
        self._at += 1
        return self._words[self._at - 1]


def _joined(operator: Operator, items: list[Expression]) -> Expression:
    made = items[0]
    for item in items[1:]:
        made = Operation(operator, made, item)
    return made


def _is_word(word: Word) -> bool:
    return word.text[:1].isalpha() and word.text != "x"
