"""SELECT, set operations and VALUES: the rows of a query, from those of its relations and how they are joined."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace

from ingestion.analysis._columns import (
    NO_TABLE,
    ROLE_MASK,
    SHIFT,
    AnyRows,
    ColumnSources,
    ColumnValue,
    Entry,
    FunctionColumns,
    QueryColumns,
    SchemaLookup,
    TableColumns,
    UnexpandedStar,
    as_map,
    combine,
    rename_columns,
    spellings,
)
from ingestion.analysis._expressions import act, all_columns, apply_clauses, body_of, evaluate, uses_of
from ingestion.analysis._fields import fields_of, with_role
from ingestion.analysis._set_operations import combine_branches, combine_by_name
from ingestion.analysis._stars import pivot_rows, star_entries
from ingestion.analysis.form import (
    CallSlot,
    CommonTable,
    Expression,
    JoinOfSides,
    Projection,
    Query,
    RelationSource,
    Select,
    SetOperation,
    Slot,
    Star,
    TableFunction,
    Values,
    named_relations,
)
from ingestion.analysis.roles import (
    ATOM,
    CONDITIONAL,
    FILTER,
    GROUP_BY,
    IDENTITY,
    JOIN,
    TRANSFORMATION,
    TRANSFORMATIONS,
    is_direct,
    role_of,
)
from ingestion.analysis.scope import (
    NO_ITEMS,
    AnalysisContext,
    ItemsOfWith,
    Merge,
    Scope,
    ScopedRelation,
    View,
    WithItem,
    item_key,
    named_columns,
    unnested_fields,
)
from ingestion.dialects import Dialect, dialect_of, fold, fold_column
from ingestion.dialects.definition import LaterItems
from ingestion.dialects.functions import ELEMENTS, INLINES
from ingestion.dialects.keywords import hidden_columns
from ingestion.model.lineage import ColumnRef, Problem, Reference, TableName
from ingestion.model.outcomes import ProblemKind

_OF_ALL = nullcontext()
_OF_LEFT_SIDE = ("SEMI", "ANTI")
"""End the words of joins that give columns of their left side alone."""
_RECURSION_ROUNDS = 10
"""Rounds over a recursive item at most: each only adds sources, but one that rotates n columns needs n of them."""
_MANY = 40
"""Items from which on they are analysed in order: read from the last one back, each takes frames of the stack."""
_SEARCH = "vector_search"
_UNNEST = "unnest"


class QueryAnalysis:
    """The analysis of one statement's queries; `of_function`: the statement is the body of a function."""

    def __init__(self, dialect: str, schema_of: SchemaLookup, *, of_function: bool = False) -> None:
        self.dialect = dialect_of(dialect)
        self.sources = ColumnSources(dialect)
        self.hidden_columns = hidden_columns(dialect)
        self._schema_of = schema_of
        self._problems: dict[tuple[ProblemKind, str], None] = {}
        self._tables: dict[TableName, TableColumns] = {}
        self._used: set[int] = set()
        self.functions: dict[TableName, None] = {}
        self.of_function = of_function
        named = self.dialect.one_row_tables
        self._one_row_words = {table for table, column in named if not column}
        self._one_row_tables = {_folded_path(table, self.dialect): column for table, column in named if column}

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What stayed unresolved, in the order met."""
        return tuple(Problem(kind, subject) for kind, subject in self._problems)

    def problem(self, kind: ProblemKind, subject: str) -> None:
        """Note what stays unresolved."""
        self._problems[kind, subject] = None

    def reference(self, key: int, text: str) -> Reference:
        """The reference that a key stands for; its source is in use from now on."""
        number = key >> SHIFT
        self._used.add(number)
        doubtful = number in self.sources.doubtful
        return Reference(self.sources.columns(number), TRANSFORMATIONS[key & ROLE_MASK], text, doubtful)

    def unused_columns(self) -> tuple[ColumnRef, ...]:
        """The columns that were met for sure and that no reference has."""
        sources, used = self.sources, self._used
        if len(used) == len(sources):
            return ()
        candidates = {one for number in used if len(found := sources.members(number)) > 1 for one in found}
        unused = (number for number in range(len(sources)) if number not in used and number not in sources.doubtful)
        alone = ((number, sources.members(number)) for number in unused)
        return tuple(
            sources.columns(number)[0]
            for number, columns in alone
            if len(columns) == 1 and columns[0] not in candidates and self._is_sure(*sources.column_of(columns[0]))
        )

    def _is_sure(self, table: TableName, column: str) -> bool:
        rows = self._tables.get(table)
        if rows is None or column == "*":
            return False
        return rows.columns is not None or column in rows.confirmed

    def query(self, query: Query, parent: Scope | None = None, view: View = NO_ITEMS) -> QueryColumns:
        """The rows of a query; `parent` is the scope around it, `view` has the WITH items that it may read."""
        if isinstance(query, Select):
            return self._select(query, parent, view)
        if isinstance(query, SetOperation):
            return self._set_operation(query, parent, view)
        return self._values(query, parent, view)

    def table(self, name: TableName) -> TableColumns:
        """The rows of a base table."""
        rows = self._tables.get(name)
        if rows is None:
            rows = self._tables[name] = TableColumns(self.sources, name, self._schema_of(name) or None)
        return rows

    def _one_row(self, name: TableName) -> QueryColumns | None:
        """The row of DUAL: no data comes out of it, so that it is no source. None of another table.

        MySQL's is a word of the language: a table is meant where it stands in quotes.
        """
        column = self._one_row_tables.get(name.dotted)
        if column is None:
            return QueryColumns(self.sources, []) if str(name).lower() in self._one_row_words else None
        column = fold_column(column, self.dialect, quoted=False)
        return QueryColumns(self.sources, [(column, ColumnValue(()).known_as(column))])

    # -- SELECT

    def _select(self, select: Select, parent: Scope | None, view: View) -> QueryColumns:
        """The rows of a SELECT: FROM is read first, then the select list, and then what may name its outputs."""
        if select.common_tables:
            view = _with_items(self, select.common_tables, parent, view)
        scope = Scope(self, parent, view, select)
        indirect: dict[int, ColumnValue] = {}
        for relation in select.relations:
            rows, alias = self._rows_of(relation, scope)
            _join_relation(scope, relation, ScopedRelation(relation, rows, alias), indirect)
        scope.name_values(select.inner_aliases)
        scope.name_values(item for item in select.projections if isinstance(item, Projection))
        entries: list[Entry] = []
        ungrouped: list[tuple[str, ColumnValue]] = []
        for item in select.projections:
            if isinstance(item, Star):
                starred = star_entries(self, item, scope)
                entries += starred
                if select.clauses:  # ORDER BY means an output before any other column of that name
                    for entry in starred:
                        if isinstance(entry, tuple):
                            scope.outputs.setdefault(*entry)
            else:
                value = evaluate(scope, item.expression)
                name = _name_of(item, scope) if item.unnamed and self.dialect.dotted_columns else item.name
                entries.append((name, value))
                if item.ungrouped:
                    ungrouped.append((name, value))
                else:
                    scope.outputs.setdefault(name, value)
        for name, value in ungrouped:
            scope.outputs.setdefault(name, value)
        made = QueryColumns(self.sources, entries, indirect, scope.tables)
        if select.clauses:
            apply_clauses(self, select.clauses, scope, made)
        if select.distinct:
            all_columns(self, made, GROUP_BY, made.indirect)
        return made

    def _rows_of(self, relation: RelationSource, scope: Scope) -> tuple[AnyRows, str]:
        """The rows of a FROM item and the name it goes by."""
        source = relation.source
        alias = relation.alias
        rows: AnyRows
        if isinstance(source, TableName):
            # `WITH a AS (…) DELETE FROM a` means the table a, but where a change goes through an item to what it reads
            is_table = relation.written and not self.dialect.writes_through_with
            item = None if is_table else scope.item(source)
            array = scope.array(source) if item is None and self.dialect.arrays_in_from else None
            if item is not None:
                rows, alias = _rows_of(self, item), alias or source.parts[0]
            elif array is not None:
                alias = alias or source.parts[-1]
                rows = self._function(_elements(array), replace(relation, alias=alias), scope)
            else:
                rows = self._one_row(source) or self.table(source)
        elif isinstance(source, TableFunction):
            rows = self._function(source, relation, scope)
            if source.name is not None and self.table(source.name).columns is not None:
                rows, alias = self._rows_given(source, source.name, scope), alias or source.label  # its body is known
        else:
            correlated = relation.lateral or self._reads_array(source, scope) or self._reads_earlier(source, scope)
            rows = self.query(source, scope if correlated else scope.parent, scope.view)
        if relation.named_by is not None:
            columns = self.table(relation.named_by).columns
            rows = _as_rows(self.sources, rows)
            if columns is not None:
                rows = rename_columns(self.sources, rows, tuple(column.name for column in columns[: len(rows.entries)]))
            else:  # by position, and the positions are not known: any of its columns may be meant
                rows = QueryColumns(self.sources, rows.entries, rows.indirect, rows.tables, name_unknown=True)
        if relation.columns and not isinstance(rows, FunctionColumns):
            rows = rename_columns(self.sources, _as_rows(self.sources, rows), relation.columns)
        for pivot in relation.pivots:
            rows = pivot_rows(scope, _as_rows(self.sources, rows), pivot, ScopedRelation(relation, rows, alias))
            alias = pivot.alias or alias
        return rows, alias

    def _reads_array(self, query: Query, scope: Scope) -> bool:
        """Whether a query in FROM reads an array of what stands before it, as Impala's may.

        `SELECT v.m FROM lib.books b, (SELECT MAX(pages) AS m FROM b.works) v`.
        """
        if not self.dialect.arrays_in_from or not isinstance(query, Select):
            return False
        names = (one.source for one in query.relations if isinstance(one.source, TableName))
        return any(scope.item(name) is None and scope.array(name) is not None for name in names)

    def _reads_earlier(self, query: Query, scope: Scope) -> bool:
        """Whether a query in FROM reads what stands before it though no LATERAL says so, as DuckDB's may.

        `FROM t, (SELECT UNNEST(t.xs) AS x)`: a prefix is none of its own relations', or it has none.
        """
        if not self.dialect.lateral_unsaid or not isinstance(query, Select):
            return False
        if not query.relations:
            return True
        own = {one.alias or (one.source.table if isinstance(one.source, TableName) else "") for one in query.relations}
        prefixes = {slot.parts[:1] for slot in named_columns(query) if len(slot.parts) > 1}
        return any(prefix[0] not in own and scope.relation(prefix) is not None for prefix in prefixes)

    def _function(self, function: TableFunction, relation: RelationSource, scope: Scope) -> FunctionColumns:
        """The rows of a table function: x is made of t.xs in `FROM t, UNNEST(t.xs) AS x`.

        Several arrays side by side give a column each: in `UNNEST(t.a, t.b) AS u (x, y)` x is of t.a alone. How often
        a row of t is there for other columns, they say as well.
        """
        values = [evaluate(scope, argument) for argument in function.arguments]
        value = ColumnValue(combine((TRANSFORMATION, value) for value in values))
        texts = ", ".join(value.text() for value in values)
        value.known_as(f"{function.label.upper()}({texts})")
        columns = relation.columns or tuple(name for name, _ in function.columns)
        tables = {function.name: None} if function.name is not None else {}
        inlines = self.dialect.row_generators and function.label.upper() in INLINES
        if len(values) == 1 and (inlines or function.of_array_join or function.label.upper() in ELEMENTS):
            self._as_element(value, values[0], self.sources)
        label = self.dialect.collection_column or self._own_label(function, relation)
        rows = FunctionColumns(self.sources, value, columns, label, tables)
        lengths = [_length_of(each) for number, each in enumerate(values) if number not in function.fixed]
        for length in lengths:
            act(rows.indirect, length, FILTER)
        if function.of_map:
            as_map(rows, values[0])
        if (typed := self._entries_by_type(function, value, values, relation.columns)) is not None:
            rows.declared, rows.entries = True, typed
            return rows
        rows.fields = value.fields if self.dialect.fields_unnested else None
        rows.of_column = len(values) == 1 and _is_column(function.arguments[0])
        if (function.wide or inlines) and not columns:
            known = value.fields if inlines else None
            rows.entries = [UnexpandedStar(NO_TABLE, value=value)] if known is None else list(known.entries)
        if function.label == _SEARCH:
            match [each for each in values if each.fields is not None]:
                case [base, query]:
                    rows.entries = [("query", query), ("base", base), ("distance", value)]
        if function.aligned:
            own = [ColumnValue(combine([(TRANSFORMATION, each)])).known_as(f"UNNEST({each.text()})") for each in values]
            if function.aligned > len(own):  # a map of Trino's gives two columns, and which argument is one is not said
                between = self.sources.one_of(own, f"UNNEST({texts})")
                own = [own[0], *[between] * (function.aligned - 2), own[-1]]
            rows.entries = [*zip(columns, own, strict=False), *((name, value) for name in columns[len(own) :])]
        if function.numbers and columns:  # whatever the elements are, they are numbered one by one
            position = ColumnValue(combine((CONDITIONAL, length) for length in lengths)).known_as(value.text(), "INT")
            for number in function.numbers:
                if number < len(columns):  # an alias may name fewer columns
                    rows.entries[number] = (columns[number], position)
        return rows

    def _own_label(self, function: TableFunction, relation: RelationSource) -> str:
        """What a function's column is called where nobody names it: as its alias or itself, of Trino's UNNEST ""."""
        unnamed = function.label == _UNNEST and self.dialect.unnested_by_type
        return "" if unnamed else relation.alias or function.label

    def _entries_by_type(
        self, function: TableFunction, whole: ColumnValue, values: list[ColumnValue], names: tuple[str, ...]
    ) -> list[Entry] | None:
        """The columns of Trino's `UNNEST(a, m) WITH ORDINALITY`, where a is an array of rows (x, y) and m a map.

        They are x and y, two without names, and the number, which is told as one of the `whole`. An argument of unknown
        type has what the list of names leaves to it; None where several may have it, and of other functions.
        """
        if not self.dialect.unnested_by_type or function.label != _UNNEST:
            return None
        made = [self._columns_of_type(value, is_map=number in function.maps) for number, value in enumerate(values)]
        unknown = made.count(None)
        left = len(names) - len(function.numbers) - sum(len(each) for each in made if each is not None)
        if unknown and (len(values) == 1 or not any(names) or left < unknown or 1 < unknown < left):
            return None
        entries: list[Entry] = []
        for value, columns in zip(values, made, strict=True):
            entries += [("", _element_of(value))] * (left - unknown + 1) if columns is None else columns
        if function.numbers:
            lengths = (_length_of(each) for number, each in enumerate(values) if number not in function.fixed)
            position = ColumnValue(combine((CONDITIONAL, length) for length in lengths))
            entries.append(("", position.known_as(whole.text(), "BIGINT")))
        named = QueryColumns(self.sources, entries)
        return list(rename_columns(self.sources, named, names if any(names) else ()).entries)

    def _columns_of_type(self, value: ColumnValue, *, is_map: bool) -> list[Entry] | None:
        """The columns that UNNEST makes of a value: the fields of an array's rows, a key and a value; None: unknown."""
        type_, element = value.type(), _element_of(value)
        if is_map or type_.startswith("MAP<"):
            return [("", element), ("", element)]
        if not type_.startswith("ARRAY<"):
            return None
        known = fields_of(value, self.sources)
        return [("", element)] if known is None else list(with_role(known, TRANSFORMATION, {}, element).entries)

    def _rows_given(self, function: TableFunction, name: TableName, scope: Scope) -> TableColumns | QueryColumns:
        """The rows of a function whose body is known, with what that does with the arguments of the call.

        After `CREATE MACRO f(x) AS TABLE SELECT v FROM t WHERE k = x` c of `FROM s, f(s.c)` says which rows there are.
        """
        table = self.table(name)
        columns = table.columns or ()
        body = body_of(columns)
        if body is None or not body.uses:
            return table
        given = enumerate(_arguments_of(function), 1)
        arguments = [(evaluate(scope, argument), number, named) for number, (argument, named) in given]
        rows = QueryColumns(self.sources, [], {}, {name: None})
        for column, entry in zip(columns, table.entries, strict=True):
            own = entry[1] if isinstance(entry, tuple) else entry.whole(self.sources)
            acting = column.body.uses if column.body is not None else ()
            uses = [(use, value) for value, number, named in arguments for use in uses_of(acting, number, named)]
            parts = [(role_of(use.transformation), value) for use, value in uses if not use.rows]
            made = ColumnValue(combine([(IDENTITY, own), *parts])).known_as(own.text(), own.type())
            rows.entries.append((column.name, made))
            for use, value in uses:
                if use.rows:
                    act(rows.indirect, value, role_of(use.transformation))
        return rows

    @staticmethod
    def _as_element(value: ColumnValue, array: ColumnValue, sources: ColumnSources) -> None:
        """Give the value of an array's elements their type and their fields."""
        fields = fields_of(array, sources)
        type_ = array.type()
        value.known_as(value.text(), type_[6:-1] if type_.startswith("ARRAY<") else "")
        value.made_of(with_role(fields, TRANSFORMATION, {}, value) if fields is not None else None)

    # -- set operations, VALUES, subqueries

    def _set_operation(self, operation: SetOperation, parent: Scope | None, view: View) -> QueryColumns:
        if operation.common_tables:
            view = _with_items(self, operation.common_tables, parent, view)
        branches = [self.query(branch, parent, view) for branch in operation.branches]
        rows = QueryColumns(
            self.sources,
            combine_branches(self.sources, branches, operation)
            if operation.match is None
            else combine_by_name(branches, operation.match, first_only=operation.first_only),
        )
        for branch in branches:
            rows.indirect.update(branch.indirect)
            rows.tables.update(branch.tables)
            if operation.role is not None:
                all_columns(self, branch, operation.role, rows.indirect)
        if operation.clauses:
            scope = Scope(self, parent, view)
            scope.outputs = {entry[0]: entry[1] for entry in reversed(rows.entries) if isinstance(entry, tuple)}
            scope.add(ScopedRelation(RelationSource(operation), rows, ""))
            apply_clauses(self, operation.clauses, scope, rows)
            rows.tables.update(scope.tables)
        return rows

    def _values(self, values: Values, parent: Scope | None, view: View) -> QueryColumns:
        scope = Scope(self, parent, view)
        columns: list[list[ColumnValue]] = [[] for _ in values.columns]
        for row in values.rows:
            for number, cell in enumerate(row):
                columns[number].append(evaluate(scope, cell))
        entries: list[Entry] = [
            (name, ColumnValue(combine((IDENTITY, value) for value in column), None, (), column))
            for name, column in zip(values.columns, columns, strict=True)
        ]
        return QueryColumns(self.sources, entries, {}, scope.tables)

    def expand_star(self, star: Star, scope: Scope) -> list[Entry]:
        """What a star stands for."""
        return star_entries(self, star, scope)

    def item_value(self, item: WithItem, scope: Scope) -> ColumnValue | None:
        """ClickHouse: the value that a WITH item names, in the scope that uses it."""
        return _value_of(self, item, scope)


def _elements(array: tuple[str, ...]) -> TableFunction:
    """The rows that an array is where it stands as a relation: `FROM t, t.xs AS x` is `FROM t, UNNEST(t.xs) AS x`."""
    return TableFunction((Expression((0,), (Slot(array, TRANSFORMATION),), ATOM, 0),))


def _is_column(expression: Expression) -> bool:
    """Whether an expression is a column, or a field of one, as it is."""
    return len(expression.parts) == 1 and len(expression.slots) == 1 and isinstance(expression.slots[0], Slot)


def _arguments_of(function: TableFunction) -> list[tuple[Expression, str]]:
    """The arguments of a call, with the parameter's name where the call says it: `web.report(a)` is one expression."""
    for argument in function.arguments[:1]:
        for slot in argument.slots:
            if isinstance(slot, CallSlot) and slot.name == function.name:
                return [(Expression((), argument.slots[start:end], ATOM), name) for start, end, name in slot.arguments]
    names = function.given_as or ("",) * len(function.arguments)
    return list(zip(function.arguments, names, strict=True))


def _element_of(value: ColumnValue) -> ColumnValue:
    """What UNNEST takes out of a value."""
    return ColumnValue(combine([(TRANSFORMATION, value)])).known_as(f"UNNEST({value.text()})")


def _length_of(array: ColumnValue) -> ColumnValue:
    """What says how many elements an array has: of one of structs that the statement itself builds, conditions alone.

    Of `SELECT ARRAY_AGG(STRUCT(a, b)) AS l FROM m WHERE c` the l has an element for each row that c lets pass.
    """
    if array.fields is None:
        return array
    length = ColumnValue(key for key in array.keys if not is_direct(key & ROLE_MASK)).known_as(array.text())
    length.origins = array.origins
    return length


def _as_rows(sources: ColumnSources, rows: AnyRows) -> QueryColumns:
    return (
        rows
        if isinstance(rows, QueryColumns)
        else QueryColumns(sources, rows.entries, dict(rows.indirect), dict(rows.tables))
    )


# Joins: relations brought into scope, with the columns that USING and NATURAL merge.


def _name_of(column: Projection, scope: Scope) -> str:
    """What ClickHouse calls an output that is a column behind a prefix."""
    slots = [slot for slot in column.expression.slots if type(slot) is Slot]
    return scope.name_of(slots[0].parts) if len(slots) == 1 else column.name


def _join_relation(
    scope: Scope, relation: RelationSource, visible: ScopedRelation, indirect: dict[int, ColumnValue]
) -> None:
    """Bring one FROM item into scope; what acts on its rows, and the join's condition, acts on all outputs."""
    rows = visible.rows
    scope.add(visible)
    if not relation.written:
        scope.tables.update(rows.tables)
    elif not isinstance(rows, TableColumns):  # changed through a WITH item: its first table is the target itself
        scope.tables.update(dict.fromkeys(list(rows.tables)[1:]))
    for key, value in rows.indirect.items():
        indirect.setdefault(key, value)
    for clause in relation.on:
        if clause.expression is not None:
            with scope.only_last(clause.last) if clause.last else _OF_ALL:
                act(indirect, evaluate(scope, clause.expression), clause.role)
    if relation.using or relation.natural or relation.outer:
        _merge_sides(scope, relation, indirect)
    if scope.analysis.dialect.semi_joins_give_both:
        return
    if relation.join.endswith(_OF_LEFT_SIDE):
        scope.hide_last(1)
    for one in relation.outer:
        if one.join.endswith(_OF_LEFT_SIDE):
            scope.hide_last(one.right)


def _merge_sides(scope: Scope, relation: RelationSource, indirect: dict[int, ColumnValue]) -> None:
    """USING and NATURAL of a relation's own join, and then of those whose right side it is the end of."""
    own = JoinOfSides(relation.using, relation.natural, relation.join, 1, relation.left)
    for one in (own, *relation.outer):
        if one.using or one.natural:
            middle = len(scope.relations) - one.right
            first = middle - one.left if one.left else 0
            names = one.using or _shared_columns(scope, first, middle)
            _merge(scope, Merge(names, one.join, first, middle, {}), indirect)


def _shared_columns(scope: Scope, first: int, middle: int) -> tuple[str, ...]:
    """The columns that both sides of a NATURAL join have, in the order of the left one, which goes up to `middle`."""
    left, right = scope.relations[first:middle], scope.relations[middle:]
    if any(one.rows.open for one in (*left, *right)):
        name = right[0].alias or ".".join(right[0].parts)
        scope.analysis.problem(ProblemKind.AMBIGUOUS_COLUMN, f"NATURAL JOIN {name}")
    known = dict.fromkeys(scope.merged_among(first, middle))
    known.update((name, None) for other in left if not other.hidden for name in other.rows.names())
    return tuple(name for name in known if any(one.rows.find(name) is not None for one in right))


def _merge(scope: Scope, merge: Merge, indirect: dict[int, ColumnValue]) -> None:
    """The columns that USING and NATURAL make one: of the side whose rows are all kept, of both in a FULL join.

    `t RIGHT JOIN u USING (k)` has u's k, as k is null in t where t has no row; `t FULL JOIN u USING (k)` has
    COALESCE(t.k, u.k).
    """
    analysis, names, how = scope.analysis, merge.names, merge.how
    end = len(scope.relations)
    bounds = ((merge.first, merge.middle), (merge.middle, end))
    sides = [(scope.merged_among(*side), scope.relations[slice(*side)]) for side in bounds]
    merged: dict[str, ColumnValue] = {}
    for name in names:
        left, right = (_merged_or_not(analysis, *side, name) for side in sides)
        for value in (left, right):
            act(indirect, value, JOIN)
        if how.startswith("FULL"):
            both = combine((role, side) for role in (TRANSFORMATION, CONDITIONAL) for side in (left, right))
            merged[name] = ColumnValue(both).known_as(f"COALESCE({left.text()}, {right.text()})", left.type())
        else:
            merged[name] = right if how.startswith("RIGHT") else left
    if how.endswith(_OF_LEFT_SIDE) and not analysis.dialect.semi_joins_merge:
        return
    scope.merges.setdefault(end - 1, []).append(merge._replace(values=merged))
    scope.merged = scope.merged_among(0, end)
    scope.add(scope.relations.pop())


def _merged_or_not(
    analysis: AnalysisContext, merged: Mapping[str, ColumnValue], relations: list[ScopedRelation], name: str
) -> ColumnValue:
    """The column of one side of a join, of which joins among its relations may have made one."""
    (called,) = spellings(merged, (name,))
    return merged.get(called) or _side(analysis, relations, name)


def _side(analysis: AnalysisContext, relations: list[ScopedRelation], name: str) -> ColumnValue:
    """The column of one side of a join: sku of `t, UNNEST(t.lines) JOIN u USING (sku)` may be a field as well."""
    found = [value for other in relations if not other.hidden and (value := other.rows.find(name)) is not None]
    known = bool(found)
    if not found:
        found = [guess for other in relations if not other.hidden for guess in other.rows.guesses(name)]
        found += [field for _, field in unnested_fields(relations, name, analysis.dialect)]
    if not found:
        analysis.problem(ProblemKind.UNKNOWN_COLUMN, name)
        return ColumnValue(()).known_as(name)
    if len(found) > 1 and not (known and analysis.dialect.first_merged):
        analysis.problem(ProblemKind.AMBIGUOUS_COLUMN, name)
        return analysis.sources.one_of(found, name)
    return found[0]


# WITH: each item is analysed when it is first read.


def _with_items(
    analysis: AnalysisContext, definitions: tuple[CommonTable, ...], parent: Scope | None, view: View
) -> View:
    """What is in view where these items are defined, each of which sees those before it, and in some dialects all.

    `WITH RECURSIVE a AS (SELECT k FROM b), b AS (SELECT k FROM t) SELECT k FROM a` reads t alone in PostgreSQL.
    """
    if not definitions:
        return view
    items = ItemsOfWith(view)
    for definition in definitions:
        item = WithItem(definition, items.view(), parent)
        items.add(item_key(definition.name, analysis.dialect), item)
        if definition.recursive:
            item.view = items.view()
    view = items.view()
    seen = analysis.dialect.later_items
    for definition in definitions:
        if seen is LaterItems.SEEN or (definition.recursive and seen is LaterItems.RECURSIVE):
            item = view[item_key(definition.name, analysis.dialect)]
            item.view = view if definition.recursive else items.view(item)
    if len(definitions) > _MANY:
        _analyse_in_order(analysis, definitions, view)
    return view


def _value_of(analysis: AnalysisContext, item: WithItem, scope: Scope) -> ColumnValue | None:
    """ClickHouse: the value that an item names; what it reads is added to the scope's tables.

    In `WITH a + 1 AS x SELECT x FROM t` the expression is over the columns of the query that uses it; its own name in
    it is a column's.
    """
    query = item.definition.query
    if isinstance(query, Select) and not query.relations and isinstance(query.projections[0], Projection):
        outer = [(one, one.view) for one in scope.outward()]
        for one, _view in outer:
            one.view = item.view
        try:
            return evaluate(scope, query.projections[0].expression)
        finally:
            for one, view in outer:
                one.view = view
    rows = _rows_of(analysis, item)
    scope.tables.update(rows.tables)
    entry = next(iter(rows.entries), None)
    return entry[1] if isinstance(entry, tuple) else None


def _analyse_in_order(analysis: AnalysisContext, definitions: tuple[CommonTable, ...], view: View) -> None:
    """Analyse a long list of items first to last, so that a chain of them is no recursion."""
    keys = [item_key(definition.name, analysis.dialect) for definition in definitions]
    read = {keys[-1]}
    for key, definition in zip(reversed(keys), reversed(definitions), strict=True):
        if key in read:
            names = named_relations(definition.query)
            read.update(item_key(name.parts[0], analysis.dialect) for name in names if len(name.parts) == 1)
    for key in keys:
        if key in read:
            _rows_of(analysis, view[key])


def _rows_of(analysis: AnalysisContext, item: WithItem) -> QueryColumns:
    """The rows of an item, analysed when they are first read."""
    if item.rows is None:
        definition = item.definition
        if definition.recursive:
            item.rows = QueryColumns(analysis.sources, [])
            if isinstance(definition.query, SetOperation):
                item.rows = _recursive_rows(analysis, item, definition.query)
                return item.rows
        rows = analysis.query(definition.query, item.parent, item.view)
        item.rows = rename_columns(analysis.sources, rows, definition.columns)
    return item.rows


def _recursive_rows(analysis: AnalysisContext, item: WithItem, query: SetOperation) -> QueryColumns:
    """The least rows that the branches give when the item's name means those very rows.

    `WITH RECURSIVE r AS (SELECT a, b FROM s UNION ALL SELECT b, a FROM r)`: the first round gives a and b from s.a and
    s.b, the second each from both, the third nothing new. Items of its own are those of its first branch, too: s in
    `WITH RECURSIVE r AS (WITH s AS (…) SELECT a FROM s UNION ALL SELECT a + 1 FROM r)`.
    """
    columns, sources = item.definition.columns, analysis.sources
    begin = replace(query, branches=query.branches[:1]) if query.common_tables else query.branches[0]
    rows = rename_columns(sources, analysis.query(begin, item.parent, item.view), columns)
    for _ in range(_RECURSION_ROUNDS):
        item.rows, before = rows, _state(rows)
        rows = rename_columns(sources, analysis.query(query, item.parent, item.view), columns)
        if _state(rows) == before:
            break
    return rows


def _state(rows: QueryColumns) -> list[object]:
    return [
        (entry[0], frozenset(entry[1].keys)) if isinstance(entry, tuple) else entry.table for entry in rows.entries
    ] + [frozenset(rows.indirect)]


def _folded_path(path: str, dialect: Dialect) -> str:
    return ".".join(fold(part, dialect, quoted=False) for part in path.split("."))
