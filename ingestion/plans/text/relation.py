"""What a plan's node gives: columns with their lineage, and what decided the rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ingestion.model import DIRECT_SUBTYPES, ColumnRef, Problem, Subtype, TableName, Transformation

LONGEST_EXPRESSION = 2000
"""Characters of a canonical expression that are kept: nested plans compose exponentially otherwise."""

STRENGTH = {Subtype.IDENTITY: 0, Subtype.TRANSFORMATION: 1, Subtype.AGGREGATION: 2}

IndirectUse = tuple[ColumnRef, Subtype]
"""A column that had an indirect say, and how."""


@dataclass(frozen=True, slots=True)
class AttributeLineage:
    """Where one value comes from.

    `direct` has the strongest direct use of each source column; `expression` is canonical and masked, "" for a column
    taken as it is. `opaque`: made by code that a plan does not show. `incomplete`: text was cut, or names an attribute
    that is not in scope, so sources may be missing. `fields` has the parts of a struct made here.
    """

    direct: Mapping[ColumnRef, Transformation] = field(default_factory=dict)
    indirect: frozenset[IndirectUse] = frozenset()
    expression: str = ""
    opaque: bool = False
    incomplete: bool = False
    fields: Mapping[str, AttributeLineage] | None = None

    @property
    def columns(self) -> frozenset[ColumnRef]:
        """Every source column, whatever its role."""
        return frozenset(self.direct) | {column for column, _ in self.indirect}

    @property
    def identity(self) -> bool:
        return len(self.direct) == 1 and all(how.subtype is Subtype.IDENTITY for how in self.direct.values())


NOTHING = AttributeLineage()
MISSING = AttributeLineage(incomplete=True)


def base_column(column: ColumnRef) -> AttributeLineage:
    """The lineage of a column that is read from a table or a path."""
    return AttributeLineage({column: Transformation(Subtype.IDENTITY)})


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column of a plan's output: Spark's expression id, the name as printed, its lineage."""

    id: int
    name: str
    lineage: AttributeLineage = NOTHING


@dataclass(slots=True)
class PlanRelation:
    """A node's output in order, with the row-level influences and the tables read below it.

    `grouped` is set while a value is between the stages of one aggregation: the relation below the first stage, whose
    functions are `functions` as printed.
    """

    attributes: list[Attribute]
    indirect: frozenset[IndirectUse] = frozenset()
    sources: dict[TableName, None] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    grouped: PlanRelation | None = None
    functions: str = "[]"

    @property
    def scope(self) -> dict[int, Attribute]:
        return {attribute.id: attribute for attribute in self.attributes}

    def with_attributes(
        self, attributes: list[Attribute], influences: Iterable[IndirectUse] = (), problems: Iterable[Problem] = ()
    ) -> PlanRelation:
        """The same rows with other columns, and more influences on which rows there are."""
        return PlanRelation(
            attributes, self.indirect | frozenset(influences), self.sources, (*self.problems, *problems)
        )


def join_relations(relations: Iterable[PlanRelation]) -> PlanRelation:
    """Columns side by side, influences and sources together; one relation alone is itself."""
    relations = list(relations)
    if len(relations) == 1:
        return relations[0]
    attributes: list[Attribute] = []
    indirect: frozenset[IndirectUse] = frozenset()
    sources: dict[TableName, None] = {}
    problems: tuple[Problem, ...] = ()
    for relation in relations:
        attributes.extend(relation.attributes)
        indirect |= relation.indirect
        sources.update(relation.sources)
        problems += relation.problems
    return PlanRelation(attributes, indirect, sources, problems)


def influences(lineage: AttributeLineage, subtype: Subtype) -> set[IndirectUse]:
    """An indirect use of a value is an indirect use of all that made it."""
    return {(column, subtype) for column in lineage.columns}


def stronger(one: Transformation | None, other: Transformation) -> Transformation:
    if one is None:
        return other
    subtype = max(one.subtype, other.subtype, key=lambda item: STRENGTH[item])
    return Transformation(subtype, one.masking or other.masking)


def unite_lineages(lineages: Iterable[AttributeLineage]) -> AttributeLineage:
    """The lineage of a column of a UNION: either side may have given the value."""
    direct: dict[ColumnRef, Transformation] = {}
    indirect: frozenset[IndirectUse] = frozenset()
    expressions: list[str] = []
    opaque = incomplete = False
    for lineage in lineages:
        for column, how in lineage.direct.items():
            direct[column] = stronger(direct.get(column), how)
        indirect |= lineage.indirect
        opaque |= lineage.opaque
        incomplete |= lineage.incomplete
        expressions.append(lineage.expression)
    distinct = [text for text in dict.fromkeys(expressions) if text]
    expression = distinct[0] if len(distinct) == 1 else ""
    return AttributeLineage(direct, indirect, expression, opaque, incomplete)


def is_direct(subtype: Subtype) -> bool:
    return subtype in DIRECT_SUBTYPES
