"""Numbers as they are written: in digits, in Chinese, in English words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .expressions import Value

_DIGITS = re.compile(r"\d{1,3}(?:,\d{3})+(?![\d,])(?:\.\d+)?|\d+(?:\.\d+)?(?:e[+-]?\d+)?|\.\d+")

_CHINESE = re.compile(
    r"负?[零〇一二两三四五六七八九十百千万亿壹贰叁肆伍陆柒捌玖拾佰仟]+(?:点[零〇一二三四五六七八九]+)?"
)
_CHINESE_DIGITS = {
    **{letter: value for value, letter in enumerate("零一二三四五六七八九")},
    **{letter: value for value, letter in enumerate("壹贰叁肆伍陆柒捌玖", start=1)},
    "〇": 0,
    "两": 2,
}
_CHINESE_UNITS = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
_CHINESE_GROUPS = {"万": 10_000, "亿": 100_000_000}

_SMALL = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_WORDS = {word: value for value, word in enumerate(_SMALL)}
_WORDS |= {word: 10 * place for place, word in enumerate(_TENS, start=2)}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}
_WORD = re.compile(r"[a-z]+")
_GAP = re.compile(r"[\s-]+")


def number_at(text: str, at: int) -> tuple[Value, int] | None:
    """The number that begins at this place of lower-case *text*, and where it ends."""
    if found := _DIGITS.match(text, at):
        return _value(found[0].replace(",", "")), found.end()
    if found := _CHINESE.match(text, at):
        return _chinese(found[0]), found.end()
    return _english(text, at)


def _value(digits: str) -> Value:
    return int(digits) if digits.isdecimal() else float(digits)


def _chinese(text: str) -> Value:
    if text.startswith("负"):
        return -_chinese(text[1:])
    whole, _, fraction = text.partition("点")
    value = _chinese_integer(whole)
    if not fraction:
        return value
    return float(f"{value}." + "".join(str(_CHINESE_DIGITS[letter]) for letter in fraction))


def _chinese_integer(text: str) -> int:
    if all(letter in _CHINESE_DIGITS for letter in text):  # digit by digit, as in a year
        return int("".join(str(_CHINESE_DIGITS[letter]) for letter in text))
    total = section = digit = 0
    unit = 1  # the last one said: in 一百五 the five are tens, in 两万三 the three are thousands
    for letter in text:
        if letter in _CHINESE_DIGITS:
            digit = _CHINESE_DIGITS[letter]
            unit = 1 if digit == 0 else unit
        elif letter in _CHINESE_UNITS:
            unit = _CHINESE_UNITS[letter]
            section += (digit or 1) * unit
            digit = 0
        else:
            unit = _CHINESE_GROUPS[letter]
            total = (total + section + digit) * unit if unit == 10**8 else total + (section + digit) * unit
            section = digit = 0
    return total + section + digit * max(unit // 10, 1)


def _english(text: str, at: int) -> tuple[Value, int] | None:
    word, after = _next_word(text, at)
    if word == "negative":
        positive = _english(text, after)
        return (-positive[0], positive[1]) if positive else None
    found = _english_integer(text, at)
    if found is None:
        return None
    value, end = found
    point, after = _next_word(text, end)
    digits = ""
    while point == "point" and _WORDS.get(_next_word(text, after)[0], 10) < 10:
        word, after = _next_word(text, after)
        digits, end = digits + str(_WORDS[word]), after
    return (float(f"{value}.{digits}") if digits else value), end


def _english_integer(text: str, at: int) -> tuple[int, int] | None:
    total = section = 0
    end: int | None = None  # none before the first word of a number
    word, after = _next_word(text, at)
    if word == "a" and _next_word(text, after)[0] in _SCALES:
        section, end, (word, after) = 1, after, _next_word(text, after)
    while True:
        if word in _WORDS and (end is None or _may_follow(section, _WORDS[word])):
            section += _WORDS[word]
        elif word == "hundred" and end is not None:
            section *= 100
        elif word in _SCALES and end is not None:
            total, section = total + section * _SCALES[word], 0
        elif word == "and" and (section or total) and section % 100 == 0 and _next_word(text, after)[0] in _WORDS:
            word, after = _next_word(text, after)
            continue
        else:
            return None if end is None else (total + section, end)
        end = after
        word, after = _next_word(text, after)


def _next_word(text: str, at: int) -> tuple[str, int]:
    gap = _GAP.match(text, at)
    found = _WORD.match(text, gap.end() if gap else at)
    return (found[0], found.end()) if found else ("", at)


def _may_follow(section: int, value: int) -> bool:
    """Whether "… forty" may go on with "two": only smaller numbers follow, in the places that are free."""
    tens = section % 100
    return tens == 0 or (tens >= 20 and tens % 10 == 0 and 0 < value < 10)
