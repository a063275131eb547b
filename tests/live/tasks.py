"""The tasks of an evaluation, read from `tasks.toml` and `tasks_kept_aside.toml`, and when an
answer is right.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
SETS = {"tuning": "tasks.toml", "kept-aside": "tasks_kept_aside.toml", "short": "tasks.toml"}
IN_SHORT = {"sums": 4, "lookups": 3, "files": 3}
"""The first tasks of these kinds are the short form."""

# Other frameworks have no flag for it, so words count.
_REFUSED = re.compile(
    r"\b(cannot|can't|could not|couldn't|unable|not able|not possible|impossible|no tool|don't"
    r" have|do not have|"
    r"there is no|sorry)\b|无法|不能|没有|抱歉",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Task:
    """A question, and how to judge its answer. With an empty *right* the task cannot be solved."""

    name: str
    kind: str
    language: str
    question: str
    right: str
    answers: list[str] = field(default_factory=list)

    def is_right(self, status: str, result: str | None) -> bool:
        """Return whether a run that ended with *status* and *result* has solved the task."""
        text = result or ""
        if not self.right:
            return status == "unsolvable" or (status == "answered" and bool(_REFUSED.search(text)))
        plain = re.sub(r"(?<=\d),(?=\d{3})", "", text)
        return status == "answered" and bool(re.search(_in_text(self.right), plain, re.IGNORECASE))


def _in_text(right: str) -> str:
    """Return the pattern of *right*, as a whole word and with further zeros after a decimal
    point.
    """
    is_number = re.fullmatch(r"-?\d+(\.\d+)?", right)
    zeros = ("0*" if "." in right else r"(\.0+)?") if is_number else ""
    return rf"(?<![\w.-]){re.escape(right)}{zeros}(?!\.?\d)"


def tasks(of: str) -> list[Task]:
    """Return the tasks of a set: `tuning`, `kept-aside` or `short`."""
    made = []
    for kind, by_language in tomllib.loads((HERE / SETS[of]).read_text("utf-8")).items():
        for language, entries in by_language.items():
            for number, entry in enumerate(entries, start=1):
                made.append(Task(f"{kind}-{language}-{number}", kind, language, **entry))
    if of != "short":
        return made
    return [
        task
        for task in made
        if task.language == "en" and int(task.name.rpartition("-")[2]) <= IN_SHORT.get(task.kind, 0)
    ]
