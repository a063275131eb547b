"""Edits the imports of Lagent, Groot and the tool library in a file, by its syntax tree.

Only the module of an import changes, so comments, aliases and layout stay. An import whose names
come from several places becomes several. Names without a counterpart stay where they are, each with
a remark.
"""

from __future__ import annotations

# libcst reads the annotations of `visit_` and `leave_` methods.
from collections.abc import Sequence  # noqa: TC003

import libcst as cst
import msgspec
from libcst.metadata import MetadataWrapper, PositionProvider
from toolwire_compat import lagent
from toolwire_compat.lagent import missing_names
from toolwire_schemas.did_you_mean import explain_unknown_name

SYSTEMS = ("lagent", "groot", "mas")
"""The packages whose imports are edited."""

_LIBRARY = ("AgentStep", "Executor", "StepState")
"""Names of the tool library that `toolwire_compat.mas` has."""


class Remark(msgspec.Struct, frozen=True):
    """A change of an import; if it `is_open`, something that has to be changed by hand."""

    line: int
    text: str
    is_open: bool


class Migrated(msgspec.Struct, frozen=True):
    """A file's new text, and a remark on each of its imports in the order of its lines."""

    text: str
    remarks: list[Remark]


class NotPython(Exception):
    """The text cannot be parsed. The message says where, and why."""


def migrate(text: str) -> Migrated:
    """Return *text* with its imports changed.

    Raises:
        NotPython: if it is not valid Python.
    """
    try:
        wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
    except cst.ParserSyntaxError as error:
        raise NotPython(f"line {error.raw_line} is not valid Python") from None
    except RecursionError:
        raise NotPython("it is nested too deeply") from None
    editor = _Editor()
    changed = wrapper.visit(editor)
    return Migrated(changed.code, sorted(editor.remarks, key=lambda remark: remark.line))


def find_place(system: str, name: str) -> str | None:
    """Return the module of Toolwire that has *name* of a *system*, or None."""
    if system == "lagent":
        if name in lagent.__all__:
            return lagent.__name__
        return missing_names.find_other_place(name)
    if system == "groot":
        from toolwire_agent import groot

        return groot.__name__ if name in groot.__all__ else None
    return "toolwire_compat.mas" if name in _LIBRARY else None


def find_remedy(system: str, name: str) -> str:
    """Return what to do about *name* of a *system*, which Toolwire has not."""
    remedy = missing_names.find_remedy(name) if system == "lagent" else None
    if remedy is not None:
        return remedy
    return explain_unknown_name("name", name, _list_names(system))


def _list_names(system: str) -> Sequence[str]:
    if system == "lagent":
        return lagent.__all__
    if system == "groot":
        from toolwire_agent import groot

        return groot.__all__
    return _LIBRARY


class _Editor(cst.CSTTransformer):
    """Changes each `from … import`, and remarks on imports that cannot be changed."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self) -> None:
        super().__init__()
        self.remarks: list[Remark] = []

    def visit_Import(self, node: cst.Import) -> None:  # noqa: N802  # libcst's name, as below
        for alias in node.names:
            module = _format_name(alias.name)
            if _find_system(module) is not None:
                text = (
                    f"import {module} stays: import its names, as in `from {module} import NAME`,"
                    " and run this again"
                )
                self._remark(node, text, is_open=True)

    def leave_ImportFrom(  # noqa: N802
        self, original_node: cst.ImportFrom, updated_node: cst.ImportFrom
    ) -> cst.BaseSmallStatement | cst.FlattenSentinel[cst.BaseSmallStatement]:
        if original_node.module is None or original_node.relative:
            return updated_node
        module = _format_name(original_node.module)
        system = _find_system(module)
        if system is None:
            return updated_node
        if isinstance(original_node.names, cst.ImportStar):
            text = (
                f"from {module} import * stays: write the names that are used, and run this again"
            )
            self._remark(original_node, text, is_open=True)
            return updated_node
        groups = self._group_by_place(original_node, original_node.names, system, module)
        if len(groups) == 1:
            (place,) = groups
            return updated_node.with_changes(module=_parse_name(place))
        imports = [_select(updated_node, place, aliases) for place, aliases in groups.items()]
        return cst.FlattenSentinel(imports)

    def leave_SimpleStatementLine(  # noqa: N802
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement]:
        if len(original_node.body) > 1 or len(updated_node.body) == 1:
            return updated_node
        *firsts, last = updated_node.body
        lines = [cst.SimpleStatementLine([statement]) for statement in firsts]
        lines.append(updated_node.with_changes(body=[last], leading_lines=[]))
        lines[0] = lines[0].with_changes(leading_lines=updated_node.leading_lines)
        return cst.FlattenSentinel(lines)

    def _group_by_place(
        self, node: cst.ImportFrom, aliases: Sequence[cst.ImportAlias], system: str, module: str
    ) -> dict[str, list[cst.ImportAlias]]:
        """Return *aliases* by the module that they are imported from afterwards, and remark on each
        module.
        """
        groups: dict[str, list[cst.ImportAlias]] = {}
        for alias in aliases:
            name = _format_name(alias.name)
            place = find_place(system, name)
            groups.setdefault(place or module, []).append(alias)
            if place is None:
                text = f"{name} stays in {module}: {find_remedy(system, name)}"
                self._remark(node, text, is_open=True)
        for place, moved in groups.items():
            if place != module:
                names = ", ".join(_format_name(alias.name) for alias in moved)
                self._remark(node, f"{names}: from {place}", is_open=False)
        return groups

    def _remark(self, node: cst.CSTNode, text: str, *, is_open: bool) -> None:
        position = self.get_metadata(PositionProvider, node)
        self.remarks.append(Remark(position.start.line, text, is_open))


def _find_system(module: str) -> str | None:
    head = module.partition(".")[0]
    return head if head in SYSTEMS else None


def _format_name(node: cst.CSTNode) -> str:
    if isinstance(node, cst.Attribute):
        return f"{_format_name(node.value)}.{node.attr.value}"
    assert isinstance(node, cst.Name)
    return node.value


def _parse_name(name: str) -> cst.Name | cst.Attribute:
    head, *rest = name.split(".")
    node: cst.Name | cst.Attribute = cst.Name(head)
    for part in rest:
        node = cst.Attribute(node, cst.Name(part))
    return node


def _select(
    statement: cst.ImportFrom, place: str, aliases: list[cst.ImportAlias]
) -> cst.ImportFrom:
    """Return *statement* with only these *aliases* of it, from *place*."""
    assert not isinstance(statement.names, cst.ImportStar)
    *firsts, last = aliases
    if last is not statement.names[-1]:
        comma = _make_last_comma(last.comma, statement.names[-1].comma)
        last = last.with_changes(comma=comma)
    return statement.with_changes(
        module=_parse_name(place), names=[*firsts, last], semicolon=cst.MaybeSentinel.DEFAULT
    )


def _make_last_comma(
    comma: cst.Comma | cst.MaybeSentinel, original: cst.Comma | cst.MaybeSentinel
) -> cst.Comma | cst.MaybeSentinel:
    """Return the *comma* of a name that has become the last one, laid out as the *original* last
    comma.
    """
    if not isinstance(comma, cst.Comma):
        return comma
    space = comma.whitespace_after
    if not isinstance(space, cst.ParenthesizedWhitespace):
        return cst.MaybeSentinel.DEFAULT
    end = original.whitespace_after if isinstance(original, cst.Comma) else None
    if isinstance(end, cst.ParenthesizedWhitespace):
        space = space.with_changes(indent=end.indent, last_line=end.last_line)
        return comma.with_changes(whitespace_after=space)
    has_comment = space.first_line.comment is not None
    return comma if has_comment else cst.MaybeSentinel.DEFAULT
