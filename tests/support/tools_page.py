"""Makes the pages of bundled tools in docs/ from the tools themselves:
`python tests/support/tools_page.py`.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

from toolwire.loading.bundled_targets import _make_constructor
from toolwire_bundled import BUNDLED, BundledTool, find_class
from toolwire_dialects.markdown import from_entry
from toolwire_tools import find_tools

MADE_WITH = {"Files": {"writable": True}}
"""What shows all that a tool can do, where that is not what it is made with by itself."""

DOCS = Path(__file__).parents[2] / "docs"

SUBJECTS = {
    "tools-calculator.md": ("Calculator and clock", ("FinishAction", "Calculator", "Clock")),
    "tools-files.md": ("Files", ("Files",)),
    "tools-maps.md": ("Maps", ("BINGMap",)),
    "tools-papers.md": ("Papers and authors", ("ArxivSearch", "GoogleScholar")),
    "tools-python.md": (
        "Python",
        ("PythonInterpreter", "IPythonInterpreter", "CodeExecutor"),
    ),
    "tools-slides.md": ("Slides", ("PPT",)),
    "tools-web.md": (
        "The web",
        ("WebBrowser", "WebSearch", "GoogleSearch", "BingBrowser"),
    ),
}
"""The pages of tools, with their titles and tools; each tool has one page."""

INTRODUCTION = """\
# Bundled tools

A bundled tool is served by its name, alone or with other targets:
`toolwire serve Calculator Files tools.py --set Files.roots=notes`.
`toolwire list --bundled` shows which of them can run here, and what the others need. In Python they are actions:
`from toolwire_bundled import Calculator`, `get_tool("Calculator")`, or `{"type": "Calculator"}` in the settings
of an executor. `--set TOOL.SETTING=VALUE`, or an argument in Python, sets a setting. For a setting that is a list,
repeat the option for each item (`--set Files.roots=notes --set Files.roots=plans`), or write JSON
(`--set 'Files.roots=["notes", "plans"]'`); a comma is part of a name.

These names have priority over files: a folder of the same name is served as `./Files`.
"""  # noqa: E501


def make_pages() -> dict[str, str]:
    """Return the texts of all pages by their names, with the end of line that files have."""
    pages = {"tools.md": f"{INTRODUCTION}\n{_overview()}"}
    for file, (title, names) in SUBJECTS.items():
        parts = [
            f"# Bundled tools: {title}",
            "How to serve and set them: [Bundled tools](tools.md).",
        ]
        parts += [_section(name, BUNDLED[name]) for name in names]
        pages[file] = "\n\n".join(parts)
    return {file: re.sub(r"\n{3,}", "\n\n", text).rstrip() + "\n" for file, text in pages.items()}


def _overview() -> str:
    lines = ["| tool | what it does | needs |", "| --- | --- | --- |"]
    for name, entry in BUNDLED.items():
        lines.append(f"| {_link(name)} | {entry.summary} | {_needs(name, entry)} |")
    return "\n".join(lines)


def _link(name: str) -> str:
    [file] = [file for file, (_, names) in SUBJECTS.items() if name in names]
    return f"[`{name}`]({file}#{name.lower()})"


def _needs(name: str, entry: BundledTool) -> str:
    needs = [*([f"toolwire[{entry.extra}]"] if entry.extra else ()), *entry.keys]
    needs += [f"--set {name}.{setting}=…" for setting in entry.settings]
    return ", ".join(f"`{need}`" for need in needs)


def _section(name: str, entry: BundledTool) -> str:
    cls = find_class(name)
    about = inspect.cleandoc(cls.__doc__ or entry.summary)
    parts = [f"## {name}", about, _wants(entry), _settings(cls, name)]
    other = next((base.__name__ for base in cls.__mro__[1:] if base.__name__ in BUNDLED), None)
    if other and "run" not in vars(cls):
        parts.append(f"Its tools are those of {_link(other)}.")
    else:
        parts += _tools(cls, name)
    return "\n\n".join(filter(None, parts)) + "\n"


def _wants(entry: BundledTool) -> str:
    lines = [f"- Install: `pip install 'toolwire[{entry.extra}]'`"] if entry.extra else []
    lines += [f"- Key: the environment's `{key}`" for key in entry.keys]
    lines += [f"- Read if it is set: `{variable}`" for variable in entry.variables]
    lines += [f"- Better with the program `{program}`" for program in entry.programs]
    return "\n".join(lines)


def _settings(cls: Any, name: str) -> str:
    described = _make_constructor(cls.__new__(cls), name).describe()
    if not described["inputSchema"]["properties"]:
        return ""
    table = from_entry({"name": name, "inputSchema": described["inputSchema"]}).partition("\n\n")[2]
    return "### Settings\n\n" + table.replace("| parameter |", "| setting |", 1)


def _tools(cls: Any, name: str) -> list[str]:
    return [_tool(tool.describe()) for tool in find_tools(cls(**MADE_WITH.get(name, {})))]


def _tool(entry: dict[str, Any]) -> str:
    heading, _, rest = from_entry(entry).partition("\n\n")
    return f"#{heading}\n\n{_annotations(entry.get('annotations', {}))}\n\n{rest}"


def _annotations(hints: dict[str, Any]) -> str:
    words = [
        (
            "reads only"
            if hints.get("readOnlyHint")
            else "may overwrite"
            if hints.get("destructiveHint")
            else "adds"
        )
    ]
    words.append(
        "reaches beyond this machine" if hints.get("openWorldHint") else "stays on this machine"
    )
    return f"*{', '.join(words)}*"


if __name__ == "__main__":
    for file, text in make_pages().items():
        (DOCS / file).write_text(text, "utf-8")
