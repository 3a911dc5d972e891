"""Which column a name means: of which occurrence of a relation, or of what a query in FROM makes of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from ingestion.decomposition.folding.rows import MATCHED, Leaf, Refusal, Value, columns_in, leaf_number
from ingestion.parsing.sqlglot_tier.names.identifiers import Names

AMBIGUOUS = "a column without its relation, where several may have it"
CORRELATED = "a correlated subquery"
UNKNOWN = "a column of no relation here"


@dataclass(eq=False, slots=True)
class NamedRelation:
    """What FROM calls `name`: its columns, and (`open`) the tables that it may have more columns of."""

    name: tuple[str, ...]
    columns: dict[str, Value]
    open: tuple[Leaf, ...] = ()

    def is_called(self, qualifier: tuple[str, ...]) -> bool:
        return self.name[-len(qualifier) :] == qualifier

    def column(self, name: str) -> Value | None:
        """The column of that name, None where the relation has none."""
        if name in self.columns or not self.open:
            return self.columns.get(name)
        return self.open[0].column(name) if len(self.open) == 1 else Refusal(AMBIGUOUS)

    def make_optional(self) -> None:
        """Have the values be NULL where an outer join matches nothing."""
        for name, value in self.columns.items():
            if isinstance(value, exp.Expr) and type(value) is not exp.Column:
                constant = next(columns_in(value), None) is None
                self.columns[name] = (
                    Refusal("a constant behind an outer join")
                    if constant
                    else exp.Anonymous(this=MATCHED, expressions=[value])
                )


@dataclass(eq=False, slots=True)
class NameScope:
    """The relations of a FROM clause, the columns that USING made one, the outputs, and the query around.

    `at_the_end`: nobody reads the outputs by their names.
    """

    names: Names
    relations: list[NamedRelation] = field(default_factory=list)
    merged: dict[str, Value] = field(default_factory=dict)
    outputs: dict[str, Value] = field(default_factory=dict)
    around: NameScope | None = None
    at_the_end: bool = False

    def column(self, parts: tuple[str, ...]) -> exp.Expr:
        """What a column's name means. Raises Refusal where that is not certain."""
        found = self._find(parts)
        if found is None:
            around = self.around
            while around is not None:
                if around.may_have(parts):
                    raise Refusal(CORRELATED)
                around = around.around
            raise Refusal(UNKNOWN)
        if isinstance(found, Refusal):
            raise found
        return found.copy()

    def _find(self, parts: tuple[str, ...]) -> Value | None:
        name, qualifier = parts[-1], parts[:-1]
        if qualifier:
            called = [relation for relation in self.relations if relation.is_called(qualifier)]
            return called[0].column(name) if len(called) == 1 else None
        if name in self.merged:
            return self.merged[name]
        certain = [relation for relation in self.relations if name in relation.columns]
        if certain:
            return certain[0].columns[name] if len(certain) == 1 else Refusal(AMBIGUOUS)
        if name in self.outputs:
            return self._output(name)
        possible = [relation for relation in self.relations if relation.open]
        if len(possible) != 1:
            return Refusal(AMBIGUOUS) if possible else None
        if self.around is not None and self.around.may_have(parts):
            return Refusal(AMBIGUOUS)
        return possible[0].column(name)

    def _output(self, name: str) -> Value:
        """An output by its name, unless a table whose columns are not known has a column of that name too."""
        value = self.outputs[name]
        if isinstance(value, exp.Expr) and type(value) is not exp.Column:
            numbers = {leaf.number for relation in self.relations for leaf in relation.open}
            if any(column.name == name and leaf_number(column) in numbers for column in columns_in(value)):
                return Refusal(AMBIGUOUS)
        return value

    def may_have(self, parts: tuple[str, ...]) -> bool:
        """Whether the name may mean something here, or in a query around."""
        if parts[:-1]:
            here = any(relation.is_called(parts[:-1]) for relation in self.relations)
        else:
            here = any(relation.open or parts[-1] in relation.columns for relation in self.relations)
        return here or (self.around is not None and self.around.may_have(parts))
