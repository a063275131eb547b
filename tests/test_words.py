"""Docs, messages, docstrings, comments and the names of tests use plain technical English: none of
the words and phrases listed here. Functions are verbs, and subjects of commits are short.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]

CLAUSE = (
    "What (?:is|was|are|were|has|have|had|comes|came|goes|an?|the|it|they|we|some|each|no) "
    r"[^]?\n]*[.;:,]"
)
# The pattern of a word with what to write instead. Where the first letter is upper case, a sentence
# starts there.
WORDS = {
    r"told|hears": "report, notify or receive; code is not told and hears nothing",
    r"whoever|nobody|somebody|nobody's|somebody's": "name the caller, client, user or thread",
    r"(?:is|are|was|were) (?-i:none)": "say what is missing: 'if there is no X', 'X is not a Y'",
    r"meanwhile": "'at the same time', 'while X'",
    r"mend(?:s|ed|ing)?": "fix",
    r"(?:comes?|came) to": "is, results in, reaches",
    r"(?:stands?|stood) for": "means, represents, replaces",
    r"of ours": "Toolwire's, this project's",
    r"dear|dearer|dearest|dearly": "expensive",
    r"beside": "in addition to, next to, and",
    r"so many": "'at most N', 'the number of'",
    rf"(?-i:{CLAUSE})": (
        "the subject of a sentence is a thing: 'The arguments that …', 'Messages that …'"
    ),
}
# Phrases of old pages and help texts that the words above do not cover.
PHRASES = (
    "after the stroke",
    "costs you all",
    "for a host that is quick",
    "found out by trying",
    "goes on later",
    "if nothing is said",
    "is unknown; known here",
    "knows what is known",
    "left out before an argument",
    "may be left out, and",
    "no module, file, bundled or installed",
    "of what *must* be",
    "only to say more about",
    "sees a handful of variables",
    "so that a test can ask",
    "starts before a host notices",
    "the way through the source",
    "what agents want again and again",
    "what is found elsewhere",
    "what more some features need",
    "works with what there is",
)
PATTERN = re.compile(
    "|".join(
        (
            *(rf"\b(?:{word})" + (r"\b" if CLAUSE not in word else "") for word in WORDS),
            *map(re.escape, PHRASES),
        )
    ),
    re.IGNORECASE,
)

# Each text with a word of the list has one of these in it, or the clause. Few texts do, and looking
# for these takes a tenth of the time of the pattern.
STEMS = (
    *("told", "hears", "whoever", "nobody", "somebody", "meanwhile", "mend"),
    *("come to", "comes to", "came to", "stand for", "stands for", "stood for"),
    *("of ours", "dear", "beside", "so many"),
    *PHRASES,
)
STEMS_AS_WRITTEN = ("is none", "are none", "was none", "were none")  # "is None" is code


def may_have_a_word(text: str) -> bool:
    """Return whether a search for the words of the list in *text* may find some."""
    if any(stem in text for stem in STEMS_AS_WRITTEN) or re.search(CLAUSE, text):
        return True
    lower_case = text.lower()
    return any(stem in lower_case for stem in STEMS)


class Finding(NamedTuple):
    file: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text!r}"


def pages() -> Iterator[Path]:
    yield from ROOT.glob("*.md")
    for folder in ("docs", "examples", "tests", *SOURCES):
        yield from (ROOT / folder).rglob("*.md")


SOURCES = ("schemas", "tools", "server", "clients", "tests/support")


def sources() -> Iterator[Path]:
    for folder in SOURCES:
        yield from (ROOT / folder).rglob("*.py")


def prose_of_page(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a page that are no code, and their numbers."""
    is_code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        elif not is_code:
            yield number, re.sub(r"`[^`]*`", "`code`", line)


def prose_of_source(text: str) -> Iterator[tuple[int, str]]:
    """Yield the comments, docstrings and messages of a source file with the numbers of their
    lines.
    """
    # Tokens take most of the time; only a line with a "#" can hold a comment.
    if any(PATTERN.search(line.partition("#")[2]) for line in text.splitlines() if "#" in line):
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string
    for node in ast.walk(ast.parse(text)):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and " " in node.value.strip()
        ):
            for number, line in enumerate(node.value.split("\n"), node.lineno):
                yield min(number, node.end_lineno or number), line


def findings_in(path: Path) -> list[Finding]:
    text = path.read_text("utf-8")
    # To parse every file would take most of the time.
    if not may_have_a_word(text) or not PATTERN.search(text):
        return []
    prose = prose_of_source(text) if path.suffix == ".py" else prose_of_page(text)
    name = path.relative_to(ROOT).as_posix()
    return [
        Finding(name, line, found[0]) for line, words in prose for found in PATTERN.finditer(words)
    ]


def test_no_text_has_a_word_of_the_list() -> None:
    findings = [finding for path in (*pages(), *sources()) for finding in findings_in(path)]
    assert not findings, "\n".join(map(str, findings))


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ('def run() -> None:\n    """Whoever calls is\n    told of it."""', 2),
        ("x = 1  # nobody needs it", 1),
        ('raise ValueError(f"{name}: unless that is mended")', 1),
        ('TEXT = """\nWhat is sent, is read.\n"""', 2),
    ],
)
def test_a_word_is_found_in_docstrings_comments_and_messages(source: str, line: int) -> None:
    assert line in {number for number, prose in prose_of_source(source) if PATTERN.search(prose)}


def test_no_word_of_the_list_is_missed() -> None:
    sentences = [
        f"It {word} x." for word in re.findall(r"\w+", "told hears nobody meanwhile mends")
    ]
    sentences += [
        "Whoever is.",
        "Somebody's.",
        "There are none.",
        "It comes to x.",
        "It came to x.",
    ]
    sentences += ["It stands for x.", "X of ours.", "X is dearer.", "X beside Y.", "So many X."]
    sentences += ["What is sent, goes.", *PHRASES]
    missed = [each for each in sentences if not (may_have_a_word(each) and PATTERN.search(each))]
    assert missed == []


@pytest.mark.parametrize(
    "text", ["```\nnobody\n```", "The option `beside` exists.", "## What is a tool?", "amended"]
)
def test_code_questions_and_longer_words_are_no_findings(text: str) -> None:
    assert [prose for _, prose in prose_of_page(text) if PATTERN.search(prose)] == []


# --- names ----------------------------------------------------------------------------------------


def names_of_tests(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line of each test function, and its name as words."""
    for found in re.finditer(r"^\s*(?:async )?def test_(\w+)", text, re.MULTILINE):
        yield text.count("\n", 0, found.start()) + 1, found[1].replace("_", " ")


def test_no_name_of_a_test_has_a_word_of_the_list() -> None:
    findings = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in (ROOT / "tests").rglob("test_*.py")
        for line, name in names_of_tests(path.read_text("utf-8"))
        if PATTERN.search(name)
    ]
    assert not findings, "\n".join(findings)


# What a function does is a verb. These participles say what was done to something, and leave open
# by whom and to what.
PARTICIPLES = {"told", "worded", "said", "offered", "written", "held", "given", "marked", "heard"}
MAY_BE_NAMED_BY_PARTICIPLE = re.compile(rf"\bdef _*(?:{'|'.join(PARTICIPLES)})_*\(")


def functions_named_by_participles(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the name of each function whose whole name is a participle of the list."""
    if not MAY_BE_NAMED_BY_PARTICIPLE.search(text):
        return
    for node in ast.walk(ast.parse(text)):
        is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if is_function and node.name.strip("_") in PARTICIPLES:
            yield node.lineno, node.name


def test_functions_are_named_by_verbs() -> None:
    findings = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for folder in ("schemas", "tools", "server", "clients")
        for path in (ROOT / folder).rglob("*.py")
        for line, name in functions_named_by_participles(path.read_text("utf-8"))
    ]
    assert not findings, "\n".join(findings)


# --- commits --------------------------------------------------------------------------------------

FIRST_COMMIT = "5014e52166209a2a1950a2bef062c25f0dc33c68"
"""Subjects of commits before this one were longer."""

MAX_SUBJECT_CHARS = 60


def subjects_of_commits() -> list[str]:
    """Return the subjects since `FIRST_COMMIT`; none where git or its history is missing."""
    command = ["git", "log", "--format=%s", f"{FIRST_COMMIT}..HEAD"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    except OSError:
        return []
    return done.stdout.splitlines()


@pytest.mark.process
def test_subjects_of_commits_are_short() -> None:
    too_long = [subject for subject in subjects_of_commits() if len(subject) > MAX_SUBJECT_CHARS]
    assert not too_long
