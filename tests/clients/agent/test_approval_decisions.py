"""Which calls need approval: every combination of hints, trust and settings."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from toolwire_agent.agent.approvals import Allow, ApprovalRequest, Approvals, Refuse

ANY = object()

DESTROYS = "it may destroy something"
UNMARKED = "it does not say whether it changes anything"
WRITES = "it does not say that it only reads"
UNTRUSTED = "it says that it only reads, but what it says of itself is not trusted"
OUTSIDE = "it reaches the outside world"

# The first row that fits decides. Columns: trust, readOnlyHint, destructiveHint, openWorldHint, and
# whether nobody can approve (no `ask`, and no pause).
ROWS = [
    ((ANY, ANY, True, ANY, ANY), DESTROYS),
    (("function", True, ANY, ANY, ANY), Allow()),
    (("function", ANY, False, ANY, ANY), Allow()),
    (("function", ANY, ANY, ANY, True), Allow()),
    (("function", ANY, ANY, ANY, False), UNMARKED),
    ((ANY, False, ANY, ANY, ANY), WRITES),
    ((ANY, None, ANY, ANY, ANY), WRITES),
    ((None, True, ANY, ANY, ANY), UNTRUSTED),
    (("hints", True, ANY, True, ANY), OUTSIDE),
    (("hints", True, ANY, ANY, ANY), Allow()),
]

TRUST = (None, "function", "hints")
HINT = (True, False, None)


def approve(_: ApprovalRequest) -> bool:
    return True


def expected(case: tuple[Any, ...]) -> Any:
    for row, outcome in ROWS:
        if all(wanted is ANY or wanted is value for wanted, value in zip(row, case, strict=True)):
            return outcome
    raise AssertionError(f"no row for {case}")


@pytest.mark.parametrize("trust", TRUST)
@pytest.mark.parametrize("ask", [None, approve], ids=["nobody", "a user"])
@pytest.mark.parametrize("no_user", ["refuse", "pause"])
def test_hints_and_trust_decide_as_the_table_says(trust: Any, ask: Any, no_user: Any) -> None:
    approvals = Approvals(ask=ask, no_user=no_user)
    is_unattended = ask is None and no_user == "refuse"

    for reads, destroys, outside in product(HINT, HINT, HINT):
        hints = {"readOnlyHint": reads, "destructiveHint": destroys, "openWorldHint": outside}
        annotations = {name: value for name, value in hints.items() if value is not None}
        case = (trust, reads, destroys, outside, is_unattended)

        assert approvals.judge("tool", annotations, trust) == expected(case), case


@pytest.mark.parametrize("hint", [1, "true", [True], {}])
def test_a_hint_that_is_no_boolean_gives_no_permission(hint: Any) -> None:
    annotations = {"readOnlyHint": hint}
    assert Approvals(ask=approve).judge("tool", annotations, "function") == UNMARKED
    assert Approvals().judge("tool", annotations, "hints") == WRITES


@pytest.mark.parametrize(
    ("trust_hints", "source", "is_local", "trust"),
    [
        ((), "files", True, "function"),
        ((), "files", False, None),
        (("files",), "files", False, "hints"),
        (("files",), "file", False, None),
        (("files",), "files", True, "function"),
        (True, "files", False, "hints"),
        (True, "files", True, "function"),
        (False, "files", False, None),
        (False, "files", True, None),
    ],
)
def test_the_source_of_a_tool_decides_how_far_it_is_trusted(
    trust_hints: Any, source: str, is_local: bool, trust: Any
) -> None:
    assert Approvals(trust_hints=trust_hints).trust(source, is_local=is_local) == trust


@pytest.mark.parametrize(
    ("allow", "deny", "outcome"),
    [
        ((), (), DESTROYS),
        (("re*",), (), Allow()),
        (("RE*",), (), DESTROYS),
        (("other",), (), DESTROYS),
        (("other", "remove"), (), Allow()),
        ((), ("remove",), Refuse()),
        (("remove",), ("re*",), Refuse()),
        (("*",), ("other", "*"), Refuse()),
    ],
)
def test_patterns_decide_before_hints_and_deny_wins(allow: Any, deny: Any, outcome: Any) -> None:
    approvals = Approvals(allow=allow, deny=deny)
    assert approvals.judge("remove", {"destructiveHint": True}, "function") == outcome


def test_a_request_is_of_a_call_that_was_not_started_before() -> None:
    request = ApprovalRequest(tool="remove", params={}, reason=DESTROYS)

    assert (request.interrupted, request.thought, request.description) == (False, "", {})


def test_the_names_of_trusted_servers_are_no_text() -> None:
    with pytest.raises(TypeError, match=r"must be a tuple of names, such as \('files',\)"):
        Approvals(trust_hints="files")  # type: ignore[arg-type]
