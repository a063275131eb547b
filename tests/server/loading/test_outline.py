"""What the text of a file tells of a server before the file is imported."""

from __future__ import annotations

from pathlib import Path

import pytest
from toolwire.loading.outline import read_version

PLAIN = "def add(a: int, b: int) -> int:\n    return a + b\n"


@pytest.mark.parametrize(
    ("text", "version"),
    [
        (PLAIN, ""),
        (f"from toolwire import tool_api\n@tool_api\n{PLAIN}", ""),
        (f"__version__ = '1.2'\n{PLAIN}", "1.2"),
        (f'__version__ = "1.2.0rc1"\n{PLAIN}', "1.2.0rc1"),
        (f"__version__: str = '1.2'\n{PLAIN}", None),
        (f"__version__ = version('x')\n{PLAIN}", None),
        (f"__version__ = '1' + '2'\n{PLAIN}", None),
        (f"if True:\n    __version__ = '1.2'\n{PLAIN}", None),
        (f"__version__ = '1.2'\n__version__ = '1.3'\n{PLAIN}", None),
        (f"from toolwire import resource\n{PLAIN}", None),
        (f"def greet() -> str:\n    '''A Prompt.'''\n{PLAIN}", None),
        (f"from mcp.server.fastmcp import FastMCP\n{PLAIN}", None),
        (f"__tools__ = []\n{PLAIN}", None),
        (f"__all__ = ['add']\n{PLAIN}", None),
        (f"from other import *\n{PLAIN}", None),
        (f"from . import other\n{PLAIN}", None),
        (f"def __getattr__(name): ...\n{PLAIN}", None),
    ],
)
def test_a_plain_file_tells_its_version_and_no_other_does(
    tmp_path: Path, text: str, version: str | None
) -> None:
    file = tmp_path / "tools.py"
    file.write_text(text, encoding="utf-8")

    assert read_version([str(file)]) == version


def test_files_with_one_version_have_it_and_others_have_none(tmp_path: Path) -> None:
    for name, version in (("a", "1"), ("b", "1"), ("c", "2")):
        (tmp_path / f"{name}.py").write_text(f"__version__ = '{version}'\n", encoding="utf-8")
    a, b, c = (str(tmp_path / f"{name}.py") for name in "abc")

    assert read_version([a, b]) == "1"
    assert read_version([a, c]) == ""


def test_a_file_of_a_package_and_what_is_no_file_tell_nothing(tmp_path: Path) -> None:
    (tmp_path / "__init__.py").write_text("", encoding="utf-8")
    (tmp_path / "tools.py").write_text(PLAIN, encoding="utf-8")

    for target in (tmp_path / "tools.py", tmp_path / "missing.py", "Calculator", "package.module"):
        assert read_version([str(target)]) is None


def test_a_server_of_mounted_servers_alone_has_no_version_of_its_own() -> None:
    assert read_version([]) == ""
