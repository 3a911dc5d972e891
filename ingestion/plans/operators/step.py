"""What every operator is given: a node, its inputs' relations, and what the evaluation around it knows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from ingestion.model import Problem, ProblemKind
from ingestion.plans.text.attributes import Element, arguments, is_truncated
from ingestion.plans.text.expressions import AttributeScope, read_expression
from ingestion.plans.text.name_mapping import NameMapping
from ingestion.plans.text.relation import MISSING, Attribute, AttributeLineage, PlanRelation, join_relations
from ingestion.plans.text.tree import PlanNode

CUT = Problem(ProblemKind.INCOMPLETE, "more fields")
_STRUCT = re.compile(r"^(?:named_)?struct\(")


class EvaluationContext(Protocol):
    """What operators use of the evaluation that they are part of: its state, and trees and nodes evaluated for them."""

    names: NameMapping
    remembered: Mapping[int, Attribute]
    paths: Mapping[int, str]
    through_views: bool
    batch: PlanRelation | None
    known: set[int]
    by_id: dict[int, PlanRelation]
    ctes: dict[int, PlanRelation]
    expected: dict[int, list[Element]]
    by_number: dict[int, PlanRelation]
    loop: PlanRelation | None

    def scope(self, node: PlanNode, relation: PlanRelation, outer: Mapping[int, Attribute]) -> AttributeScope:
        """What the expressions of `node` may refer to over its input."""

    def relation(self, root: PlanNode, outer: Mapping[int, Attribute] | None = None) -> PlanRelation:
        """The relation of a tree."""

    def unknown_relation(self, node: PlanNode, kind: str, inputs: list[PlanRelation]) -> PlanRelation:
        """The relation of a node of a kind, or of a form, that is not known."""


@dataclass(frozen=True, slots=True)
class PlanNodeInput:
    """One node, the relations of its children, the scope of the query around it, and the evaluation it is part of."""

    node: PlanNode
    inputs: list[PlanRelation]
    outer: Mapping[int, Attribute]
    evaluation: EvaluationContext

    @property
    def below(self) -> PlanRelation:
        return self.inputs[0] if len(self.inputs) == 1 else join_relations(self.inputs)

    @property
    def scope(self) -> AttributeScope:
        return self.evaluation.scope(self.node, self.below, self.outer)


def named_attributes(elements: list[Element], scope: AttributeScope) -> list[Attribute]:
    """Each element with the lineage of its expression; what is passed on keeps its own."""
    made: list[Attribute] = []
    for element in elements:
        if not element.expression:
            passed = scope.attributes.get(element.id) or scope.outer.get(element.id)
            made.append(Attribute(element.id, element.name, passed.lineage if passed else MISSING))
        else:
            lineage = read_expression(element.expression, scope)
            if _STRUCT.match(element.expression):
                lineage = _with_fields(lineage, element.expression, scope)
            made.append(Attribute(element.id, element.name, lineage))
    return made


def _with_fields(lineage: AttributeLineage, expression: str, scope: AttributeScope) -> AttributeLineage:
    """A struct's lineage with that of its parts: Spark merges scalar subqueries into one struct."""
    parts = arguments(expression[expression.index("(") + 1 : -1])
    if len(parts) % 2:
        return lineage
    fields = {parts[i]: read_expression(parts[i + 1], scope) for i in range(0, len(parts), 2)}
    return AttributeLineage(
        lineage.direct, lineage.indirect, lineage.expression, lineage.opaque, lineage.incomplete, fields
    )


def cut(text: str) -> list[Problem]:
    return [CUT] if is_truncated(text) else []
