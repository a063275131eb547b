"""YAML in which name and description are keys of the tool itself, alone or in a list."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

import msgspec
import pytest
from toolwire_compat.mas.yaml_tool import make_config_tool
from toolwire_compat.yaml.files import load_tool_config, load_tool_configs
from toolwire_compat.yaml.model import ConfigError

FLAT = """
    name: tool
    description: Does it.
    read_only: true
    parameters: {file: string, most: {type: integer, default: 5}}
    command: [head, -n, "{most}", "{file}"]
"""
LIST = """\
    - name: a
      description: A.
      command: [date]
    - name: b
      description: B.
      command: [uptime]
"""


def test_flat_file_means_the_same_as_one_with_a_guide(write: Any) -> None:
    flat = load_tool_config(write(FLAT))
    guided = "use_guide: {tool_name: tool, description: Does it.}"
    other = load_tool_config(write(FLAT.replace("name: tool\n    description: Does it.", guided)))

    assert (flat.name, flat.description, flat.options.read_only) == ("tool", "Does it.", True)
    assert msgspec.structs.replace(flat, file="") == msgspec.structs.replace(other, file="")


def test_a_file_may_be_a_list_of_tools_and_each_fault_has_its_line(write: Any) -> None:
    configs = load_tool_configs(write(LIST))

    assert [(config.name, config.line) for config in configs.values()] == [("a", 1), ("b", 4)]
    with pytest.raises(ConfigError) as caught:
        load_tool_configs(write(LIST.replace("B.", "''").replace("[date]", "[]")))
    assert [str(fault).rpartition("/")[2] for fault in caught.value.faults] == [
        "tool.yaml:3: command: has 0 items, at least 1 are needed",
        'tool.yaml:5: description: "" does not match the pattern \\S',
    ]


def test_command_without_parameters_takes_none_unless_it_has_a_place_for_the_instruction(
    write: Any,
) -> None:
    def parameters(command: str) -> list[str]:
        tool = make_config_tool(load_tool_config(write(f"name: a\ndescription: A.\n{command}")))
        return list(tool.describe()["inputSchema"]["properties"])

    assert parameters("command: [date]") == []
    assert parameters('command: [echo, "{instruction}"]') == ["instruction"]
    assert parameters('command: [cat]\nstdin: "{*}"') == ["instruction"]
    assert parameters('shell: true\ncommand: echo "$instruction" | rev') == ["instruction"]


def test_folder_may_mix_flat_files_with_others(write: Any, tmp_path: Path) -> None:
    write(FLAT.replace("name: tool", "name: one").replace("\n    ", "\n"), "one.yaml")
    write("# a list\n" + dedent(LIST), "several.yaml")
    write(
        "name: shop\nservices:\n  db:\n    command: [postgres]\n    description: d\n",
        "compose.yaml",
    )
    write("name: Lint\ndescription: d\nruns:\n  using: composite\n", "action.yaml")

    assert list(load_tool_configs(tmp_path)) == ["one", "a", "b"]
