"""Generated clients in Lua drive our server and those of others, in a Neovim without a window."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from clients.languages import driving
from clients.languages.hostile import TEXT, hostile_entries
from clients.languages.mirrored import examples, mirrored
from interop.peers import node
from support import SUPPORT
from support.schema_strategies import documents
from toolwire_dialects.typed_clients import generate

pytestmark = [pytest.mark.process, pytest.mark.slow]

DRIVERS = driving.HERE / "lua"
ROOT = driving.HERE.parents[2]
HOSTS = ROOT / "examples" / "hosts"
HEAD = ["A client made by a test."]


def driven(driver: str, tools: str, folder: Path, **variables: str) -> list[Any]:
    """Run a driver with the generated client *tools*, and return the lines that it printed."""
    file = folder / "tools.lua"
    file.write_text(tools, "utf-8")
    command = [
        driving.toolchain("nvim"),
        "--headless",
        "--clean",
        "-c",
        f"luafile {DRIVERS / driver}",
    ]
    return driving.drive(command, folder, {"TOOLS": str(file), "ERA": "", **variables})


def returned(era: str) -> list[Any]:
    """What the driver of every_type.py prints."""
    places = {**driving.VALUE["places"], "none": []}
    anything = {"deep": [None, 0.3], "empty": {}}
    # vim.json shows 14 digits, so the driver has compared the whole number.
    value = {**driving.VALUE, "whole": 0, "places": places, "anything": anything}
    asking = "" if era else "order"  # legacy servers do not say which tool asks
    away = "ask: the client failed to ask the user: the user is away"
    if era:  # where the question is a request of the server
        away = (
            'tool: tool "order" failed: The client could not ask the user: the client failed to ask'
            " the user."
        )
    cannot = "This tool asks the user, but the client that called it does not support elicitation."
    gone = (
        "the server ended with exit status 7; the end of its stderr:\nout of"
        " \N{REPLACEMENT CHARACTER}[31mpaper"
    )
    return [
        ["add", [5, 3]],
        ["exact", [True, True]],
        ["every type", [value, value]],
        ["measure", 9],
        ["plant", ["level 1", "level 0", "leaf"]],
        ["picture", ["image", "image/png"]],
        ["nothing", [True]],
        ["just text", "a b"],
        ["names", ["class", "https://example.org/a", {"items": [5, 6]}]],
        ["revision", "2025-11-25" if era else "2026-07-28"],
        ["fail", ['tool: tool "fail" failed: out of order', "out of order"]],
        ["bad arguments", 'tool: tool "every_type" failed: arguments.times: 9 is greater than 3'],
        ["missing", ["request", -32602]],
        ["no JSON", [False, 2]],
        ["progress", [[number, 3, f"number {number}"] for number in (1, 2, 3)]],
        ["cancel", ["cancelled: the call was cancelled", True, "timeout: no answer within 50 ms"]],
        ["pipelined", 10_000],
        ["no questions", f'tool: tool "order" failed: {cannot}'],
        ["closed", "closed: the client was closed"],
        [
            "questions",
            [
                [[f"How much {dish}?", asking, "object"] for dish in ("soup", "tea", "tea", "tea")],
                [
                    "2 large soup",
                    'tool: tool "order" failed: The user declined to answer.',
                    'tool: tool "order" failed: The user closed the form without an answer.',
                    away,
                ],
            ],
        ],
        ["death", ["gone", 7, "out of \x1b[31mpaper", "gone", False]],
        ["later", f"gone: {gone}"],
        [
            "no start",
            "gone: the server ended with exit status 3; the end of its stderr:\nno config",
        ],
        ["no start", "start"],
    ]


@pytest.mark.parametrize("era", ["", "legacy"])
def test_a_client_has_every_type_and_every_way_a_call_can_go(tmp_path: Path, era: str) -> None:
    said = driven("every_type.lua", driving.generated("lua", driving.EVERY_TYPE), tmp_path, ERA=era)

    assert said == returned(era)


@pytest.mark.parametrize(("era", "revision"), [("", "2026-07-28"), ("legacy", "2025-11-25")])
def test_a_client_drives_a_server_of_the_official_python_sdk(
    tmp_path: Path, era: str, revision: str
) -> None:
    [said] = driven("foreign.lua", driving.generated("lua", driving.official()), tmp_path, ERA=era)

    assert said == [5, "tool", "timeout", "counted", 6, "deleted it", ["Delete it?"], revision]


def test_a_server_that_breaks_the_rules_fails_its_call_and_leaves_no_process(
    tmp_path: Path,
) -> None:
    said = driven("hostile.lua", driving.generated("lua", driving.EVERY_TYPE), tmp_path)

    unreadable = ["protocol", "the server sent a response that is no JSON, or nested too deeply"]
    no_result = ["protocol", "the server sent a result of a call that is none"]
    assert said == [
        *[["fine", 7]] * 3,
        unreadable,
        unreadable,
        ["protocol", "the server sent a message of more than 100000 bytes"],
        no_result,
        ["request", "the server answered with an error without a message"],
        ["protocol", "the server sent a response with neither a result nor an error"],
        ["protocol", 'tool "add" sent no structured result, although it declares one'],
        no_result,
        ["protocol", "the server asks for x, which this client did not offer"],
        ["tool", 'tool "add" failed: vim.empty_dict()'],
        ["gone", "the server closed its output, and wrote nothing to its stderr"],
        ["timeout", "the server was not ready in time; the end of its stderr:"],
    ]


def test_a_client_drives_the_everything_server(tmp_path: Path) -> None:
    [said] = driven("everything.lua", driving.generated("lua", driving.everything()), tmp_path)

    weather = {"temperature": 36, "conditions": "Light rain / drizzle", "humidity": 82}
    assert said == [
        "2025-11-25", weather, "The sum of 2 and 3 is 5.", "image/png", 2, "demo://resource/dynamic/text/1"
    ]  # fmt: skip


@pytest.mark.parametrize("era", ["", "legacy"])
def test_calls_that_become_tasks_are_waited_for_found_again_and_cancelled(
    tmp_path: Path, era: str
) -> None:
    server = [sys.executable, str(SUPPORT / "named_task_server.py"), era]
    runtime = (ROOT / "clients" / "lua" / "toolwire.lua").read_text("utf-8")
    said = driven("tasks.lua", runtime, tmp_path, ERA=era, SERVER=json.dumps(server))

    cancelled = ["request", "the task was cancelled", -32800]
    late = ["timeout", "no answer within 100 ms"]
    of_modern_servers = [["ask", ["done", 1]], ["fail", ["request", "burnt", -32603]]]
    assert said == [
        ["work", "done"],
        ["messages", ["half"]],
        ["quick", "done"],
        *([] if era else of_modern_servers),
        ["task", {"task_id": "t"}],
        ["again", "done"],
        ["other", ["protocol", "the server sent a task that is none, or another one"]],
        ["waited", late],
        ["cancelled", cancelled],
        ["late", late],
        ["its task", cancelled],
    ]


def test_a_client_of_any_schemas_can_be_loaded(tmp_path: Path) -> None:
    entries = [
        driving.mirror(number, schema) for number, schema in enumerate(examples(documents(), 200))
    ]
    tools = tmp_path / "tools.lua"
    for embeds in (True, False):
        tools.write_text(
            generate(
                "lua",
                entries,
                command=["server"],
                head=HEAD,
                runtime_in="client" if embeds else "package",
            ),
            "utf-8",
        )
        check = f"lua assert(loadfile('{tools}'))"
        driving.run(
            [
                driving.toolchain("nvim"),
                "--headless",
                "--clean",
                "-c",
                f"{check} vim.cmd('qa')",
                "-c",
                "cq",
            ],
            tmp_path,
        )


def test_a_client_of_a_hostile_server_can_be_loaded(tmp_path: Path) -> None:
    tools = tmp_path / "tools.lua"
    tools.write_text(generate("lua", hostile_entries(), command=[TEXT], head=[TEXT]), "utf-8")
    check = f"lua assert(loadfile('{tools}'))"
    driving.run(
        [
            driving.toolchain("nvim"),
            "--headless",
            "--clean",
            "-c",
            f"{check} vim.cmd('qa')",
            "-c",
            "cq",
        ],
        tmp_path,
    )


def test_values_go_through_lua_and_back(tmp_path: Path) -> None:
    cases = examples(mirrored(), 200)
    entries = [driving.mirror(number, schema) for number, (schema, _) in enumerate(cases)]
    tools = generate("lua", entries, command=driving.echo(entries, tmp_path), head=HEAD)
    arguments = tmp_path / "arguments"
    arguments.write_text(
        "".join(json.dumps({"result": value}) + "\n" for _, value in cases), "utf-8"
    )

    said = driven("mirror.lua", tools, tmp_path, ARGUMENTS=str(arguments))

    assert said == [value for _, value in cases]


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the example hosts with the client of the plugin."""
    copied = shutil.copytree(HOSTS, tmp_path_factory.mktemp("examples") / "hosts")
    (copied / "neovim" / "lua").mkdir(exist_ok=True)
    command = [
        sys.executable,
        "-m",
        "toolwire",
        "client",
        "lua",
        "tools.py",
        "-o",
        "neovim/lua/example_tools.lua",
    ]
    driving.run(command, copied)
    return copied


def test_the_example_plugin_completes_calls_and_cancels(hosts: Path, tmp_path: Path) -> None:
    (tmp_path / "toolwire").symlink_to(Path(sys.executable).with_name("toolwire"))
    path = f"{tmp_path}:{os.environ['PATH']}"
    command = [
        driving.toolchain("nvim"),
        "--headless",
        "--clean",
        "--cmd",
        f"set runtimepath+={hosts / 'neovim'}",
    ]

    said = driving.drive(
        [*command, "-c", f"luafile {DRIVERS / 'plugin.lua'}"], tmp_path, {"PATH": path}
    )

    assert said == [
        ["add", "count", "wait"],
        ["count"],
        ["a=", "b="],
        "add: 5",
        "there is no tool nothing",
        "a is not ARGUMENT=VALUE",
        'tool "add" failed: arguments.a: "two" is not an integer\narguments.b: is missing',
        "count: 1 ",
        "count: 2 ",
        "count: counted to 2",
        "wait: 0 ",
        "the call was cancelled",
    ]


def test_the_lua_is_as_stylua_leaves_it_and_luacheck_finds_nothing(
    hosts: Path, tmp_path: Path
) -> None:
    ours = [ROOT / "clients" / "lua" / "toolwire.lua", *DRIVERS.glob("*.lua")]
    ours += [HOSTS / "neovim" / "host.lua", HOSTS / "neovim" / "plugin" / "tool.lua"]
    limits = ["--std", "luajit", "--globals", "vim", "--max-line-length", "120", "--no-unused-args"]
    allowed = ["--no-max-comment-line-length", "--no-max-string-line-length"]

    generated = (
        hosts / "neovim" / "lua" / "example_tools.lua"
    )  # whose long lines are names and texts of the server
    driving.run([driving.toolchain("luacheck"), *limits, *allowed, *ours], tmp_path)
    driving.run(
        [driving.toolchain("luacheck"), *limits, "--no-max-line-length", generated], tmp_path
    )
    driving.run(
        [node(newest=True), DRIVERS / "stylua.cjs", driving.toolchain("node_modules"), *ours],
        tmp_path,
    )
