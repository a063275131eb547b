"""Bytes of a page as text, in the encoding that browsers would take."""

from __future__ import annotations

import codecs
import re

_BOMS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_SNIFFED_BYTES = 4096
_DECLARED = re.compile(
    rb"""<(?:meta|\?xml)\b[^>]{0,300}?(?:charset|encoding)\s{0,9}=\s{0,9}["']?([\w.:-]{1,40})""", re.I
)

# What a name means on the web where Python takes it at its word (https://encoding.spec.whatwg.org/#names-and-labels).
_MEANT = {
    "ascii": "cp1252",
    "big5": "big5hkscs",
    "euc_kr": "cp949",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "shift_jis": "cp932",
    "utf-16": "utf-16-le",
}
_CONTROLS = {code: None for code in [*range(32), *range(127, 160)] if chr(code) not in "\t\n\r\x85"}


def decoded(body: bytes, content_type: str) -> str:
    """*body* as text without control characters.

    The encoding is told by its first bytes, by *content_type*, or by the page itself; else it is UTF-8 if that fits, or
    what its letters look like. Bytes that do not fit become U+FFFD.
    """
    for mark, name in _BOMS.items():
        if body.startswith(mark):
            return _clean(body[len(mark) :].decode(name, "replace"))
    told = content_type.lower().partition("charset=")[2].partition(";")[0].strip(" \"'")
    name = _known(told) or _declared(body) or _guessed(body)
    return _clean(body.decode(name, "replace"))


def _declared(body: bytes) -> str | None:
    found = _DECLARED.search(body, 0, _SNIFFED_BYTES)
    name = _known(found[1].decode("ascii")) if found else None
    return "utf-8" if name and name.startswith("utf-16") else name  # else it could not have been read


def _known(label: str) -> str | None:
    try:
        name = codecs.lookup(label).name
        "".encode(name)
    except (LookupError, ValueError, UnicodeError):  # unknown, or no encoding of text
        return None
    # Python's own, which no browser knows: pages could hide text in them.
    if name.startswith(("utf-7", "unicode", "raw", "idna", "punycode", "undefined", "mbcs", "oem", "palmos")):
        return None
    return _MEANT.get(name, name)


def _guessed(body: bytes) -> str:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        from charset_normalizer import from_bytes  # comes with trafilatura

        best = from_bytes(body[:65_536]).best()
        return (best and _known(best.encoding)) or "cp1252"
    return "utf-8"


def _clean(text: str) -> str:
    return text.translate(_CONTROLS).replace("\r\n", "\n").replace("\r", "\n")
