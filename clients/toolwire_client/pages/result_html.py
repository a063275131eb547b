"""Results as HTML: texts, Markdown, pictures, sounds, and data as a tree. HTML in them stays
text.
"""

from __future__ import annotations

import re
from base64 import b64encode
from binascii import a2b_base64
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from toolwire_schemas.wire import codec

from .markup import Html, block, cut, element, fold, format_count, format_size, join_html
from .records import Path, show_data
from .tree import write_tree

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MEDIA = re.compile(
    r"image/(?:png|jpeg|gif|webp|avif|bmp|svg\+xml)|audio/(?:mpeg|mp3|x?-?wav|ogg|webm|flac|aac|mp4)"
)
_MAX_MEDIA_BYTES = 8 * 1024 * 1024  # in one result, so that a page stays a page
_MAX_BLOCKS = 200
_MAX_PROBLEMS = 50
_MAX_TEXT_CHARS = 200_000  # in one result
_MAX_COMPARED = 10_000_000  # characters, which take a tenth of a second
_MAX_VALUE_CHARS = 2000
_KNOWN = {"content": list, "contents": list, "messages": list, "isError": bool, "resultType": str}


def write_result_html(
    result: Mapping[str, Any], *, problems: Sequence[str] = (), fault: str = "", note: str = ""
) -> Html:
    """Return the result of `tools/call`, `resources/read` or `prompts/get`; members of others as a
    tree. What text and data say alike is shown once.

    *problems* are those against the output schema; a *fault* is why the result is malformed;
    a *note* is about a result that nothing is wrong with.
    """
    parts: list[Html] = []
    if result.get("isError") is True:
        parts.append(element("p", "The tool reports an error.", class_="bad"))
    if fault:
        parts.append(element("p", f"The result is malformed: {fault}", class_="bad"))
    if problems:
        parts.append(_show_problems(problems))
    if note:
        parts.append(element("p", note, class_="muted"))
    contents = _find_contents(result)
    data = result.get("structuredContent")
    is_text = any(_is_text_of(found.content, data) for found in contents)
    if "structuredContent" in result and not is_text:
        parts.append(show_data(data, ("structuredContent",), "structured content"))
    blocks = _Blocks(data)
    for found in contents[:_MAX_BLOCKS]:
        block_html = blocks.write_block(found)
        if block_html is not None:
            parts.append(block_html)
    more = len(contents) - _MAX_BLOCKS
    if more > 0:
        parts.append(element("p", f"… {format_count(more, 'more block')}", class_="cut"))
    others = _find_other_members(result)
    if others:
        parts.append(fold("Further members", write_tree(others)))
    return element("div", parts, class_="result")


def _show_problems(problems: Sequence[str]) -> Html:
    items = [element("li", cut(problem, _MAX_VALUE_CHARS)) for problem in problems[:_MAX_PROBLEMS]]
    head = element("p", "The result does not fit the output schema:", class_="bad")
    return join_html(head, element("ul", items))


class _Content(NamedTuple):
    """A content block, where it is in the result, and the role of its message or ""."""

    role: str
    content: Any
    path: Path


def _find_contents(result: Mapping[str, Any]) -> list[_Content]:
    """Return the content blocks of a result."""
    found: list[_Content] = []
    for name in ("content", "contents"):
        for index, content in enumerate(_list(result, name)):
            found.append(_Content("", content, (name, index)))
    for index, message in enumerate(_list(result, "messages")):
        if isinstance(message, dict) and "content" in message:
            path = ("messages", index, "content")
            found.append(_Content(str(message.get("role", "")), message["content"], path))
        else:
            found.append(_Content("", message, ("messages", index)))
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

    def write_block(self, found: _Content) -> Html | None:
        """Return a content block; `None` if the data says the same."""
        role, one, path = found
        if not isinstance(one, dict):
            return write_tree(one, role)
        inner = one
        if isinstance(one.get("resource"), dict):
            inner = one["resource"]
            path = (*path, "resource")
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
            if self._is_repeated(text):
                return None
            shown = self._write_text(text, mime, (*path, "text"))
        elif isinstance(raw, str):
            shown = self._write_medium(raw, mime, words)
        elif kind == "resource_link" and name:
            return _show_link(inner)
        else:
            shown = write_tree(one)
        caption = ", ".join(word[:300] for word in words if word)
        if not caption:
            return element("section", shown)
        return element("section", element("p", caption, class_="caption"), shown)

    def _is_repeated(self, text: str) -> bool:
        return self._data is not None and len(text) <= _MAX_COMPARED and _says(text, self._data)

    def _write_text(self, text: str, mime: str, path: Path) -> Html:
        most, self._chars = self._chars, max(self._chars - len(text), 0)
        data = _read_data(text)
        if data is None or len(text) > most:
            return write_text_html(text, mime, most)
        return join_html(show_data(data, path), fold("As text", block(text, most)))

    def _write_medium(self, raw: str, mime: str, words: list[str]) -> Html | None:
        try:
            data = a2b_base64(raw.encode("ascii"), strict_mode=True)
        except ValueError:
            words.append("not Base64")
            return block(raw, _MAX_VALUE_CHARS)
        words.append(format_size(len(data)))
        if not _MEDIA.fullmatch(mime) or len(data) > self._bytes:
            return None
        self._bytes -= len(data)
        address = f"data:{mime};base64,{b64encode(data).decode()}"
        if mime.startswith("audio/"):
            return element("audio", controls=True, src=address)
        return element("img", src=address, alt=f"a picture of the result, {format_size(len(data))}")


def _is_text_of(block: Any, data: Any) -> bool:
    """Return whether *data* only wraps the text of *block*: servers name the member differently."""
    if not isinstance(block, dict) or not isinstance(data, dict):
        return False
    text = block.get("text")
    return isinstance(text, str) and list(data.values()) == [text]


def _says(text: str, data: Any) -> bool:
    """Return whether *text* is the JSON of *data*, or of what it wraps."""
    try:
        value = codec.decode(text.encode())
    except (codec.DecodingError, UnicodeEncodeError, RecursionError):
        return False
    return bool(value == data or data == {"result": value})


def _read_data(text: str) -> Any:
    """Return the object or list that *text* is in JSON; `None` for other texts."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return codec.decode(text.encode()) or None
    except (codec.DecodingError, UnicodeEncodeError, RecursionError):
        return None


def _show_link(link: Mapping[str, Any]) -> Html:
    """Return a link to a resource; a page with a script reads it there."""
    uri = str(link.get("uri") or "")
    description = str(link.get("description") or "")
    words = []
    for name in ("title", "name", "mimeType"):
        if link.get(name):
            words.append(str(link[name])[:300])
    address = element("a", cut(uri, 300), href=uri, rel="noreferrer noopener")
    parts = [
        element("p", ", ".join(words), class_="caption"),
        element("p", address),
        element("p", cut(description, _MAX_VALUE_CHARS)),
    ]
    return element("section", parts, class_="resource-link", data_uri=uri)


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


def write_text_html(text: str, mime: str = "", most: int = 20_000) -> Html:
    """Return *text* as it is laid out, or read as Markdown if it is that: by its type, or by two
    signs of it.
    """
    shown = block(text, most)
    if len(text) > min(most, _MAX_MARKDOWN):
        return shown
    if mime != "text/markdown" and not (_has_sign(text, _STRONG) and _has_sign(text, _WEAK)):
        return shown
    rendered = _write_markdown(text)
    if rendered is None:
        return shown
    return join_html(rendered, fold("As text", shown))


def _has_sign(text: str, signs: Sequence[re.Pattern[str]]) -> bool:
    return any(sign.search(text) for sign in signs)


def _write_markdown(text: str) -> Html | None:
    """Return Markdown as HTML; `None` without the package that reads it, or if it is nested too
    deeply.
    """
    try:
        from markdown_it.tree import SyntaxTreeNode

        parts = SyntaxTreeNode(_make_parser().parse(text)).children
        return element("div", [_render_node(part) for part in parts], class_="markdown")
    except (ImportError, RecursionError):
        return None


@cache
def _make_parser() -> Any:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def _render_node(node: Any) -> Html:
    if node.type in ("fence", "code_block"):
        return block(node.content)
    if node.type == "code_inline":
        return element("code", node.content)
    if node.type == "softbreak":
        return join_html("\n")
    if node.type == "list_item" and (mark := _TASK.match(_find_first_text(node))):
        return _render_task(node, mark)
    inner = join_html([_render_node(child) for child in node.children] or node.content)
    if node.type in ("link", "image"):  # a picture from elsewhere is not loaded, but linked
        address = str(node.attrs.get("href") or node.attrs.get("src"))
        return element("a", inner or address, href=address, rel="noreferrer noopener")
    if node.type == "heading":
        return element(f"h{min(int(node.tag[1]) + 2, 6)}", inner)
    if node.hidden or not node.tag:
        return inner
    alignment = str(node.attrs.get("style", "")).removeprefix("text-align:")
    return element(node.tag, inner, class_=alignment or None)


_TASK = re.compile(r"\[([ xX])\] ")


def _find_first_text(item: Any) -> str:
    """Return the text with which a list item begins."""
    node = item
    while node.children:
        node = node.children[0]
    return str(node.content)


def _render_task(item: Any, mark: re.Match[str]) -> Html:
    """Return an item of a task list: `- [x] done`."""
    paragraph, *others = item.children
    whole = "".join(_render_node(child) for child in paragraph.children)
    is_done = mark[1] != " "
    label = "done" if is_done else "not done"
    box = element("input", type="checkbox", disabled=True, checked=is_done, aria_label=label)
    text = Html(whole.removeprefix(mark[0]))
    return element("li", box, " ", text, [_render_node(other) for other in others], class_="task")
