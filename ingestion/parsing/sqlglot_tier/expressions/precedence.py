"""Operators: how they are written, and how tightly they bind."""

from __future__ import annotations

from sqlglot import exp

BINARY: dict[type[exp.Expr], tuple[str, int]] = {
    exp.Or: (" OR ", 1),
    exp.Xor: (" XOR ", 1),
    exp.And: (" AND ", 2),
    exp.EQ: (" = ", 4),
    exp.NEQ: (" <> ", 4),
    exp.GT: (" > ", 4),
    exp.GTE: (" >= ", 4),
    exp.LT: (" < ", 4),
    exp.LTE: (" <= ", 4),
    exp.NullSafeEQ: (" IS NOT DISTINCT FROM ", 4),
    exp.NullSafeNEQ: (" IS DISTINCT FROM ", 4),
    exp.Is: (" IS ", 4),
    exp.Like: (" LIKE ", 4),
    exp.ILike: (" ILIKE ", 4),
    exp.RegexpLike: (" RLIKE ", 4),
    exp.SimilarTo: (" SIMILAR TO ", 4),
    exp.Glob: (" GLOB ", 4),
    exp.Escape: (" ESCAPE ", 4),
    exp.BitwiseOr: (" | ", 5),
    exp.BitwiseXor: (" ^ ", 5),
    exp.BitwiseAnd: (" & ", 5),
    exp.BitwiseLeftShift: (" << ", 5),
    exp.BitwiseRightShift: (" >> ", 5),
    exp.DPipe: (" || ", 6),
    exp.Add: (" + ", 6),
    exp.Sub: (" - ", 6),
    exp.Mul: (" * ", 7),
    exp.Div: (" / ", 7),
    exp.IntDiv: (" DIV ", 7),
    exp.Mod: (" % ", 7),
}
"""The text and precedence of operators; operators of one precedence group to the left."""

PRECEDENCE = {kind: precedence for kind, (_, precedence) in BINARY.items()} | {
    exp.Not: 3,
    exp.Between: 4,
    exp.In: 4,
    exp.Neg: 8,
}
"""The precedence of every kind of node that is no atom."""
