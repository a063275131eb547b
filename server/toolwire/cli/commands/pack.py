"""`toolwire pack`: makes a bundle (`.mcpb`) that hosts install with a click."""

from __future__ import annotations

import ast
import errno
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...bundles import manifest as texts
from ...bundles.archive import write_archive
from ...bundles.contents import Contents
from ...bundles.packages import copy_own_wheel, install_packages
from ...errors import UsageError
from ...loading.targets import parse
from ..open_client import connect_to
from ..options import Option
from ..printing.layout import format_count
from ..printing.terminal import print_data, print_remark
from . import Command
from .config import format_passed_options
from .serve import COMMAND as SERVE
from .serve import choose_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ..options import Words


def _make_matcher(pattern: str, what: str) -> Callable[[str], str]:
    def accept(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(what)
        return text

    return accept


_VARIABLE = _make_matcher(
    r"[A-Za-z_][A-Za-z0-9_]*",
    "the name of an environment variable, without a value, which each user gives",
)


COMMAND = Command(
    usage=("toolwire pack TARGET... [OPTIONS]",),
    details=(
        "Writes a bundle (.mcpb) that Claude Desktop and other hosts install with a click. It has"
        " the files of the targets and the modules next to them that they import. Packages are"
        " those of --with and a file's `# /// script` block, or else the installed ones that are"
        " imported. Of a YAML file, the files that its commands run come along. Hidden files and"
        " keys are packed only if --add names each of them. The server is started once from the"
        " bundle, to list its tools. All options of `serve` can be given too."
    ),
    options=(
        Option(
            "-o, --output FILE",
            "the bundle (default: NAME.mcpb in this folder)",
            _make_matcher(r"(?s).*\.mcpb", "a file that ends in .mcpb"),
        ),
        Option(
            "--vendored",
            "put all packages into the bundle, for this system and Python (default: the host's uv"
            " does)",
        ),
        Option(
            "--env KEY",
            "environment variable that the host asks its user for; repeatable",
            _VARIABLE,
            many=True,
        ),
        Option("--icon FILE", "icon of the bundle, a PNG image"),
        Option(
            "--add PATH",
            "file or folder that the tools read, packed next to them; repeatable",
            many=True,
        ),
        Option("--dry-run", "only print the files that would be packed"),
        Option(
            "--description TEXT", "description (default: the first line of the file's docstring)"
        ),
        Option("--author NAME", "author (default: user.name of Git)"),
        Option(
            "--registry URL",
            "write server.json, too, for the MCP registry; URL is where the bundle will be",
        ),
        Option("--registry-name NAME", "name in the registry (default: io.github.ACCOUNT/NAME)"),
    ),
    examples=(
        "toolwire pack tools.py",
        "toolwire pack tools.py --env API_KEY --icon icon.png -o dist/tools.mcpb",
        (
            "toolwire pack tools.py --registry"
            " https://github.com/me/tools/releases/download/v1/tools.mcpb"
        ),
    ),
    passes_on=SERVE.options,
)


def run(words: Words) -> int:
    """Write the bundle, and `server.json` if asked for."""
    targets, given = [*words.words, *(words.command or [])], words.options
    if not targets:
        raise UsageError("name what to pack: a file, a folder or a module, as in `pack tools.py`")
    _refuse_local_files(given)
    if "output" in given:
        _check_writable(Path(given["output"]))
    contents = Contents(given.get("with", ()))
    add = contents.add_adopted if "adopt" in given else contents.add_target
    for target in targets:
        add(target)
    for path in given.get("add", ()):
        contents.add_data(path, os.path.dirname(os.path.abspath(parse(targets[0]).place)))
    contents.settle()
    if given.get("dry_run"):
        _print_files(contents)
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        return _pack(Path(temporary), contents, targets, given)


def _refuse_local_files(given: Mapping[str, Any]) -> None:
    for option in COMMAND.passes_on:
        if option.metavar == "FILE" and option.key in given:
            raise UsageError(
                f"{option.flag} names a file of this machine, which a bundle cannot use elsewhere"
            )


def _check_writable(bundle: Path) -> None:
    """Raise a `UsageError` if *bundle* cannot be written: better now than after packages have been
    downloaded.
    """
    try:
        if bundle.is_dir():
            raise IsADirectoryError(errno.EISDIR, "it is a folder")
        bundle.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=bundle.parent):
            pass
        if bundle.exists():
            os.close(os.open(bundle, os.O_WRONLY))
    except OSError as error:
        raise UsageError(f"{bundle} cannot be written: {error.strerror}") from None


def _print_files(contents: Contents) -> None:
    """Print the files of the author that are packed, and what is left out of their folders."""
    for place, file in sorted(contents.files.items()):
        print_data(f"{os.path.getsize(file):>12,}  {place}")
    if contents.left_out:
        names = ", ".join(contents.left_out)
        print_remark(
            f"left out, since they are hidden or may be keys: {names}; to pack one, name it: --add"
            " PATH"
        )


def _pack(folder: Path, contents: Contents, targets: list[str], given: Mapping[str, Any]) -> int:
    """Make the bundle in *folder*, and write it."""
    _copy_files(contents, folder)
    options = format_passed_options(given)
    (folder / "main.py").write_text(texts.write_entry_point(contents.targets, options), "utf-8")
    if "icon" in given:
        (folder / "icon.png").write_bytes(_read_icon(given["icon"]))
    author = given.get("author") or _find_git_user()
    packages = _list_packages(contents)
    is_vendored = "vendored" in given
    wheel = copy_own_wheel(folder / "wheels")
    if is_vendored:
        install_packages(packages, folder / "lib", wheel)
    about = _ask_server(folder, contents, targets, {**given, "author": author})
    if not is_vendored:
        path = None if wheel is None else f"wheels/{wheel.name}"
        (folder / "pyproject.toml").write_text(texts.write_project(about, packages, path), "utf-8")
    elif wheel is not None:
        wheel.unlink()
    (folder / "manifest.json").write_text(
        texts.make_manifest(about, is_vendored=is_vendored), "utf-8"
    )
    bundle = Path(given.get("output", f"{about.name}.mcpb"))
    registry_file = bundle.with_name("server.json")
    registry_entry = None
    if "registry" in given:  # before the bundle is written, since it may be refused
        registry_entry = _make_registry_entry(registry_file, about, given)
    digest = write_archive(folder, bundle)
    _print_bundle(bundle, about, packages, contents)
    if registry_entry is not None:
        registry_entry["packages"][0]["fileSha256"] = digest
        text = json.dumps(registry_entry, indent=2, ensure_ascii=False)
        registry_file.write_text(f"{text}\n", "utf-8")
        print_data(f"Wrote {registry_file}; `mcp-publisher publish` sends it to the registry.")
    if contents.unpacked:
        print_remark(
            f"the bundle does not have {', '.join(contents.unpacked)} of the file's `# /// script`"
            " block"
        )
    return 0


def _copy_files(contents: Contents, folder: Path) -> None:
    for place, file in contents.files.items():
        copy = folder / place
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)
        copy.chmod(0o755 if os.access(file, os.X_OK) else 0o644)


def _list_packages(contents: Contents) -> list[str]:
    """Return the requirements of the bundle: this version of Toolwire, and those of the tools."""
    extras = ""
    if contents.extras:
        extras = f"[{','.join(sorted(contents.extras))}]"
    return [f"toolwire{extras}=={metadata.version('toolwire')}", *contents.dependencies]


def _print_bundle(
    bundle: Path, about: texts.About, packages: Sequence[str], contents: Contents
) -> None:
    tools = format_count(len(about.tools), "tool")
    size = bundle.stat().st_size / 1024
    print_data(f"Wrote {bundle} ({about.name} {about.version}, {tools}, {size:,.0f} KiB).")
    print_data(f"Packages: {', '.join(packages)}")
    print_data("Files, in bytes:")
    _print_files(contents)


def _make_registry_entry(
    file: Path, about: texts.About, given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the entry for *file*; members that it has already, such as a website, are kept."""
    entry = texts.make_registry_entry(about, given["registry"], given.get("registry_name"))
    return {**_read_registry_entry(file, entry["name"]), **entry}


def _read_registry_entry(file: Path, name: str) -> dict[str, Any]:
    """Return the members of a `server.json` that is there already; {} without one.

    Raises:
        UsageError: if it is that of another server than *name*.
    """
    if not file.exists():
        return {}
    try:
        entry = json.loads(file.read_text("utf-8"))
    except ValueError:
        entry = None
    if isinstance(entry, dict) and entry.get("name", name) == name:
        return entry
    raise UsageError(
        f"{file} is of another server than {name}, so it was not written; move it away"
    )


def _read_icon(path: str) -> bytes:
    data = Path(path).read_bytes()
    if not data.startswith(b"\x89PNG\r\n\x1a\n"):
        raise UsageError(f"--icon takes a PNG image, which {path} is not")
    return data


def _ask_server(
    folder: Path, contents: Contents, targets: list[str], given: Mapping[str, Any]
) -> texts.About:
    """Start the server from the bundle in *folder* and describe it."""
    lib = folder / "lib"
    python = [sys.executable]
    env = {"PYTHONDONTWRITEBYTECODE": "1"}
    if lib.exists():
        # -S: what `lib` lacks must not be found among the packages of this environment.
        python.append("-S")
        env["PYTHONPATH"] = str(lib)
    command = [*python, "-B", str(folder / "main.py")]
    with connect_to(command, is_ours=True, env=env) as client:
        info = client.server_info
        tools = [_describe_tool(entry) for entry in client.list_entries()]
        has_prompts = "prompts" in client.capabilities
    name = str(info.get("name") or choose_name(targets))
    description = given.get("description") or _read_docstring(targets[0])
    if not description:
        names = ", ".join(tool["name"] for tool in tools)
        description = f"{format_count(len(tools), 'tool')}: {names}"
    return texts.About(
        name=re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "toolwire",
        title=str(info.get("title") or name),
        version=str(info.get("version") or "0.0.0"),
        description=description,
        author=given["author"],
        tools=tools,
        has_prompts=has_prompts,
        variables=list(dict.fromkeys(given.get("env", ()))),
        has_icon="icon" in given,
        requires_python=contents.requires_python,
    )


def _describe_tool(entry: dict[str, Any]) -> dict[str, Any]:
    tool = {"name": entry["name"]}
    if entry.get("description"):
        tool["description"] = entry["description"]
    return tool


def _read_docstring(target: str) -> str:
    """Return the first paragraph of a file's docstring; "" for other targets."""
    place = parse(target).place
    if not place.endswith(".py"):
        return ""
    text = ast.get_docstring(ast.parse(Path(place).read_bytes())) or ""
    paragraph = text.partition("\n\n")[0]
    return " ".join(paragraph.split())


def _find_git_user() -> str:
    git = shutil.which("git")
    name = ""
    if git is not None:
        command = [git, "config", "user.name"]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        name = done.stdout.strip()
    if not name:
        raise UsageError("a bundle names its author, and Git has no user.name: add --author NAME")
    return name
