"""Shows the content of a result as text, and saves what is no text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolwire_schemas.output import make_printable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    Block = dict[str, Any]
    """A block of content."""


def format_content(
    content: Sequence[Block], saved_to: Sequence[Path] = (), *, hint: str = ""
) -> str:
    """Return *content* as text, which describes data by its type and length: *saved_to* are the
    files of `save_data`, and *hint* is added to other data.
    """
    lines = []
    files = iter(saved_to)
    for block in content:
        data = _read_data(block)
        if data is None:
            lines.append(_format_block(block))
            continue
        kind = _find_resource(block).get("mimeType") or block.get("type")
        file = next(files, None)
        note = hint if file is None else f", saved to {file}"
        lines.append(f"[{make_printable(str(kind))}, {len(data):,} bytes{note}]")
    return "\n".join(lines)


def save_data(content: Sequence[Block], name: str) -> list[Path]:
    """Write each block of data to a file of its own, such as `a.png` and `a-2.png`, and return the
    files.
    """
    from pathlib import Path  # few results have data

    files: list[Path] = []
    for block in content:
        data = _read_data(block)
        if data is None:
            continue
        file = Path(name)
        if files:
            file = file.with_stem(f"{file.stem}-{len(files) + 1}")
        file.write_bytes(data)
        files.append(file)
    return files


def _find_resource(block: Block) -> Block:
    """Return the resource in *block*, or *block* itself if it has none."""
    resource = block.get("resource")
    return resource if isinstance(resource, dict) else block


def _read_data(block: Block) -> bytes | None:
    resource = _find_resource(block)
    encoded = block.get("data") if resource is block else resource.get("blob")
    if not isinstance(encoded, str):
        return None
    import base64
    import binascii

    try:
        return base64.b64decode(encoded)
    except binascii.Error:
        return None


def _format_block(block: Block) -> str:
    resource = _find_resource(block)
    if block.get("type") == "text" or (resource is not block and "text" in resource):
        return str(resource.get("text"))
    place = block.get("uri") or block.get("name") or "not readable"
    return f"[{block.get('type')}: {place}]"
