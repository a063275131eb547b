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
import zipfile
from hashlib import sha256
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from ...bundles import manifest as texts
from ...bundles.contents import Contents
from ...errors import Failed, UsageError
from ...loading import dependencies
from ...loading.targets import parse
from ..open_client import connected
from ..options import Option
from ..printing.layout import format_count
from ..printing.output import print_data, print_remark
from . import Command
from .config import passed_on
from .serve import COMMAND as SERVE
from .serve import name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..options import Words


def _matching(pattern: str, what: str) -> Callable[[str], str]:
    def accept(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(what)
        return text

    return accept


_VARIABLE = _matching(
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
            _matching(r"(?s).*\.mcpb", "a file that ends in .mcpb"),
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
    for target in targets:
        contents.add_target(target)
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
    for place, file in contents.files.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, folder / place)
        (folder / place).chmod(0o755 if os.access(file, os.X_OK) else 0o644)
    (folder / "main.py").write_text(texts.entry_point(contents.targets, passed_on(given)), "utf-8")
    if "icon" in given:
        (folder / "icon.png").write_bytes(_icon(given["icon"]))
    author, is_vendored = given.get("author") or _git_user(), given.get("vendored", False)
    wheel = _wheel(folder)
    extras = f"[{','.join(sorted(contents.extras))}]" if contents.extras else ""
    wanted = [f"toolwire{extras}=={metadata.version('toolwire')}", *contents.dependencies]
    if is_vendored:
        _install(wanted, folder / "lib", wheel)
    about = _about(folder, contents, targets, {**given, "author": author})
    if not is_vendored:
        path = None if wheel is None else f"wheels/{wheel.name}"
        (folder / "pyproject.toml").write_text(texts.project(about, wanted, path), "utf-8")
    elif wheel is not None:
        wheel.unlink()
    (folder / "manifest.json").write_text(texts.manifest(about, is_vendored=is_vendored), "utf-8")
    bundle = Path(given.get("output", f"{about.name}.mcpb"))
    entry, made = bundle.with_name("server.json"), {}
    if "registry" in given:
        made = texts.registry_entry(about, given["registry"], given.get("registry_name"))
        made = {**_former(entry, made["name"]), **made}
    digest = _write(folder, bundle)
    size = f"{bundle.stat().st_size / 1024:,.0f} KiB"
    print_data(
        f"Wrote {bundle} ({about.name} {about.version}, {format_count(len(about.tools), 'tool')},"
        f" {size})."
    )
    print_data(f"Packages: {', '.join(wanted)}")
    print_data("Files, in bytes:")
    _print_files(contents)
    if made:
        made["packages"][0]["fileSha256"] = digest
        entry.write_text(json.dumps(made, indent=2, ensure_ascii=False) + "\n", "utf-8")
        print_data(f"Wrote {entry}; `mcp-publisher publish` sends it to the registry.")
    if contents.unpacked:
        print_remark(
            f"the bundle does not have {', '.join(contents.unpacked)} of the file's `# /// script`"
            " block"
        )
    return 0


def _former(entry: Path, name: str) -> dict[str, Any]:
    """The members of a `server.json` that is there already, which may have a website and icons; {}
    without one.
    """
    try:
        former = json.loads(entry.read_text("utf-8")) if entry.exists() else {}
        if former.get("name", name) == name:
            return dict(former)
    except (ValueError, AttributeError):
        pass
    raise UsageError(
        f"{entry} is of another server than {name}, so it was not written; move it away"
    )


def _icon(path: str) -> bytes:
    data = Path(path).read_bytes()
    if not data.startswith(b"\x89PNG\r\n\x1a\n"):
        raise UsageError(f"--icon takes a PNG image, which {path} is not")
    return data


def _wheel(folder: Path) -> Path | None:
    """Put Toolwire's own wheel into *folder* if it was installed from a folder or file: then no
    index may have it.
    """
    direct = json.loads(metadata.distribution("toolwire").read_text("direct_url.json") or "{}")
    if not direct.get("url", "").startswith("file:"):
        return None
    source, wheels = Path(url2pathname(urlsplit(direct["url"]).path)), folder / "wheels"
    if not source.exists():
        raise Failed(f"Toolwire was installed from {source}, which is gone; install it again")
    wheels.mkdir()
    if source.suffix == ".whl":
        return Path(shutil.copy(source, wheels))
    uv = ["build", "--quiet", "--wheel", "--out-dir", str(wheels), str(source)]
    _install_by(uv, ["wheel", "--no-deps", "--wheel-dir", str(wheels), str(source)])
    (wheels / ".gitignore").unlink(missing_ok=True)  # uv's
    return next(wheels.glob("*.whl"))


def _install(wanted: list[str], lib: Path, wheel: Path | None) -> None:
    """Install packages into *lib*, without what differs from machine to machine."""
    words = [
        "--target",
        str(lib),
        *([] if wheel is None else ["--find-links", str(wheel.parent)]),
        *wanted,
    ]
    _install_by(
        ["pip", "install", "--quiet", "--python", sys.executable, *words],
        ["install", "--no-compile", *words],
    )
    shutil.rmtree(lib / "bin", ignore_errors=True)  # scripts that name this Python
    for path in [lib / ".lock", *lib.glob("*.dist-info/*")]:
        if path.name in (
            ".lock",
            "direct_url.json",
            "INSTALLER",
            "RECORD",
            "REQUESTED",
            "uv_cache.json",
        ):
            path.unlink(missing_ok=True)


def _install_by(uv: list[str], pip: list[str]) -> None:
    """Run pip with its words, since it is configured for this environment, or else uv with its
    own.
    """
    program = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *pip]
    if find_spec("pip") is None:
        program = [dependencies.find_uv() or "uv", *uv]
    try:
        status = subprocess.run(program, stdin=subprocess.DEVNULL, stdout=2, check=False).returncode
    except FileNotFoundError:
        raise Failed("packing needs pip or uv (https://docs.astral.sh/uv)") from None
    if status:
        raise Failed("the packages could not be made or installed (the reason is above)")


def _about(
    folder: Path, contents: Contents, targets: list[str], given: Mapping[str, Any]
) -> texts.About:
    """Start the server from the bundle in *folder* and describe it."""
    lib = folder / "lib"
    env = {"PYTHONPATH": str(lib)} if lib.exists() else {}
    # -S: what `lib` lacks must not be found among the packages of this environment.
    command = [sys.executable, *(["-S"] if env else []), "-B", str(folder / "main.py")]
    with connected(command, is_ours=True, env={**env, "PYTHONDONTWRITEBYTECODE": "1"}) as client:
        info = client.server_info
        tools = [
            {key: tool[key] for key in ("name", "description") if tool.get(key)}
            for tool in client.list_entries()
        ]
        has_prompts = "prompts" in client.capabilities
    names = ", ".join(tool["name"] for tool in tools)
    name = str(info.get("name") or name_of(targets))
    return texts.About(
        name=re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "toolwire",
        title=str(info.get("title") or name),
        version=str(info.get("version") or "0.0.0"),
        description=given.get("description")
        or _docstring(targets[0])
        or f"{format_count(len(tools), 'tool')}: {names}",
        author=given["author"],
        tools=tools,
        has_prompts=has_prompts,
        variables=list(dict.fromkeys(given.get("env", ()))),
        has_icon="icon" in given,
        requires_python=contents.requires_python,
    )


def _docstring(target: str) -> str:
    """The first paragraph of a file's docstring; "" for other targets."""
    place = parse(target).place
    text = ast.get_docstring(ast.parse(Path(place).read_bytes())) if place.endswith(".py") else None
    return " ".join((text or "").partition("\n\n")[0].split())


def _git_user() -> str:
    git = shutil.which("git")
    name = (
        git
        and subprocess.run(
            [git, "config", "user.name"], stdout=-1, text=True, check=False
        ).stdout.strip()
    )
    if not name:
        raise UsageError("a bundle names its author, and Git has no user.name: add --author NAME")
    return name


def _write(folder: Path, bundle: Path) -> str:
    """Write the bundle, the same bytes for the same files, and return its SHA-256."""
    bundle.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(bundle, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(
            path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts
        ):
            entry = zipfile.ZipInfo(
                path.relative_to(folder).as_posix()
            )  # of 1980, when ZIP's time begins
            entry.external_attr = (0o100755 if os.access(path, os.X_OK) else 0o100644) << 16
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
            archive.writestr(entry, path.read_bytes())
    return sha256(bundle.read_bytes()).hexdigest()
