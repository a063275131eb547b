"""What runs a tool that YAML describes, found and put together with the description."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from support.recording_caller import RecordingCaller
from toolwire_compat.mas import Executor
from toolwire_compat.yaml import load_tool_config, load_tool_configs
from toolwire_compat.yaml.model import ConfigError
from toolwire_schemas.did_you_mean import explain_unknown_name
from toolwire_tools import ArgumentsError, NotOffered, Tool, ToolError, find_offer, find_tools

MODULE = '''
from toolwire_tools import Context, tool_api
from toolwire_compat.mas import Executor

@tool_api(title="Sum", read_only=True)
def add(a: int, context: Context, b: int = 1) -> int:
    """Add two numbers."""
    return a + b

def anything(**words): return words

class Kit:
    def method(self): ...

kit = Kit()

@Executor.register(executor_type="tool", executor_name="Echo")
class Echo(Executor):
    """Say it again."""
    def execute(self, step_id, agent_state):
        step = agent_state["agent_step"].get_step(step_id)
        agent_state["context"].progress(1)
        match step.instruction_content:
            case "result": step.update_execute_result({"as": "result"})
            case "nothing": return None
            case "raise": raise ValueError("a bad day")
            case "fail":
                agent_state["agent_step"].update_step_status(step_id, "failed")
                return {"error": "a bad day"}
            case "share":
                agent_state["agent_step"].update_step_status(step_id, "failed")
                return {"send_shared_message": {"content": "no paper"}}
            case "silent": return {"update_stage_agent_state": {"state": "failed"}}
            case said: return {"said": said, "text": step.text_content}

@Executor.register(executor_type="skill", executor_name="later")
class Later(Executor):
    async def execute(self, step_id, agent_state):
        return {"said": agent_state["agent_step"].get_step(step_id)[0].instruction_content}
'''


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(Executor, "_registry", {})
    (tmp_path / "things.py").write_text(MODULE, "utf-8")
    yield tmp_path
    sys.modules.pop("things", None)


def tool(folder: Path, text: str, name: str = "tool.yaml") -> Tool:
    (folder / name).write_text(
        "use_guide: {tool_name: tool, description: Does it.}\n" + text, "utf-8"
    )
    (made,) = find_tools(load_tool_config(folder / name))
    return made


def call_tool(made: Tool, **arguments: Any) -> Any:
    if made.is_async:
        answer = anyio.run(made.call_async, arguments, RecordingCaller())
    else:
        answer = made.call(arguments, RecordingCaller())
    return answer.get("structuredContent", answer["content"][0]["text"])


def test_function_is_described_by_yaml_and_keeps_options_of_its_decorator(
    folder: Path,
) -> None:
    made = tool(folder, "function: things:add\ntitle: Plus")

    entry = made.describe()
    assert (entry["name"], entry["title"], entry["description"]) == ("tool", "Plus", "Does it.")
    assert entry["annotations"] == {"title": "Plus", "readOnlyHint": True}
    assert list(entry["inputSchema"]["properties"]) == ["a", "b"]
    assert call_tool(made, a=2) == {"result": 3}


def test_parameters_in_yaml_replace_the_hints(folder: Path) -> None:
    made = tool(folder, "function: things:add\nparameters: {a: {type: integer, minimum: 0}}")

    assert call_tool(made, a=2) == {"result": 3}
    with pytest.raises(ArgumentsError, match="less than 0"):
        call_tool(made, a=-1)
    with_default = tool(
        folder, "function: things:add\nparameters: {a: int, b: {type: integer, default: 5}}"
    )
    assert call_tool(with_default, a=2) == {"result": 7}
    assert call_tool(tool(folder, "function: things:anything\nparameters: {x: string}"), x="y") == {
        "x": "y"
    }


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("function: things:ad", "function: things: no function 'ad', did you mean 'add'?"),
        (
            "function: thing:add",
            "function: no module 'thing', neither next to this file nor installed",
        ),
        ("function: things:Kit", "function: Kit is a class, not a function"),
        ("function: things:kit", "function: kit is of type Kit, not a function"),
        ("function: things:Kit.method", "function: Kit.method is a method and needs an object"),
        (
            "function: things:add\nparameters: {a: int, c: int}",
            "parameters: they do not match the function: got an unexpected keyword argument 'c'",
        ),
        (
            "function: things:add\nparameters: {b: int}",
            "parameters: they do not match the function: missing a required argument: 'a'",
        ),
        ("function: things:add\noutput_schema: {$ref: '#/x'}", "the output schema"),
        (
            "executor: things:Ecko",
            "executor: things registers no executor 'Ecko', did you mean 'Echo'?",
        ),
        ("executor: Echo", "executor: there is no executor 'Echo'"),
        ("", "nothing runs it; set command, function or executor, or write an executor in tool.py"),
    ],
)
def test_missing_or_unsuitable_binding_is_a_fault_of_the_file(
    folder: Path, text: str, fault: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        tool(folder, text)
    assert fault in str(caught.value)
    assert "tool.yaml:1: " in str(caught.value)


def test_executor_is_found_by_name_or_module_or_next_to_the_file(folder: Path) -> None:
    named = tool(folder, "executor: things:ECHO")
    registered = tool(folder, "executor: echo")
    (folder / "tool.py").write_text(
        MODULE.replace('"Echo"', '"TOOL"').replace('"later"', '"never"'), "utf-8"
    )
    beside = tool(folder, "", "tool_config.yaml")
    sys.modules.pop("tool")

    for made in (named, registered, beside):
        assert call_tool(made, instruction="x") == {"said": "x", "text": "x"}


def test_file_next_to_a_module_uses_its_executor(folder: Path) -> None:
    (folder / "things_config.yaml").write_text(
        "use_guide: {tool_name: things, description: d}", "utf-8"
    )

    with pytest.raises(
        ConfigError, match=r"things registers no executor 'things'\. Known: Echo, later"
    ):
        find_tools(load_tool_config(folder / "things_config.yaml"))


@pytest.mark.parametrize(
    ("instruction", "said"),
    [
        ("just words", "just words"),
        ('I see. <tool>{"a": 1}</tool>', {"a": 1}),
        ('{"a": 1}', {"a": 1}),
        ("{a: 1}", "{a: 1}"),
    ],
)
def test_executor_gets_the_content_of_the_block_or_the_whole_text(
    folder: Path, instruction: str, said: Any
) -> None:
    assert call_tool(tool(folder, "executor: things:Echo"), instruction=instruction) == {
        "said": said,
        "text": instruction,
    }


def test_call_returns_the_result_of_the_step_or_its_output(folder: Path) -> None:
    made = tool(folder, "executor: things:Echo")

    assert call_tool(made, instruction="result") == {"as": "result"}
    assert call_tool(made, instruction="nothing") == "finished"
    with pytest.raises(ValueError, match="a bad day"):
        call_tool(made, instruction="raise")
    with pytest.raises(ToolError, match=r'The step has failed: \{"error":"a bad day"\}'):
        call_tool(made, instruction="fail")
    with pytest.raises(ToolError, match="There is no complete block for tool"):
        call_tool(made, instruction="<tool>x")


def test_failed_step_raises_its_shared_message(folder: Path) -> None:
    made = tool(folder, "executor: things:Echo")

    with pytest.raises(ToolError, match=r"The step has failed: no paper\Z"):
        call_tool(made, instruction="share")
    with pytest.raises(ToolError, match=r"The step has failed: no message was given\Z"):
        call_tool(made, instruction="silent")


def test_parameters_are_the_instruction_of_an_executor(folder: Path) -> None:
    made = tool(
        folder,
        "executor: things:Echo\nparameters: {query: string, most: {type: integer, default: 3}}",
    )

    assert call_tool(made, query="tea")["said"] == {"query": "tea", "most": 3}


def test_coroutine_function_is_an_asynchronous_tool(folder: Path) -> None:
    made = tool(folder, "executor: things:later")

    assert made.is_async
    assert call_tool(made, instruction="x") == {"said": "x"}


def test_executor_classes_and_objects_are_served_without_yaml(folder: Path) -> None:
    sys.path.append(str(folder))
    import things  # type: ignore[import-not-found]

    offered = {made.name: made for made in find_offer(things).tools}
    (of_object,) = find_tools(things.Echo())

    assert list(offered) == ["add", "Echo", "later"]
    assert offered["Echo"].describe()["description"] == "Say it again."
    assert call_tool(of_object, instruction="x") == {"said": "x", "text": "x"}
    with pytest.raises(NotOffered, match="the class is not registered"):
        find_tools(type("Stranger", (things.Echo,), {}))


@pytest.mark.process
def test_folder_of_configs_is_a_list_of_tools(folder: Path) -> None:
    (folder / "a.yaml").write_text(
        "use_guide: {tool_name: a, description: d}\ncommand: [echo, '{*}']", "utf-8"
    )
    (folder / "b.yaml").write_text(
        "use_guide: {tool_name: b, description: d}\ncommand: [cat]\nstdin: '{*}'", "utf-8"
    )

    made = find_tools(list(load_tool_configs(folder).values()))

    assert [one.name for one in made] == ["a", "b"]
    assert [call_tool(one, instruction="x") for one in made] == ['{"instruction":"x"}'] * 2


def test_module_that_shadows_a_file_is_an_error(folder: Path) -> None:
    (folder / "json.py").touch()

    with pytest.raises(ImportError, match=r"json\.py is shadowed by"):
        tool(folder, "function: json:dumps")


def test_unknown_name_without_known_names_says_so() -> None:
    assert explain_unknown_name("executor", "RAG", []) == "no executor 'RAG'; no names are known"
