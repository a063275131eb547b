"""`--env-file`: what a `.env` file says, what it leaves alone, and mistakes in it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire.cli.main import main
from toolwire.errors import UsageError
from toolwire.loading.env_file import apply_env_file, read_variables

LINES = {
    "A=1": {"A": "1"},
    "  A = 1  ": {"A": "1"},
    "export A=1": {"A": "1"},
    "A=": {"A": ""},
    "A=b=c": {"A": "b=c"},
    "A=a#b": {"A": "a#b"},
    "A=a # a comment": {"A": "a"},
    "A= # a comment": {"A": ""},
    "A='a # b' # c": {"A": "a # b"},
    "A='it\\n'": {"A": "it\\n"},
    'A="two\\nlines"': {"A": "two\nlines"},
    'A="a \\"word\\" \\\\"': {"A": 'a "word" \\'},
    "A=$HOME": {"A": "$HOME"},
    "# A=1\n\nB=2": {"B": "2"},
    "A=1\nA=2": {"A": "2"},
    "A=1\r\nB=2\r\n": {"A": "1", "B": "2"},
}


@pytest.mark.parametrize("text", LINES)
def test_a_line_sets_a_variable(text: str) -> None:
    assert dict(read_variables(text, ".env")) == LINES[text]


@pytest.mark.parametrize(
    "line", ["secret", "=secret", "1A=secret", "A-B=secret", "A='secret", 'A="secret" more']
)
def test_a_line_without_meaning_is_an_error_that_names_its_place_and_no_value(line: str) -> None:
    with pytest.raises(UsageError, match=r"^\.env:2: ") as caught:
        list(read_variables(f"A=1\n{line}", ".env"))
    assert "secret" not in str(caught.value)


@given(st.text())
def test_any_text_gives_variables_that_can_be_set_or_an_error(text: str) -> None:
    try:
        variables = dict(read_variables(text, ".env"))
    except UsageError:
        return
    assert not any("\0" in value or "=" in name for name, value in variables.items())


def test_a_variable_that_is_set_already_keeps_its_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLWIRE_TEST_SET", "by the host")
    monkeypatch.setenv("TOOLWIRE_TEST_NEW", "")
    monkeypatch.delenv("TOOLWIRE_TEST_NEW")
    file = tmp_path / ".env"
    file.write_text("\ufeffTOOLWIRE_TEST_SET=1\nTOOLWIRE_TEST_NEW=2\n", "utf-8")

    apply_env_file(str(file))

    assert (os.environ["TOOLWIRE_TEST_SET"], os.environ["TOOLWIRE_TEST_NEW"]) == (
        "by the host",
        "2",
    )


@pytest.mark.parametrize(
    ("content", "sentence"), [(None, "cannot be read"), (b"A=\xff", "is not text in UTF-8")]
)
def test_a_file_that_cannot_be_read_is_one_sentence(
    tmp_path: Path, content: bytes | None, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / ".env"
    if content is not None:
        file.write_bytes(content)
    assert main(["list", "tools.py", "--env-file", str(file)]) == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.process
def test_tools_of_a_served_file_see_the_variables(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".env").write_text("TOOLWIRE_TEST_KEY='a key'\n", "utf-8")
    source = "import os\nKEY = os.environ['TOOLWIRE_TEST_KEY']\ndef key() -> str:\n    return KEY\n"
    (tmp_path / "tools.py").write_text(source, "utf-8")
    options = ["--env-file", str(tmp_path / ".env")]
    try:
        assert main(["call", *options, str(tmp_path / "tools.py"), "key"]) == 0
    finally:
        os.environ.pop("TOOLWIRE_TEST_KEY", None)
    assert capfd.readouterr().out == "a key\n"
