"""Queries of sqlglot's tree: SELECT with its clauses, set operations, VALUES, WITH."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from ingestion.analysis.form import (
    Clause,
    CommonTable,
    Expression,
    MatchedNames,
    Projection,
    Query,
    QuerySlot,
    Select,
    SetOperation,
    Star,
    Values,
)
from ingestion.analysis.roles import ATOM, FILTER, GROUP_BY, IDENTITY, JOIN, TRANSFORMATION
from ingestion.dialects.keywords import reserved_words
from ingestion.errors import Unparsable
from ingestion.model.lineage import Problem
from ingestion.model.outcomes import ProblemKind
from ingestion.parsing.sqlglot.expressions.handlers import translate_expression
from ingestion.parsing.sqlglot.expressions.names import Names
from ingestion.parsing.sqlglot.queries.projections import (
    fields_of,
    grouped_projections,
    order_clauses,
    select_clauses,
    translate_projections,
    with_picked_rows,
)
from ingestion.parsing.sqlglot.queries.relations import match_rows, translate_relations

_NO_EXPRESSIONS = ("from_", "joins", "laterals", "with_")
_DOCUMENTS = ("JSON", "XML")
_ROW = "ROW"
_NO_EXPRESSION = Expression(("?",), (), ATOM)


class QueryTranslator:
    """Translates the queries of one statement; gathers what it could not follow, and the aliases it met."""

    __slots__ = ("_fields", "_windows", "aliases", "embedded_writes", "generators", "names", "problems")

    def __init__(self, names: Names) -> None:
        self.names = names
        self.problems: list[Problem] = []
        self.aliases: list[tuple[str, str]] = []
        self.embedded_writes: list[tuple[exp.Expr, tuple[CommonTable, ...]]] = []
        self._windows: dict[str, exp.Expr] = {}
        self._fields: dict[str, str] = {}
        self.generators: list[Expression] = []

    def field_name(self, name: str) -> str:
        """The name of a struct's field, by which a path in a string may mean it from now on."""
        self._fields[name.lower()] = name
        return name

    def field_in_string(self, name: str) -> str:
        """What stands for a field that a string names: a string may hold a secret, which the form must not.

        One name is the same mark all through the statement.
        """
        return self._fields.setdefault(name.lower(), f"#{len(self._fields)}")

    def expression(self, node: exp.Expr, role: int = IDENTITY) -> Expression:
        """The expression of a node, its columns playing `role`."""
        return translate_expression(self, node, role, self._windows)

    def note_unsupported(self, what: str) -> None:
        """Note a construct whose columns are not followed."""
        problem = Problem(ProblemKind.UNSUPPORTED, what)
        if problem not in self.problems:
            self.problems.append(problem)

    def with_names(self, names: Names) -> QueryTranslator:
        """A translator of its own for a query in which other names hold."""
        return QueryTranslator(names)

    def query(self, node: exp.Expr) -> Query:
        """The query of a node: SELECT, set operation, VALUES, TABLE, or one of them in brackets."""
        outer, self._windows = self._windows, {}
        try:
            return self._query(node)
        finally:
            self._windows = outer

    def _query(self, node: exp.Expr) -> Query:
        common_tables: tuple[CommonTable, ...] = ()
        while type(node) in (exp.Subquery, exp.Paren) and not _has_own_clauses(node):
            common_tables += self.common_tables(node)
            node = node.this
        kind = type(node)
        if kind is exp.Select:
            return self._select(node, common_tables)
        if isinstance(node, exp.SetOperation):
            return self._set_operation(node, common_tables)
        if kind is exp.Values:
            return self.values(node)
        if kind in (exp.Subquery, exp.Table, exp.Pivot):
            return self._wrap(node, common_tables)
        if isinstance(node, exp.DML):
            return self._returning(node) if node.args.get("returning") else Select(())
        msg = f"no query where one is expected: {kind.__name__}"
        raise Unparsable(msg)

    def _wrap(self, node: exp.Expr, common_tables: tuple[CommonTable, ...]) -> Select:
        """A query in brackets with clauses of its own, and a lone table or pivot: all columns of it."""
        common_tables += self.common_tables(node)
        return Select(
            (Star(),),
            translate_relations(self, [_without_clauses(node)]),
            tuple(order_clauses(self, node)),
            common_tables,
        )

    def common_tables(self, node: exp.Expr) -> tuple[CommonTable, ...]:
        """The WITH items of a node."""
        with_ = node.args.get("with_")
        if with_ is None:
            return ()
        found: list[CommonTable] = []
        for item in with_.expressions:
            if isinstance(item.this, exp.DML):
                self.embedded_writes.append((item.this, tuple(found)))
            found.append(self._common_table(item, recursive=bool(with_.args.get("recursive"))))
        return tuple(found)

    def _common_table(self, node: exp.Expr, *, recursive: bool) -> CommonTable:
        alias = node.args["alias"]
        name = self.names.relation(alias.this)
        columns = tuple(self.names.column(column) for column in alias.args.get("columns") or ())
        body = node.this
        if node.args.get("scalar"):  # ClickHouse: WITH <expression> AS name
            value = body.this if type(body) is exp.Subquery else body
            scalar = isinstance(value, exp.Query)
            query: Query = (
                self.query(value)
                if scalar
                else Select((Projection(self.names.column(alias.this), self.expression(body)),))
            )
            return CommonTable(self.names.column(alias.this), (), query, recursive=False, scalar=True)
        implicit = self.names.dialect.recursion_without_keyword and isinstance(body, exp.SetOperation)
        return CommonTable(name, columns, self.query(body), recursive or implicit)

    def _returning(self, node: exp.Expr) -> Select:
        """What a data-modifying WITH item gives its reader: columns of what it wrote and of what it joined to that."""
        returning = node.args["returning"]
        target = node.this.this if type(node.this) is exp.Schema else node.this
        from_, using = node.args.get("from_"), node.args.get("using") or []
        joined = [from_.this, *(from_.args.get("joins") or [])] if from_ is not None else []
        joined += using if isinstance(using, list) else [using]
        relations = translate_relations(self, [target, *joined])
        return Select(tuple(translate_projections(self, returning.expressions)), relations)

    def _select(self, node: exp.Expr, outer: tuple[CommonTable, ...] = ()) -> Select:
        """A SELECT; T-SQL's FOR JSON and FOR XML put all of its rows together to one value."""
        clause = node.args.get("for_")
        rows = self._select_of_rows(node, outer)
        if clause is None or str(clause.args.get("kind")).upper() not in _DOCUMENTS:
            return rows
        document = Expression((0,), (QuerySlot(rows, TRANSFORMATION),), ATOM)
        return Select((Projection("", document),))

    def _select_of_rows(self, node: exp.Expr, outer: tuple[CommonTable, ...]) -> Select:
        hierarchical, grouped = node.args.get("connect") is not None, _has_sets(node.args.get("group"))
        if not (hierarchical or grouped):
            return self._plain_select(node, outer)
        around = self.names.reserved
        self.names.reserved = around | reserved_words(
            self.names.dialect.name, hierarchical=hierarchical, grouped=grouped
        )
        try:
            return self._plain_select(node, outer)
        finally:
            self.names.reserved = around

    def _plain_select(self, node: exp.Expr, outer: tuple[CommonTable, ...]) -> Select:
        args = node.args
        for window in args.get("windows") or ():
            self._windows[window.name.lower()] = window
        common_tables = outer + self.common_tables(node)
        distinct = args.get("distinct")
        items = args["expressions"]
        relations: list[exp.Expr] = []
        from_ = args.get("from_")
        if from_ is not None:
            relations.append(from_.this)
        relations += args.get("joins") or ()
        relations += args.get("laterals") or ()
        translated = translate_relations(self, relations) if relations else ()
        if args.get("match") is not None:
            translated = match_rows(self, args["match"], translated)
        around, self.generators = self.generators, []
        listed = fields_of(items) if args.get("kind") == "VALUE" else items
        projections = tuple(grouped_projections(self, listed, args.get("group")))
        if self.names.dialect.extremes_pick_rows:
            projections = with_picked_rows(self, node, projections)
        clauses = (*select_clauses(self, node), *(Clause(FILTER, each) for each in self.generators))
        self.generators = around
        has_keys = distinct is not None and distinct.args.get("on") is not None
        inner = tuple(self._inner_aliases(node)) if self.names.dialect.aliases_everywhere else ()
        return Select(projections, translated, clauses, common_tables, distinct is not None and not has_keys, inner)

    def _inner_aliases(self, node: exp.Expr) -> Iterator[Projection]:
        """ClickHouse: what stands inside expressions with a name of its own, `SELECT f(a AS x)`."""
        for key, value in node.args.items():
            if key in _NO_EXPRESSIONS or value is None:
                continue
            for item in value if isinstance(value, list) else [value]:
                top = item.this if key == "expressions" and type(item) is exp.Alias else item
                for inner in (
                    top.walk(prune=lambda one: isinstance(one, exp.Query)) if isinstance(top, exp.Expr) else ()
                ):
                    if type(inner) is exp.Alias:
                        yield Projection(self.names.column(inner.args["alias"]), self.expression(inner.this))

    def _set_operation(self, node: exp.Expr, outer: tuple[CommonTable, ...] = ()) -> SetOperation:
        """A set operation; a chain of one kind to the left is one operation, however long."""
        kind = type(node)
        common_tables = outer + self.common_tables(node)
        role = _set_role(node)
        match = self._matched_names(node)
        branches: list[exp.Expr] = [node.args["expression"]]
        left = node.args["this"]
        same = (role, match)
        while type(left) is kind and _plain_chain(left) and (_set_role(left), self._matched_names(left)) == same:
            branches.append(left.args["expression"])
            left = left.args["this"]
        branches.append(left)
        return SetOperation(
            tuple(self.query(branch) for branch in reversed(branches)),
            role,
            match,
            kind is exp.Except,
            tuple(order_clauses(self, node)),
            common_tables,
        )

    def _matched_names(self, node: exp.Expr) -> MatchedNames | None:
        """Which columns meet BY NAME, or CORRESPONDING, which sqlglot takes for INNER … BY NAME."""
        args = node.args
        if not args.get("by_name"):
            return None
        listed = tuple(
            self.names.column_parts(item)[-1] if type(item) is exp.Column else self.names.column(item)
            for item in args.get("on") or ()
        )
        return MatchedNames(str(args.get("side") or args.get("kind") or "").upper(), listed)

    def values(self, node: exp.Expr) -> Values:
        """VALUES; a row without brackets is one column. Spark's `VALUES (1, 2) AS t(a, b)` is a whole query."""
        rows = tuple(
            tuple(
                _NO_EXPRESSION if type(item) is exp.Placeholder else self.expression(item) for item in self._cells(row)
            )
            for row in _distinct_rows(node.expressions)
        )
        width = max((len(row) for row in rows), default=0)
        dialect = self.names.dialect
        numbers = range(dialect.values_column_first, dialect.values_column_first + width)
        alias = node.args.get("alias")
        given = (alias.args.get("columns") or ()) if type(alias) is exp.TableAlias else ()
        named = tuple(self.names.column(column) for column in given if type(column) is exp.Identifier)
        own = tuple(dialect.values_column.format(number) for number in numbers)
        return Values(rows, (*named, *own[len(named) :]))

    def _cells(self, row: exp.Expr) -> list[exp.Expr]:
        """The values of a row: two of `(1, 2)`, `ROW(1, 2)`, of Trino's `CAST(ROW(1, 2) AS ROW(a INT, b INT))`."""
        cells: list[exp.Expr] = row.expressions if type(row) is exp.Tuple else [row]
        if not self.names.dialect.values_of_rows or len(cells) != 1:
            return cells
        made = cells[0].unnest()
        types: list[exp.DataType] = []
        if type(made) is exp.Cast and made.to.this is exp.DType.STRUCT:
            types = [item.args["kind"] if type(item) is exp.ColumnDef else item for item in made.to.expressions]
            made = made.this
        if type(made) is not exp.Struct and not (type(made) is exp.Anonymous and made.name.upper() == _ROW):
            return cells
        if len(types) != len(made.expressions):
            return list(made.expressions)
        return [exp.cast(item, type_) for item, type_ in zip(made.expressions, types, strict=True)]


def _has_sets(group: exp.Expr | None) -> bool:
    """Whether a GROUP BY groups by several sets: GROUPING SETS, CUBE, ROLLUP."""
    if group is None:
        return False
    behind = any(group.args.get(key) for key in ("grouping_sets", "cube", "rollup"))
    return behind or any(isinstance(key, exp.Cube | exp.GroupingSets | exp.Rollup) for key in group.expressions)


def _has_own_clauses(node: exp.Expr) -> bool:
    """Brackets with a join, a pivot or an order behind them are a relation of their own: `(SELECT …) ORDER BY a`."""
    args = node.args
    own = args.get("joins") or args.get("pivots") or args.get("order") or args.get("laterals")
    return bool(own) or any(args[key].find(exp.Query) for key in ("limit", "offset") if args.get(key) is not None)


def _without_clauses(node: exp.Expr) -> exp.Expr:
    """Brackets without the WITH, the ORDER BY and the LIMIT that stand behind or before them."""
    if type(node) is not exp.Subquery:
        return node
    bare = exp.Subquery()
    gone = ("order", "with_", "limit", "offset")
    bare.args.update({key: value for key, value in node.args.items() if key not in gone})
    return bare


def _plain_chain(node: exp.Expr) -> bool:
    """Whether a branch of UNION may be joined with those beside it: nothing of its own orders or cuts it."""
    args = node.args
    return not (args.get("with_") or args.get("order") or args.get("limit") or args.get("offset"))


def _set_role(node: exp.Expr) -> int | None:
    """INTERSECT and EXCEPT compare all columns as a join does; UNION without ALL groups by them."""
    if type(node) is not exp.Union:
        return JOIN
    return GROUP_BY if node.args.get("distinct") else None


def _distinct_rows(rows: list[exp.Expr]) -> Iterator[exp.Expr]:
    """The first row, and the later ones that say more than literals: a long VALUES list costs its tokens only."""
    for number, row in enumerate(rows):
        cells = row.expressions if type(row) is exp.Tuple else [row]
        if number == 0 or any(type(cell) is not exp.Literal for cell in cells):
            yield row
