"""How large the parts of a result are that is made smaller: both sides of each limit."""

from __future__ import annotations

from typing import Any

import pytest
from support.server_process import NoHost, answers, call, protocol_of, request
from toolwire.protocol.call import Call, Origin
from toolwire.protocol.result_size.cut_text import cut_end
from toolwire.protocol.result_size.large_results import LargeResults
from toolwire.protocol.result_size.result_limit import Limit
from toolwire.settings import Settings
from toolwire_schemas.wire.codec import decode, encode
from toolwire_tools import File, Image, Text, make_tool, tool_api

PNG = b"\x89PNG\r\n\x1a\n"


def respond(protocol: Any, name: str = "show", id: Any = 1) -> dict[str, Any]:
    [answer] = answers(protocol, call(name, id=id))
    return answer["result"]  # type: ignore[no-any-return]


def showing(*blocks: Any, **settings: Any) -> Any:
    """Return a protocol with a tool `show` that returns *blocks*."""

    def show():  # type: ignore[no-untyped-def]
        return list(blocks)

    return protocol_of(show, **settings)


def links_of(result: dict[str, Any]) -> list[dict[str, Any]]:
    return [block for block in result["content"] if block["type"] == "resource_link"]


def read(protocol: Any, link: dict[str, Any]) -> dict[str, Any]:
    [answer] = answers(protocol, request("resources/read", {"uri": link["uri"]}, id="r"))
    return answer["result"]["contents"][0]  # type: ignore[no-any-return]


def smallest_limit(mode: str, make: Any) -> int:
    """Return the smallest limit with which `show` has a result that is no error."""
    for limit in range(1000, 3000):
        protocol = protocol_of(make, max_result_bytes=limit, on_large_result=mode)
        if not respond(protocol)["isError"]:
            return limit
    raise AssertionError("no limit is large enough")


# Text that is cut

_NOTE = 1000  # bytes that are kept free for a note
_ENVELOPE = len(encode({"jsonrpc": "2.0", "id": 1, "result": {"content": [], "isError": False}}))
_UNREAD = len(',"structuredContent":0')  # counted, and not always sent
_EMPTY_TEXT = len('{"type":"text","text":""}')


def test_a_text_is_cut_if_there_is_room_for_a_note_and_an_error_with_a_byte_less() -> None:
    @tool_api(structured=False)
    def show() -> str:
        return "a" * 5000

    assert smallest_limit("truncate", show) == _ENVELOPE + _UNREAD + _NOTE + _EMPTY_TEXT


@pytest.mark.parametrize(("more", "is_whole"), [(0, True), (-1, False)])
def test_a_block_that_fits_exactly_is_whole_and_with_a_byte_less_it_is_left_out(
    more: int, is_whole: bool
) -> None:
    small, large = Text(text="b" * 400), Text(text="a" * 5000)
    size = len(encode(small.make_block())) + 1
    limit = _ENVELOPE + _UNREAD + _NOTE + size + more

    protocol = showing(small, large, max_result_bytes=limit, on_large_result="truncate")

    assert (small.make_block() in respond(protocol)["content"]) is is_whole


def test_the_size_of_the_id_counts() -> None:
    @tool_api(structured=False)
    def show() -> str:
        return "a" * 20_000

    protocol = protocol_of(show, max_result_bytes=9000, on_large_result="truncate")
    id = "i" * 3000

    [answer] = answers(protocol, call("show", id=id))

    assert answer["result"]["isError"] is False
    assert 8000 - _UNREAD <= len(encode(answer)) <= 9000


def test_the_commas_between_many_blocks_count() -> None:
    blocks = [Text(text="b") for _ in range(1000)]
    protocol = showing(
        *blocks, Text(text="a" * 50_000), max_result_bytes=40_000, on_large_result="truncate"
    )

    [answer] = answers(protocol, call("show"))

    assert answer["result"]["content"][:1000] == [block.make_block() for block in blocks]
    assert 39_000 - _UNREAD <= len(encode(answer)) <= 40_000


def test_a_note_counts_the_blocks_that_are_left_out_without_text() -> None:
    picture = Image(PNG + bytes(6000))
    protocol = showing(
        Text(text="a" * 5000), picture, picture, max_result_bytes=4000, on_large_result="truncate"
    )

    [block] = respond(protocol)["content"]

    assert "2 of 3 blocks left out (image)." in block["text"]


def test_names_of_tools_are_cut_to_sixty_characters() -> None:
    @tool_api(name="t" * 64, structured=False)
    def show() -> str:
        return "a" * 20_000

    settings = {"max_result_bytes": 9000}
    cut = respond(protocol_of(show, on_large_result="truncate", **settings), "t" * 64)
    kept = respond(protocol_of(show, on_large_result="resource", **settings), "t" * 64)

    assert f"A result of {'t' * 60} may take 9,000 bytes." in cut["content"][0]["text"]
    assert links_of(kept)[0]["name"] == f"{'t' * 60}: part 1 of 5"


def test_a_result_that_is_made_smaller_is_counted_and_logged(
    capfd: pytest.CaptureFixture[str],
) -> None:
    protocol = showing(Text(text="a" * 5000), max_result_bytes=3000, on_large_result="truncate")

    respond(protocol)

    large = protocol.in_flight.large
    assert large is not None
    assert large.made == 1
    assert "the result of show took 5" in capfd.readouterr().err


def test_the_error_of_a_batch_says_how_much_its_responses_take() -> None:
    def show(number: int) -> str:
        return "a" * number

    members = [call("show", {"number": number}, id=number) for number in (1000, 2000)]
    [whole] = answers(protocol_of(show), members)
    sizes = [len(encode(member)) for member in whole]

    [batch] = answers(protocol_of(show, max_result_bytes=sum(sizes) - 1), members)

    [error] = batch[1]["result"]["content"]
    assert error["text"].startswith(f"This batch's responses take {sum(sizes):,} bytes")


@pytest.mark.parametrize(
    ("whole", "most", "expected"),
    [
        # A line that ends within the last 1,000 characters, or the last tenth.
        ("a" * 19_000 + "\n" + "b" * 2000, 20_000 + 1, "a" * 19_000 + "\n"),
        ("a" * 19_000 + "\n" + "b" * 2000, 20_000 + 2, "a" * 19_000 + "\n" + "b" * 1000),
        ("a" * 90 + "\n" + "b" * 50, 100 + 1, "a" * 90 + "\n"),
        ("a" * 90 + "\n" + "b" * 50, 109 + 1, "a" * 90 + "\n" + "b" * 18),
        ("abc", -3, ""),
    ],
)
def test_a_beginning_ends_with_a_line_that_ends_nearby(
    whole: str, most: int, expected: str
) -> None:
    assert cut_end(whole, most) == expected


# Structured content


def smaller(result: dict[str, Any], room: int) -> Any:
    """Return *result*, of a tool with an output schema, made smaller for *room* bytes; an error
    text if that cannot be.
    """

    def show() -> dict[str, int]:
        return {}

    tool = make_tool(show)
    made = Call(1, tool.entry, tool.handler, {}, Origin(10, None, False), {}, False, NoHost())
    results = LargeResults(Settings(on_large_result="truncate"), {})
    size = len(encode(result)) + 40
    response = results.make_response(made, result, size, Limit(room, f"{room} bytes"))
    return decode(response)["result"] if isinstance(response, bytes) else response


def test_structured_content_stays_if_only_a_picture_does_not_fit() -> None:
    picture = Image(PNG + bytes(9000)).make_block()
    result = {"content": [picture], "structuredContent": {"a": 1}, "isError": False}

    found = smaller(result, 3000)

    assert (found["structuredContent"], found["isError"]) == ({"a": 1}, False)
    assert "1 of 1 blocks left out (image)." in found["content"][0]["text"]
    assert "The structured content is complete." in found["content"][0]["text"]


def test_a_text_that_is_whole_says_why_it_is_an_error_without_structured_content() -> None:
    text = Text(text="all of it").make_block()
    result = {"content": [text], "structuredContent": {"a": "x" * 9000}, "isError": False}

    found = smaller(result, 3000)

    assert found.keys() == {"content", "isError"}
    assert found["isError"] is True
    assert found["content"][0] == text
    assert found["content"][1]["text"].startswith("[All text is shown. This is marked as an error")


def test_with_room_for_a_note_alone_the_error_without_structured_content_is_one() -> None:
    envelope = len(encode({"jsonrpc": "2.0", "id": 1, "result": {"content": [], "isError": False}}))
    result = {"content": [], "structuredContent": {"a": "x" * 9000}, "isError": False}
    room = envelope + _UNREAD + _NOTE

    assert isinstance(smaller(result, room), dict)
    assert isinstance(smaller(result, room - 1), str)


# Parts that are kept


@pytest.mark.parametrize(
    ("limit", "part_bytes"),
    [
        (100_000, 95_904),  # all but 4,096 bytes
        (8193, 4097),
        (8192, 4096),  # at least a half
        (5000, 2500),
    ],
)
def test_a_text_is_kept_in_parts_that_fit_into_a_response(limit: int, part_bytes: int) -> None:
    protocol = showing(
        Text(text="a" * (3 * limit)), max_result_bytes=limit, on_large_result="resource"
    )

    result = respond(protocol)

    links = links_of(result)
    assert [link["size"] for link in links[:-1]] == [part_bytes] * (len(links) - 1)
    assert sum(link["size"] for link in links) == 3 * limit
    assert len(encode(read(protocol, links[0]))) <= limit


def test_a_preview_of_four_kibibytes_comes_with_a_link() -> None:
    protocol = showing(
        Text(text="a" * 200_000), max_result_bytes=100_000, on_large_result="resource"
    )

    head, _, note = respond(protocol)["content"][0]["text"].partition("\n[")

    assert head == "a" * 4096
    assert note.startswith("Cut: 4,096 of 200,000 characters of text shown.")


@pytest.mark.parametrize(("bytes_more", "is_kept"), [(0, True), (-1, False)])
def test_data_is_kept_if_one_response_has_room_for_it(bytes_more: int, is_kept: bool) -> None:
    picture = Image(PNG + bytes(9000))
    size = len(encode(picture.make_block())) + 1
    protocol = showing(
        picture,
        Text(text="a" * 8000),
        max_result_bytes=size + 4096 + bytes_more,
        on_large_result="resource",
    )

    result = respond(protocol)

    links = links_of(result)
    assert [link["mimeType"] for link in links] == (["image/png"] if is_kept else [])
    if is_kept:
        assert abs(links[0]["size"] - 9008) <= 2


@pytest.mark.parametrize(("bytes_more", "is_kept"), [(0, True), (-1, False)])
def test_a_result_of_the_most_bytes_that_are_kept_is_kept(bytes_more: int, is_kept: bool) -> None:
    block = Text(text="a" * 20_000)
    size = len(encode(block.make_block())) + 1
    protocol = showing(
        block,
        max_result_bytes=10_000,
        max_kept_bytes=size + bytes_more,
        on_large_result="resource",
    )

    result = respond(protocol)

    assert result["isError"] is not is_kept
    for link in links_of(result):
        assert len(read(protocol, link)["text"]) == link["size"]


def test_all_sizes_of_a_second_block_leave_room_for_many_links() -> None:
    large = Text(text="a" * 300_000)
    for number in range(8000, 20_000, 250):
        protocol = showing(
            large, Text(text="b" * number), max_result_bytes=20_000, on_large_result="resource"
        )

        [answer] = answers(protocol, call("show"))

        assert answer["result"]["isError"] is False, number
        assert len(encode(answer)) <= 20_000


def test_a_link_that_takes_more_than_was_estimated_may_fill_the_response_but_no_more() -> None:
    texts = [Text(text="a" * 4000), Text(text="b" * 13_900)]
    sizes = []
    for letters in range(1300, 1650):  # of the media type, which the link repeats
        file = File(b"x" * 10_600, media_type="a/" + "b" * letters)
        protocol = showing(*texts, file, max_result_bytes=20_000, on_large_result="resource")
        [answer] = answers(protocol, call("show"))
        if answer["result"]["isError"]:
            break
        sizes.append(len(encode(answer)))

    assert sizes == list(range(20_001 - len(sizes), 20_001))
