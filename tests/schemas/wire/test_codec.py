"""The codec: exact both ways, or an error; never a silent null."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from toolwire_schemas.wire import codec
from toolwire_schemas.wire.codec import DecodingError, EncodingError, decode, encode, encode_plain
from toolwire_schemas.wire.nesting import check_depth

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_any_json_value_survives_both_ways(value: object) -> None:
    assert decode(encode(value)) == value
    assert json.loads(encode(value)) == value


@pytest.fixture
def without_orjson(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process that has not imported orjson yet."""
    monkeypatch.setattr(codec, "_dumps", codec._import_and_dump)


@pytest.mark.usefixtures("without_orjson")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(JSON)
def test_plain_data_is_encoded_alike_with_and_without_orjson(value: object) -> None:
    assert decode(encode_plain(value)) == value == decode(encode(value))


@pytest.mark.usefixtures("without_orjson")
@pytest.mark.parametrize("depth", [codec.MAX_DEPTH + 60, 1_000, 100_000])
@pytest.mark.parametrize("wrap", [lambda inner: [inner], lambda inner: {"a": inner}])
def test_plain_data_nested_too_deeply_is_refused_without_orjson_too(
    wrap: Callable[[object], object], depth: int
) -> None:
    value: object = None
    for _ in range(depth):
        value = wrap(value)
    with pytest.raises(EncodingError):
        encode_plain(value)


@pytest.mark.usefixtures("without_orjson")
@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        [math.inf],
        {"a": -math.inf},
        [2**70, math.nan],
        [10**codec.MAX_DIGITS],
        object(),
    ],
)
def test_what_is_no_json_is_refused_without_orjson_too(value: object) -> None:
    with pytest.raises(EncodingError):
        encode_plain(value)


@pytest.mark.usefixtures("without_orjson")
def test_the_places_of_replaced_surrogates_are_reported_without_orjson_too() -> None:
    replaced: list[str] = []
    assert decode(encode_plain({"a": ["\ud800"]}, replaced)) == {"a": ["\ufffd"]}
    assert replaced == ["a[0]"]


@given(st.integers(min_value=-(10**300), max_value=10**300))
def test_integers_of_any_size_are_exact(number: int) -> None:
    assert decode(encode([number])) == [number]
    assert type(decode(encode(number))) is int


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("depth", [0, 1, 2])
@pytest.mark.parametrize("beside", [None, 2**70])
def test_what_is_no_json_number_is_refused_with_its_place(
    number: float, depth: int, beside: object
) -> None:
    value: object = number
    path = ""
    for _ in range(depth):
        value, path = {"a": [beside, value]}, ".a[1]" + path

    with pytest.raises(EncodingError) as refusal:
        encode(value)

    assert (
        str(refusal.value)
        == f"{path.removeprefix('.') or 'the value'} is {number}, which JSON cannot express"
    )


@given(st.lists(st.none() | st.floats() | st.integers() | st.text()))
@example([None, sys.float_info.max, -sys.float_info.max])
def test_a_list_with_null_is_refused_exactly_if_a_number_in_it_is_not_finite(
    values: list[object],
) -> None:
    is_finite = all(math.isfinite(value) for value in values if isinstance(value, float))
    for encode_value in (encode, encode_plain):
        if is_finite:
            assert decode(encode_value([None, *values])) == [None, *values]
            continue
        with pytest.raises(EncodingError):
            encode_value([None, *values])


def nest(levels: int, inner: object) -> object:
    """Return *inner* within *levels* of arrays and objects by turns."""
    value = inner
    for level in range(levels):
        value = [value] if level % 2 else {"a": value}
    return value


@pytest.mark.parametrize("inner", [1, "text", None, [1, {"b": 2}]])
def test_depth_of_a_value_is_judged_at_its_limit(inner: object) -> None:
    own_levels = 2 if isinstance(inner, list) else 0
    check_depth([nest(9 - own_levels, inner), 7], 10)
    with pytest.raises(ValueError, match="more than 10 levels"):
        check_depth([nest(10 - own_levels, inner), 7], 10)


def test_a_long_flat_list_needs_no_orjson(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(value: object) -> bytes:
        raise AssertionError("orjson is not needed")

    monkeypatch.setattr(codec, "_import_and_dump", refuse)
    monkeypatch.setattr(codec, "_dumps", refuse)
    tools = [{"name": str(number), "inputSchema": {"type": "object"}} for number in range(300)]
    assert decode(encode_plain({"tools": tools})) == {"tools": tools}


@given(st.text(st.characters(categories=None) | st.characters(categories=["Cs"])))
def test_any_text_is_sent_as_valid_utf8(text: str) -> None:
    sent = decode(encode({"text": text, text: 1}))

    assert sent["text"] == text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def test_surrogates_are_replaced_and_pairs_of_them_joined() -> None:
    assert decode(encode("a\ud800b")) == "a\ufffdb"
    assert decode(encode("\ud83d\ude00")) == "\U0001f600"


def test_the_places_of_replaced_surrogates_are_reported() -> None:
    replaced: list[str] = []

    encode({"a": ["fine", "\ud83d\ude00", "a\ud800b"], "\udc00": 1}, replaced)

    assert replaced == ["a[2]", "the value"]


LARGEST, LEAST = 10**4300 - 1, 1 - 10**4299


@pytest.mark.parametrize("number", [LARGEST, LEAST], ids=["largest", "least"])
def test_the_longest_integers_are_exact_in_both_directions(number: int) -> None:
    assert decode(encode([number])) == [number]


@pytest.mark.parametrize(
    "number", [LARGEST + 1, LEAST - 1, 1 << 3_000_000], ids=["larger", "less", "huge"]
)
def test_a_longer_integer_is_refused_with_the_limit_and_the_remedy(number: int) -> None:
    with pytest.raises(EncodingError) as refusal:
        encode({"a": [number]})

    assert (
        str(refusal.value)
        == "a[0] has more than 4,300 digits, the limit for integers; send it as text"
    )


@pytest.mark.parametrize(
    "text", [b"9" * 4301, b"-" + b"9" * 4300, b"9" * 10_000_000], ids=["larger", "less", "huge"]
)
def test_a_longer_integer_is_not_read_and_the_error_names_the_limit(text: bytes) -> None:
    with pytest.raises(
        DecodingError, match=r"^an integer has more than 4,300 digits, the limit for integers"
    ):
        decode(b'{"a":' + text + b"}" if len(text) < 5000 else text)


@pytest.mark.parametrize("value", [b"bytes", {1.5: 0}, object(), {"a": {1, 2}}])
def test_what_json_has_no_form_for_is_refused(value: object) -> None:
    with pytest.raises(EncodingError):
        encode(value)


def test_a_value_nested_too_deeply_is_refused_rather_than_overflowing_the_stack() -> None:
    value: list[object] = []
    for _ in range(100_000):
        value = [value]

    with pytest.raises(EncodingError):
        encode(value)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"NaN",
        b"[Infinity]",
        b"1e999",
        b'"\\ud800"',
        b'"\xff"',
        b"{}\x00",
        b"1 2",
        b"'a'",
        b"[" * 100_000,
        b"1" * 5000,
    ],
)
def test_what_is_no_json_is_refused(text: bytes) -> None:
    with pytest.raises(DecodingError):
        decode(text)


@pytest.mark.parametrize(
    "text", [r'"\ud800"', r'"\ud800, and more"', r'"\ud800\u0041"', r'"\udc00"', r'"\ud800\ud800"']
)
def test_half_of_a_surrogate_pair_is_called_that(text: str) -> None:
    for whole, place in [(text, 1), (f'{{"ä": {text}}}', 7)]:
        with pytest.raises(DecodingError) as refusal:
            decode(whole.encode())
        assert (
            str(refusal.value)
            == f"an escaped surrogate without the other half of its pair (character {place})"
        )


def test_what_is_no_json_is_described_where_orjson_cannot_be_imported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "orjson", None)

    with pytest.raises(DecodingError, match="truncated"):
        decode(b"[1")


def test_bytes_that_are_no_text_are_not_called_surrogates() -> None:
    with pytest.raises(DecodingError) as refusal:
        decode(b"red\xff")
    assert "surrogate" not in str(refusal.value)


@pytest.mark.parametrize("text", [r'"\ud800', r'"\ud8', '{"a": "b', "["])
def test_what_ends_too_early_is_called_truncated(text: str) -> None:
    with pytest.raises(DecodingError, match="truncated"):
        decode(text)


@given(st.binary())
def test_arbitrary_bytes_decode_or_are_refused(data: bytes) -> None:
    try:
        value = decode(data)
    except DecodingError:
        return
    assert decode(encode(value)) == value


@pytest.mark.parametrize("kinds", ["lists", "dicts", "both"])
@pytest.mark.parametrize(("depth", "is_written"), [(200, True), (201, False)])
def test_a_value_is_written_up_to_200_levels_deep(kinds: str, depth: int, is_written: bool) -> None:
    value: Any = [True, None, 10**30]  # beyond 64 bits, which orjson refuses
    for level in range(depth - 1):
        is_list = kinds == "lists" or (kinds == "both" and level % 2 == 0)
        value = [value] if is_list else {"a": value}

    if is_written:
        assert decode(encode(value)) == value
    else:
        with pytest.raises(EncodingError, match="nested more than 200 levels deep"):
            encode(value)


@pytest.mark.parametrize(
    ("key", "written"), [(1, "1"), (-7, "-7"), ("a", "a"), ("\ud800", "\ufffd")]
)
def test_a_key_is_text_or_a_whole_number(key: Any, written: str) -> None:
    assert decode(encode({key: 10**30})) == {written: 10**30}


@pytest.mark.parametrize("key", [True, False, None, 1.5, (1,)])
def test_any_other_key_is_refused(key: Any) -> None:
    with pytest.raises(EncodingError, match="JSON knows only text as keys"):
        encode({key: 10**30})
