"""A long job, with progress and cancellation: the files of a folder that have equal contents.

    FOLDER=~/Pictures toolwire serve duplicate_files.py
    toolwire config claude-desktop duplicate_files.py --env FOLDER=/home/ada/Pictures --write

A host that sends a progress token shows how far the job is. When the user cancels,
`context.check()` ends it at the next piece of a file. Other calls are answered in the meantime.
"""

import hashlib
import os
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from msgspec import Meta
from toolwire import Context, ToolError, tool_api

PIECE_BYTES = 1024 * 1024


@dataclass
class Duplicates:
    bytes: int
    paths: list[str]


@tool_api(read_only=True, idempotent=True)
def find_duplicates(
    context: Context,
    pattern: Annotated[str, "which files, as in **/*.jpg"] = "**/*",
    min_bytes: Annotated[int, Meta(ge=1, description="leave out smaller files")] = 1,
) -> list[Duplicates]:
    """Find files with equal contents, the largest first."""
    root = Path(os.environ.get("FOLDER", "")).expanduser()
    if not root.is_dir() or not os.environ.get("FOLDER"):
        raise ToolError("Set FOLDER to the folder to search.")
    if ".." in Path(pattern).parts or Path(pattern).is_absolute():
        raise ToolError("The pattern must stay within the folder.")
    by_size = defaultdict[int, list[Path]](list)
    for path in root.glob(pattern):
        context.check()
        if path.is_file() and not path.is_symlink() and (size := path.stat().st_size) >= min_bytes:
            by_size[size].append(path)
    suspects = {size: paths for size, paths in by_size.items() if len(paths) > 1}
    total = sum(size * len(paths) for size, paths in suspects.items())
    by_content = defaultdict[tuple[int, str], list[str]](list)
    done = 0
    for size, paths in sorted(suspects.items(), reverse=True):
        for path in sorted(paths):
            context.progress(done, total, f"reading {path.name}")
            try:
                by_content[size, digest(path, context)].append(str(path.relative_to(root)))
            except OSError as error:
                context.log(f"{path} is left out: {error.strerror}", level="warning")
            done += size
    context.progress(total, total, "done")
    return [
        Duplicates(size, sorted(paths)) for (size, _), paths in by_content.items() if len(paths) > 1
    ]


def digest(path: Path, context: Context) -> str:
    """Return the hash of a file's content. Ends at the next piece if the call was cancelled."""
    content = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(PIECE_BYTES):
            context.check()
            content.update(piece)
    return content.hexdigest()
