"""The texts to copy make the same call again, whatever is in the arguments."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from interop.peers import node
from toolwire.inspect.snippets import write_snippets
from toolwire.loading.argument_text import read

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.text(), values, max_size=4))
@example({"text": "@/etc/passwd"})
@example({"text": "5", "number": 5})
@example({"-x": 1})
@example({"a.b": 1})
@example({"": ""})
@example({"text": 'it\'s "$HOME" `ls` \\ !\n'})
def test_the_words_of_the_command_line_mean_the_arguments(arguments: dict[str, Any]) -> None:
    line = write_snippets("tool", arguments, "tools.py", [])["command"]
    toolwire, call, target, name, *words = shlex.split(line)
    assert (toolwire, call, target, name) == ("toolwire", "call", "tools.py", "tool")
    assert not any(word.startswith("-") for word in words)
    assert read(words, {}) == arguments


@given(
    st.text(min_size=1),
    st.dictionaries(st.text(), values, max_size=2),
    st.lists(st.text(), min_size=1, max_size=3),
)
def test_no_control_character_is_on_the_command_line(
    name: str, arguments: dict[str, Any], command: list[str]
) -> None:
    assert write_snippets(name, arguments, None, command)["command"].isprintable()


@pytest.mark.process
def test_bash_reads_the_words_of_a_hostile_server_as_they_are(tmp_path: Path) -> None:
    if (bash := shutil.which("bash")) is None:
        pytest.skip("bash is not installed")
    name = "a\nb\x1b[201~ 'c' \\ \u202e é"
    line = write_snippets(name, {}, None, ["server\r"])["command"].replace(
        "toolwire call", "printf '%s\\0'", 1
    )
    done = subprocess.run([bash, "-c", line], cwd=tmp_path, stdout=subprocess.PIPE, check=True)
    assert done.stdout.decode().split("\0")[:-1] == [name, "{}", "--", "server\r"]


def test_a_server_that_is_no_target_is_started_by_its_command() -> None:
    command = write_snippets("add", {"number": 2}, None, ["npx", "-y", "a server"])["command"]
    assert command == """toolwire call add '{"number":2}' -- npx -y 'a server'"""


ODD: dict[str, Any] = {
    "text": "'\"\\ $HOME `date` \n\t\u2028 é 漢 😀 </script>",
    "nested": {"": [None, True, 1.5, 2**53, {"a": []}]},
}
ECHO = '''
import json
from typing import Any

def echo(text: str, nested: Any) -> str:
    """Return the arguments as JSON."""
    return json.dumps([text, nested])
'''


@pytest.fixture
def texts(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "it's odd.py").write_text(ECHO, encoding="utf-8")
    command = [sys.executable, "-m", "toolwire", "serve", str(tmp_path / "it's odd.py")]
    return write_snippets("echo", ODD, None, command)


def run(*command: str, cwd: Path) -> Any:
    done = subprocess.run(
        command, cwd=cwd, capture_output=True, encoding="utf-8", timeout=60, check=True
    )
    return json.loads(done.stdout)


@pytest.mark.process
def test_a_shell_runs_the_command_line(texts: dict[str, str], tmp_path: Path) -> None:
    line = texts["command"].replace(
        "toolwire call", f"{shlex.quote(sys.executable)} -m toolwire call", 1
    )
    assert run("sh", "-c", line, cwd=tmp_path) == list(ODD.values())


@pytest.mark.process
def test_python_runs_the_python(texts: dict[str, str], tmp_path: Path) -> None:
    assert run(sys.executable, "-c", texts["python"], cwd=tmp_path) == list(ODD.values())


@pytest.mark.process
def test_the_typescript_runs_with_the_client_that_its_command_writes(
    texts: dict[str, str], tmp_path: Path
) -> None:
    node = newest_node()
    line = texts["typescript"].partition("\n")[0].partition(": ")[2]
    line = line.replace("toolwire client", f"{shlex.quote(sys.executable)} -m toolwire client", 1)
    subprocess.run(["sh", "-c", line], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    (tmp_path / "call.ts").write_text(texts["typescript"], "utf-8")

    assert run(node, "call.ts", cwd=tmp_path) == list(ODD.values())


@pytest.mark.process
def test_node_sends_a_member_called_proto(tmp_path: Path) -> None:
    node = newest_node()
    arguments = {"__proto__": {"__proto__": [1]}, "a": None}
    (tmp_path / "tools.ts").write_text(CLIENT)
    text = write_snippets("get-user", arguments, None, ["server"], [GET_USER])["typescript"]
    (tmp_path / "call.ts").write_text(text, "utf-8")

    assert run(node, "call.ts", cwd=tmp_path) == ["getUser", arguments]


# Only the arguments are in question here; that the client's functions have these names, its own
# tests show.
GET_USER = {"name": "get-user", "outputSchema": {"type": "object"}}
CLIENT = """
const call = (name: unknown) => async (given: unknown) => JSON.stringify([name, given]);
const tools = new Proxy({}, { get: (_, name) => call(name) });
export const connect = async () => ({ tools, close: () => 0 }) as any;
"""


def newest_node() -> str:
    """Return Node of a version that runs TypeScript."""
    found = node(newest=True)
    version = subprocess.run(
        [found, "--version"], capture_output=True, text=True, check=True
    ).stdout
    if int(version.removeprefix("v").partition(".")[0]) < 22:
        pytest.skip(f"Node {version} does not run TypeScript")
    return found


def test_files_are_named_absolutely(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tools.py").write_text("")
    for target in ("tools.py", "tools.py:add"):
        made = write_snippets("add", {}, target, [])
        assert json.dumps(str(tmp_path / target)) in made["python"]
        assert str(tmp_path / target) in made["typescript"]
        assert made["command"] == f"toolwire call {target} add '{{}}'"
    assert '"toolwire", "serve", "a.module"' in write_snippets("add", {}, "a.module", [])["python"]
