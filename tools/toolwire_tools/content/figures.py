"""Pictures of other libraries, recognised by what they can do and never imported."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from .blocks import Image


def picture(value: Any) -> Image | None:
    """A matplotlib figure or a PIL image as PNG; None for anything else."""
    kind = type(value)
    if any(hasattr(kind, mark) for mark in _RECORDS):
        return None
    if callable(getattr(kind, "savefig", None)):
        return _png(lambda buffer: value.savefig(buffer, format="png"))
    if callable(getattr(kind, "save", None)) and hasattr(value, "mode") and hasattr(value, "size"):
        return _png(lambda buffer: _save(value, buffer))
    return None


# What dataclasses, Structs, attrs classes and pydantic models have: those are data, whatever their fields are called.
_RECORDS = ("__dataclass_fields__", "__struct_fields__", "__attrs_attrs__", "model_dump")


def _save(image: Any, buffer: BytesIO) -> None:
    try:
        image.save(buffer, format="PNG")
    except OSError:  # PNG knows no CMYK, YCbCr, LAB or HSV
        buffer.seek(0)
        buffer.truncate()
        image.convert("RGB").save(buffer, format="PNG")


def _png(save: Any) -> Image:
    buffer = BytesIO()
    save(buffer)
    return Image(buffer.getvalue(), media_type="image/png")
