"""From a question to the words that matter for arithmetic, in Chinese and English.

Strategy. Every word counts: it is a number, an operation, something that holds them together, or one of those that
questions are politely wrapped in. A word that is none of these means that the question is about something else, and
then it is not understood; to pick the numbers out of a story and guess would be worse than that.
"""

from __future__ import annotations

import math
import re
import unicodedata
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from .numerals import number_at

if TYPE_CHECKING:
    from .expressions import Operator, Value

Kind = Literal[
    "number",
    "operator",  # between its operands: 3 plus 4
    "verb",  # before them: add 3 and 4
    "function",  # before a list of them: the sum of 3 and 4
    "fold",  # behind a list of them: 3和4的和
    "unary",  # before one: half of 8
    "behind",  # behind one: 5 squared
    "times_behind",  # behind one and a number: 3的4倍
    "power_behind",  # the same: 2的8次方
    "percent_of",  # between its operands: 15% of 200
    "joint",  # within a list: and, by, to
    "comma",
    "then",
    "it",  # what has come of it so far
    "gap",  # a number that is not told
    "equals",
    "open",
    "close",
    "end",
]


class Word(msgspec.Struct, frozen=True):
    """One word that matters: of what kind, with what meaning, and how it was written."""

    kind: Kind
    meaning: Any = None
    text: str = ""


class NotUnderstood(ValueError):
    """The question is not arithmetic, or none that is understood. The text is the part that is to blame."""


_OPERATORS: dict[Operator, str] = {
    "add": "+|plus|added to|加上|加",
    "subtract": "-|−|–|minus|减去|减掉|减",
    "multiply": "*|×|·|✕|x|times|multiplied by|乘以|乘上|乘",
    "divide": "/|÷|divided by|over|除以",
    "modulo": "%|mod|modulo|取余|求余|取模|模",
    "power": "^|**|to the power of|raised to the power of|raised to",
}
_VERBS: dict[Operator, str] = {"add": "add", "subtract": "subtract", "multiply": "multiply", "divide": "divide"}
_FUNCTIONS: dict[Operator, str] = {
    "add": "sum of|total of",
    "subtract": "difference between|difference of",
    "multiply": "product of",
    "divide": "quotient of",
    "modulo": "remainder of|remainder when",
}
_FOLDS: dict[Operator, str] = {
    "add": "的和|之和|的总和|相加|加起来|求和",
    "subtract": "的差|之差|相减",
    "multiply": "的积|之积|的乘积|相乘",
    "divide": "的商|之商|相除",
    "modulo": "的余数|余数",
}
_SIMPLE: dict[Kind, str] = {
    "joint": "and|with|by|to|from|is divided by|和|与|跟|同|及|、|以及",
    "comma": ",",
    "then": "then|and then|再|然后|接着|之后|afterwards|after that",
    "it": "it|that|the result|this|结果",
    "gap": "多少|几|一个数|某个数|某数|a number|some number|another number|something|what number",
    "equals": "=|==|等于|得|equals|equal to|gives|makes",
    "open": "(",
    "close": ")",
    "end": "?|!|;|。|.|\n",
    "times_behind": "倍",
    "power_behind": "次方|次幂",
    "percent_of": "% of|percent of",
}
# With a second operand of their own.
_UNARY: dict[tuple[Operator, int], str] = {
    ("multiply", 2): "double|twice",
    ("multiply", 3): "triple",
    ("divide", 2): "half of|half|halve",
    ("power", 2): "square of|square",
    ("power", 3): "cube of|cube",
}
_BEHIND: dict[tuple[Operator, int], str] = {
    ("multiply", 2): "doubled",
    ("divide", 2): "halved|的一半",
    ("power", 2): "squared|的平方",
    ("power", 3): "cubed|的立方",
}

_POLITE = (
    "请问|请你|请您|请|帮我|帮忙|麻烦|你能|你|您|计算一下|计算|算一算|算一下|算出|算|求出|求|一下|等于多少|等于几|是多少|"
    "是几|得多少|得几|有多大|的结果|结果是|结果等于|的值|值|是|呢|吗|吧|啊|答案|一共|总共|把|将|用|先|从|里面|里|中|它们|它|各|"
    "分别|我想知道|想知道|告诉我|我要|我想|谢谢|你好|那么|那|的话|的|两个数|两数|这|还有|另外|此外|同时|以及|并且|：|:|那再|"
    "what's|whats|what|is|are|the|result|results|of|value|values|calculate|compute|evaluate|find|tell|me|please|can|could|"
    "you|how|much|many|give|answer|answers|hi|hello|thanks|thank|i|want|know|need|would|like|solve|do|does|my|question|"
    "questions|number|it's|that's|the result of|the results of|the value of|equal|let's|let|also|in|for|when|be|these|"
    "numbers|together|work|out|next|finally|first|now|your|so|will|should|'s|about|if|we"
)
_LONGEST_QUESTION = 10_000
_NUMBER = re.compile(r"\.?\d")
_LETTER = re.compile(r"[a-z']")
_FILLER = Word("end", "filler")  # passed over; never handed out


def words_of(question: str) -> list[Word]:
    """Return the words that matter, in order.

    Raises:
        NotUnderstood: at the first word that has no place in arithmetic.
    """
    if len(question) > _LONGEST_QUESTION:
        raise NotUnderstood(f"{question[:40]}…")
    text = unicodedata.normalize("NFKC", question).lower()
    words: list[Word] = []
    at = 0
    while at < len(text):
        if text[at].isspace() and text[at] != "\n":
            at += 1
            continue
        found = None if _NUMBER.match(text, at) else _phrase_at(text, at)
        if found is None:
            number = _finite(text, at)
            found = (Word("number", number[0], text[at : number[1]]), number[1])
        word, at = found
        if word is not _FILLER:
            words.append(word)
    return words


def _phrase_at(text: str, at: int) -> tuple[Word, int] | None:
    """The longest known phrase that begins here."""
    for length in range(min(_LONGEST, len(text) - at), 0, -1):
        phrase = text[at : at + length]
        if phrase in _PHRASES and _stands_alone(text, at, at + length):
            return _PHRASES[phrase], at + length
    return None


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether an English phrase is not just a part of a longer word."""
    before = start > 0 and _LETTER.match(text[start]) and _LETTER.match(text[start - 1])
    behind = end < len(text) and _LETTER.match(text[end - 1]) and _LETTER.match(text[end])
    return not before and not behind


def _finite(text: str, at: int) -> tuple[Value, int]:
    try:
        number = number_at(text, at)
    except ValueError:  # more digits than anybody reads
        number = None
    if number is None or not math.isfinite(number[0]):
        unknown = re.compile(r"[a-z']+|\d+|[^\x00-\x7f]+|.").match(text, at)
        raise NotUnderstood(unknown[0][:20] if unknown else text[at])
    return number


def _phrases() -> dict[str, Word]:
    tables: list[tuple[Kind, dict[Any, str]]] = [
        ("operator", _OPERATORS),
        ("verb", _VERBS),
        ("function", _FUNCTIONS),
        ("fold", _FOLDS),
        ("unary", _UNARY),
        ("behind", _BEHIND),
        *((kind, {None: written}) for kind, written in _SIMPLE.items()),
    ]
    phrases = dict.fromkeys(_POLITE.split("|"), _FILLER)
    for kind, table in tables:
        for meaning, written in table.items():
            phrases |= {phrase: Word(kind, meaning, phrase) for phrase in written.split("|")}
    return phrases


_PHRASES = _phrases()
_LONGEST = max(map(len, _PHRASES))
