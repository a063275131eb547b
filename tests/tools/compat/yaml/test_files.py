"""Tools described in YAML: what a file may say, and that every fault of it is told, with its
place.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire_compat.mas.yaml_tool import make_config_tool
from toolwire_compat.yaml.command import ToolCommand, parse_word
from toolwire_compat.yaml.document import read_documents
from toolwire_compat.yaml.files import load_tool_config, load_tool_configs
from toolwire_compat.yaml.model import ConfigError, ExecutorName, Function, ToolConfig
from toolwire_compat.yaml.reader import read_config
from toolwire_schemas.published import load

PARTS = [
    "type",
    "default",
    "enum",
    "required",
    "name",
    "properties",
    "items",
    "description",
    "minimum",
    "tool_name",
]
KEYS = list(load("tool-library")["$defs"]["entry"]["properties"])
GUIDE = "use_guide: {tool_name: tool, description: It does something.}\n"


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


def test_standard_file_is_read_even_with_empty_prompts(write: Any) -> None:
    path = write(STANDARD.format(name="rag", description="检索知识库"), "rag_config.yaml")

    assert load_tool_config(path) == ToolConfig(
        name="rag", description="检索知识库", file=path, line=7
    )


def test_template_of_the_standard_file_lacks_names_and_descriptions(write: Any) -> None:
    assert faults(write(STANDARD.format(name="", description=""), "rag_config.yaml")) == [
        "rag_config.yaml:7: use_guide.tool_name: it is empty, which is not a string",
        "rag_config.yaml:8: use_guide.description: it is empty, which is not a string",
        "rag_config.yaml:12: use_prompt.tool_name: it is empty, which is not a string",
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


def test_folder_of_files_is_a_mapping_by_name(write: Any, tmp_path: Path) -> None:
    write(GUIDE.replace("tool,", "ocr,"), "ocr_config.yml")
    write(GUIDE.replace("tool,", "rag,"), "rag_config.yaml")
    write("services: {db: {image: postgres}}", "compose.yaml")
    write("use_guide: [", "_draft.yaml")
    (tmp_path / "rag.py").touch()

    assert list(load_tool_configs(tmp_path)) == ["ocr", "rag"]


def test_file_may_describe_several_tools(write: Any) -> None:
    path = write(f"---\n{GUIDE}---\n{GUIDE.replace('tool,', 'other,')}---\n", "tools.yaml")

    assert list(load_tool_configs(path)) == ["tool", "other"]
    with pytest.raises(ConfigError, match="it describes 2 tools"):
        load_tool_config(path)


def test_all_faults_of_all_files_are_reported_at_once(write: Any, tmp_path: Path) -> None:
    write(GUIDE.replace("description", "descripton"), "a.yaml")
    write(GUIDE + "timeout_seconds: soon\nread_only: yes\n", "b.yaml")
    write("use_guide: [", "c.yaml")
    write(GUIDE, "d.yaml")
    write(GUIDE.replace("tool,", "Tool,"), "e.yaml")

    assert faults(str(tmp_path)) == [
        "a.yaml:1: use_guide.description: is missing",
        (
            "a.yaml:1: use_guide.descripton: is unknown; did you mean description? Known here:"
            " description, tool_name"
        ),
        'b.yaml:2: timeout_seconds: "soon" is not a number',
        "b.yaml:3: read_only: yes is read as true; write that, or put it in quotes",
        "c.yaml:1: this is not YAML: expected the node content, but found '<stream end>'",
        f"e.yaml:1: 'Tool' is already described in {tmp_path}/d.yaml:1; rename or remove one",
    ]


# --- names ---


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        (
            "ocr_config.yaml",
            GUIDE,
            "1: 'tool' is not 'ocr', the name of the file; rename one of them",
        ),
        (
            "tool.yaml",
            GUIDE + "use_prompt: {tool_name: spade}",
            ":2: use_prompt.tool_name: 'spade' is not 'tool'",
        ),
        (
            "tool.yaml",
            GUIDE + "use_prompt: {tool_prompt: x}",
            "2: use_prompt.tool_name: is missing",
        ),
        (
            "tool.yaml",
            GUIDE.replace("tool,", "a b,"),
            '1: use_guide.tool_name: "a b" does not match the pattern ^[^\\s<>/]+$',
        ),
        (
            "tool.yaml",
            GUIDE.replace("tool,", "a<b,"),
            '1: use_guide.tool_name: "a<b" does not match the pattern ^[^\\s<>/]+$',
        ),
        ("tool.yaml", GUIDE.replace("tool,", "007,"), "1: use_guide.tool_name: 7 is not a string"),
        (
            "x_config.yaml",
            f"{GUIDE}---\n{GUIDE.replace('tool,', 'two,')}",
            "1: 'tool' is not 'x', the name of the file; rename one of them",
        ),
    ],
)
def test_a_tool_has_one_name(write: Any, name: str, text: str, told: str) -> None:
    assert any(told in fault for fault in faults(write(text, name)))


@pytest.mark.parametrize("name", ["Tool", "TOOL", "tool"])
def test_names_may_differ_in_the_case_of_letters(write: Any, name: str) -> None:
    path = write(
        GUIDE.replace("tool,", f"{name},") + "use_prompt: {tool_name: tool}", "tool_config.yaml"
    )

    assert load_tool_config(path).name == name


# --- what a tool takes ---

A_AND_B = {
    "type": "object",
    "properties": {
        "a": {"type": "string", "description": "A."},
        "b": {"type": "integer", "default": 3},
    },
    "additionalProperties": False,
    "required": ["a"],
}


@pytest.mark.parametrize(
    "text",
    [
        (
            "parameters: [{name: a, type: STRING, description: A.}, {name: b, type: Integer,"
            " default: 3}]"
        ),
        (
            "parameters: [{name: a, type: STRING, description: A.}, {name: b, type: int, default:"
            " 3}]\nrequired: [a]"
        ),
        "parameters: {a: {type: str, description: A.}, b: {type: integer, default: 3}}",
        f"input_schema: {A_AND_B!r}".replace("False", "false"),
    ],
)
def test_parameters_in_any_form_become_a_schema(write: Any, text: str) -> None:
    assert load_tool_config(write(GUIDE + text)).input_schema == A_AND_B


def test_parameter_may_use_any_keyword_of_json_schema(write: Any) -> None:
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
        ("parameters:", "parameters: it is empty, which is neither an object nor an array"),
        ("parameters: query", 'parameters: "query" is neither an object nor an array'),
        ("parameters: [query]", 'parameters[0]: "query" is not an object'),
        (
            "parameters: [{name: a}, {name: a}]",
            "parameters[1]: the parameter 'a' is defined twice; keep one",
        ),
        ("parameters: {a: 5}", "parameters.a: 5 is neither an object nor a string nor null"),
        ("parameters: {a: strin}", "parameters.a.type: no type 'strin', did you mean 'string'?"),
        ("parameters: {a: {typ: string}}", "parameters.a.typ: is unknown; did you mean type?"),
        (
            "parameters: [{name: a, requird: true}]",
            "parameters[0].requird: is unknown; did you mean required?",
        ),
        (
            "parameters: {a: {x-unit: kg, typ: string}}",
            "parameters.a.typ: is unknown; did you mean type?",
        ),
        (
            "parameters: {a: {colour: red}}",
            (
                "parameters.a.colour: is unknown; write words of JSON Schema, such as type and"
                " description"
            ),
        ),
        (
            "parameters: {a: {type: string, minLength: x}}",
            'parameters.a.minLength: "x" is not an integer',
        ),
        (
            "parameters: {a: {type: integer, default: x}}",
            'parameters.a.default: "x" is not an integer',
        ),
        ("parameters: [{name: a}]\nrequired: [b]", "required[0]: no parameter 'b'"),
        ("parameters: [{name: a}]\nrequired: a", 'required: "a" is not an array'),
        ("required: [a]", "required: it needs parameters as well"),
        ("input_schema: {type: object}\nrequired: [a]", "required: it needs parameters as well"),
        (
            "input_schema: {type: strin}",
            'input_schema.type: "strin" is not one of "array", "boolean", "integer", "null",',
        ),
        ("input_schema: {type: string}", 'input_schema.type: "string" is not "object"'),
        ("input_schema: query", 'input_schema: "query" is neither an object nor a boolean'),
        (
            "input_schema: {type: object}\nparameters: {}",
            "input_schema: only one of parameters, input_schema may be given",
        ),
    ],
)
def test_faults_of_parameters_are_named(write: Any, text: str, told: str) -> None:
    assert any(told in fault for fault in faults(write(GUIDE + text)))


# --- what runs a tool ---


def test_unreadable_parameter_is_one_fault_only(write: Any) -> None:
    assert len(faults(write(GUIDE + "parameters: {a: 5}\ncommand: [echo, '{a}']"))) == 1


def test_command_is_read_with_all_its_settings(write: Any, tmp_path: Path) -> None:
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
        shared: false
        output_schema: {type: object}
    """  # noqa: E501
    config = load_tool_config(write(text))

    assert config.binding == ToolCommand(
        program=f"{tmp_path}/./run",
        words=(
            parse_word("-1"),
            (parse_word("--max"), parse_word("{limit}")),
            parse_word("{mode}"),
        ),
        cwd=str(tmp_path / "sub"),
        stdin=parse_word("{text}"),
        env={"LEVEL": parse_word("3"), "MODE": parse_word("<{mode}>")},
        defaults={"mode": "fast"},
        dashes=frozenset(["mode"]),
        output="json",
        success=frozenset([0, 1]),
        max_output_bytes=2 * 1024 * 1024,
    )
    assert (config.options.timeout_seconds, config.options.read_only) == (10.0, True)
    assert not config.options.shared
    assert config.options.output_schema == {"type": "object"}


def test_functions_and_executors_are_read_by_name(write: Any) -> None:
    def binding(text: str) -> Any:
        return load_tool_config(write(GUIDE + text)).binding

    assert binding("function: package.module:Kit.method") == Function(
        "Kit.method", "package.module"
    )
    assert binding("executor: rag") == ExecutorName("rag")
    assert binding("executor: module:rag") == ExecutorName("rag", "module")
    assert binding("") is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "command: echo hi | wc",
            (
                "command: it is one text: write a list of words such as [grep, -n, '{pattern}'], "
                "or let a shell run it with shell: true"
            ),
        ),
        ("command: [echo, hi]\nshell: true", "command: with shell: true it is one text"),
        ("shell: true", "shell: it needs command as well"),
        ("command: echo hi\nshell: sure", 'shell: "sure" is not a boolean'),
        ("command: 3", "command: 3 is neither an array nor a string"),
        ("command: []", "command: has 0 items, at least 1 are needed"),
        (
            'command: ["{instruction}"]',
            "command[0]: the first word must be the name of a program, without placeholders",
        ),
        (
            'parameters: {file: string}\ncommand: [cat, "{fil}"]',
            "command[1]: no parameter 'fil', did you mean 'file'?",
        ),
        ('command: [awk, "{print $1}"]', "write {{ and }} for braces"),
        (
            'command: [echo, "{"]',
            "command[1]: the '{' at character 1 is in no placeholder; write '{{'",
        ),
        (
            'command: [echo, true, "{instruction}"]',
            "command[1]: true is neither a string or an integer nor an array",
        ),
        (
            "parameters: {a: string}\ncommand: [echo]",
            "command: the parameter 'a' is not used; write {a} where it goes",
        ),
        (
            'parameters: {a: {required: false}}\ncommand: [echo, "{a}"]',
            (
                "command[1]: a call may omit 'a': write {a?}, put it in a list of its own, or give"
                " it a default"
            ),
        ),
        (
            'parameters: {a: string}\ncommand: [echo, "{a}"]\nstdin: "{b}"',
            "stdin: no parameter 'b'. Known: a",
        ),
        ('command: [echo, "{*}"]\nenv: [A]', 'env: ["A"] is not an object'),
        ('command: [echo, "{*}"]\nenv: {A=B: x}', 'env: "A=B" does not match the pattern ^[^=]+$'),
        ('command: [echo, "{*}"]\nenv: {A: on}', "env.A: on is read as true"),
        ('command: [echo, "{*}"]\ncwd: nowhere', "cwd: there is no folder"),
        ('command: [echo, "{*}"]\noutput: xml', 'output: "xml" is not one of "text", "json"'),
        (
            'command: [echo, "{*}"]\noutput_schema: {type: object}',
            "output_schema: text has no schema; add output: json",
        ),
        ('command: [echo, "{*}"]\nsuccess: 0', "success: 0 is not an array"),
        ('command: [echo, "{*}"]\nmax_output: lots', 'max_output: "lots" is not a number of bytes'),
        (
            'command: [echo, "{*}"]\nallow_leading_dash: [x]',
            "allow_leading_dash[0]: no parameter 'x'",
        ),
        (
            'command: [echo, "{*}"]\nexecutor: x',
            "executor: only one of command, function, executor may be given",
        ),
        ("stdin: x", "stdin: it needs command as well"),
        ("function: f", 'function: "f" does not match the pattern ^.+:[^:]+$'),
        ("function: 'module:'", 'function: "module:" does not match the pattern ^.+:[^:]+$'),
        ("executor: ':x'", 'executor: ":x" does not match the pattern ^(.+:)?[^:]+$'),
        ("commnd: [echo]", "commnd: is unknown; did you mean command?"),
        ("memory_limit: 1 MiB", "memory_limit: it needs runs_in as well"),
        ("title:", "title: it is empty, which is not a string"),
    ],
)
def test_faults_of_the_binding_are_named(write: Any, text: str, told: str) -> None:
    found = faults(write(GUIDE + text))

    assert any(told in fault for fault in found), found


# --- YAML itself ---


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "tool.yaml: it is empty; a tool has at least `name: ...` and `description: ...`"),
        (
            "- a",
            'tool.yaml:1: "a" does not describe a tool, which has at least `name: ...` and',
        ),
        ("use_guide: {}", "tool.yaml:1: use_guide.tool_name: is missing"),
        ("use_guide: x", 'tool.yaml:1: use_guide: "x" is not an object'),
        ("nmae: x\ndescription: y", "tool.yaml:1: nmae: is unknown; did you mean name?"),
        (
            "name: x\ndescripton: y",
            "tool.yaml:2: descripton: is unknown; did you mean description?",
        ),
        (
            "title: x",
            "tool.yaml:1: name is missing; a tool has at least `name: ...` and `description: ...`",
        ),
        ("name: x", "tool.yaml:1: name: it needs description as well"),
        (GUIDE + "name: x\ndescription: d", "use_guide: only one of name, use_guide may be given"),
        (GUIDE + GUIDE, "tool.yaml:2: use_guide: this key occurs twice, first in line 1; keep one"),
        (
            GUIDE + "title: 2024-01-01",
            "title: JSON has no values of the type timestamp; put it in quotes if text is meant",
        ),
        (GUIDE + "title: 1:30", "title: 1:30 is read as 90; write that, or put it in quotes"),
        (
            GUIDE + "meta: {x: .inf}",
            "meta.x: .inf is not a number in JSON; put it in quotes if text is meant",
        ),
        (GUIDE + "meta: {1: x}", "meta: a key is not text; put it in quotes if text is meant"),
        (
            GUIDE + "meta: !!python/object/apply:os.system [id]",
            (
                "meta: JSON has no values of the type python/object/apply:os.system; put it in"
                " quotes if text is meant"
            ),
        ),
        (
            GUIDE + 'title: "\\ud800"',
            'title: "\ud800" cannot be read as str: surrogates not allowed',
        ),
        (
            GUIDE + "meta: &m [*m]",
            "this is not YAML: aliases (*name) are not supported; repeat the value",
        ),
        (GUIDE + "a: \x07", "this is not YAML"),
        (GUIDE + "icons: [1]", "tool.yaml:2: icons[0]: 1 is not an object"),
        (GUIDE + "meta: " + "[" * 500, "it is nested too deeply"),
    ],
)
def test_faults_of_the_yaml_are_reported_with_their_line(write: Any, text: str, told: str) -> None:
    found = faults(write(text))

    assert any(told in fault for fault in found), found


def test_aliases_are_refused(write: Any) -> None:
    levels = [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]" for n in range(1, 12)]

    assert faults(write("\n".join(["l0: &l0 [x]", *levels]), "bomb.yaml")) == [
        "bomb.yaml:2: this is not YAML: aliases (*name) are not supported; repeat the value"
    ]


def test_file_that_is_not_utf8_is_reported_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "tool.yaml").write_bytes(b"# one\n# \xff\n")

    assert faults(str(tmp_path / "tool.yaml")) == [
        "tool.yaml:2: it is not UTF-8; save it in that encoding"
    ]


def test_file_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    (tmp_path / "tool.yaml").write_bytes(b"\xef\xbb\xbf" + GUIDE.encode())

    assert load_tool_config(tmp_path / "tool.yaml").name == "tool"


words = st.sampled_from(
    ["tool", "a", "{a}", "{a?}", "{*}", "{", "", "-x", "string", "object", "json", "m:f", "1 MiB"]
)
anything = st.recursive(
    words | st.none() | st.booleans() | st.integers(-2, 9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(words | st.sampled_from(PARTS), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from([*KEYS, "unknown"]), anything, max_size=5), st.booleans())
def test_any_document_is_a_tool_or_a_list_of_faults(said: dict[str, Any], with_guide: bool) -> None:
    if with_guide:
        said["use_guide"] = {"tool_name": "tool", "description": "d"}
    (document,) = read_documents(json.dumps(said), "tool.yaml")

    config = read_config(document)

    assert document.faults or (isinstance(config, ToolConfig) and config.name == "tool")
    if (
        not document.faults
        and isinstance(config, ToolConfig)
        and isinstance(config.binding, ToolCommand)
    ):
        with suppress(ConfigError):
            assert make_config_tool(config).describe()["name"] == "tool"


def test_missing_file_is_named(tmp_path: Path) -> None:
    assert faults(str(tmp_path / "none.yaml")) == [
        "none.yaml: it cannot be read: No such file or directory"
    ]
    assert "no YAML in this folder describes a tool" in faults(str(tmp_path))[0]
