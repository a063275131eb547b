"""Content blocks for answers beyond plain data: text, images, audio, files and links.

Each becomes one MCP content block. A list of them (and of plain strings) becomes several blocks.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Sequence
from contextlib import suppress
from io import BytesIO
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import msgspec
from msgspec.structs import force_setattr

if TYPE_CHECKING:
    import os

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


Audience = Literal["user", "assistant"]
_AUDIENCES = ("user", "assistant")
_URI = r"[A-Za-z][A-Za-z0-9+.-]*:\S+"


class Content(msgspec.Struct, frozen=True, kw_only=True):
    """One block of an answer.

    *audience* says whom it is for; *priority* runs from 0 (may be left out) to 1 (must be seen).
    """

    audience: Audience | Sequence[Audience] | None = None
    priority: float | None = None

    def __post_init__(self) -> None:
        if self.audience is None and self.priority is None:  # as nearly all are
            return
        name, audience, priority = type(self).__name__, self.audience, self.priority
        listed = [audience] if isinstance(audience, str) else audience
        is_list = isinstance(listed, Sequence) and listed
        if audience is not None and not (
            is_list and all(one in _AUDIENCES for one in listed or ())
        ):
            raise ValueError(
                f'{name}: audience must be "user", "assistant" or both, not {audience!r}'
            )
        is_number = isinstance(priority, int | float) and not isinstance(priority, bool)
        if priority is not None and not (is_number and 0 <= priority <= 1):
            raise ValueError(f"{name}: priority must be between 0 and 1, not {priority!r}")

    def make_block(self) -> dict[str, Any]:
        """The MCP content block."""
        raise NotImplementedError

    def _annotate(self, block: dict[str, Any]) -> dict[str, Any]:
        if self.audience is None and self.priority is None:
            return block
        audience = [self.audience] if isinstance(self.audience, str) else self.audience
        given = {"audience": audience and list(audience), "priority": self.priority}
        if annotations := {name: value for name, value in given.items() if value is not None}:
            block["annotations"] = annotations
        return block


class Text(Content, frozen=True):
    """Text for the model or the user, as its own block."""

    text: str

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.text, str):
            raise TypeError(f"Text: text must be a str, not {type(self.text).__name__}")

    def make_block(self) -> dict[str, Any]:
        return self._annotate({"type": "text", "text": self.text})


class _Media(Content, frozen=True):
    """Bytes with a media type, from memory or from a file, which is read at once.

    Raises:
        ValueError: if the bytes are of no known format and no media type is given.
        OSError: if the file cannot be read.
    """

    data: bytes | None = None
    path: str | os.PathLike[str] | None = None
    media_type: str | None = None

    family: ClassVar[str]

    def __post_init__(self) -> None:
        super().__post_init__()
        name = type(self).__name__
        data = _read(name, self.data, self.path)
        media_type = self.media_type or detect_media_type(data) or guess_media_type(self.path)
        if media_type is None:
            raise ValueError(
                f'{name}: the format is not recognised; set media_type="{self.family}/..."'
            )
        if not media_type.startswith(f"{self.family}/") or not is_media_type(media_type):
            raise ValueError(
                f"{name}: {media_type!r} is not of type {self.family}; set"
                f' media_type="{self.family}/..."'
            )
        force_setattr(self, "data", data)
        force_setattr(self, "media_type", media_type)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.media_type}, {len(self.data or b'')} bytes)"

    def make_block(self) -> dict[str, Any]:
        data = encode_base64(self.data or b"")
        return self._annotate({"type": self.family, "data": data, "mimeType": self.media_type})


class Image(_Media, frozen=True):
    """A picture: `Image(data)` or `Image(path="plot.png")`; its media type is seen from the bytes
    or given.
    """

    family: ClassVar[str] = "image"


class Audio(_Media, frozen=True):
    """A sound: `Audio(data)` or `Audio(path="speech.wav")`; its media type is seen from the bytes
    or given.
    """

    family: ClassVar[str] = "audio"


class File(Content, frozen=True):
    """A file inside the answer: `File(path="report.pdf")` or `File(data, name="report.pdf")`.

    A str travels as text, bytes as a blob; a file that is read travels as text when its media type
    is textual and it is UTF-8. *uri* defaults to the path's, or to `attachment:///` and the name.

    Raises:
        OSError: if the file cannot be read.
    """

    data: bytes | str | None = None
    path: str | os.PathLike[str] | None = None
    name: str | None = None
    uri: str | None = None
    media_type: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        data: bytes | str = (
            self.data if isinstance(self.data, str) else _read("File", self.data, self.path)
        )
        if isinstance(self.data, str) and self.path is not None:
            raise TypeError("File: give data or path, not both")
        media_type = self.media_type or guess_media_type(self.name or self.path)
        if isinstance(data, bytes):
            media_type = media_type or detect_media_type(data)
            if self.path is not None and media_type is not None and is_textual(media_type):
                with suppress(UnicodeDecodeError):
                    data = data.decode("utf-8")
        if media_type is not None and not is_media_type(media_type):
            raise ValueError(
                f'File: {media_type!r} is not a media type; write it like "application/pdf"'
            )
        force_setattr(self, "data", data)
        force_setattr(self, "media_type", media_type)
        force_setattr(self, "uri", _check_uri("File", self.uri or _make_uri(self.path, self.name)))

    def __repr__(self) -> str:
        unit = "bytes"
        if isinstance(self.data, str):
            unit = "characters"
        return f"File({self.uri}, {len(self.data or b'')} {unit})"

    def make_block(self) -> dict[str, Any]:
        resource: dict[str, Any] = {"uri": self.uri}
        if self.media_type is not None:
            resource["mimeType"] = self.media_type
        if isinstance(self.data, str):
            resource["text"] = self.data
        else:
            resource["blob"] = encode_base64(self.data or b"")
        return self._annotate({"type": "resource", "resource": resource})


class ResourceLink(Content, frozen=True):
    """A link to something the host may fetch by itself.

    *size* is in bytes; *name* defaults to the end of *uri*.
    """

    uri: str
    name: str | None = None
    title: str | None = None
    description: str | None = None
    media_type: str | None = None
    size: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_uri("ResourceLink", self.uri)
        if self.media_type is not None and not is_media_type(self.media_type):
            raise ValueError(
                f"ResourceLink: {self.media_type!r} is not a media type; write it like"
                ' "application/pdf"'
            )
        if self.size is not None and (type(self.size) is not int or self.size < 0):
            raise ValueError(f"ResourceLink: size must be a number of bytes, not {self.size!r}")

    def make_block(self) -> dict[str, Any]:
        name = self.name or self.uri.rstrip("/").rpartition("/")[2] or self.uri
        block: dict[str, Any] = {"type": "resource_link", "uri": self.uri, "name": name}
        for key in ("title", "description", "media_type", "size"):
            if (value := getattr(self, key)) is not None:
                block["mimeType" if key == "media_type" else key] = value
        return self._annotate(block)


def encode_base64(data: bytes) -> str:
    """Standard base64 with padding and without line breaks, the only kind every client accepts."""
    return binascii.b2a_base64(data, newline=False).decode("ascii")


def _read(name: str, data: object, path: str | os.PathLike[str] | None) -> bytes:
    """The bytes, or those of the file: read now, since the tool may delete it before the answer
    goes out.
    """
    if (data is None) == (path is None):
        raise TypeError(f"{name}: give data or path" + (", not both" if data is not None else ""))
    if path is not None:
        with open(path, "rb") as file:
            return file.read()
    if not isinstance(data, bytes | bytearray | memoryview):
        raise TypeError(
            f"{name}: data must be bytes, not {type(data).__name__}; a file's name goes to path="
        )
    return bytes(data)


def _make_uri(path: str | os.PathLike[str] | None, name: str | None) -> str:
    from urllib.parse import quote

    if name is not None:
        return f"attachment:///{quote(name)}"
    if path is None:
        return "attachment:///data"
    from pathlib import Path

    return Path(path).resolve().as_uri()


def _check_uri(name: str, uri: str) -> str:
    if not isinstance(uri, str) or not re.fullmatch(_URI, uri):
        raise ValueError(
            f"{name}: {uri!r} is not a URI; write it with its scheme, like https://... or"
            " file:///..."
        )
    return uri


def as_image(value: Any) -> Image | None:
    """A matplotlib figure or a PIL image as PNG; None for anything else."""
    kind = type(value)
    if any(hasattr(kind, mark) for mark in _RECORDS):
        return None
    buffer = BytesIO()
    if callable(getattr(kind, "savefig", None)):
        value.savefig(buffer, format="png")
    elif (
        callable(getattr(kind, "save", None)) and hasattr(value, "mode") and hasattr(value, "size")
    ):
        try:
            value.save(buffer, format="PNG")
        except OSError:  # PNG knows no CMYK, YCbCr, LAB or HSV
            buffer = BytesIO()
            value.convert("RGB").save(buffer, format="PNG")
    else:
        return None
    return Image(buffer.getvalue(), media_type="image/png")


# What dataclasses, Structs, attrs classes and pydantic models have: those are data, whatever their
# fields are called.
_RECORDS = ("__dataclass_fields__", "__struct_fields__", "__attrs_attrs__", "model_dump")


def detect_media_type(data: bytes) -> str | None:
    """The media type that the first bytes of *data* give away, or None."""
    for offset, magic, media_type in _MAGIC:
        # WEBP and WAVE are the second word of a RIFF container.
        if data.startswith(magic, offset) and (offset != 8 or data.startswith(b"RIFF")):
            return media_type
    return None


def guess_media_type(path: str | os.PathLike[str] | None) -> str | None:
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
    """True for what looks like a media type, with parameters or not."""
    return re.fullmatch(r"[\w.+!#$&^-]+/[\w.+!#$&^-]+(\s*;.+)?", text, re.ASCII) is not None
