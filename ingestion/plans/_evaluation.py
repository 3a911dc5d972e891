"""A plan's tree evaluated bottom-up to the relation that it gives, whatever form the tree was printed in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from ingestion.model.lineage import Problem, StatementLineage, TableName
from ingestion.model.outcomes import ProblemKind
from ingestion.plans._expressions import AttributeScope, masked_name, read_expression
from ingestion.plans._relation import (
    MISSING,
    Attribute,
    Element,
    PlanRelation,
    attribute_list,
    is_truncated,
    join_relations,
)
from ingestion.plans._tree import PlanNode, kind_of
from ingestion.plans.names import NameMapping

CUT = Problem(ProblemKind.INCOMPLETE, "more fields")


@dataclass(slots=True)
class Evaluation:
    """What the plans of one statement have in common: names, subqueries, what earlier plans of the application made.

    `remembered` maps an expression id to the column that an earlier plan of the same application gave it: checkpoints
    and cached frames are leaves whose ids only it explains. `paths` has the locations of leaves that print none;
    `batch` is what foreachBatch's function is given, `loop` what a recursive query has so far; `made` collects the
    columns of all leaves and projections. `query_lineage` reads the text of a query that was sent to a database, and
    `operate` is what gives one node's relation. `updated` is the table of an UPDATE that Spark wrote as a query.
    """

    operate: Callable[[PlanNodeInput], PlanRelation]
    names: NameMapping
    remembered: Mapping[int, Attribute] = field(default_factory=dict)
    subqueries: Mapping[int, PlanNode] = field(default_factory=dict)
    paths: Mapping[int, str] = field(default_factory=dict)
    through_views: bool = False
    batch: PlanRelation | None = None
    query_lineage: Callable[[str], StatementLineage | None] = field(default=lambda _text: None)
    known: set[int] = field(default_factory=set)
    made: dict[int, Attribute] = field(default_factory=dict)
    by_id: dict[int, PlanRelation] = field(default_factory=dict)
    ctes: dict[int, PlanRelation] = field(default_factory=dict)
    expected: dict[int, list[Element]] = field(default_factory=dict)
    by_number: dict[int, PlanRelation] = field(default_factory=dict)
    loop: PlanRelation | None = None
    updated: TableName | None = None
    read: dict[TableName, None] = field(default_factory=dict)

    def scope(self, node: PlanNode, relation: PlanRelation, outer: Mapping[int, Attribute]) -> AttributeScope:
        """What the expressions of `node` may refer to over its input."""
        inner = self.inner(node, relation, outer)
        return AttributeScope(relation.scope, outer, self.by_id, inner, self.known, self.read)

    def inner(self, node: PlanNode, relation: PlanRelation, outer: Mapping[int, Attribute]) -> Iterator[PlanRelation]:
        """The subqueries printed below a logical node, evaluated as they are asked for."""
        inside = {**outer, **relation.scope}
        return (self.relation(tree, inside) for tree in node.inner)

    def relation(self, root: PlanNode, outer: Mapping[int, Attribute] | None = None) -> PlanRelation:
        """The relation of a tree. Iterative: plans of thousands of nodes are common."""
        done: dict[int, PlanRelation] = {}
        pending: list[tuple[PlanNode, bool]] = [(root, False)]
        while pending:
            node, ready = pending.pop()
            if not ready:
                pending.append((node, True))
                pending.extend((child, False) for child in reversed(node.children))
                if len(node.children) == 1:
                    self.expect(node.children[0], attribute_list(node.fields.get("Input", "")))
                continue
            inputs = [done.pop(id(child)) for child in node.children]
            result = self.operate(PlanNodeInput(node, inputs, outer or {}, self))
            if self.read:  # by the subqueries in the node's expressions
                result.sources = {**result.sources, **self.read}
                self.read.clear()
            self.known.update(attribute.id for attribute in result.attributes)
            if not node.children or kind_of(node) == "Project":
                self.made.update((attribute.id, attribute) for attribute in result.attributes)
            if node.number is not None:
                self.by_number[node.number] = result
            done[id(node)] = result
        return done[id(root)]

    def expect(self, node: PlanNode, elements: list[Element]) -> None:
        """Note what the node above reads from `node`: it tells where the elements of a list end."""
        if elements:
            self.expected[id(node)] = elements

    def prepare_subqueries(self) -> None:
        """Evaluate a physical plan's subqueries, those that others need first."""
        for identifier, tree in reversed(list(self.subqueries.items())):
            self.by_id[identifier] = self.relation(tree)


@dataclass(frozen=True, slots=True)
class PlanNodeInput:
    """One node, the relations of its children, the scope of the query around it, and the evaluation it is part of."""

    node: PlanNode
    inputs: list[PlanRelation]
    outer: Mapping[int, Attribute]
    evaluation: Evaluation

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
            passed = passed or Attribute(element.id, element.name, MISSING)
            made.append(passed.read_as(element.id, element.name))
        else:
            lineage, masked = read_expression(element.expression, scope), masked_name(element, scope.attributes)
            made.append(Attribute(element.id, element.name, lineage, masked))
    return made


def cut(text: str) -> list[Problem]:
    return [CUT] if is_truncated(text) else []


def unknown_relation(step: PlanNodeInput, kind: str) -> PlanRelation:
    """A node of a kind, or of a form, that is not known: what it passes on is kept, what it makes is incomplete."""
    text = step.node.fields.get("Output") or step.node.fields.get("Results") or ""
    below = step.below
    attributes = below.attributes
    if text:
        scope = below.scope
        attributes = [scope.get(item.id) or Attribute(item.id, item.name, MISSING) for item in attribute_list(text)]
    return below.with_attributes(attributes, problems=[Problem(ProblemKind.UNSUPPORTED, kind)])
