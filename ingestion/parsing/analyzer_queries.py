"""Queries analysed: a relational query and the scope around it give rows."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ingestion.model import ColumnRef, Flow, NameKind, Problem, ProblemKind, TableName
from ingestion.parsing.analyzer_joins import join_relation
from ingestion.parsing.analyzer_pivots import pivoted
from ingestion.parsing.analyzer_rows import AnyRows, Entry, FunctionRows, Rows, SchemaLookup, StarRun, TableRows
from ingestion.parsing.analyzer_rules import rules_of
from ingestion.parsing.analyzer_scopes import Scope, Visible
from ingestion.parsing.analyzer_sets import combine_branches, combine_by_name
from ingestion.parsing.analyzer_values import ROLE_MASK, Sources, Value, combined
from ingestion.parsing.relation_names import named_relations
from ingestion.parsing.relational import (
    Clause,
    CommonTable,
    Query,
    QuerySlot,
    Relation,
    Select,
    SetOperation,
    Star,
    TableFunction,
    Values,
)
from ingestion.parsing.roles import COMPOSED, GROUP_BY, IDENTITY, TRANSFORMATION

_RECURSION_ROUNDS = 10
_DEEP = 40


class CommonRows:
    """A WITH item in scope: analysed when it is first read, so that one that nobody reads gives nothing."""

    __slots__ = ("common", "definition", "rows")

    def __init__(self, definition: CommonTable, common: dict[str, CommonRows]) -> None:
        self.definition = definition
        self.common = common
        self.rows: Rows | None = None


Common = dict[str, CommonRows]


class QueryAnalysis:
    """The analysis of one statement's queries."""

    def __init__(self, dialect: str, schema_of: SchemaLookup) -> None:
        self.rules = rules_of(dialect)
        self.sources = Sources()
        self._schema_of = schema_of
        self._problems: dict[Problem, None] = {}
        self._tables: dict[TableName, TableRows] = {}
        self._common: Common = {}

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What stayed unsettled, in the order met."""
        return tuple(self._problems)

    def problem(self, kind: ProblemKind, subject: str) -> None:
        """Note what stays unsettled."""
        self._problems[Problem(kind, subject)] = None

    def unused_columns(self, flows: Iterable[Flow]) -> tuple[ColumnRef, ...]:
        """The columns that were met for sure and have no part in the flows."""
        met = self.sources.certain
        used = {
            id(column)
            for flow in flows
            for references in (*(output.references for output in flow.outputs), flow.indirect)
            for reference in references
            for column in reference.sources
        }
        tables = self._tables
        return tuple(
            column
            for column in met
            if id(column) not in used
            and (tables[column.table].columns is not None or column.column in tables[column.table].proven)
        )

    def query(self, query: Query, parent: Scope | None) -> Rows:
        """The rows of a query."""
        if isinstance(query, Select):
            return self._select(query, parent)
        if isinstance(query, SetOperation):
            return self._set_operation(query, parent)
        return self._values(query, parent)

    def table(self, name: TableName) -> TableRows:
        """The rows of a base table."""
        rows = self._tables.get(name)
        if rows is None:
            rows = self._tables[name] = TableRows(self.sources, name, self._schema_of(name) or None)
        return rows

    # -- WITH

    def _enter(self, common_tables: tuple[CommonTable, ...]) -> Common:
        """Bring WITH items into view; returns what was in view before."""
        outer = self._common
        for definition in common_tables:
            view = dict(self._common)
            item = CommonRows(definition, view)
            self._common = {**view, self._key(definition.name): item}
            if definition.recursive:
                item.common = self._common
        if len(common_tables) > _DEEP:
            self._analyse_in_order(common_tables)
        return outer

    def _analyse_in_order(self, common_tables: tuple[CommonTable, ...]) -> None:
        """Analyse a long list of WITH items first to last, those that a later one reads: a chain of them is no recursion."""
        read: set[str] = set()
        for definition in reversed(common_tables):
            if definition is common_tables[-1] or self._key(definition.name) in read:
                read.update(
                    self._key(name.parts[0]) for name in named_relations(definition.query) if len(name.parts) == 1
                )
        for definition in common_tables:
            if self._key(definition.name) in read:
                self._common_rows(self._common[self._key(definition.name)])

    def _key(self, name: str) -> str:
        return name.lower() if self.rules.case_kept else name

    def _common_rows(self, item: CommonRows) -> Rows:
        if item.rows is not None:
            return item.rows
        outer, self._common = self._common, item.common
        definition = item.definition
        try:
            if definition.recursive and isinstance(definition.query, SetOperation):
                item.rows = self._recursive(item, definition.query)
            else:
                if definition.recursive:
                    item.rows = Rows(self.sources, [])
                item.rows = self._renamed(self.query(definition.query, None), definition.columns)
        finally:
            self._common = outer
        return item.rows

    def _recursive(self, item: CommonRows, query: SetOperation) -> Rows:
        """The least rows that the branches give when the item's name means those very rows."""
        columns = item.definition.columns
        item.rows = Rows(self.sources, [])
        first = self.query(query.branches[0], None)
        item.rows = self._renamed(first, columns)
        for _ in range(_RECURSION_ROUNDS):
            before = _state(item.rows)
            item.rows = self._renamed(self.query(query, None), columns)
            if _state(item.rows) == before:
                break
        return item.rows

    def _renamed(self, rows: Rows, columns: tuple[str, ...]) -> Rows:
        """The rows under the names of a column list, by position."""
        if not columns:
            return rows
        entries: list[Entry] = []
        left = list(columns)
        for entry in rows.entries:
            if not left:
                entries.append(entry)
            elif isinstance(entry, StarRun):
                unknown = self.sources.column(entry.table, "*")
                rest = len(rows.entries) - len(entries) - 1
                take = max(len(left) - rest, 0) if rest < len(left) else 0
                entries += [(name, unknown) for name in left[:take]]
                left = left[take:]
            else:
                entries.append((left.pop(0), entry[1]))
        return Rows(self.sources, entries, rows.indirect, rows.tables)

    # -- SELECT

    def _select(self, select: Select, parent: Scope | None) -> Rows:
        outer = self._enter(select.common_tables) if select.common_tables else None
        try:
            scope = Scope(self, parent, select)
            indirect: dict[int, Value] = {}
            for relation in select.relations:
                join_relation(self, scope, relation, indirect)
            entries: list[Entry] = []
            for item in select.projections:
                if isinstance(item, Star):
                    entries += self._star(item, scope)
                else:
                    value = scope.evaluate(item.expression)
                    entries.append((item.name, value))
                    scope.outputs.setdefault(item.name, value)
            rows = Rows(self.sources, entries, indirect, scope.tables)
            if select.clauses:
                self.clauses(select.clauses, scope, rows)
            if select.distinct:
                self.all_columns(rows, GROUP_BY, rows.indirect)
            return rows
        finally:
            if outer is not None:
                self._common = outer

    def rows_of(self, relation: Relation, scope: Scope) -> tuple[AnyRows, str]:
        """The rows of a FROM item and the name it goes by."""
        source = relation.source
        alias = relation.alias
        rows: AnyRows
        if isinstance(source, TableName):
            item = self._common.get(self._key(source.parts[0])) if len(source.parts) == 1 else None
            if item is not None and source.kind is NameKind.TABLE:
                rows = self._common_rows(item)
                alias = alias or source.parts[0]
            else:
                rows = self.table(source)
        elif isinstance(source, TableFunction):
            rows = self._function(source, relation, scope)
        else:
            rows = self.query(source, scope if relation.lateral else scope.parent)
        if relation.columns and not isinstance(rows, FunctionRows):
            rows = self._renamed(_as_rows(self.sources, rows), relation.columns)
        for pivot in relation.pivots:
            rows = pivoted(self, _as_rows(self.sources, rows), pivot, alias)
            alias = pivot.alias or alias
        return rows, alias

    def _function(self, function: TableFunction, relation: Relation, scope: Scope) -> FunctionRows:
        values = [scope.evaluate(argument) for argument in function.arguments]
        value = Value(combined((TRANSFORMATION, value) for value in values))
        texts = ", ".join(value.text() for value in values)
        value.known_as(f"{function.label.upper()}({texts})")
        columns = relation.columns or tuple(name for name, _ in function.columns)
        tables = {function.name: None} if function.name is not None else {}
        return FunctionRows(value, columns, relation.alias or function.label, tables)

    def _star(self, star: Star, scope: Scope) -> list[Entry]:
        """What a star stands for, after EXCEPT, REPLACE and RENAME."""
        entries = self._qualified_star(star, scope) if star.qualifier else all_entries(scope)
        if star.excluded or star.renamed or star.replaced:
            entries = self._altered(entries, star, scope)
        if star.pattern:
            entries = self._matching(entries, star.pattern)
        if star.wrapped:
            entries = [
                (entry[0], Value(combined([(TRANSFORMATION, entry[1])])).known_as(entry[1].text()))
                if isinstance(entry, tuple)
                else entry
                for entry in entries
            ]
        return entries

    def _qualified_star(self, star: Star, scope: Scope) -> list[Entry]:
        inner: Scope | None = scope
        while inner is not None:
            visible = inner.relation(star.qualifier)
            if visible is not None:
                return visible.rows.entries
            inner = inner.parent
        value = scope.lookup(star.qualifier)
        if value is None:
            self.problem(ProblemKind.UNKNOWN_COLUMN, ".".join((*star.qualifier, "*")))
            return []
        fields = Value(combined([(TRANSFORMATION, value)])).known_as(f"{value.text()}.*")
        return [("*", fields)]

    def _altered(self, entries: list[Entry], star: Star, scope: Scope) -> list[Entry]:
        excluded = frozenset(star.excluded)
        renamed = dict(star.renamed)
        replaced = {item.name: scope.evaluate(item.expression) for item in star.replaced}
        found: list[Entry] = []
        open_ = any(isinstance(entry, StarRun) for entry in entries)
        placed: set[str] = set()
        for entry in entries:
            if isinstance(entry, StarRun):
                found.append(entry.without(excluded | replaced.keys()).with_renamed(star.renamed))
                continue
            name, value = entry
            if name in excluded or (name.lower() in excluded and name not in renamed):
                continue
            if name in replaced:
                placed.add(name)
                value = replaced[name]
            found.append((renamed.get(name, name), value))
        if open_:  # its place among the unknown columns is not known: it comes last
            found += [(name, value) for name, value in replaced.items() if name not in placed]
        return found

    def _matching(self, entries: list[Entry], pattern: str) -> list[Entry]:
        try:
            matches = re.compile(pattern).search
        except re.error:
            self.problem(ProblemKind.UNSUPPORTED, "COLUMNS")
            return []
        if any(isinstance(entry, StarRun) for entry in entries):
            self.problem(ProblemKind.UNSUPPORTED, "COLUMNS over unknown columns")
        return [entry for entry in entries if isinstance(entry, StarRun) or matches(entry[0])]

    # -- clauses

    def clauses(self, clauses: Iterable[Clause], scope: Scope, rows: Rows) -> None:
        """Let conditions and keys act on all outputs."""
        indirect = rows.indirect
        for clause in clauses:
            expression = clause.expression
            if expression is None:
                value = self._ordinal(clause.ordinal, rows)
                if value is not None:
                    _act(indirect, value, clause.role)
                continue
            value = self._key_alias(clause, scope) or scope.evaluate(expression)
            _act(indirect, value, clause.role)

    def _key_alias(self, clause: Clause, scope: Scope) -> Value | None:
        """The output that a key means by its name: before any column in ORDER BY, after known columns in GROUP BY."""
        expression = clause.expression
        if expression is None or not clause.aliases or clause.aliases == 3 or len(expression.slots) != 1:
            return None
        parts = getattr(expression.slots[0], "parts", ())
        if len(parts) != 1 or len(expression.parts) != 1:
            return None
        alias = scope.outputs.get(parts[0])
        if alias is None or clause.aliases == 1:
            return alias
        if not self.rules.output_names_in_group_by:
            return None
        known = any(
            visible.rows.find(parts[0]) is not None
            or (isinstance(visible.rows, TableRows) and parts[0] in visible.rows.proven)
            for visible in scope.relations
        )
        return None if known else alias

    def _ordinal(self, ordinal: int, rows: Rows) -> Value | None:
        if any(isinstance(entry, StarRun) for entry in rows.entries[:ordinal]) or not 0 < ordinal <= len(rows.entries):
            return None
        return rows.entries[ordinal - 1][1]  # type: ignore[index]

    def all_columns(self, rows: Rows, role: int, indirect: dict[int, Value]) -> None:
        """Let every column of rows act on all outputs (DISTINCT, set operations)."""
        for entry in rows.entries:
            if isinstance(entry, StarRun):
                _act(indirect, self.sources.column(entry.table, "*"), role)
            else:
                _act(indirect, entry[1], role)

    # -- set operations, VALUES, subqueries

    def _set_operation(self, operation: SetOperation, parent: Scope | None) -> Rows:
        outer = self._enter(operation.common_tables) if operation.common_tables else None
        try:
            branches = [self.query(branch, parent) for branch in operation.branches]
            rows = Rows(
                self.sources,
                (combine_by_name if operation.by_name else combine_branches)(self.sources, branches, operation),
            )
            for branch in branches:
                rows.indirect.update(branch.indirect)
                rows.tables.update(branch.tables)
                if operation.role is not None:
                    self.all_columns(branch, operation.role, rows.indirect)
            if operation.clauses:
                scope = Scope(self, parent)
                scope.outputs = {entry[0]: entry[1] for entry in reversed(rows.entries) if isinstance(entry, tuple)}
                scope.add(Visible(Relation(operation), rows, ""))
                self.clauses(operation.clauses, scope, rows)
            return rows
        finally:
            if outer is not None:
                self._common = outer

    def _values(self, values: Values, parent: Scope | None) -> Rows:
        scope = Scope(self, parent)
        columns: list[list[Value]] = [[] for _ in values.columns]
        for row in values.rows:
            for number, cell in enumerate(row):
                columns[number].append(scope.evaluate(cell))
        entries: list[Entry] = [
            (name, Value(combined((IDENTITY, value) for value in column), None, (), column))
            for name, column in zip(values.columns, columns, strict=True)
        ]
        return Rows(self.sources, entries, {}, scope.tables)

    def subquery(self, slot: QuerySlot, scope: Scope) -> Value:
        """The value of a subquery in an expression; its conditions act on this value alone."""
        rows = self.query(slot.query, scope)
        scope.tables.update(rows.tables)
        values = [
            entry[1] if isinstance(entry, tuple) else self.sources.column(entry.table, "*") for entry in rows.entries
        ]
        keys = combined((slot.role, value) for value in values) if not slot.exists else {}
        row = COMPOSED[slot.role]
        for key in rows.indirect:
            keys[key & ~ROLE_MASK | row[key & ROLE_MASK]] = None
        text = f"(SELECT {values[0].text() if values and not slot.exists else '?'})"
        return Value(keys).known_as(text, values[0].type() if len(values) == 1 else "")


def _state(rows: Rows) -> list[object]:
    return [
        (entry[0], frozenset(entry[1].keys)) if isinstance(entry, tuple) else entry.table for entry in rows.entries
    ] + [frozenset(rows.indirect)]


def _act(indirect: dict[int, Value], value: Value, role: int) -> None:
    row = COMPOSED[role]
    for key in value.keys:
        indirect.setdefault(key & ~ROLE_MASK | row[key & ROLE_MASK], value)


def _as_rows(sources: Sources, rows: AnyRows) -> Rows:
    return rows if isinstance(rows, Rows) else Rows(sources, rows.entries, dict(rows.indirect), dict(rows.tables))


def all_entries(scope: Scope) -> list[Entry]:
    """What `*` stands for: columns merged by USING first, then each relation's, but those of the target and semi joins."""
    merged = scope.merged
    entries: list[Entry] = [(name, value) for name, value in merged.items()]
    for number, visible in enumerate(scope.relations):
        if visible.hidden or visible.written:
            continue
        gone = frozenset(name for name, until in scope.merged_until.items() if number <= until)
        for entry in visible.rows.entries:
            if isinstance(entry, StarRun):
                entries.append(entry.without(gone) if gone else entry)
            elif entry[0] not in gone:
                entries.append(entry)
    return entries
