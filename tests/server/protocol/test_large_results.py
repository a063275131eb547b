"""Results beyond the limit: an error, a part of them, or links to read them. Every client takes
what is sent.
"""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.server_process import MODERN, answers, call, protocol_of, request, served
from toolwire import Server
from toolwire.protocol.result_size.cut_text import cut_end
from toolwire_schemas.published import load_validator
from toolwire_schemas.wire.codec import encode
from toolwire_tools import Audio, File, Image, Text, tool_api

PNG = b"\x89PNG\r\n\x1a\n"
WAV = b"RIFF\x04\0\0\0WAVE"
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"


def text(number: int, piece: str = "word ") -> str:
    return piece * number


def numbers(number: int) -> list[int]:
    return list(range(number))


def anything(number: int):  # type: ignore[no-untyped-def]
    return {"x": "y" * number}


def result_of(tool: Any, arguments: dict[str, Any], **settings: Any) -> tuple[dict[str, Any], int]:
    """Return the result of a call, and the size of the response."""
    [answer] = answers(protocol_of(tool, **settings), call(tool.__name__, arguments))
    return answer["result"], len(encode(answer))


def texts(result: dict[str, Any]) -> list[str]:
    return [block["text"] for block in result["content"] if block["type"] == "text"]


def test_by_default_a_larger_result_is_an_error_that_says_how_large() -> None:
    result, _ = result_of(text, {"number": 1000}, max_result_bytes=3000)

    assert result["isError"] is True
    assert "takes 5,089 bytes, and it may take at most 3,000 bytes" in result["content"][0]["text"]


def test_a_cut_text_says_how_much_of_how_much_it_shows() -> None:
    result, size = result_of(
        text, {"number": 1000}, max_result_bytes=3000, on_large_result="truncate"
    )

    shown, _, note = result["content"][0]["text"].partition("\n[")
    assert result["isError"] is False
    assert ("word " * 1000).startswith(shown)
    assert note.startswith(f"Cut: {len(shown):,} of 5,000 characters of text shown. Ask for less")
    assert 1500 < size <= 3000


@pytest.mark.parametrize(
    "piece", ["\x01", "\n", '"', "\\", "é", "你", "\U0001f600", "\ud83d\ude00", "\ud800", FAMILY]
)
@pytest.mark.parametrize("mode", ["truncate", "resource"])
def test_what_is_sent_stays_within_the_limit_whatever_the_text(piece: str, mode: str) -> None:
    def made() -> str:
        return piece * 4000

    for limit in range(2500, 2512):
        result, size = result_of(made, {}, max_result_bytes=limit, on_large_result=mode)

        assert size <= limit
        assert (
            result["isError"] is False or mode == "resource"
        )  # a link for each part may take too much


def test_structured_content_that_fits_stays_whole_and_its_text_is_cut() -> None:
    result, size = result_of(
        numbers, {"number": 800}, max_result_bytes=5000, on_large_result="truncate"
    )

    assert result["structuredContent"] == {"result": list(range(800))}
    assert "The structured content is complete." in result["content"][0]["text"]
    assert result["isError"] is False
    assert size <= 5000


def test_without_its_structured_content_the_result_of_an_output_schema_is_an_error() -> None:
    result, _ = result_of(
        numbers, {"number": 2000}, max_result_bytes=5000, on_large_result="truncate"
    )

    assert result.keys() == {"content", "isError"}
    assert result["isError"] is True
    assert result["content"][0]["text"].startswith("[0,1,2,")
    assert "marked as an error because the structured content" in result["content"][0]["text"]


def test_structured_content_without_an_output_schema_is_left_out_for_the_whole_text() -> None:
    result, _ = result_of(
        anything, {"number": 3000}, max_result_bytes=5000, on_large_result="truncate"
    )

    assert result == {
        "content": [{"type": "text", "text": '{"x":"' + "y" * 3000 + '"}'}],
        "isError": False,
    }


def test_pictures_and_sounds_are_sent_whole_or_left_out() -> None:
    def several():  # type: ignore[no-untyped-def]
        return [
            Text(text="a" * 5000),
            Image(PNG + bytes(3000)),
            Audio(WAV + bytes(30)),
            File(b"x" * 9000),
        ]

    result, size = result_of(several, {}, max_result_bytes=7000, on_large_result="truncate")

    assert [block["type"] for block in result["content"]] == ["text", "image", "audio"]
    assert result["content"][1:] == [
        Image(PNG + bytes(3000)).make_block(),
        Audio(WAV + bytes(30)).make_block(),
    ]
    assert (
        "of 5,000 characters of text shown; 1 of 4 blocks left out (resource)."
        in result["content"][0]["text"]
    )
    assert size <= 7000


def test_a_picture_alone_that_is_too_large_is_an_error() -> None:
    def picture() -> Image:
        return Image(PNG + bytes(9000))

    for mode in ("truncate", "resource"):
        result, _ = result_of(picture, {}, max_result_bytes=7000, on_large_result=mode)
        assert result["isError"] is True


BLOCKS = st.lists(
    st.one_of(
        st.builds(
            lambda piece, number: Text(text=piece * number),
            st.text(max_size=3),
            st.integers(0, 3000),
        ),
        st.builds(lambda number: Image(PNG + bytes(number)), st.integers(0, 3000)),
        st.builds(lambda number: File("line\n" * number, name="a.txt"), st.integers(0, 1000)),
    ),
    max_size=8,
)


@pytest.mark.parametrize("mode", ["truncate", "resource"])
@pytest.mark.parametrize("era", [{}, MODERN], ids=["legacy", "modern"])
@given(blocks=BLOCKS, limit=st.integers(1500, 8000))
def test_any_content_is_made_smaller_or_refused(
    mode: str, era: dict[str, Any], blocks: Any, limit: int
) -> None:
    def several():  # type: ignore[no-untyped-def]
        return blocks

    protocol = protocol_of(several, max_result_bytes=limit, on_large_result=mode)
    [answer] = answers(protocol, call("several", **era))

    assert len(encode(answer)) <= limit
    for block in answer["result"]["content"]:
        assert block["type"] in ("text", "resource_link") or block in [
            given.make_block() for given in blocks
        ]


@pytest.mark.parametrize(
    ("whole", "most", "expected"),
    [
        ("abc", 2, "ab"),
        ("a" + FAMILY, 19, "a" + FAMILY),
        ("a" + FAMILY, 18, "a"),
        ("ae\u0301", 3, "a"),
        ("a\r\n", 3, "a"),
        ("a\U0001f44d\U0001f3fd", 8, "a"),
        ("a\U0001f1e9\U0001f1ea", 8, "a"),
        ("a\u1112\u1161\u11ab", 7, "a"),
        ("\x01\x02", 11, "\x01"),
        ("one line\nand more", 12, "one line\nan"),
        ("x" * 200 + "\n" + "y" * 10, 205, "x" * 200 + "\n"),
        ("a" + "\u0301" * 100, 99, "a" + "\u0301" * 49),
        ("abc", 0, ""),
    ],
)
def test_a_text_is_cut_between_characters_and_rather_between_lines(
    whole: str, most: int, expected: str
) -> None:
    assert cut_end(whole, most) == expected


@given(st.text(), st.integers(-1, 30))
@example("\U0001f600\\\x7f\x1f\u2028", 9)
def test_a_beginning_fits_and_is_one(whole: str, most: int) -> None:
    found = cut_end(whole, most)

    assert whole.startswith(found)
    assert len(encode(found)) - 2 <= max(most, 0)
    assert found == whole or not unicodedata.combining(whole[len(found)]) or len(found) > 0


# Kept to be read


def read(protocol: Any, uri: str, **meta: Any) -> Any:
    params = {"uri": uri, "_meta": meta} if meta else {"uri": uri}
    [answer] = answers(protocol, request("resources/read", params, id="r"))
    return answer


@pytest.mark.parametrize("piece", ["line of text\n", FAMILY, "\x02"])
@pytest.mark.parametrize("era", [{}, MODERN], ids=["legacy", "modern"])
def test_the_parts_that_a_client_reads_are_the_whole_text(piece: str, era: dict[str, Any]) -> None:
    protocol = protocol_of(text, max_result_bytes=10_000, on_large_result="resource")

    [answer] = answers(protocol, call("text", {"number": 3000, "piece": piece}, **era))
    result = answer["result"]
    links = [block for block in result["content"] if block["type"] == "resource_link"]
    parts = [read(protocol, link["uri"], **era)["result"]["contents"][0] for link in links]

    assert "".join(part["text"] for part in parts) == piece * 3000
    assert [part["uri"] for part in parts] == [link["uri"] for link in links]
    assert [len(part["text"].encode()) for part in parts] == [link["size"] for link in links]
    assert links[0]["uri"] in texts(result)[0]
    assert len(encode(answer)) <= 10_000
    revision = "2026-07-28" if era else "2025-11-25"
    assert load_validator(f"messages-{revision}").is_valid(answer)


def test_a_picture_is_read_by_its_link() -> None:
    def pictures() -> list[Image]:
        return [Image(PNG + bytes(4300)), Image(PNG + bytes(3300))]

    protocol = protocol_of(pictures, max_result_bytes=10_000, on_large_result="resource")
    [answer] = answers(protocol, call("pictures"))
    [link] = [block for block in answer["result"]["content"] if block["type"] == "resource_link"]

    [contents] = read(protocol, link["uri"])["result"]["contents"]

    block = Image(PNG + bytes(4300)).make_block()
    assert contents == {"uri": link["uri"], "mimeType": "image/png", "blob": block["data"]}
    assert answer["result"]["content"][1] == Image(PNG + bytes(3300)).make_block()


def test_kept_results_stay_within_their_limit_and_the_oldest_goes_first() -> None:
    limits = {"max_result_bytes": 10_000, "max_kept_bytes": 50_000}
    protocol = protocol_of(text, on_large_result="resource", **limits)
    uris = []
    for number in range(4):  # of 20,000 bytes each
        [answer] = answers(protocol, call("text", {"number": 4000}, id=number))
        uris.append(answer["result"]["content"][1]["uri"])

    found = [read(protocol, uri) for uri in uris]

    assert ["result" in answer for answer in found] == [False, False, True, True]
    assert "--limit max_kept_bytes" in found[0]["error"]["message"]
    [refused] = answers(protocol, call("text", {"number": 11_000}))
    assert refused["result"]["isError"] is True
    assert "result" in read(protocol, uris[3])


def test_another_session_cannot_read_a_kept_result() -> None:
    settings: dict[str, Any] = {"max_result_bytes": 10_000, "on_large_result": "resource"}
    one, other = protocol_of(text, **settings), protocol_of(text, **settings)
    links = [
        answers(each, call("text", {"number": 4000}))[0]["result"]["content"][1]
        for each in (one, other)
    ]

    assert "result" in read(one, links[0]["uri"])
    assert "error" in read(other, links[0]["uri"])
    assert "error" in read(one, links[0]["uri"].rpartition("/")[0] + "/9")
    assert "error" in read(one, links[0]["uri"].rpartition("/")[0] + "/x")


def test_resources_are_declared_only_by_a_server_that_keeps_results() -> None:
    for mode, has in (("resource", True), ("truncate", False)):
        with Server([text], on_large_result=mode) as server:
            params = {"protocolVersion": "2025-11-25", "capabilities": {}}
            assert ("resources" in server.request("initialize", params)["capabilities"]) is has


# The limit of a tool


@pytest.mark.parametrize("limit", [4096, "4 KiB"])
def test_a_tool_may_have_a_limit_of_its_own(limit: Any) -> None:
    @tool_api(max_result_bytes=limit)
    def short(number: int) -> str:
        return "a" * number

    @tool_api(max_result_bytes="1 MiB")
    def long(number: int) -> str:
        return "a" * number

    assert result_of(short, {"number": 5000})[0]["isError"] is True
    assert result_of(short, {"number": 3000})[0]["isError"] is False
    assert result_of(short, {"number": 5000}, on_large_result="truncate")[1] <= 4096
    assert result_of(long, {"number": 500_000}, max_result_bytes=5000)[0]["isError"] is False


def test_a_limit_is_a_number_of_bytes() -> None:
    with pytest.raises(ValueError, match="max_result_bytes"):
        tool_api(max_result_bytes="much")
    with pytest.raises(ValueError, match="on_large_result"):
        Server([text], on_large_result="drop")


def test_the_members_of_a_batch_share_its_limit() -> None:
    batch = [call("text", {"number": 500}, id=number) for number in range(4)]
    [members] = answers(protocol_of(text, max_result_bytes=7500, on_large_result="truncate"), batch)

    assert [member["result"]["isError"] for member in members] == [False, False, False, True]
    assert "Cut: " in members[2]["result"]["content"][0]["text"]
    assert "This batch's responses take" in members[3]["result"]["content"][0]["text"]


@pytest.mark.process
@pytest.mark.parametrize("mode", ["error", "truncate", "resource"])
def test_a_tool_in_a_process_is_treated_alike(tmp_path: Path, mode: str) -> None:
    source = "def text(number: int) -> str:\n    return 'line\\n' * number\n"
    answered = []
    for options in ([], ["--isolate"]):
        with served(
            tmp_path,
            source,
            "--on-large-result",
            mode,
            "--limit",
            "max_result_bytes=20000",
            *options,
        ) as process:
            result = process.ask(call("text", {"number": 10_000}))["result"]
            for block in result["content"]:
                if block["type"] == "resource_link":
                    contents = process.ask(request("resources/read", {"uri": block["uri"]}))[
                        "result"
                    ]["contents"]
                    block["uri"] = contents[0].pop("uri") and contents
            answered.append((result["isError"], [*map(without_uris, result["content"])]))

    assert answered[0] == answered[1]


def without_uris(block: dict[str, Any]) -> dict[str, Any]:
    """Return *block* with the same text whatever URIs it names."""
    return {**block, "text": block.get("text", "").partition("toolwire:")[0]}
