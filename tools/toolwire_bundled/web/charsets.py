"""Decode the bytes of a page.

Strategy. A byte-order mark, the HTTP header and the page's own declaration decide, in this order,
as the Encoding Standard demands; then UTF-8 if all bytes fit, because charset-normalizer mistakes
short texts in UTF-8 for others. charset-normalizer detects the rest.
"""

from __future__ import annotations

import codecs
import re

_BOMS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_DECLARED = re.compile(
    rb"""<(?:meta|\?xml)\b[^>]{0,300}?(?:charset|encoding)\s{0,9}=\s{0,9}["']?([\w.:-]{1,40})""",
    re.I,
)
_DECLARED_WITHIN_BYTES = 4096
_DETECTED_FROM_BYTES = 65_536  # detection takes time in proportion

# Encodings that the web reads as a larger one (https://encoding.spec.whatwg.org/#names-and-labels).
_WEB_NAMES = {
    **dict.fromkeys(("ascii", "iso8859-1"), "cp1252"),
    **dict.fromkeys(("gb2312", "gbk"), "gb18030"),
    "big5": "big5hkscs",
    "euc_kr": "cp949",
    "shift_jis": "cp932",
    "utf-16": "utf-16-le",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
}
# Python's own encodings, which no browser knows: a page could hide text in them.
_NOT_OF_THE_WEB = (
    "utf-7",
    "unicode",
    "raw",
    "idna",
    "punycode",
    "undefined",
    "mbcs",
    "oem",
    "palmos",
)
_CONTROLS = {code: None for code in [*range(32), *range(127, 160)] if chr(code) not in "\t\n\r\x85"}


def decode_body(body: bytes, content_type: str) -> str:
    """Return *body* as text without control characters. Bytes that do not fit become U+FFFD."""
    label = content_type.lower().partition("charset=")[2].partition(";")[0].strip(" \"'")
    mark = next((name for mark, name in _BOMS.items() if body.startswith(mark)), None)
    text = body.decode(
        mark or _find_codec(label) or _find_declared(body) or _detect(body), "replace"
    )
    return text.translate(_CONTROLS).replace("\r\n", "\n").replace("\r", "\n")


def _find_codec(label: str) -> str | None:
    if not label.isascii():  # Python's own search for such names is deprecated
        return None
    try:
        name = codecs.lookup(label).name
        "".encode(name)
    except (LookupError, ValueError, UnicodeError):  # unknown, or no encoding of text
        return None
    return None if name.startswith(_NOT_OF_THE_WEB) else _WEB_NAMES.get(name, name)


def _find_declared(body: bytes) -> str | None:
    found = _DECLARED.search(body, 0, _DECLARED_WITHIN_BYTES)
    name = _find_codec(found[1].decode("ascii")) if found else None
    return (
        "utf-8" if name and name.startswith("utf-16") else name
    )  # in UTF-16 the declaration would not match


def _detect(body: bytes) -> str:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        from charset_normalizer import from_bytes

        best = from_bytes(body[:_DETECTED_FROM_BYTES]).best()
        return (best and _find_codec(best.encoding)) or "cp1252"
    return "utf-8"
