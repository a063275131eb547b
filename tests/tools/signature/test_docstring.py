from __future__ import annotations

import functools
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire_tools.api_description import read_list
from toolwire_tools.signature.docstring import Docstring, read, read_docstring
from toolwire_tools.signature.docstring_entries import DocEntry

GOOGLE = """Search the web.

    Slowly,
      but surely.

    Args:
        query (str): What to look for,
            on two lines.
        limit: How many. Defaults to 5.

    Returns:
        list: The hits.

    Raises:
        ValueError: if there are none.
    """

NUMPY = """Search the web.

    Slowly,
      but surely.

    Parameters
    ----------
    query : str
        What to look for,
        on two lines.
    limit
        How many. Defaults to 5.

    Returns
    -------
    list
        The hits.
    """

REST = """Search the web.

    Slowly,
      but surely.

    :param str query: What to look for,
        on two lines.
    :param limit: How many. Defaults to 5.
    :returns: The hits.
    :rtype: list
    :raises ValueError: if there are none.
    """

EPYDOC = """Search the web.

    Slowly,
      but surely.

    @param query: What to look for,
        on two lines.
    @type query: str
    @param limit: How many. Defaults to 5.
    @return: The hits.
    @rtype: list
    """


@pytest.mark.parametrize(
    "text", [GOOGLE, NUMPY, REST, EPYDOC], ids=["Google", "NumPy", "reST", "Epydoc"]
)
def test_all_four_styles_say_the_same(text: str) -> None:
    assert read(text) == Docstring(
        "Search the web.\n\nSlowly,\n  but surely.",
        {
            "query": DocEntry("query", "str", "What to look for, on two lines."),
            "limit": DocEntry("limit", None, "How many. Defaults to 5."),
        },
        (DocEntry(None, "list", "The hits."),),
    )


def test_a_section_may_stick_to_the_summary() -> None:
    found = read("Search.\n    Args:\n        query: What.\n    Returns:\n        Hits.\n    ")
    assert (found.description, found.parameters["query"].text) == ("Search.", "What.")
    assert found.returns == (DocEntry(text="Hits."),)


def test_a_docstring_may_be_all_parameters() -> None:
    found = read("\n    Args:\n        a: The a.\n    ")
    assert (found.description, found.parameters["a"].text) == ("", "The a.")


def test_colons_may_be_chinese() -> None:
    assert read("搜索。\n\n    Args：\n        query (str)：查询词\n    ") == Docstring(
        "搜索。", {"query": DocEntry("query", "str", "查询词")}
    )


def test_types_may_be_references() -> None:
    found = read(
        "Add.\n\n    Args:\n        a (:class:`int`): The a.\n        b (Optional[:py:obj:`int`]):"
        " The b.\n    "
    )
    assert [(p.type, p.text) for p in found.parameters.values()] == [
        ("int", "The a."),
        ("Optional[int]", "The b."),
    ]


ROLES = """Search :mod:`the.index` for ``x`` or `y`: see :ref:`the page <page>`.

    Args:
        place (:class:`~pkg.Place`): a :class:`Place`, as :py:meth:`~pkg.Place.find` wants it
        other: ratio 1:`a`

    Returns:
        :class:`dict`: a :class:`Place`
    """


def test_roles_are_taken_off_wherever_they_stand() -> None:
    assert read(ROLES) == Docstring(
        "Search the.index for ``x`` or `y`: see the page.",
        {
            "place": DocEntry("place", "pkg.Place", "a Place, as pkg.Place.find wants it"),
            "other": DocEntry("other", None, "ratio 1:`a`"),
        },
        (DocEntry(None, "dict", "a Place"),),
    )
    rest = read(
        "Search.\n\n    :param a: a :class:`Place`\n    :returns: `x`\n    :rtype:"
        " :class:`dict`\n    "
    )
    assert (rest.parameters["a"].text, rest.returns[0].type) == ("a Place", "dict")


def test_numpy_may_tell_of_several_parameters_at_once() -> None:
    found = read(
        "Add.\n\n    Parameters\n    ----------\n    a, *b : int\n        Numbers.\n    "
    ).parameters
    assert found == {name: DocEntry(name, "int", "Numbers.") for name in ("a", "b")}


def test_results_are_reported_one_by_one() -> None:
    text = """Do.

    Returns:
        Dict[str, int]: what it is
            - a: b
        name (int): the: next

        word: third

    Raises:
        ValueError: never
    """
    assert read(text).returns == (
        DocEntry(None, "Dict[str, int]", "what it is\n    - a: b"),
        DocEntry("name", "int", "the: next"),
        DocEntry("word", None, "third"),
    )
    assert read("Do.\n\n    Returns:\n        One thing: and\n        another\n    ").returns == (
        DocEntry(text="One thing: and\nanother"),
    )


def test_text_without_sections_is_all_description() -> None:
    text = "Use it like this:\n\n    one: two\n    - three: four"
    assert read(text) == Docstring("Use it like this:\n\none: two\n- three: four")
    assert read(None) == read("") == Docstring()


@given(
    st.text() | st.text("Args:\n \t-@param()x：Returns`"), st.sampled_from(("", "Returns:\n    "))
)
def test_no_text_is_too_odd_to_read(text: str, before: str) -> None:
    found = read(before + text)
    assert isinstance(found, Docstring)
    for entry in found.returns:
        read_list(entry.text)


def test_a_wrapper_does_not_speak_for_what_says_nothing() -> None:
    class Counted:
        """Counts calls."""

        def __init__(self, function: Callable[[], None]) -> None:
            functools.update_wrapper(self, function)

        def __call__(self) -> None: ...

    @Counted
    def silent() -> None: ...

    assert read_docstring(silent) == Docstring()


def test_arguments_may_be_reported_in_several_sections() -> None:
    said = read("""Search.

    Args:
        query (str): what for

    Keyword Args:
        limit (int): how many

    Other Parameters:
        debug (bool): tell more
    """)
    assert [(found.name, found.type) for found in said.parameters.values()] == [
        ("query", "str"),
        ("limit", "int"),
        ("debug", "bool"),
    ]


def test_notes_and_examples_belong_to_the_description_wherever_they_stand() -> None:
    said = read("""Search.

    Example:
        search("tea")

    Not for pictures.

    Args:
        query: what for

    Note:
        It takes long,
        at night.

    Returns:
        list: hits

    Examples:
        >>> search("tea")
    """)
    assert (
        said.description == 'Search.\n\nExample:\n    search("tea")\n\nNot for pictures.\n\n'
        'Note:\nIt takes long,\nat night.\n\nExamples:\n>>> search("tea")'
    )
    assert said.parameters["query"].text == "what for"
    assert [entry.text for entry in said.returns] == ["hits"]


def test_what_stands_below_the_sections_and_in_none_of_them_is_description() -> None:
    said = read("""Search.

    Args:
        query: what for

    Hits are sorted:
        the best first.
    Really.

    Returns:
        hits

    Example:
    >>> search("tea")
    """)
    assert (
        said.description
        == "Search.\n\nHits are sorted:\n    the best first.\nReally.\n\nExample:\n>>>"
        ' search("tea")'
    )
    assert said.parameters["query"].text == "what for"
    assert said.returns == (DocEntry(text="hits"),)


def test_a_section_may_come_twice() -> None:
    said = read(
        "Search.\n\n    Args:\n        a: The a.\n\n    Note:\n        Slow.\n\n    Args:\n       "
        " b: The b.\n    "
    )
    assert [(found.name, found.text) for found in said.parameters.values()] == [
        ("a", "The a."),
        ("b", "The b."),
    ]
    assert said.description == "Search.\n\nNote:\nSlow."


def test_a_docstring_may_begin_with_its_only_section() -> None:
    assert read("Args:\n        a: The a.\n    ").parameters["a"].text == "The a."
    assert read("Returns:\n        The hits.\n    ").returns == (DocEntry(text="The hits."),)


def test_what_cannot_be_taken_apart_is_left_as_it_is_written() -> None:
    text = "Search.\n\nArgs:\n    Nothing at all\n\nNote:\n    It takes long."
    assert read(text) == Docstring(text)
