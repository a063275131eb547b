"""The branches of a schema of replies, and how they are replaced.

A schema of replies is an `anyOf` of branches (`reply_schema.py`): one that asks the user, one for
each tool, one or two for the final answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolwire_dialects.tool_entry import get_properties

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..tool_lookup import Schema


class Branch:
    """One form that a reply may have: a question to the user, a call of one tool, an answer."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.members: dict[str, Schema] = schema["properties"]
        self.is_question = "content" in self.members
        self.is_call = "tool" in self.members
        self.is_answer = "ok" in self.members

    @property
    def tool(self) -> str:
        (tool,) = self.members["tool"]["enum"]
        return str(tool)

    @property
    def params(self) -> dict[str, Schema]:
        """The parameters of the tool."""
        return get_properties(self.members["params"])

    def with_members(self, members: dict[str, Schema]) -> Branch:
        return Branch({**self.schema, "properties": members})

    def with_params(self, chosen: dict[str, Schema]) -> Branch:
        """Return the branch with the *chosen* schemas for some of its parameters."""
        params = {**self.members["params"], "properties": {**self.params, **chosen}}
        return self.with_members({**self.members, "params": params})


def find_branches(schema: Schema) -> list[Branch]:
    # OpenAI's strict mode has an object at the root: {"reply": …}.
    union = schema["properties"]["reply"] if "properties" in schema else schema
    return [Branch(branch) for branch in union["anyOf"]]


def replace_branches(schema: Schema, change: Callable[[Branch], list[Branch]]) -> Schema | None:
    """Return *schema* with each branch replaced by those of *change*; `None` if that leaves no
    branch.
    """
    branches = []
    for branch in find_branches(schema):
        for changed in change(branch):
            branches.append(changed.schema)
    if not branches:
        return None
    if "properties" not in schema:
        return {**schema, "anyOf": branches}
    union = {**schema["properties"]["reply"], "anyOf": branches}
    return {**schema, "properties": {"reply": union}}
