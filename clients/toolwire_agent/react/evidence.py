"""The parts of a conversation that a small model may copy: values, numbers and names of tools.

Strategy. Only words of the user count as values, since an error or a result mentions many others.
Values of earlier calls do not count: they have been tried. All texts are searched up to a limit of
characters, since any tool may write any length.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from toolwire_dialects.tool_entry import describe

from .messages import Action, ActionResult, Ask, Error, Question, UserResponse, from_json
from .result_text import to_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from .messages import FromModel, ToModel
    from .prompt_protocol import Message
    from .tool_lookup import Entry

_MAX_CHARS = 5000
"""Of a text that is searched."""
MAX_VALUES = 20
PARTS = re.compile(r"[,;:\n\"'“”‘’，、；：。！？()\[\]{}<>]+")
"""What separates the parts of a sentence."""
WORDS = re.compile(rf"(?:\s|{PARTS.pattern})+")
"""What separates words."""
_NUMBER = re.compile(
    r"(?<![\w.])(?:(?<!\d)-)?\d{1,15}(?:,\d{3})*(?:\.\d{1,15})?(?!\w|[.,]\d)", re.ASCII
)
_TERM = re.compile(r"[^\W_]+|(?<=\s)[^\w\s](?=\s)")
"""A word, or a sign on its own, as in `a + b`."""
_MAX_DIGITS = 40
"""Of a number, which is infinite otherwise."""
_MIN_TERM_CHARS = 4
"""Shorter words of a description, such as "the", say nothing about a tool."""
_JOINING = frozenset(("and", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with"))
"""Words in the names of tools that say nothing about one."""
_MIN_ALIKE_CHARS = 3
_MAX_ENDING_CHARS = 3
_MAX_WORDS_OF_A_START = 200
"""So that each word of the user is compared with few, even if all words of a list begin alike."""


class CallRecord(NamedTuple):
    """A call and its result."""

    action: Action
    result: ActionResult


class Evidence:
    """The messages since the last question, and all texts of the user. Words in *common* do not
    count as values.
    """

    def __init__(self, history: list[Message], common: str) -> None:
        messages = _read_back(history)
        since = _take_since_last_question(messages)
        self.is_first = len(history) == 1
        self.errors = _count_last_errors(messages)
        """Invalid replies in a row."""
        self.calls: list[CallRecord] = []
        for message, following in pairwise(since):
            if isinstance(message, Action) and isinstance(following, ActionResult):
                self.calls.append(CallRecord(message, following))
        self.results = [call.result.result for call in self.calls if call.result.success]
        self.has_asked = any(isinstance(message, Ask) for message in since)
        self._texts = _list_user_texts(since)
        self._by_user = "\n".join(_list_user_texts(messages)).casefold()
        self._tried = self._collect_tried()
        tried = "|".join(map(re.escape, self._tried))
        self._tried_in_quotes = re.compile(rf"['\"“‘`](?:{tried})['\"”’`]", re.IGNORECASE)
        self._common = set(WORDS.split(common.casefold()))

    @property
    def has_failed(self) -> bool:
        """Whether the last call has failed."""
        return bool(self.calls) and not self.calls[-1].result.success

    def find_failure(self) -> CallRecord | None:
        """Return the last call that has failed, if any."""
        for call in reversed(self.calls):
            if not call.result.success:
                return call
        return None

    def find_values(self, text: str, *separators: re.Pattern[str]) -> list[str]:
        """Return the parts of *text* that the user has said, except values of earlier calls and
        quotes of these.
        """
        text = self._tried_in_quotes.sub(" ", text[:_MAX_CHARS])
        parts: dict[str, None] = {}
        for separator in separators:
            for part in separator.split(text):
                parts[part.strip(" .!?")] = None
        values = []
        for part in parts:
            if self._is_value(part.casefold()):
                values.append(part)
            if len(values) == MAX_VALUES:
                break
        return values

    def _is_value(self, word: str) -> bool:
        is_of_user = bool(word) and word in self._by_user
        if not is_of_user or word in self._tried or word in self._common:
            return False
        # "notebook" is in "notebooks", and "rice" not in "price".
        return re.search(rf"(?<![a-z0-9]){re.escape(word)}", self._by_user) is not None

    def quotes_tried_value(self, error: str) -> bool:
        """Return whether *error* quotes a value of a call."""
        if not self._tried:
            return False
        return self._tried_in_quotes.search(error[:_MAX_CHARS]) is not None

    def find_unused_numbers(self) -> list[float]:
        """Return the numbers of the user, and those that are earlier results, that no call has
        used.
        """
        earlier_numbers = filter(is_number, self.results[:-1])
        numbers = Counter(find_numbers(*self._texts, *map(to_text, earlier_numbers)))
        for action, result in self.calls:
            if result.success:
                numbers.subtract(filter(is_number, action.params.values()))
        return list(numbers.elements())

    def find_named_tools(self, entries: Iterable[Entry]) -> set[str]:
        """Return the tools that the user names (see `find_named_tools`), except those that
        succeeded.
        """
        named = find_named_tools("\n".join(self._texts), entries, self._common)
        return named - {action.tool for action, result in self.calls if result.success}

    def _collect_tried(self) -> set[str]:
        tried = set()
        for action, _ in self.calls:
            for value in action.params.values():
                text = str(value).casefold()
                if 0 < len(text) <= _MAX_CHARS:
                    tried.add(text)
        return tried


class _ToolWord(NamedTuple):
    """A word of the name or the description of a *tool*."""

    word: str
    tool: str
    is_whole_name: bool


class _WordsOfTools:
    """The words of tools, found by words that are alike."""

    def __init__(self) -> None:
        self._words_by_start: defaultdict[str, list[str]] = defaultdict(list)
        self._by_word: defaultdict[str, set[_ToolWord]] = defaultdict(set)

    def add(self, each: _ToolWord) -> None:
        """Add a word, unless `_MAX_WORDS_OF_A_START` others have its first letters."""
        others = self._words_by_start[each.word[:_MIN_ALIKE_CHARS]]
        if each.word not in self._by_word:
            if len(others) == _MAX_WORDS_OF_A_START:
                return
            others.append(each.word)
        self._by_word[each.word].add(each)

    def find_tools(self, word: str) -> set[str]:
        """Return the tools with a word like *word*, or only those whose whole name is like it."""
        alike: set[_ToolWord] = set()
        for other in self._words_by_start.get(word[:_MIN_ALIKE_CHARS], ()):
            if _is_alike(word, other):
                alike |= self._by_word[other]
        by_name = {each.tool for each in alike if each.is_whole_name}
        return by_name or {each.tool for each in alike}


def find_named_tools(
    text: str, entries: Iterable[Entry], common: Collection[str] = frozenset()
) -> set[str]:
    """Return the tools that *text* names, without words in *common*.

    A word names a tool if no other tool has it, or if it is the whole name of that tool.
    """
    words_of_tools = _WordsOfTools()
    for entry in entries:
        for each in _list_words(entry):
            if each.word not in common:
                words_of_tools.add(each)
    named: set[str] = set()
    for word in set(_TERM.findall(text[:_MAX_CHARS].casefold())):
        tools = words_of_tools.find_tools(word)
        if len(tools) == 1:
            named |= tools
    return named


def _list_words(entry: Entry) -> list[_ToolWord]:
    """Return the words of a tool that say what it does."""
    name = entry["name"]
    of_name = {term.casefold() for term in _TERM.findall(name)} - _JOINING
    words = [_ToolWord(word, name, len(of_name) == 1) for word in of_name]
    for term in _TERM.findall(describe(entry)):
        is_sign = not term.isalnum()
        if is_sign or len(term) >= _MIN_TERM_CHARS:
            words.append(_ToolWord(term.casefold(), name, False))
    return words


def find_numbers(*texts: str) -> list[float]:
    """Return the first numbers in *texts*."""
    numbers: list[float] = []
    for text in texts:
        for digits in _NUMBER.findall(text[:_MAX_CHARS]):
            if len(digits) > _MAX_DIGITS:
                continue
            digits = digits.replace(",", "")
            numbers.append(float(digits) if "." in digits else int(digits))
    return numbers[:MAX_VALUES]


def is_number(value: Any) -> bool:
    """Whether *value* is a number; a boolean is not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _read_back(history: list[Message]) -> list[ToModel | FromModel]:
    """Return the messages of the structured protocol in *history*, without invalid replies."""
    messages = []
    for message in history:
        try:
            messages.append(from_json(message["content"]))
        except (ValueError, RecursionError):
            continue
    return messages


def _take_since_last_question(messages: list[ToModel | FromModel]) -> list[ToModel | FromModel]:
    """Return the messages from the last question on, without errors about replies."""
    since: list[ToModel | FromModel] = []
    for message in messages:
        if isinstance(message, Question):
            since = []
        if not isinstance(message, Error):
            since.append(message)
    return since


def _count_last_errors(messages: list[ToModel | FromModel]) -> int:
    count = 0
    for message in reversed(messages):
        if not isinstance(message, Error):
            break
        count += 1
    return count


def _list_user_texts(messages: list[ToModel | FromModel]) -> list[str]:
    return [message.content for message in messages if isinstance(message, Question | UserResponse)]


def _is_alike(one: str, other: str) -> bool:
    """Return whether two words differ by their endings at most, as `divide` and `divided` do."""
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    ending_chars = len(long) - len(short)
    if len(short) < _MIN_ALIKE_CHARS or ending_chars > _MAX_ENDING_CHARS:
        return False
    if len(short) > _MIN_TERM_CHARS:
        short = short[:-1]
    return long.startswith(short)
