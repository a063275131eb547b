"""Results as HTML: texts, Markdown, pictures, sounds, and data as a tree. HTML in them stays
text.
"""

from __future__ import annotations

import re
from base64 import b64encode
from binascii import a2b_base64
from functools import cache
from typing import TYPE_CHECKING, Any

from toolwire_schemas.wire import codec

from .markup import Html, block, cut, element, fold, format_count, join_html, size
from .tree import tree

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MEDIA = re.compile(
    r"image/(?:png|jpeg|gif|webp|avif|bmp|svg\+xml)|audio/(?:mpeg|mp3|x?-?wav|ogg|webm|flac|aac|mp4)"
)
_MAX_MEDIA_BYTES = 8 * 1024 * 1024  # in one result, so that a page stays a page
_MAX_BLOCKS = 200
_MAX_PROBLEMS = 50
_MAX_TEXT_CHARS = 200_000  # in one result
_MAX_VALUE_CHARS = 2000
_KNOWN = {"content": list, "contents": list, "messages": list, "isError": bool, "resultType": str}


def result_html(result: Mapping[str, Any], *, problems: Sequence[str] = ()) -> Html:
    """Return the result of `tools/call`, `resources/read` or `prompts/get`; members of others as a
    tree.

    *problems* are those against the output schema.
    """
    parts: list[Html] = []
    if result.get("isError") is True:
        parts.append(element("p", "The tool reports an error.", class_="bad"))
    if problems:
        parts.append(_show_problems(problems))
    if "structuredContent" in result:
        parts.append(tree(result["structuredContent"], "structured content"))
    contents = _find_contents(result)
    blocks = _Blocks(result.get("structuredContent"))
    for role, content in contents[:_MAX_BLOCKS]:
        parts.append(blocks.html(role, content))
    more = len(contents) - _MAX_BLOCKS
    if more > 0:
        parts.append(element("p", f"… {format_count(more, 'more block')}", class_="cut"))
    others = _find_other_members(result)
    if others:
        parts.append(fold("Further members", tree(others)))
    return element("div", parts, class_="result")


def _show_problems(problems: Sequence[str]) -> Html:
    items = [element("li", cut(problem, _MAX_VALUE_CHARS)) for problem in problems[:_MAX_PROBLEMS]]
    head = element("p", "The result does not fit the output schema:", class_="bad")
    return join_html(head, element("ul", items))


def _find_contents(result: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the content blocks of a result, each with the role of its message or ""."""
    found: list[tuple[str, Any]] = []
    for name in ("content", "contents"):
        found += [("", content) for content in _list(result, name)]
    for message in _list(result, "messages"):
        if isinstance(message, dict) and "content" in message:
            found.append((str(message.get("role", "")), message["content"]))
        else:
            found.append(("", message))
    return found


def _list(result: Mapping[str, Any], name: str) -> list[Any]:
    value = result.get(name)
    if isinstance(value, list):
        return value
    return []


def _find_other_members(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members that the page shows in no other way."""
    others = {}
    for name, value in result.items():
        is_shown = isinstance(value, _KNOWN.get(name, ()))
        if name != "structuredContent" and not is_shown:
            others[name] = value
    return others


class _Blocks:
    """The content blocks of one result, whose *data* a text may repeat, with limits for all of them
    together.
    """

    def __init__(self, data: Any) -> None:
        self._data = data
        self._chars = _MAX_TEXT_CHARS
        self._bytes = _MAX_MEDIA_BYTES

    def html(self, role: str, one: Any) -> Html:
        """Return the content block *one* of a message by *role*."""
        if not isinstance(one, dict):
            return tree(one, role)
        inner = one
        if isinstance(one.get("resource"), dict):
            inner = one["resource"]
        kind = str(one.get("type", ""))
        if kind == "text":
            kind = ""
        mime = str(inner.get("mimeType") or "")
        name = str(inner.get("uri") or inner.get("name") or "")
        words = [role, kind, mime, name]
        text = inner.get("text")
        raw = inner.get("blob", inner.get("data"))
        shown: Html | None
        if isinstance(text, str):
            shown = self._text(text, mime)
        elif isinstance(raw, str):
            shown = self._medium(raw, mime, words)
        else:
            shown = tree(one)
        caption = ", ".join(word[:300] for word in words if word)
        if not caption:
            return element("section", shown)
        return element("section", element("p", caption, class_="caption"), shown)

    def _text(self, text: str, mime: str) -> Html:
        most, self._chars = self._chars, max(self._chars - len(text), 0)
        if self._data is not None and len(text) <= most and _says(text, self._data):
            return fold("The same as text", block(text, most))
        return text_html(text, mime, most)

    def _medium(self, raw: str, mime: str, words: list[str]) -> Html | None:
        try:
            data = a2b_base64(raw.encode("ascii"), strict_mode=True)
        except ValueError:
            words.append("not Base64")
            return block(raw, _MAX_VALUE_CHARS)
        words.append(size(len(data)))
        if not _MEDIA.fullmatch(mime) or len(data) > self._bytes:
            return None
        self._bytes -= len(data)
        address = f"data:{mime};base64,{b64encode(data).decode()}"
        if mime.startswith("audio/"):
            return element("audio", controls=True, src=address)
        return element("img", src=address, alt=f"a picture of the result, {size(len(data))}")


def _says(text: str, data: Any) -> bool:
    try:
        return bool(codec.decode(text.encode()) == data)
    except (codec.DecodingError, UnicodeEncodeError, RecursionError):
        return False


# --- texts ---

_SIGNS = (
    r"^#{1,6} \S",
    r"^ {0,3}(?:[-*]|\d+\.) \S",
    r"^```",
    r"^(?=.*---)[ :|-]+$",
    r"\]\(https?:",
    r"\*\*\S[^*\n]*\*\*",
)
_STRONG = [re.compile(sign, re.MULTILINE) for sign in _SIGNS[2:]]
_WEAK = [re.compile(sign, re.MULTILINE) for sign in _SIGNS[:2]]
_MAX_MARKDOWN = 20_000  # a second of work for the worst of texts


def text_html(text: str, mime: str = "", most: int = 20_000) -> Html:
    """Return *text* as it is laid out, or read as Markdown if it is that: by its type, or by two
    signs of it.
    """
    shown = block(text, most)
    if len(text) > min(most, _MAX_MARKDOWN):
        return shown
    if mime != "text/markdown" and not (_has_sign(text, _STRONG) and _has_sign(text, _WEAK)):
        return shown
    rendered = _markdown(text)
    if rendered is None:
        return shown
    return join_html(rendered, fold("As text", shown))


def _has_sign(text: str, signs: Sequence[re.Pattern[str]]) -> bool:
    return any(sign.search(text) for sign in signs)


def _markdown(text: str) -> Html | None:
    """Return Markdown as HTML; `None` without the package that reads it, or if it is nested too
    deeply.
    """
    try:
        from markdown_it.tree import SyntaxTreeNode

        parts = SyntaxTreeNode(_parser().parse(text)).children
        return element("div", [_render_node(part) for part in parts], class_="markdown")
    except (ImportError, RecursionError):
        return None


@cache
def _parser() -> Any:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def _render_node(node: Any) -> Html:
    if node.type in ("fence", "code_block"):
        return block(node.content)
    if node.type == "code_inline":
        return element("code", node.content)
    if node.type == "softbreak":
        return join_html("\n")
    inner = join_html([_render_node(child) for child in node.children] or node.content)
    if node.type in ("link", "image"):  # a picture from elsewhere is not loaded, but linked
        address = str(node.attrs.get("href") or node.attrs.get("src"))
        return element("a", inner or address, href=address, rel="noreferrer noopener")
    if node.type == "heading":
        return element(f"h{min(int(node.tag[1]) + 2, 6)}", inner)
    if node.hidden or not node.tag:
        return inner
    return element(node.tag, inner)
