"""The contract cases: what any tool server must do, as data for a runner in any language.

The JSON files in this folder are the cases, `contract-case` is the schema of one, and README.md
says how to play them.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any, Literal

import msgspec

Severity = Literal["must", "should", "advice"]
Framing = Literal["lines", "headers"]
Process = Literal["shared", "opened", "fresh", "run"]


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One behaviour of a tool server, and the steps that show whether a server has it; see
    README.md.
    """

    id: str
    behaviour: str
    source: str
    severity: Severity
    steps: list[dict[str, Any]]
    era: Literal["any", "each", "legacy", "modern", "plain"] = "any"
    revisions: tuple[str, ...] = ()
    framings: tuple[Framing, ...] = ("lines", "headers")
    process: Process = "shared"
    needs: tuple[str, ...] = ()
    ours: bool = False

    @property
    def area(self) -> str:
        """The file the case is in."""
        return self.id.partition("/")[0]


@cache
def load_cases() -> tuple[Case, ...]:
    """Return all cases, those of one area together."""
    folder = files(__package__)
    names = [path.name for path in folder.iterdir() if path.name.endswith(".json")]
    decoder = msgspec.json.Decoder(list[Case])
    cases: list[Case] = []
    for name in sorted(names):
        cases += decoder.decode((folder / name).read_bytes())
    return tuple(cases)
