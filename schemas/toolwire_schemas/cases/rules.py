"""The rules of the contract cases: why each matters, an exchange that passes and one that fails,
how to fix a server.

Strategy. `rules/` has the texts and `exchanges/` the recorded exchanges, one file for each area,
read on demand. A text is a string or a list of strings, of which `@NAME` is a text of
`rules/shared.json`, since many cases have the same cause.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

from .. import project_links
from . import load_cases


class Fix(msgspec.Struct, frozen=True):
    """How to fix a server that breaks a rule: made with Toolwire, with an official SDK, or without
    any.
    """

    toolwire: str
    python: str
    typescript: str
    by_hand: str


class FailingExchange(msgspec.Struct, frozen=True):
    """The exchange with a server that breaks a rule, with the unmet expectation and what came
    instead.
    """

    expected: str
    came: str
    exchange: tuple[str, ...]


class Rule(msgspec.Struct, frozen=True):
    """The rule of a contract case; `contract-rule` is its published schema.

    Texts are plain English with `code` in backticks. The lines of an exchange begin with `-> ` if a
    client sent them, with `<- ` if the server did, and with `-- ` if something else happened.
    """

    id: str
    behaviour: str
    severity: str
    source: str
    ours: bool
    why: str
    fix: Fix
    passing: tuple[str, ...]
    failing: FailingExchange


_OF_FUZZING = {"valid": "calls/output-schema", "invalid": "calls/wrong-type"}
"""The findings of `--fuzz`, such as `fuzz/valid/TOOL`, concern the rules of these cases."""


def name_rule(case_id: str) -> str:
    """Return the id of the rule for a finding of this case, or of `fuzz/valid/TOOL` or
    `fuzz/invalid/TOOL`.
    """
    area, *rest = case_id.split("/")
    if area == "fuzz" and rest and rest[0] in _OF_FUZZING:
        return _OF_FUZZING[rest[0]]
    return case_id


def find_rule(case_id: str) -> Rule | None:
    """Return the rule for findings of this case, or of `fuzz/valid/TOOL` and the like; `None`
    without one.
    """
    found = name_rule(case_id)
    return _read_rules(found.partition("/")[0]).get(found)


def find_rule_url(case_id: str) -> str | None:
    """Return the address of the page about that rule; `None` if the repository's address is
    unknown.
    """
    return project_links.make_file_url(f"docs/contract/{name_rule(case_id)}.md")


def write_rule_page(rule: Rule) -> str:
    """Return *rule* as Markdown."""
    demands = "Source"
    if rule.ours:
        demands = "Toolwire demands more than the related source"
    played = f"To play this case alone:\n`toolwire check --only {rule.id} -- COMMAND`."
    if any(case.id == rule.id and case.process == "run" for case in load_cases()):
        played = "This case judges all\nmessages of `toolwire check -- COMMAND`."
    return f"""# {rule.id}

{rule.behaviour}

Severity: *{rule.severity}*. {demands}: <{rule.source}>. {played}

## Why

{rule.why}

## An exchange that passes

{_write_block(rule.passing)}

## An exchange that fails

{_write_block(rule.failing.exchange)}

```text
expected  {rule.failing.expected}
came      {rule.failing.came}
```

## How to fix it

**Toolwire.** {rule.fix.toolwire}

**Python SDK, `mcp` 2.** {rule.fix.python}

**TypeScript SDK, `@modelcontextprotocol/server` 2.** {rule.fix.typescript}

**Without an SDK.** {rule.fix.by_hand}
"""


def _write_block(exchange: tuple[str, ...]) -> str:
    return "\n".join(("```text", *exchange, "```"))


@cache
def _read_rules(area: str) -> dict[str, Rule]:
    found = [case for case in load_cases() if case.area == area]
    if not found:
        return {}
    texts, shared, exchanges = (
        _read(f"rules/{area}"),
        _read("rules/shared"),
        _read(f"exchanges/{area}"),
    )
    rules = {}
    for case in found:
        about = {name: _join(text, shared) for name, text in texts[case.id].items()}
        head = {
            name: getattr(case, name) for name in ("id", "behaviour", "severity", "source", "ours")
        }
        whole = {**head, "why": about.pop("why"), "fix": about, **exchanges[case.id]}
        rules[case.id] = msgspec.convert(whole, Rule)
    return rules


def _join(text: str | list[str], shared: dict[str, str]) -> str:
    parts = [text] if isinstance(text, str) else text
    return " ".join(shared[part[1:]] if part.startswith("@") else part for part in parts)


def _read(name: str) -> dict[str, Any]:
    folder, _, file = name.partition("/")
    found: dict[str, Any] = msgspec.json.decode(
        (files(__package__) / folder / f"{file}.json").read_bytes()
    )
    return found
