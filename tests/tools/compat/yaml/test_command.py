"""Command lines with places: which words come of which arguments, and what an outcome means.
Nothing is run here.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire_compat.yaml.command import CommandResult, Place, ToolCommand, WordTemplate, parse_word
from toolwire_tools import ArgumentsError, ToolError


def command(*words: str | list[str], **more: Any) -> ToolCommand:
    parsed = tuple(
        tuple(map(parse_word, word)) if isinstance(word, list) else parse_word(word)
        for word in words
    )
    return ToolCommand(program="/bin/tool", words=parsed, cwd="/", **more)


def words(made: ToolCommand, **arguments: Any) -> list[str]:
    return made.make_invocation(arguments).argv[1:]


# --- places ---


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("plain", ("plain",)),
        ("{a}", (Place("a"),)),
        ("--max={a}!", ("--max=", Place("a"), "!")),
        ("{a?}", (Place("a", optional=True),)),
        ("{a?--verbose}", (Place("a", optional=True, instead="--verbose"),)),
        ("{{a}}", ("{", "a", "}")),
        ("{{{a}}}", ("{", Place("a"), "}")),
        ("{*}", (Place("*"),)),
        ("{a.b[0]}", (Place("a.b[0]"),)),
        ("", ()),
    ],
)
def test_word_is_split_at_its_places(text: str, parts: tuple[Any, ...]) -> None:
    assert parse_word(text) == WordTemplate(parts)


@pytest.mark.parametrize("text", ["{", "}", "a}", "{a", "{}", "{?}"])
def test_brace_outside_of_a_place_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="is in no placeholder; write"):
        parse_word(text)


@given(st.text(), st.dictionaries(st.text(), st.text()))
def test_value_is_never_read_as_a_template(value: str, others: dict[str, str]) -> None:
    assert parse_word("<{a}>").fill({**others, "a": value}) == f"<{value}>"


# --- command lines ---

values = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])).filter(
    lambda t: t[:1] != "-"
)


@given(values, values)
def test_each_place_is_one_word_for_any_value(first: str, second: str) -> None:
    made = command("{a}", "--in={b}", "{a}{b}")

    assert words(made, a=first, b=second) == [first, f"--in={second}", first + second]


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (3, "3"),
        (True, "true"),
        (1.5, "1.5"),
        (["a b", None], '["a b",null]'),
        ({"a": "ü"}, '{"a":"ü"}'),
        ("", ""),
    ],
)
def test_values_other_than_text_are_written_as_json(value: Any, word: str) -> None:
    assert words(command("{a}"), a=value) == [word]


def test_absent_argument_omits_its_whole_group_of_words() -> None:
    made = command(
        "-n",
        ["--max", "{limit}"],
        "{path?}",
        "--in={path?}",
        "{loud?--verbose}",
        defaults={"loud": False},
    )

    assert words(made) == ["-n"]
    assert words(made, path=None, limit=None) == ["-n"]
    assert words(made, limit=0, path="p", loud=True) == [
        "-n",
        "--max",
        "0",
        "p",
        "--in=p",
        "--verbose",
    ]


def test_default_replaces_an_absent_argument() -> None:
    made = command("{path}", defaults={"path": "."})

    assert (words(made), words(made, path="src")) == (["."], ["src"])


@pytest.mark.parametrize("word", ["{a}", "{b}{a}", "{b?}{a}"])
@pytest.mark.parametrize("value", ["-rf", "--output=x", "-", -5, -0.5])
def test_value_cannot_start_an_option(word: str, value: Any) -> None:
    with pytest.raises(ArgumentsError) as caught:
        command(word).make_invocation({"a": value, "b": ""})

    ((where, problem),) = caught.value.faults
    assert where == "arguments.a"
    assert problem == f'{json.dumps(value)} begins with "-", so tool could read it as an option'


def test_leading_dash_is_accepted_if_allowed_or_after_text() -> None:
    assert words(command("{a}", dashes=frozenset("a")), a="-rf") == ["-rf"]
    assert words(command("--in={a}"), a="-rf") == ["--in=-rf"]
    assert words(command("{on?--flag}"), on=True) == ["--flag"]


def test_nul_character_is_refused_in_words_and_environment() -> None:
    with pytest.raises(ArgumentsError) as caught:
        command("{a}", env={"B": parse_word("{b}")}).make_invocation({"a": "x\0y", "b": "\0"})
    assert [where for where, _ in caught.value.faults] == ["arguments.a", "arguments.b"]

    assert command(stdin=parse_word("{a}")).make_invocation({"a": "x\0y"}).stdin == b"x\0y"


def test_standard_input_and_environment_have_places() -> None:
    made = command(
        stdin=parse_word("{*}"),
        env={"A": parse_word("<{a}>"), "B": parse_word("{b?}")},
        defaults={"c": 1},
    )

    invocation = made.make_invocation({"a": "ä"})

    assert json.loads(invocation.stdin) == {"a": "ä", "c": 1}
    assert invocation.env == {"A": "<ä>"}
    assert command(stdin=parse_word("{a?}")).make_invocation({}).stdin == b""


# --- outcomes ---


def make_result(
    status: int = 0, output: bytes = b"", errors: bytes = b"", *, more: int = 0
) -> CommandResult:
    return CommandResult(status, output, len(output) + more, errors, len(errors) + more)


def test_text_output_loses_its_last_newline() -> None:
    assert command().read_outcome(make_result(output="  größer\n\n".encode())) == "  größer"


def test_cut_text_has_a_note_and_ends_with_a_whole_character() -> None:
    made = command(max_output_bytes=1024)

    text = made.read_outcome(make_result(output="ü".encode()[:1], more=5000))

    assert text == "\n(The output was cut after 1 KiB; 5,000 more bytes followed.)"


def test_numbers_in_json_output_are_exact() -> None:
    assert command(output="json").read_outcome(
        make_result(output=b'{"n": 18446744073709551617}')
    ) == {"n": 2**64 + 1}


@pytest.mark.parametrize(
    ("made", "ended", "told"),
    [
        (
            command(),
            make_result(3, errors=b"no such file\n"),
            "tool ended with exit status 3.\nno such file",
        ),
        (
            command(),
            make_result(1, output=b"usage: tool"),
            "tool ended with exit status 1.\nusage: tool",
        ),
        (command(), make_result(1), "tool ended with exit status 1."),
        (command(), make_result(-9), "tool was killed by signal 9 (SIGKILL)."),
        (command(), make_result(-200), "tool was killed by signal 200."),
        (
            command(),
            make_result(2, errors=b"\xbcthe end", more=7000),
            (
                "tool ended with exit status 2.\n(The end of its output; 7,000 bytes before it were"
                " cut.)\nthe end"
            ),
        ),
        (
            command(output="json"),
            make_result(output=b"{"),
            'tool did not print JSON: Input data was truncated. It printed "{".',
        ),
        (
            command(output="json"),
            make_result(output=b"[1]", more=1),
            "tool printed more than 1 MiB, the limit of max_output.",
        ),
        (command(success=frozenset([1])), make_result(0), "tool ended with exit status 0."),
    ],
)
def test_failure_has_the_status_and_the_end_of_stderr(
    made: ToolCommand, ended: CommandResult, told: str
) -> None:
    with pytest.raises(ToolError) as caught:
        made.read_outcome(ended)
    assert str(caught.value) == told


def test_status_listed_as_success_is_no_failure() -> None:
    assert (
        command(success=frozenset([0, 1])).read_outcome(make_result(1, b"nothing found\n"))
        == "nothing found"
    )
