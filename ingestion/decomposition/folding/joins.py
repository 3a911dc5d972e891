"""Joins as blocks: inner joins without an order, outer joins by what is kept and what is matched to it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple

from sqlglot import exp

from ingestion.decomposition.folding.expressions import conjuncts
from ingestion.decomposition.folding.rows import Block, FullJoin, Refusal, Value, numbers_in
from ingestion.decomposition.folding.scopes import AMBIGUOUS, NamedRelation, NameScope

_READ = ("this", "side", "kind", "on", "using", "hint", "directed", "global_")
_KINDS = frozenset({"", "INNER", "CROSS", "OUTER"})


class Joined(NamedTuple):
    """What a join brings: how it is called, and its rows."""

    relation: NamedRelation
    block: Block


def refuse_parts(node: exp.Expr, read: Collection[str]) -> None:
    """Raises Refusal where a node has a part that is not among those that are understood."""
    for key, value in node.args.items():
        if value and key not in read:
            raise Refusal(f"{key.strip('_').replace('_', ' ')} in a {type(node).__name__.lower()}")


def join_blocks(
    join: exp.Expr, block: Block, other: Joined, scope: NameScope, rewrite: Callable[[exp.Expr], exp.Expr]
) -> Block:
    """The block with what a join brings; `scope` gets its names. Raises Refusal for a join that is not understood."""
    refuse_parts(join, _READ)
    side, kind = str(join.args.get("side") or "").upper(), str(join.args.get("kind") or "").upper()
    if kind not in _KINDS:
        raise Refusal(f"a {kind.lower()} join")
    on = _shared_columns(join, other.relation, scope, side)
    scope.relations.append(other.relation)
    if join.args.get("on") is not None:
        on += [rewrite(part) for part in conjuncts(join.args["on"])]
    if side == "FULL":
        for relation in scope.relations:
            relation.make_optional()
        return Block([FullJoin(block, other.block, on)])
    if side == "LEFT":
        other.relation.make_optional()
        block.attached.append(_attach(other.block, on))
        return block
    if side == "RIGHT":
        for relation in scope.relations[:-1]:
            relation.make_optional()
        return Block([*other.block.members], [*other.block.attached, _attach(block, on)], other.block.conditions)
    if side:
        raise Refusal(f"a {side.lower()} join")
    block.members += other.block.members
    block.attached += other.block.attached
    block.conditions += [*other.block.conditions, *on]
    return block


def _attach(block: Block, on: list[exp.Expr]) -> tuple[Block, list[exp.Expr]]:
    """A block to match; what its condition asks of the block alone is one of the block's own conditions."""
    own = {leaf.number for leaf in block.leaves()}
    alone = [part for part in on if numbers_in(part) and numbers_in(part) <= own]
    block.conditions += alone
    return block, [part for part in on if part not in alone]


def _shared_columns(join: exp.Expr, relation: NamedRelation, scope: NameScope, side: str) -> list[exp.Expr]:
    """The conditions that USING stands for; `scope` gets the columns that are one from now on."""
    found: list[exp.Expr] = []
    for identifier in join.args.get("using") or ():
        name = scope.names.column(identifier)
        left, right = scope.column((name,)), relation.column(name)
        if right is None or isinstance(right, Refusal):
            raise right or Refusal(AMBIGUOUS)
        found.append(exp.EQ(this=left, expression=right.copy()))
        merged: Value = right if side == "RIGHT" else left
        if side == "FULL":
            merged = exp.Coalesce(this=left.copy(), expressions=[right.copy()])
        scope.merged[name] = merged
    return found
