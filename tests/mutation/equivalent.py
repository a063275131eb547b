"""Faults that change nothing a caller can notice, each with the reason. They are not planted.

A key is `Mutant.key`: the statement, and its change.
"""

from __future__ import annotations

UNREAD = "the value is set again before it is read"
TRUTH = "the caller asks only whether it is true"

_FIND_FIRST = "at = self._buffer.find(_WORD, self._searched, end + len(_WORD) - 1)"
_FIND_NEXT = "at = self._buffer.find(_WORD, at + 1, end + len(_WORD) - 1)"
_BEYOND_END = "finds words from `end` on, too, and the loop goes only up to `end`"
_MAY_BE_UNFINISHED = "self._searched and (not self._buffer.endswith((b'}', b']')))"

_SAME_JSON = "both encoders write the same of plain data"
_RESPONSE = (
    "def encode_response(id: Id, result: Any, replaced: list[str] | None=None, *,"
    " is_plain: bool=False) -"
)
_CHOICE_OF_ENCODER = (
    "return (encode_plain if is_plain else encode)({'jsonrpc': '2.0', 'id': id,"
    " 'result': result}, replac: encode_plain if is_plain else encode"
)

_SAME_BYTES = "a copy, or not, of the same bytes"
_MAY_BE_DEEP = "if len(data) > 400 and data.count(b'[') + data.count(b'{') > MAX_DEPTH:"
_EXACT_DEPTH = "what follows counts the levels itself"

_EMPTY_FRAME = "frame = {**result, 'content': [], 'structuredContent': 0}"
_EMPTY_RESPONSE = "empty = messages.encode_response(call.id, frame, is_plain=True)"

EQUIVALENT: dict[str, dict[str, str]] = {
    "toolwire.protocol.call": {
        "by_tool: bool = False: False -> True": "read only with a value, which comes with its own",
    },
    "toolwire.protocol.in_flight": {
        "message = messages.encode_response(call.id, result, replaced, is_plain=True): "
        "True -> False": ("the general encoder writes the same, and imports more"),
        "if len(message) > most and (not last):: len(message) > most -> len(message) >= most": (
            "a message of the most bytes is checked again, and sent"
        ),
    },
    "toolwire.protocol.lifecycle": {"return False -> return None": TRUTH},
    "toolwire.protocol.result_size.result_limit": {
        "if size <= max_tokens:: size <= max_tokens -> size < max_tokens": (
            "the estimate that follows finds no more than one token a byte"
        ),
        "if tokens <= max_tokens:: tokens <= max_tokens -> tokens < max_tokens": (
            "with as many tokens both are the size"
        ),
    },
    "toolwire.protocol.server_protocol": {
        "log.traceback(f'{method[:200]} failed; please report this', bug): 200 -> 201": (
            "the methods that exist are shorter"
        ),
    },
    "toolwire.protocol.result_size.large_results": {
        f"{_EMPTY_FRAME}: 0 -> 1": "only its length counts",
        f"{_EMPTY_RESPONSE}: True -> False": _SAME_JSON,
        "message = messages.encode_response(call.id, smaller, is_plain=True): "
        "True -> False": _SAME_JSON,
    },
    "toolwire.protocol.result_size.kept_results": {
        "return {} -> return None": TRUTH,
        "id = os.urandom(16).hex(): 16 -> 17": "no less random",
    },
    "toolwire.protocol.result_size.cut_text": {
        "return end -> return None": "the end of the text, as a slice has it",
    },
    "toolwire_dialects.compare.proof": {
        "return False -> return None": TRUTH,
        "if not right.assertions or self._restates_any(left, right):: "
        "not right.assertions or self._restates_any(left, right) -> "
        "not right.assertions and self._restates_any(left, right)": (
            "the cases hold the same schema, too"
        ),
    },
    "toolwire_schemas.wire.codec": {
        "return b'%b' % data if len(data) < _SPARE_BYTES else data: "
        "len(data) < _SPARE_BYTES -> len(data) <= _SPARE_BYTES": _SAME_BYTES,
        "_SPARE_BYTES = 4096: 4096 -> 4097": _SAME_BYTES,
        "if _dumps is not _import_and_dump:: "
        "_dumps is not _import_and_dump -> _dumps is _import_and_dump": (_SAME_JSON),
        f"{_MAY_BE_DEEP}: {_MAY_BE_DEEP[3:-1]} -> {_MAY_BE_DEEP[3:-1].replace(' and ', ' or ')}": (
            _EXACT_DEPTH
        ),
        f"{_MAY_BE_DEEP}: len(data) > 400 -> len(data) >= 400": _EXACT_DEPTH,
        f"{_MAY_BE_DEEP}: 400 -> 401": _EXACT_DEPTH,
        f"{_MAY_BE_DEEP}: data.count(b'[') + data.count(b'{{') > MAX_DEPTH -> "
        "data.count(b'[') + data.count(b'{') >= MAX_DEPTH": _EXACT_DEPTH,
    },
    "toolwire_schemas.wire.messages": {
        f"{_RESPONSE}: False -> True": _SAME_JSON,
        f"{_CHOICE_OF_ENCODER} -> encode_plain if not is_plain else encode": _SAME_JSON,
    },
    "toolwire_schemas.json_schema.lossless": {
        "return False -> return None": TRUTH,
        "if error.context and error.validator in _UNIONS:: "
        "error.context and error.validator in _UNIONS -> "
        "error.context or error.validator in _UNIONS": (
            "only unions have a context, and without one there are no branches"
        ),
        "found = {here[:length] for length in range(len(here) + 1)}: 1 -> 2": (
            "a slice beyond the end is the whole path, which is there already"
        ),
        "branch = inner.schema_path[0] if inner.schema_path else -1: 1 -> 2": (
            "any number that is no index of a branch"
        ),
        "for at in range(len(steps) - 1):: len(steps) - 1 -> len(steps) + 1": (
            "a slice beyond the end is shorter than what it is compared with"
        ),
    },
    "toolwire_tools.signature.second_reading": {"return False -> return None": TRUTH},
    "toolwire_tools.signature.arguments": {
        "positional: bool = False: False -> True": "every parameter is made with its own",
    },
    "toolwire_schemas.wire.framing": {
        "if len(start) < len(BOM) and BOM.startswith(start):: "
        "len(start) < len(BOM) -> len(start) <= len(BOM)": (
            "a whole BOM is removed at once, or with the bytes after it"
        ),
    },
    "toolwire_schemas.wire.content_length": {
        "self._length = 0: 0 -> 1": UNREAD,
        "self._dropped = 0: 0 -> 1": UNREAD,
        "return False -> return None": TRUTH,
        "self._searched = 0: 0 -> 1": "no header ends before its first letter",
        "self._step, self._searched = (self._read_header, 0): 0 -> 1": (
            "no header ends before its first letter"
        ),
        "self._searched = max(0, len(self._buffer) - 3): 0 -> 1": (
            "no header ends before its first letter"
        ),
        "self._searched = max(0, len(self._buffer) - 3): 3 -> 4": "searches one byte again",
        f"{_FIND_FIRST}: end + len(_WORD) - 1 -> end + len(_WORD) + 1": _BEYOND_END,
        f"{_FIND_NEXT}: end + len(_WORD) - 1 -> end + len(_WORD) + 1": _BEYOND_END,
        f"{_FIND_NEXT}: 1 -> 2": "no word begins right after the first letter of another",
        f"if {_MAY_BE_UNFINISHED}:: {_MAY_BE_UNFINISHED} -> "
        "self._searched or not self._buffer.endswith((b'}', b']'))": (
            "searches in vain: a bracket ends no beginning of a header"
        ),
        "if surplus >= KEPT_BYTES:: surplus >= KEPT_BYTES -> surplus > KEPT_BYTES": (
            "drops the same bytes, one byte later"
        ),
    },
}
