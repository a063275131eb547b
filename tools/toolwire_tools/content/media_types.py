"""Which media type some bytes or a file name have."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os

_TOKEN = r"[\w.+!#$&^-]+"
_MEDIA_TYPE = rf'{_TOKEN}/{_TOKEN}(?:\s*;\s*{_TOKEN}=(?:{_TOKEN}|"[^"]*"))*'
_TEXTUAL = ("+json", "+xml", "/json", "/xml", "/javascript", "/yaml", "/toml")

# The first bytes of files: (offset, bytes, media type), from the formats' own specifications.
_MAGIC = (
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF87a", "image/gif"),
    (0, b"GIF89a", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (4, b"ftypavif", "image/avif"),
    (4, b"ftypheic", "image/heic"),
    (0, b"II*\0", "image/tiff"),
    (0, b"MM\0*", "image/tiff"),
    (8, b"WAVE", "audio/wav"),
    (0, b"fLaC", "audio/flac"),
    (0, b"OggS", "audio/ogg"),
    (0, b"ID3", "audio/mpeg"),
    (4, b"ftypM4A", "audio/mp4"),
    (0, b"%PDF-", "application/pdf"),
    (0, b"PK\x03\x04", "application/zip"),
    (0, b"\x1f\x8b", "application/gzip"),
)


def media_type_of(data: bytes) -> str | None:
    """The media type that the first bytes of *data* give away, or None."""
    for offset, magic, media_type in _MAGIC:
        # WEBP and WAVE are the second word of a RIFF container.
        if data.startswith(magic, offset) and (offset != 8 or data.startswith(b"RIFF")):
            return media_type
    return None


def media_type_of_path(path: str | os.PathLike[str] | None) -> str | None:
    """Return the media type by the ending of *path*, or None."""
    if path is None:
        return None
    import mimetypes  # reads the system's tables: only for those who return files

    return mimetypes.guess_type(str(path), strict=False)[0]


def is_textual(media_type: str) -> bool:
    """True for the media types whose content people read and edit as text."""
    base = media_type.partition(";")[0].strip()
    return base.startswith("text/") or base.endswith(_TEXTUAL)


def is_media_type(text: str) -> bool:
    """True for a well-formed media type, parameters included."""
    return re.fullmatch(_MEDIA_TYPE, text, re.ASCII) is not None
