"""Wheels made on the spot, so that uv and pip can install packages in tests without a network."""

from __future__ import annotations

import os
import sys
import zipfile
from pathlib import Path


def make_wheel(folder: Path, name: str, source: str, version: str = "1.0") -> None:
    """Write a wheel into *folder* whose only module is *name*."""
    folder.mkdir(parents=True, exist_ok=True)
    info = f"{name}-{version}.dist-info"
    files = {
        f"{name}.py": source,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": (
            "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        ),
    }
    record = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        for path, text in {**files, f"{info}/RECORD": record}.items():
            wheel.writestr(path, text)


def offline(folder: Path) -> dict[str, str]:
    """Return an environment in which uv finds only the wheels in *folder* / `wheels`; its cache is
    in *folder*.
    """
    path = os.pathsep.join([os.path.dirname(sys.executable), "/usr/bin", "/bin"])
    return {
        "PATH": path,
        "HOME": str(folder / "home"),
        "UV_CACHE_DIR": str(folder / "cache"),
        "UV_FIND_LINKS": str(folder / "wheels"),
        "UV_NO_INDEX": "1",
        "UV_OFFLINE": "1",
        "UV_NO_CONFIG": "1",
        "UV_PYTHON_DOWNLOADS": "never",
    }
