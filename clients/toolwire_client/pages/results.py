"""Results as HTML: texts, Markdown, pictures, sounds, and data as a tree. A server's word is never HTML."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from binascii import a2b_base64
from typing import TYPE_CHECKING, Any

from toolwire_schemas.wire import codec

from .markup import Child, Html, block, cut, element, folded, size, together

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_MEDIA = re.compile(
    r"(?:image/(?:png|jpeg|gif|webp|avif|bmp|svg\+xml)|audio/(?:mpeg|mp3|wav|x-wav|ogg|webm|flac|aac|mp4))"
)
_MAX_MEDIA_BYTES = 8 * 1024 * 1024  # of one result; browsers refuse far longer addresses, and pages stay small
_MAX_BLOCKS = 200
_MAX_VALUES = 2000
_MAX_DEPTH = 24
_MAX_TEXT = 2000
_OPEN = 12  # a list or an object with at most as many members is shown open


def result_html(result: Mapping[str, Any], *, problems: Sequence[str] = ()) -> Html:
    """Return the result of `tools/call`, `resources/read` or `prompts/get`; any other as a tree.

    *problems* are those against the output schema.
    """
    failed = result.get("isError") is True
    data = result.get("structuredContent")
    parts: list[Child] = [element("p", "The tool reports an error.", class_="bad")] if failed else []
    if problems:
        parts.append(element("p", "The result does not fit the output schema:", class_="bad"))
        parts.append(element("ul", [element("li", problem) for problem in problems]))
    if "structuredContent" in result:
        parts.append(tree(data, "structured content"))
    media = [_MAX_MEDIA_BYTES]
    found = list(_blocks(result))
    parts += [_block(one, media, data) for one in found[:_MAX_BLOCKS]]
    if len(found) > _MAX_BLOCKS:
        parts.append(element("p", f"… {len(found) - _MAX_BLOCKS:,} more blocks", class_="cut"))
    others = {key: value for key, value in result.items() if key not in _SHOWN or not isinstance(value, _SHOWN[key])}
    if others:
        parts.append(folded("further members", tree(others, "")))
    return element("div", parts, class_="result bad" if failed else "result")


_SHOWN: dict[str, type | tuple[type, ...]] = {
    "content": list,
    "contents": list,
    "messages": list,
    "isError": bool,
    "structuredContent": object,
    "description": (),
    "resultType": str,
}


def _blocks(result: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name in ("content", "contents", "messages"):
        blocks = result.get(name)
        for one in blocks if isinstance(blocks, list) else ():
            if name == "messages" and isinstance(one, dict) and "content" in one:
                yield str(one.get("role", "")), one["content"]
            else:
                yield "", one


def _block(found: tuple[str, Any], media: list[int], data: Any) -> Html:
    role, one = found
    if not isinstance(one, dict):
        return element("section", _caption(role, "not a block"), tree(one, ""), class_="block")
    inner = one["resource"] if isinstance(one.get("resource"), dict) else one
    kind, mime = str(one.get("type", "")), str(inner.get("mimeType") or "")
    name = inner.get("uri") or one.get("name")
    words = [role, "" if kind == "text" else kind, mime, str(name or "")]
    text, raw = inner.get("text"), inner.get("blob", inner.get("data"))
    if isinstance(text, str):
        if data is not None and _is_same(text, data):
            return folded("the same as text", block(text), class_="block")
        return element("section", _caption(*words), text_html(text, mime), class_="block")
    if isinstance(raw, str):
        return element("section", _medium(raw, mime, words, media), class_="block")
    return element("section", _caption(*words), tree(one, ""), class_="block")


def _caption(*words: str) -> Html | None:
    spoken = ", ".join(cut_ for word in words if word and (cut_ := word[:200]))
    return element("p", spoken, class_="caption") if spoken else None


def _is_same(text: str, data: Any) -> bool:
    try:
        return len(text) < 1_000_000 and bool(codec.decode(text.encode()) == data)
    except (codec.DecodingError, UnicodeEncodeError, RecursionError):
        return False


def _medium(raw: str, mime: str, words: Sequence[str], media: list[int]) -> Html:
    try:
        data = a2b_base64(raw.encode("ascii"), strict_mode=True)
    except ValueError:
        return together(_caption(*words, "not Base64"), block(raw, _MAX_TEXT))
    about = _caption(*words, size(len(data)))
    if not _MEDIA.fullmatch(mime) or len(data) > media[0]:
        return together(about)
    media[0] -= len(data)
    address = f"data:{mime};base64,{b64encode(data).decode()}"
    if mime.startswith("audio/"):
        return together(about, element("audio", controls=True, src=address))
    return together(about, element("img", src=address, alt=f"{mime}, {size(len(data))}"))


# --- texts ---


def text_html(text: str, mime: str = "") -> Html:
    """Return *text* as it is laid out."""
    return block(text)


# --- data ---


def tree(value: Any, name: str) -> Html:
    """Return a JSON value as a tree whose parts open and close; what is large or deep is cut, which it says."""
    return element("div", _node(value, name, [_MAX_VALUES], 0), class_="tree")


def _node(value: Any, name: str, left: list[int], depth: int) -> Html:
    left[0] -= 1
    key = element("span", cut(name, 200), class_="key") if name else None
    if not isinstance(value, dict | list) or not value or depth == _MAX_DEPTH:
        return element("div", key, " " if name else None, _leaf(value))
    members = (
        [(str(key), item) for key, item in value.items()]
        if isinstance(value, dict)
        else [(str(number), item) for number, item in enumerate(value)]
    )
    shown = []
    for member, item in members:
        if left[0] <= 0:
            break
        shown.append(_node(item, member, left, depth + 1))
    if len(shown) < len(members):
        shown.append(element("div", f"… {len(members) - len(shown):,} more", class_="cut"))
    kind = f"{{{len(members):,}}}" if isinstance(value, dict) else f"[{len(members):,}]"
    summary = together(key, " " if name else None, element("span", kind, class_="kind"))
    return folded(summary, *shown, open_=len(members) <= _OPEN)


def _leaf(value: Any) -> Html:
    if isinstance(value, dict | list) and value:
        return element("span", "… nested more deeply", class_="cut")
    kind = {str: "string", bool: "word", type(None): "word"}.get(type(value), "number")
    text = json.dumps(value, ensure_ascii=False, default=str)
    return element("span", cut(text, _MAX_TEXT), class_=kind)
