"""Scripts for the shell: what a file may say, and that no argument is ever read as a part of the
script.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from toolwire_compat.yaml.command import Invocation, ToolCommand, find_unquoted
from toolwire_compat.yaml.files import load_tool_config
from toolwire_compat.yaml.model import ConfigError
from toolwire_compat.yaml.run_command import run
from toolwire_tools import ArgumentsError


@pytest.fixture
def read(tmp_path: Path) -> Any:
    def read(script: str, parameters: Any = None, **more: Any) -> ToolCommand:
        parameters = {"a": "string", "b": "integer"} if parameters is None else parameters
        tool = {
            "name": "t",
            "description": "d",
            "parameters": parameters,
            "shell": True,
            "command": script,
            **more,
        }
        path = tmp_path / "tool.yaml"
        path.write_text(json.dumps(tool), "utf-8")
        binding = load_tool_config(path).binding
        assert isinstance(binding, ToolCommand)
        return binding

    return read


def test_each_parameter_is_a_variable_and_an_absent_one_is_unset(read: Any, tmp_path: Path) -> None:
    script = """grep "$a" | head -n $b | awk '{print $1}'"""
    parameters = {"a": "string", "b": {"type": "integer", "required": False}, "max-size": "integer"}

    made = read(script, parameters, env={"SIZE": "{max-size}"}, stdin="{*}")

    assert made.make_invocation({"a": "x y", "max-size": 3}) == Invocation(
        argv=["sh", "-c", script],
        cwd=str(tmp_path),
        env={"a": "x y", "b": None, "SIZE": "3"},
        stdin=b'{"a":"x y","max-size":3}',
        max_output_bytes=1024 * 1024,
    )


def test_argument_may_be_used_in_the_script_and_elsewhere(read: Any) -> None:
    made = read('wc -c; echo "$a" "$b"', stdin="{a}", env={"b": "<{b}>"})

    invocation = made.make_invocation({"a": "x", "b": 1})

    assert (invocation.stdin, invocation.env) == (b"x", {"a": "x", "b": "<1>"})
    assert (
        read("cat", {"max-size": "integer"}, stdin="{*}").make_invocation({"max-size": 1}).env == {}
    )


def test_value_with_a_leading_dash_is_refused_unless_allowed(read: Any) -> None:
    with pytest.raises(ArgumentsError) as caught:
        read('grep "$a" -m $b').make_invocation({"a": "--file=/etc/passwd", "b": -1})

    assert [str(fault[1]) for fault in caught.value.faults] == [
        '"--file=/etc/passwd" begins with "-", so the script could read it as an option',
        '-1 begins with "-", so the script could read it as an option',
    ]
    allowed = read('grep -e "$a" -m $b', allow_leading_dash=["a"])
    assert allowed.make_invocation({"a": "-x", "b": 1}).env == {"a": "-x", "b": "1"}


@pytest.mark.parametrize(
    "script",
    [
        'echo "$a" $b',
        'echo "<${a}>" "${a#x}" $b',
        'x="$(grep "$a" f)"; echo "$x" $b',
        "echo '$a' \"$a\" $b",
        'echo it\\\'s "$a" $b',
        'case "$a" in x) echo "$a";; esac; echo $b',
        'echo "$a" $b  # not $a',
        "awk '$1 == ENVIRON[\"a\"]' | head -n $((b + 1))",
    ],
)
def test_quoted_text_and_unquoted_numbers_are_accepted(read: Any, script: str) -> None:
    assert read(script).words[1].parts == (script,)


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("echo $a $b", 'the shell splits $a into words; write "$a", in double quotes'),
        ("echo ${a} $b", "splits $a"),
        ('echo "x"$a $b', "splits $a"),
        ('echo "$(cat $a)" $b', "splits $a"),
        ('echo "`cat $a`" $b', "splits $a"),
        ('x="$(echo "y" $a)"; $b', "splits $a"),
        ("cat <<END\n$a\nEND\n$b", "splits $a"),
        ("echo $((a + b))$a", "splits $a"),
        ('echo "{a}" $b', '{a} means nothing to the shell; write "$a"'),
        ("echo $b", "the parameter 'a' is not used; write \"$a\" where it goes"),
    ],
)
def test_script_that_splits_or_ignores_an_argument_is_refused(
    read: Any, script: str, told: str
) -> None:
    with pytest.raises(ConfigError, match="command") as caught:
        read(script)
    assert any(told in str(fault) for fault in caught.value.faults)


@pytest.mark.parametrize("name", ["PATH", "IFS", "LD_PRELOAD", "max-size", "größe", "1st"])
def test_variable_cannot_replace_one_of_the_system(read: Any, name: str) -> None:
    with pytest.raises(
        ConfigError, match="cannot be a variable, whose name begins with a small letter"
    ):
        read(f'echo "${name}"', {name: "string"})


@given(st.text("$ab\"'`()\\# {}\n"))
def test_any_script_can_be_searched_for_unquoted_variables(script: str) -> None:
    assert {letter for name in find_unquoted(script) for letter in name} <= {"a", "b"}


NAMES = [f"v{number}" for number in range(8)]
SHOW = "printf '%s\\n' ok | cat; printf '%s\\0' " + " ".join(f'"${name}"' for name in NAMES)
HOSTILE = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])) | st.lists(
    st.sampled_from(
        [
            "'",
            '"',
            "`",
            "$(touch pwned)",
            "; touch pwned;",
            "\n",
            "\\",
            "${IFS}",
            "$v0",
            "*",
            "-n",
            "|",
            "() { :; };",
        ]
    )
).map("".join)


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="runs the shell of POSIX")
def test_shell_passes_any_value_unchanged(read: Any, tmp_path: Path) -> None:
    made = read(SHOW, dict.fromkeys(NAMES, "string"), allow_leading_dash=NAMES)

    @given(st.lists(HOSTILE, min_size=len(NAMES), max_size=len(NAMES)))
    @example(
        [
            "$(touch pwned)",
            "`touch pwned`",
            '"; touch pwned; "',
            "'; touch pwned; '",
            "-rf",
            "*",
            "\\",
            "\n",
        ]
    )
    def check(values: list[str]) -> None:
        done = anyio.run(run, made.make_invocation(dict(zip(NAMES, values, strict=True))))
        assert done.output == b"ok\n" + b"".join(value.encode() + b"\0" for value in values)

    check()
    assert [path.name for path in tmp_path.iterdir()] == ["tool.yaml"]
