"""Tools described in YAML: what a file may say, and that every fault of it is told, with its place."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire_tools.steps.configured_tool import tool_of
from toolwire_tools.toolconfig.command import Command, parse
from toolwire_tools.toolconfig.files import load_tool_config, load_tool_configs
from toolwire_tools.toolconfig.model import ExecutorName, Function, ToolConfig
from toolwire_tools.toolconfig.reader import _KEYS, config_of
from toolwire_tools.toolconfig.yaml_document import MAX_VALUES, ConfigError, documents

PARTS = ["type", "default", "enum", "required", "name", "properties", "items", "description", "minimum", "tool_name"]
GUIDE = "use_guide: {tool_name: tool, description: It does something.}\n"


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def write(text: str, name: str = "tool.yaml") -> str:
        path = tmp_path / name
        path.write_text(dedent(text), "utf-8")
        return str(path)

    return write


def faults(path: str) -> list[str]:
    """What is wrong with the files at *path*, without their folder."""
    with pytest.raises(ConfigError) as caught:
        load_tool_configs(path)
    folder = path if Path(path).is_dir() else str(Path(path).parent)
    return [str(fault).removeprefix(folder).removeprefix("/") for fault in caught.value.faults]


# --- the standard file ---

STANDARD = """
    # 该文件用于描述工具的使用方法，以及工具包含的提示词
    #（工具本身不调用LLM，但是为工具生成指令时要调用LLM。这里提示词是为instruction_generation准备的）。

    # 工具的简要作用描述，Agent所有可选技能与工具的简要描述会被组装在available_skills_and_tools中
    use_guide:
      tool_name: {name}
      description: {description} # 该工具的大致功能描述

    # 为工具进行指令生成时调用的提示词
    use_prompt:
      tool_name: {name}
      tool_prompt:  # 该工具对LLM指令生成时的实际引导提示词
      return_format:  # 定义LLM需要返回的，使用该工具的特定指令调用格式。
"""


def test_the_standard_file_is_read_and_its_prompts_may_be_empty(write: Any) -> None:
    path = write(STANDARD.format(name="rag", description="检索知识库"), "rag_config.yaml")

    assert load_tool_config(path) == ToolConfig(name="rag", description="检索知识库", file=path, line=7)


def test_the_standard_file_as_it_is_printed_lacks_names_and_descriptions(write: Any) -> None:
    assert faults(write(STANDARD.format(name="", description=""), "rag_config.yaml")) == [
        "rag_config.yaml:7: use_guide.tool_name: is empty; give the tool a name",
        "rag_config.yaml:8: use_guide.description: is empty; say what the tool is good for",
        "rag_config.yaml:12: use_prompt.tool_name: is empty; repeat the name: ",
    ]


def test_prompts_keep_their_lines(write: Any) -> None:
    config = load_tool_config(
        write("""
            use_guide: {tool_name: rag, description: d}
            use_prompt:
              tool_name: RAG
              tool_prompt: |
                One.
                  Two.
              return_format: <RAG>...</RAG>
        """)
    )

    assert (config.tool_prompt, config.return_format) == ("One.\n  Two.\n", "<RAG>...</RAG>")


def test_a_folder_of_files_is_a_mapping_by_name(write: Any, tmp_path: Path) -> None:
    write(GUIDE.replace("tool,", "ocr,"), "ocr_config.yml")
    write(GUIDE.replace("tool,", "rag,"), "rag_config.yaml")
    write("services: {db: {image: postgres}}", "compose.yaml")
    write("use_guide: [", "_draft.yaml")
    (tmp_path / "rag.py").touch()

    assert list(load_tool_configs(tmp_path)) == ["ocr", "rag"]


def test_a_file_may_describe_several_tools(write: Any) -> None:
    path = write(f"---\n{GUIDE}---\n{GUIDE.replace('tool,', 'other,')}---\n", "tools.yaml")

    assert list(load_tool_configs(path)) == ["tool", "other"]
    with pytest.raises(ConfigError, match="it describes 2 tools"):
        load_tool_config(path)


def test_all_faults_of_all_files_are_told_at_once(write: Any, tmp_path: Path) -> None:
    write(GUIDE.replace("description", "descripton"), "a.yaml")
    write(GUIDE + "timeout_seconds: soon\nread_only: yes\n", "b.yaml")
    write("use_guide: [", "c.yaml")
    write(GUIDE, "d.yaml")
    write(GUIDE.replace("tool,", "Tool,"), "e.yaml")

    assert faults(str(tmp_path)) == [
        "a.yaml:1: use_guide.descripton: no key 'descripton', did you mean 'description'? "
        "Known: tool_name, description",
        "a.yaml:1: use_guide.description: is missing; say what the tool is good for",
        "b.yaml:2: timeout_seconds: must be `float`, not `str`",
        "b.yaml:3: read_only: yes is read as true; write that, or put it in quotes",
        "c.yaml:1: this is not YAML: expected the node content, but found '<stream end>'",
        f"e.yaml:1: use_guide.tool_name: 'Tool' is described in {tmp_path}/d.yaml:1 already; rename or remove one",
    ]


# --- names ---


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("ocr_config.yaml", GUIDE, ":1: use_guide.tool_name: 'tool' is not 'ocr', which the file is called after"),
        ("tool.yaml", GUIDE + "use_prompt: {tool_name: spade}", ":2: use_prompt.tool_name: 'spade' is not 'tool'"),
        ("tool.yaml", GUIDE + "use_prompt: {tool_prompt: x}", ":2: use_prompt.tool_name: is missing; repeat the name"),
        ("tool.yaml", GUIDE.replace("tool,", "a b,"), ":1: use_guide.tool_name: 'a b' cannot stand in a tag"),
        ("tool.yaml", GUIDE.replace("tool,", "a<b,"), ":1: use_guide.tool_name: 'a<b' cannot stand in a tag"),
        ("tool.yaml", GUIDE.replace("tool,", "007,"), ":1: use_guide.tool_name: 7 is no text; put it in quotes"),
        ("x_config.yaml", f"{GUIDE}---\n{GUIDE.replace('tool,', 'two,')}", "called after the one tool 'x'"),
    ],
)
def test_a_tool_has_one_name(write: Any, name: str, text: str, told: str) -> None:
    assert any(told in fault for fault in faults(write(text, name)))


@pytest.mark.parametrize("name", ["Tool", "TOOL", "tool"])
def test_names_may_differ_in_the_case_of_letters(write: Any, name: str) -> None:
    path = write(GUIDE.replace("tool,", f"{name},") + "use_prompt: {tool_name: tool}", "tool_config.yaml")

    assert load_tool_config(path).name == name


# --- what a tool takes ---

A_AND_B = {
    "type": "object",
    "properties": {"a": {"type": "string", "description": "A."}, "b": {"type": "integer", "default": 3}},
    "additionalProperties": False,
    "required": ["a"],
}


@pytest.mark.parametrize(
    "text",
    [
        "parameters: [{name: a, type: STRING, description: A.}, {name: b, type: Integer, default: 3}]",
        "parameters: [{name: a, type: STRING, description: A.}, {name: b, type: int, default: 3}]\nrequired: [a]",
        "parameters: {a: {type: str, description: A.}, b: {type: integer, default: 3}}",
        f"input_schema: {A_AND_B!r}".replace("False", "false"),
    ],
)
def test_parameters_become_a_schema_however_they_are_written(write: Any, text: str) -> None:
    assert load_tool_config(write(GUIDE + text)).input_schema == A_AND_B


def test_a_parameter_may_say_what_json_schema_can(write: Any) -> None:
    text = """
        use_guide: {tool_name: tool, description: d}
        parameters:
          unit: {type: string, enum: [m, km], required: false}
          points: {type: Array, items: {type: object, properties: {x: {type: number}}}, minItems: 1}
          rate: FLOAT
          anything:
    """
    config = load_tool_config(write(text))

    assert config.input_schema == {
        "type": "object",
        "properties": {
            "unit": {"type": "string", "enum": ["m", "km"]},
            "points": {
                "type": "array",
                "items": {"type": "object", "properties": {"x": {"type": "number"}}},
                "minItems": 1,
            },
            "rate": {"type": "number"},
            "anything": {},
        },
        "additionalProperties": False,
        "required": ["points", "rate", "anything"],
    }


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("parameters:", "parameters: is empty; write {} for a tool that takes nothing"),
        ("parameters: query", 'parameters: "query" is neither a list nor a mapping of parameters'),
        ("parameters: [query]", 'parameters[0]: "query" has no name; write {name: ..., type: ..., description: ...}'),
        ("parameters: [{name: a}, {name: a}]", "parameters[1]: the parameter 'a' is there already; keep one"),
        ("parameters: {a: 5}", "parameters.a: 5 says nothing of a parameter; write its type, or {type: ...}"),
        ("parameters: {a: strin}", "parameters.a.type: no type 'strin', did you mean 'string'?"),
        ("parameters: {a: {typ: string}}", "parameters.a.typ: no key 'typ', did you mean 'type'?"),
        ("parameters: {a: {type: string, minLength: x}}", "parameters.a: 'x' is not of type 'integer' at minLength"),
        ("parameters: {a: {type: integer, default: x}}", 'parameters.a.default: "x" is not an integer'),
        ("parameters: [{name: a}]\nrequired: [b]", "required[0]: no parameter 'b'"),
        ("parameters: [{name: a}]\nrequired: a", 'required: "a" is no list of names of parameters'),
        ("required: [a]", "required: it belongs to a list of parameters; say it in parameters"),
        ("input_schema: {type: object}\nrequired: [a]", "required: it belongs to a list of parameters"),
        ("input_schema: {type: strin}", "input_schema: 'strin' is not valid under any of the given schemas at type"),
        ("input_schema: {type: string}", "input_schema: arguments come by name: its root has to say type: object"),
        ("input_schema: query", 'input_schema: "query" is no JSON Schema'),
        ("input_schema: {type: object}\nparameters: {}", "input_schema: parameters are given as well"),
    ],
)
def test_faults_of_parameters_are_named(write: Any, text: str, told: str) -> None:
    assert any(told in fault for fault in faults(write(GUIDE + text)))


# --- what runs a tool ---


def test_a_parameter_that_cannot_be_read_is_one_fault_and_its_place_none(write: Any) -> None:
    assert len(faults(write(GUIDE + "parameters: {a: 5}\ncommand: [echo, '{a}']"))) == 1


def test_a_command_is_bound_with_all_that_belongs_to_it(write: Any, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    text = """
        use_guide: {tool_name: tool, description: d}
        parameters: {text: string, limit: {type: integer, required: false}, mode: {type: string, default: fast}}
        command: [./run, -1, [--max, "{limit}"], "{mode}"]
        stdin: "{text}"
        env: {LEVEL: 3, MODE: "<{mode}>"}
        cwd: sub
        output: json
        success: [0, 1]
        max_output: 2 MiB
        allow_leading_dash: [mode]
        timeout_seconds: 10
        read_only: true
        output_schema: {type: object}
    """
    config = load_tool_config(write(text))

    assert config.binding == Command(
        program=f"{tmp_path}/./run",
        words=(parse("-1"), (parse("--max"), parse("{limit}")), parse("{mode}")),
        cwd=str(tmp_path / "sub"),
        stdin=parse("{text}"),
        env={"LEVEL": parse("3"), "MODE": parse("<{mode}>")},
        defaults={"mode": "fast"},
        dashes=frozenset(["mode"]),
        output="json",
        success=frozenset([0, 1]),
        max_output_bytes=2 * 1024 * 1024,
    )
    assert (config.options.timeout_seconds, config.options.read_only) == (10.0, True)
    assert config.options.output_schema == {"type": "object"}


def test_functions_and_executors_are_bound_by_their_names(write: Any) -> None:
    def binding(text: str) -> Any:
        return load_tool_config(write(GUIDE + text)).binding

    assert binding("function: package.module:Kit.method") == Function("Kit.method", "package.module")
    assert binding("executor: rag") == ExecutorName("rag")
    assert binding("executor: module:rag") == ExecutorName("rag", "module")
    assert binding("") is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "command: echo -n 'it {instruction}' no 3",
            "is one text, and there is no shell to split it; write its words as a list: "
            "[echo, -n, 'it {instruction}', 'no', '3']",
        ),
        ("command: echo it's", "write its words as a list: [echo, 'it''s']"),
        ("command: echo hi | wc", 'there is no shell for "echo hi | wc"; write a list of words such as [grep,'),
        ("command: 3", "command: 3 is no list of words such as [grep, -n, '{pattern}']"),
        ("command: []", "command: [] is no list of words"),
        ('command: ["{instruction}"]', "command[0]: what runs cannot come from an argument; name the program"),
        ('command: [echo, "{instruct}"]', "command[1]: no parameter 'instruct', did you mean 'instruction'?"),
        ('command: [awk, "{print $1}"]', "write {{ and }} for braces"),
        ('command: [echo, "{"]', "command[1]: the '{' at character 1 belongs to no place; write '{{'"),
        ('command: [echo, true, "{instruction}"]', "command[1]: true is no text; put it in quotes"),
        ('command: [echo, [-n], "{instruction}"]', "command[1]: a list among the words is left out if"),
        ("command: [echo]", "the parameter 'instruction' stands nowhere; write {instruction} where it goes or, if"),
        (
            'parameters: {a: {required: false}}\ncommand: [echo, "{a}"]',
            "command[1]: a call may leave out 'a': write {a?}, put it in a list of its own, or give it a default",
        ),
        ('parameters: {a: string}\ncommand: [echo, "{a}"]\nstdin: "{b}"', "stdin: no parameter 'b'. Known: a"),
        ('command: [echo, "{*}"]\nenv: [A]', 'env: ["A"] is no mapping'),
        ('command: [echo, "{*}"]\nenv: {A=B: x}', "env.A=B: no variable of the environment can have this name"),
        ('command: [echo, "{*}"]\nenv: {A: on}', "env.A: on is read as true"),
        ('command: [echo, "{*}"]\nenv: {A: "\\0"}', "env.A: it holds a NUL character"),
        ('command: [echo, "{*}"]\ncwd: nowhere', "cwd: there is no folder"),
        ('command: [echo, "{*}"]\noutput: xml', "output: no output 'xml'"),
        ('command: [echo, "{*}"]\noutput_schema: {type: object}', "output_schema: text has no schema; say output"),
        ('command: [echo, "{*}"]\nsuccess: 0', "success: 0 is no list of exit statuses such as [0, 1]"),
        ('command: [echo, "{*}"]\nmax_output: lots', 'max_output: "lots" is not a number of bytes'),
        ('command: [echo, "{*}"]\nallow_leading_dash: [x]', "allow_leading_dash[0]: no parameter 'x'"),
        ('command: [echo, "{*}"]\nexecutor: x', "executor: command says already what runs the tool"),
        ("stdin: x", "stdin: it belongs to a command, and there is none"),
        ("function: f", 'function: "f" is not of the form module:function'),
        ("function: 'module:'", 'function: "module:" is not of the form module:function'),
        ("executor: ':x'", 'executor: ":x" is not of the form NAME or module:NAME'),
        ("commnd: [echo]", "commnd: no key 'commnd', did you mean 'command'?"),
        ("memory_limit: 1 MiB", "memory_limit: it needs a process of its own; say runs_in: process as well"),
        ("title:", "title: is empty; leave it out if there is nothing to say"),
    ],
)
def test_faults_of_what_runs_a_tool_are_named(write: Any, text: str, told: str) -> None:
    found = faults(write(GUIDE + text))

    assert any(told in fault for fault in found), found


# --- YAML itself ---


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "tool.yaml: it says nothing; a tool has at least use_guide: {tool_name: ..., description: ...}"),
        ("- a", 'tool.yaml:1: ["a"] describes no tool'),
        ("use_guide: {}", "tool.yaml:1: use_guide: is empty; write use_guide: {tool_name: ..., description: ...}"),
        ("use_guide: x", 'tool.yaml:1: use_guide: "x" is no mapping'),
        ("title: x", "tool.yaml:1: use_guide: is missing"),
        (GUIDE + GUIDE, "tool.yaml:2: use_guide: this key stands here twice, first in line 1; keep one"),
        (GUIDE + "title: 2024-01-01", "title: this is a date, which JSON lacks; put it in quotes if text is meant"),
        (GUIDE + "title: 1:30", "title: 1:30 is read as 90; write that, or put it in quotes"),
        (GUIDE + "meta: {x: .inf}", "meta.x: .inf is no number in JSON"),
        (GUIDE + "meta: {1: x}", "meta: there is a key that is no text"),
        (GUIDE + "meta: !!python/object/apply:os.system [id]", "meta: this is of the type"),
        (GUIDE + 'title: "\\ud800"', "title: the text holds half a character"),
        (GUIDE + "meta: &m [*m]", "an alias (*name) stands inside of what it stands for"),
        (GUIDE + "a: \x07", "this is not YAML"),
        (GUIDE + "icons: [1]", "tool.yaml:2: icons: icons[0] must be `dict`, not `int`"),
        (GUIDE + "meta: " + "[" * 500, "it is nested too deeply"),
    ],
)
def test_faults_of_the_yaml_are_told_with_their_line(write: Any, text: str, told: str) -> None:
    found = faults(write(text))

    assert any(told in fault for fault in found), found


def test_aliases_do_not_grow_without_bound() -> None:
    levels = [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]" for n in range(1, 12)]
    (document,) = documents("\n".join(["l0: &l0 [x]", *levels]), "bomb.yaml")

    (fault,) = document.faults
    assert f"more than {MAX_VALUES:,} values" in fault.problem


def test_a_file_that_is_no_utf8_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "tool.yaml").write_bytes(b"# one\n# \xff\n")

    assert faults(str(tmp_path / "tool.yaml")) == ["tool.yaml:2: it is not UTF-8; save it in that encoding"]


def test_a_file_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    (tmp_path / "tool.yaml").write_bytes(b"\xef\xbb\xbf" + GUIDE.encode())

    assert load_tool_config(tmp_path / "tool.yaml").name == "tool"


words = st.sampled_from(["tool", "a", "{a}", "{a?}", "{*}", "{", "", "-x", "string", "object", "json", "m:f", "1 MiB"])
anything = st.recursive(
    words | st.none() | st.booleans() | st.integers(-2, 9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words | st.sampled_from(PARTS), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from([*_KEYS, "unknown"]), anything, max_size=5), st.booleans())
def test_whatever_a_file_says_is_a_tool_or_a_list_of_faults(said: dict[str, Any], with_guide: bool) -> None:
    if with_guide:
        said["use_guide"] = {"tool_name": "tool", "description": "d"}
    (document,) = documents(json.dumps(said), "tool.yaml")

    config = config_of(document)

    assert document.faults or (isinstance(config, ToolConfig) and config.name == "tool")
    if not document.faults and isinstance(config, ToolConfig) and isinstance(config.binding, Command):
        with suppress(ConfigError):
            assert tool_of(config).describe()["name"] == "tool"


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert faults(str(tmp_path / "none.yaml")) == ["none.yaml: it cannot be read: No such file or directory"]
    assert "there is no tool's YAML" in faults(str(tmp_path))[0]
