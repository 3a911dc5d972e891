"""The lineage in an analysed plan, walked by expression ids: Spark's own word on which column is which.

Where Spark writes something that the query does not say, exactly that is taken back, each time with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from tests.differential.lineage_facts import NOTHING, Facts, Use, Uses, playing
from tests.differential.spark_expressions import Scope, deciding_rows, generated, uses_of
from tests.differential.spark_plan import Node, words


@dataclass(frozen=True)
class Relation:
    """What a plan gives: attributes in order (name, id, uses), and what acts on all of its rows."""

    columns: tuple[tuple[str, int, Uses], ...]
    rows: Uses = NOTHING

    def by_id(self) -> dict[int, Uses]:
        return {id: uses for _, id, uses in self.columns}


_PASSING = words(
    "GlobalLimit LocalLimit Offset Tail Sample Repartition RepartitionByExpression PipeOperator ResolvedHint "
    "ReturnAnswer"
)
"""What changes neither columns nor which rows there are, but by their number and place."""


_HIDDEN = "_metadata"
"""What each table of files has besides its columns: of the file, and a row's place in it."""

_Walk = Callable[[Node, Mapping[int, Uses]], Relation]


class PlanWalk:
    """One walk over one plan."""

    def __init__(self) -> None:
        self.tables: set[str] = set()
        self._common: dict[int, Node] = {}
        self._loops: dict[int, Relation] = {}
        self._aliases = [""]

    def facts(self, plan: Node) -> Facts:
        """The outputs and tables of a whole query."""
        relation = self.relation(plan)
        outputs = tuple((name.lower(), uses | relation.rows) for name, _, uses in relation.columns)
        return Facts(outputs, frozenset(self.tables))

    def relation(self, plan: Node) -> Relation:
        """What a plan gives that has none around it."""
        return self._relation(plan, {})

    # -- expressions

    def _uses(self, node: Node, attributes: Mapping[int, Uses]) -> Uses:
        return uses_of(node, Scope(attributes, self._subquery))

    def _subquery(self, plan: Node, outer: Mapping[int, Uses]) -> tuple[list[Uses], Uses]:
        relation = self._relation(plan, outer)
        return [uses for _, _, uses in relation.columns], relation.rows

    def _acting(self, part: str, nodes: list[Node], attributes: Mapping[int, Uses]) -> Uses:
        return frozenset(use for node in nodes for use in playing(part, self._uses(node, attributes)))

    def _named(self, nodes: list[Node], attributes: Mapping[int, Uses]) -> tuple[tuple[str, int, Uses], ...]:
        return tuple((node.fields["name"], node.id, self._uses(node, attributes)) for node in nodes)

    # -- plans

    def _relation(self, plan: Node, outer: Mapping[int, Uses]) -> Relation:
        handler: _Walk | None = getattr(self, f"_walk_{plan.name.lower()}", None)
        if handler is not None:
            return handler(plan, outer)
        if plan.name in _PASSING:
            return self._relation(plan.children[0], outer)
        msg = f"no rule for Spark's {plan.name}"
        raise NotImplementedError(msg)

    def _walk_subqueryalias(self, plan: Node, outer: Mapping[int, Uses]) -> Relation:
        self._aliases.append(plan.fields["identifier"]["name"].lower())
        relation = self._relation(plan.children[0], outer)
        self._aliases.pop()
        return relation

    def _walk_logicalrelation(self, plan: Node, _outer: Mapping[int, Uses]) -> Relation:
        return self._table((node.fields["name"], node.id) for node in plan.nodes("output"))

    _walk_logicalrdd = _walk_hivetablerelation = _walk_relationv2 = _walk_logicalrelation

    def _walk_view(self, plan: Node, _outer: Mapping[int, Uses]) -> Relation:
        """A view is what is read, whatever it is made of."""
        inside = PlanWalk().relation(plan.children[0])
        return self._table((name, id) for name, id, _ in inside.columns)

    def _table(self, columns: Iterable[tuple[str, int]]) -> Relation:
        table = self._aliases[-1]
        self.tables.add(table)
        return Relation(
            tuple(
                (name, id, NOTHING if name == _HIDDEN else frozenset({Use(table, name.lower(), "IDENTITY")}))
                for name, id in columns
            )
        )

    def _walk_onerowrelation(self, _plan: Node, _outer: Mapping[int, Uses]) -> Relation:
        return Relation(())

    def _walk_localrelation(self, plan: Node, _outer: Mapping[int, Uses]) -> Relation:
        return Relation(tuple((node.fields["name"], node.id, NOTHING) for node in plan.nodes("output")))

    _walk_range = _walk_resolvedinlinetable = _walk_localrelation

    def _walk_scripttransformation(self, plan: Node, outer: Mapping[int, Uses]) -> Relation:
        child = self._relation(plan.children[0], outer)
        made = frozenset(use for _, _, uses in child.columns for use in playing("TRANSFORMATION", uses))
        return Relation(tuple((node.fields["name"], node.id, made) for node in plan.nodes("output")), child.rows)

    def _walk_project(self, plan: Node, outer: Mapping[int, Uses]) -> Relation:
        child = self._relation(plan.children[0], outer)
        return Relation(self._named(plan.nodes("projectList"), {**outer, **child.by_id()}), child.rows)

    def _walk_filter(self, plan: Node, outer: Mapping[int, Uses]) -> Relation:
        child = self._relation(plan.children[0], outer)
        (condition,) = plan.nodes("condition")
        return Relation(child.columns, child.rows | self._acting("FILTER", [condition], {**outer, **child.by_id()}))

    def _walk_aggregate(self, plan: Node, outer: Mapping[int, Uses]) -> Relation:
        below = plan.children[0]
        child = self._relation(below, outer)
        attributes = {**outer, **child.by_id()}
        results = plan.nodes("aggregateExpressions")
        keys = self._acting("GROUP_BY", plan.nodes("groupingExpressions"), attributes)
        rows = child.rows | keys
        if any(_is_pivot(result) for result in results):
            # PIVOT in two steps: the first one groups by the pivot's column as well, which the second one undoes.
            rows = self._relation(below.children[0], outer).rows | keys
        return Relation(self._named(results, attributes), rows)

    def _walk_distinct(self, plan: Node, outer: Mapping[int, Uses]) -> Relation:
        child = self._relation(plan.children[0], outer)
        used = frozenset(use for _, _, uses in child.columns for use in playing("GROUP_BY", uses))
        return Relation(child.columns, child.rows | used)

    def _walk_window(self, plan: Node, outer: Mapping[int, Uses]) -> Relation:
        child = self._relation(plan.children[0], outer)
        named = self._named(plan.nodes("windowExpressions"), {**outer, **child.by_id()})
        return Relation((*child.columns, *named), child.rows)

    def _walk_sort(self, plan: Node, outer: Mapping[int, Uses]) -> Relation:
        child = self._relation(plan.children[0], outer)
        return Relation(
            child.columns, child.rows | self._acting("SORT", plan.nodes("order"), {**outer, **child.by_id()})
        )

    def _walk_join(self, plan: Node, outer: Mapping[int, Uses]) -> Relation:
        left, right = (self._relation(child, outer) for child in plan.children)
        attributes = {**outer, **left.by_id(), **right.by_id()}
        rows = left.rows | right.rows | self._acting("JOIN", plan.nodes("condition"), attributes)
        how = plan.fields["joinType"]
        kind = str(how.get("object", how) if isinstance(how, dict) else how)
        both = not kind.endswith(("LeftSemi$", "LeftAnti$"))
        return Relation((*left.columns, *(right.columns if both else ())), rows)

    def _walk_lateraljoin(self, plan: Node, outer: Mapping[int, Uses]) -> Relation:
        left = self._relation(plan.children[0], outer)
        (subquery,) = plan.nodes("right")
        attributes = {**outer, **left.by_id()}
        right = self._relation(subquery.nodes("plan")[0], attributes)
        rows = left.rows | right.rows
        rows |= self._acting("JOIN", plan.nodes("condition"), {**attributes, **right.by_id()})
        return Relation((*left.columns, *right.columns), rows)

    def _walk_generate(self, plan: Node, outer: Mapping[int, Uses]) -> Relation:
        child = self._relation(plan.children[0], outer)
        (generator,) = plan.nodes("generator")
        outputs = plan.nodes("generatorOutput")
        scope = Scope({**outer, **child.by_id()}, self._subquery)
        uses = generated(generator, len(outputs), scope)
        made = tuple(
            (node.fields["name"], node.id, playing("TRANSFORMATION", own))
            for node, own in zip(outputs, uses, strict=True)
        )
        return Relation((*child.columns, *made), child.rows | playing("FILTER", deciding_rows(generator, scope)))

    def _walk_expand(self, plan: Node, outer: Mapping[int, Uses]) -> Relation:
        child = self._relation(plan.children[0], outer)
        output = plan.nodes("output")
        if plan.fields["projections"] is None:
            return Relation(_grouping_sets(output, child), child.rows)
        attributes = {**outer, **child.by_id()}
        made = []
        for number, node in enumerate(output):
            uses = frozenset(
                use for row in plan.fields["projections"] for use in self._uses(_at(row, number), attributes)
            )
            made.append((node.fields["name"], node.id, uses))
        return Relation(tuple(made), child.rows)

    # -- set operations

    def _walk_union(self, plan: Node, outer: Mapping[int, Uses]) -> Relation:
        return self._together([self._relation(child, outer) for child in plan.children])

    def _together(self, branches: list[Relation], role: str | None = None, *, first_only: bool = False) -> Relation:
        first = branches[0]
        columns = []
        for number, (name, id, own) in enumerate(first.columns):
            others = [branch.columns[number][2] for branch in branches[1:]] if not first_only else []
            columns.append((name, id, own.union(*others)))
        rows = first.rows.union(*(branch.rows for branch in branches))
        if role is not None:
            rows |= frozenset(use for b in branches for _, _, uses in b.columns for use in playing(role, uses))
        return Relation(tuple(columns), rows)

    def _walk_intersect(self, plan: Node, outer: Mapping[int, Uses]) -> Relation:
        """Spark keeps the left side's ids alone; a row of INTERSECT stands in both sides, so its values are of both."""
        return self._together([self._relation(child, outer) for child in plan.children], "JOIN")

    def _walk_except(self, plan: Node, outer: Mapping[int, Uses]) -> Relation:
        return self._together([self._relation(child, outer) for child in plan.children], "JOIN", first_only=True)

    # -- WITH

    def _walk_withcte(self, plan: Node, outer: Mapping[int, Uses]) -> Relation:
        *definitions, body = plan.children
        self._common.update((definition.fields["id"], definition) for definition in definitions)
        return self._relation(body, outer)

    def _walk_cterelationref(self, plan: Node, outer: Mapping[int, Uses]) -> Relation:
        return _renamed(self._relation(self._common[plan.fields["cteId"]].children[0], outer), plan)

    def _walk_unionloop(self, plan: Node, outer: Mapping[int, Uses]) -> Relation:
        anchor = self._relation(plan.children[0], outer)
        known = anchor
        while True:  # until another round adds nothing
            self._loops[plan.fields["id"]] = known
            found = self._together([anchor, self._relation(plan.children[1], outer)])
            if found == known:
                ids = [id["id"] for id in plan.fields["outputAttrIds"]]
                columns = zip(ids, found.columns, strict=True)
                return Relation(tuple((name, id, uses) for id, (name, _, uses) in columns), found.rows)
            known = found

    def _walk_unionloopref(self, plan: Node, _outer: Mapping[int, Uses]) -> Relation:
        return _renamed(self._loops[plan.fields["loopId"]], plan)


def _renamed(relation: Relation, plan: Node) -> Relation:
    """The same columns under the ids of a reference, by position."""
    output = plan.nodes("output")
    return Relation(
        tuple(
            (node.fields["name"], node.id, uses) for node, (_, _, uses) in zip(output, relation.columns, strict=True)
        ),
        relation.rows,
    )


def _is_pivot(node: Node) -> bool:
    return node.name == "PivotFirst" or any(_is_pivot(child) for child in node.children)


def _grouping_sets(output: list[Node], child: Relation) -> tuple[tuple[str, int, Uses], ...]:
    """Spark does not export every Expand's projections. Of one for ROLLUP and CUBE they follow from the attributes:
    old ones are passed on, new ones are the keys, which are the last columns of the child, and the set's number.
    """
    known = child.by_id()
    *keys, number = [node for node in output if node.id not in known]
    uses = {key.id: column[2] for key, column in zip(keys, child.columns[-len(keys) :], strict=True)}
    uses = {**known, **uses, number.id: NOTHING}
    return tuple((node.fields["name"], node.id, uses[node.id]) for node in output)


def _at(row: list[Node | list[Node]], number: int) -> Node:
    found = row[number]
    return found if isinstance(found, Node) else found[0]


def spark_facts(plan: Node) -> Facts:
    """What an analysed plan says of its outputs."""
    return PlanWalk().facts(plan)
