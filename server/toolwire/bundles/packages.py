"""The packages in a bundle: Toolwire's own wheel, and those that are installed into it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import url2pathname

from ..errors import Failed
from ..loading.dependencies import find_uv

if TYPE_CHECKING:
    from collections.abc import Sequence

_OF_THIS_MACHINE = (
    ".lock",
    "direct_url.json",
    "INSTALLER",
    "RECORD",
    "REQUESTED",
    "uv_cache.json",
)
"""Files of installers that differ from machine to machine."""


def copy_own_wheel(folder: Path) -> Path | None:
    """Put Toolwire's own wheel into *folder* if it was installed from a folder or file: then no
    index may have it.
    """
    record = metadata.distribution("toolwire").read_text("direct_url.json")
    url = json.loads(record or "{}").get("url", "")
    if not url.startswith("file:"):
        return None
    source = Path(url2pathname(urlsplit(url).path))
    if not source.exists():
        raise Failed(f"Toolwire was installed from {source}, which is gone; install it again")
    folder.mkdir()
    if source.suffix == ".whl":
        return Path(shutil.copy(source, folder))
    _run_installer(
        pip=["wheel", "--no-deps", "--wheel-dir", str(folder), str(source)],
        uv=["build", "--quiet", "--wheel", "--out-dir", str(folder), str(source)],
    )
    (folder / ".gitignore").unlink(missing_ok=True)  # uv's
    return next(folder.glob("*.whl"))


def install_packages(packages: Sequence[str], lib: Path, wheel: Path | None) -> None:
    """Install *packages* into *lib*, Toolwire from *wheel* if it is given.

    Files that differ from machine to machine are left out.
    """
    words = ["--target", str(lib)]
    if wheel is not None:
        words += ["--find-links", str(wheel.parent)]
    words += packages
    _run_installer(
        pip=["install", "--no-compile", *words],
        uv=["pip", "install", "--quiet", "--python", sys.executable, *words],
    )
    shutil.rmtree(lib / "bin", ignore_errors=True)  # scripts that name this Python
    for path in [lib / ".lock", *lib.glob("*.dist-info/*")]:
        if path.name in _OF_THIS_MACHINE:
            path.unlink(missing_ok=True)


def _run_installer(*, pip: Sequence[str], uv: Sequence[str]) -> None:
    """Run pip with its words, since it is configured for this environment, or else uv with its
    own.
    """
    program = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *pip]
    if find_spec("pip") is None:
        program = [find_uv() or "uv", *uv]
    # Standard output is for the lines of `pack`.
    to_stderr = 2
    try:
        done = subprocess.run(program, stdin=subprocess.DEVNULL, stdout=to_stderr, check=False)
    except FileNotFoundError:
        raise Failed("packing needs pip or uv (https://docs.astral.sh/uv)") from None
    if done.returncode:
        raise Failed("the packages could not be made or installed (the reason is above)")
