"""The faults that are planted: small changes of a syntax tree, each known by its number."""

from __future__ import annotations

import ast
from typing import NamedTuple

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.BitOr: ast.BitAnd,
}
_DECLARATIONS = ("annotation", "returns", "decorator_list", "type_params")
"""Fields for type checkers and of how a class is made: most faults there have no effect."""


class Mutant(NamedTuple):
    """One change: where it is, and both forms of the changed expression or statement."""

    line: int
    statement: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.key}"

    @property
    def key(self) -> str:
        """Its name in equivalent.py, which stays the same when lines above it change."""
        change = f"{self.before} -> {self.after}"
        return change if self.before == self.statement else f"{self.statement}: {change}"


class _Planter(ast.NodeTransformer):
    """Counts the places where a fault fits, and plants the one with the number *wanted*."""

    def __init__(self, wanted: int | None) -> None:
        self._wanted = wanted
        self._statement = ""
        self.found: list[Mutant] = []

    def visit(self, node: ast.AST) -> ast.AST:
        if _is_for_types(node):
            return node
        if isinstance(node, ast.stmt):
            self._statement = _shorten(node)
        changed = self._plant(node)
        return node if changed is None else changed

    def _plant(self, node: ast.AST) -> ast.AST | None:
        for after in _changes_of(node):
            number = len(self.found)
            line = getattr(node, "lineno", 0)
            self.found.append(Mutant(line, self._statement, _shorten(node), _shorten(after)))
            if number == self._wanted:
                return ast.copy_location(after, node)
        return self.generic_visit(node)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for name, value in ast.iter_fields(node):
            if name in _DECLARATIONS or (name == "keywords" and isinstance(node, ast.ClassDef)):
                continue
            if isinstance(value, ast.AST):
                setattr(node, name, self.visit(value))
            elif isinstance(value, list):
                value[:] = [self.visit(v) if isinstance(v, ast.AST) else v for v in value]
        return node


def mutants_of(source: str) -> list[Mutant]:
    """Return all faults that can be planted in *source*, in their order."""
    planter = _Planter(None)
    planter.visit(ast.parse(source))
    return planter.found


def plant(source: str, number: int) -> ast.Module:
    """Return the syntax tree of *source* with the fault of this *number*."""
    tree = _Planter(number).visit(ast.parse(source))
    assert isinstance(tree, ast.Module)
    return ast.fix_missing_locations(tree)


def _changes_of(node: ast.AST) -> list[ast.AST]:
    match node:
        case ast.Compare(ops=[operator], left=left, comparators=right):
            return [ast.Compare(left, [_COMPARISONS[type(operator)]()], right)]
        case ast.BoolOp(op=operator, values=values):
            other = ast.Or() if isinstance(operator, ast.And) else ast.And()
            return [ast.BoolOp(other, values)]
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return [operand]
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _ARITHMETIC:
            return [ast.BinOp(left, _ARITHMETIC[type(operator)](), right)]
        case ast.Constant(value=bool() as value):
            return [ast.Constant(not value)]
        case ast.Constant(value=int() as value):
            return [ast.Constant(value + 1)]
        case ast.Return(value=ast.expr() as value) if not _is_none(value):
            return [ast.Return(ast.Constant(None))]
        case ast.Expr(value=ast.Call()):
            return [ast.Pass()]
        case ast.AugAssign(target=target, op=operator, value=value) if (
            type(operator) in _ARITHMETIC
        ):
            return [ast.AugAssign(target, _ARITHMETIC[type(operator)](), value)]
        case ast.If() | ast.While() | ast.IfExp() if isinstance(node.test, ast.Name | ast.Call):
            fields = dict(ast.iter_fields(node))
            return [type(node)(**{**fields, "test": ast.UnaryOp(ast.Not(), node.test)})]
    return []


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def _shorten(node: ast.AST) -> str:
    return ast.unparse(ast.fix_missing_locations(node)).partition("\n")[0][:100]
