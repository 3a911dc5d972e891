"""Queries of sqlglot's tree: SELECT with its clauses, set operations, VALUES, WITH."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlglot import exp

from ingestion.errors import Unparsable
from ingestion.model import Problem, ProblemKind
from ingestion.parsing.output_names import output_name
from ingestion.parsing.relational import (
    Clause,
    CommonTable,
    Expression,
    Projection,
    Query,
    Relation,
    Select,
    SetOperation,
    Slot,
    Star,
    Values,
)
from ingestion.parsing.roles import FILTER, GROUP_BY, IDENTITY, JOIN, SORT, TRANSFORMATION
from ingestion.parsing.sqlglot_expressions import ATOM, translate_expression
from ingestion.parsing.sqlglot_names import Names
from ingestion.parsing.sqlglot_relations import translate_relations

_IMPLICITLY_RECURSIVE = frozenset({"tsql", "fabric", "oracle", "db2", "saphana"})
_COLUMNS_DIALECTS = frozenset({"duckdb", "clickhouse"})
_NO_EXPRESSION = Expression(("?",), (), ATOM)


class QueryTranslator:
    """Translates the queries of one statement; gathers what it could not follow, and the aliases it met."""

    __slots__ = ("_windows", "aliases", "embedded_writes", "names", "problems")

    def __init__(self, names: Names) -> None:
        self.names = names
        self.problems: list[Problem] = []
        self.aliases: list[tuple[str, str]] = []
        self.embedded_writes: list[exp.Expr] = []
        self._windows: dict[str, exp.Expr] = {}

    def expression(self, node: exp.Expr, role: int = IDENTITY) -> Expression:
        """The expression of a node, its columns playing `role`."""
        return translate_expression(self, node, role, self._windows)

    def unsupported(self, what: str) -> None:
        """Note a construct whose columns are not followed."""
        problem = Problem(ProblemKind.UNSUPPORTED, what)
        if problem not in self.problems:
            self.problems.append(problem)

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
            return self._wrapped(node, common_tables)
        if isinstance(node, exp.DML) and node.args.get("returning"):
            return self._returning(node)
        msg = f"no query where one is expected: {kind.__name__}"
        raise Unparsable(msg)

    def _wrapped(self, node: exp.Expr, common_tables: tuple[CommonTable, ...]) -> Select:
        """A query in brackets with clauses of its own, and a lone table or pivot: all columns of it."""
        common_tables += self.common_tables(node)
        return Select(
            (Star(),),
            translate_relations(self, [node]),
            tuple(self._order_clauses(node)),
            common_tables,
        )

    def common_tables(self, node: exp.Expr) -> tuple[CommonTable, ...]:
        """The WITH items of a node."""
        with_ = node.args.get("with_")
        if with_ is None:
            return ()
        return tuple(self._common_table(item, bool(with_.args.get("recursive"))) for item in with_.expressions)

    def _common_table(self, node: exp.Expr, recursive: bool) -> CommonTable:
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
            return CommonTable(name, (self.names.column(alias.this),), query)
        implicit = self.names.dialect.name in _IMPLICITLY_RECURSIVE and isinstance(body, exp.SetOperation)
        if isinstance(body, exp.DML):
            self.embedded_writes.append(body)
        return CommonTable(name, columns, self.query(body), recursive or implicit)

    def _returning(self, node: exp.Expr) -> Select:
        """What a data-modifying WITH item gives its reader: columns of the table that it wrote."""
        returning = node.args["returning"]
        target = node.this.this if type(node.this) is exp.Schema else node.this
        return Select(tuple(self.projections(returning.expressions)), translate_relations(self, [target]))

    def _select(self, node: exp.Expr, outer: tuple[CommonTable, ...] = ()) -> Select:
        args = node.args
        for window in args.get("windows") or ():
            self._windows[window.name.lower()] = window
        common_tables = outer + self.common_tables(node)
        distinct = args.get("distinct")
        relations: list[exp.Expr] = []
        from_ = args.get("from_")
        if from_ is not None:
            relations.append(from_.this)
        relations += args.get("joins") or ()
        relations += args.get("laterals") or ()
        translated = translate_relations(self, relations) if relations else ()
        return Select(
            tuple(self.projections(args["expressions"])),
            translated,
            tuple(self._clauses(node)),
            common_tables,
            distinct is not None and distinct.args.get("on") is None,
        )

    def projections(self, nodes: list[exp.Expr]) -> Iterator[Projection | Star]:
        """The output columns of a select list."""
        names = self.names
        for number, node in enumerate(nodes):
            kind = type(node)
            if kind is exp.Column:
                parts = names.column_parts(node)
                if parts[-1] == "*":
                    yield self._star(node.this, parts[:-1])
                else:
                    yield Projection(parts[-1], Expression((0,), (Slot(parts, IDENTITY),), ATOM, 0))
            elif kind is exp.Alias:
                name = names.column(node.args["alias"])
                inner = node.args["this"]
                if type(inner) is exp.Columns:
                    yield self._columns(inner)
                else:
                    yield Projection(name, self.expression(inner))
            elif kind is exp.Star:
                yield self._star(node, ())
            else:
                yield from self._unnamed(node, number)

    def _unnamed(self, node: exp.Expr, number: int) -> Iterator[Projection | Star]:
        kind = type(node)
        if kind is exp.Aliases:  # one function that gives several columns
            expression = self.expression(node.this)
            for alias in node.expressions:
                yield Projection(self.names.column(alias), expression._replace(type=None))
        elif kind is exp.QueryTransform:
            expressions = [self.expression(item, TRANSFORMATION) for item in node.expressions]
            merged = merge("TRANSFORM", expressions)
            schema = node.args.get("schema")
            for column in schema.expressions if schema is not None else ():
                yield Projection(self.names.column(column.this if type(column) is exp.ColumnDef else column), merged)
        elif kind is exp.Columns:
            yield self._columns(node)
        elif kind is exp.Dot and type(node.expression) is exp.Star:
            parts = _dotted(self.names, node.this)
            yield self._star(node.expression, parts)
        elif kind is exp.Apply and type(node.this) is exp.Star:
            yield self._star(node.this, ())._replace(wrapped=True)
        elif kind is exp.PropertyEQ:  # T-SQL and MySQL variables: @x := value
            yield Projection(node.this.name, self.expression(node.expression))
        else:
            has_columns = self.names.dialect.name in _COLUMNS_DIALECTS and isinstance(node, exp.Func)
            columns = node.find(exp.Columns) if has_columns else None
            if columns is not None and type(columns.this) is not exp.Column:
                yield self._columns(columns)._replace(wrapped=True)
                return
            expression = self.expression(node)
            yield Projection(output_name(self.names, node, expression, number), expression)

    def _columns(self, node: exp.Expr) -> Star:
        inner = node.this
        if type(inner) is exp.Star:
            return self._star(inner, ())
        return Star(pattern=inner.name if type(inner) is exp.Literal else "")

    def _star(self, node: exp.Expr, qualifier: tuple[str, ...]) -> Star:
        args = node.args
        if not (args.get("except_") or args.get("replace") or args.get("rename")):
            return Star(qualifier)
        excluded = tuple(
            self.names.column_parts(c)[-1] if type(c) is exp.Column else self.names.column(c)
            for c in args.get("except_") or ()
        )
        replaced = tuple(
            Projection(self.names.column(c.args["alias"]), self.expression(c.this)) for c in args.get("replace") or ()
        )
        renamed = tuple(
            (self.names.column_parts(c.this)[-1], self.names.column(c.args["alias"])) for c in args.get("rename") or ()
        )
        return Star(qualifier, excluded, replaced, renamed)

    def conditions(self, node: exp.Expr | None, role: int, aliases: int = 0) -> Iterator[Clause]:
        """A condition, one clause for each of the parts that AND joins."""
        stack = [node] if node is not None else []
        while stack:
            part = stack.pop()
            while type(part) is exp.Paren:
                part = part.args["this"]
            if type(part) is exp.And:
                stack.append(part.args["expression"])
                stack.append(part.args["this"])
            elif type(part) not in (exp.Boolean, exp.Literal):
                expression = self.expression(part, role)
                if expression.slots:
                    yield Clause(role, expression, 0, aliases)

    def _clauses(self, node: exp.Expr) -> Iterator[Clause]:
        args = node.args
        for key, aliases in (("where", 3), ("prewhere", 3), ("having", 2), ("qualify", 2)):
            clause = args.get(key)
            if clause is not None:
                yield from self.conditions(clause.this, FILTER, aliases)
        connect = args.get("connect")
        if connect is not None:
            yield from self.conditions(connect.args.get("start"), FILTER)
            yield from self.conditions(connect.args.get("connect"), JOIN)
        group = args.get("group")
        if group is not None:
            yield from self._keys(_grouping_keys(group), GROUP_BY, 2)
        distinct = args.get("distinct")
        if distinct is not None and distinct.args.get("on") is not None:
            yield from self._keys(_flat([distinct.args["on"]]), GROUP_BY, 1)
        match = args.get("match")
        if match is not None:
            self.unsupported("MATCH_RECOGNIZE")
            yield from self._keys(match.args.get("partition_by") or [], GROUP_BY, 0)
        limit_by = args.get("limit")
        if limit_by is not None and limit_by.args.get("expressions"):  # ClickHouse: LIMIT n BY keys
            yield from self._keys(limit_by.args["expressions"], GROUP_BY, 2)
        yield from self._order_clauses(node)

    def _order_clauses(self, node: exp.Expr) -> Iterator[Clause]:
        args = node.args
        for key in ("order", "sort", "cluster", "distribute"):
            order = args.get(key)
            if order is not None:
                yield from self._keys(order.expressions, SORT, 1)

    def _keys(self, nodes: Iterable[exp.Expr], role: int, aliases: int) -> Iterator[Clause]:
        for node in nodes:
            key = node.this if type(node) is exp.Ordered else node
            if type(key) is exp.Literal:
                if not key.args.get("is_string") and key.name.isdigit():
                    yield Clause(role, None, int(key.name))
                continue
            expression = self.expression(key, role)
            if expression.slots:
                yield Clause(role, expression, 0, aliases)

    def _set_operation(self, node: exp.Expr, outer: tuple[CommonTable, ...] = ()) -> SetOperation:
        """A set operation; a chain of one kind to the left is one operation, however long."""
        kind = type(node)
        common_tables = outer + self.common_tables(node)
        role = _set_role(node)
        by_name = bool(node.args.get("by_name"))
        branches: list[exp.Expr] = [node.args["expression"]]
        left = node.args["this"]
        while type(left) is kind and _plain_chain(left) and _set_role(left) == role:
            branches.append(left.args["expression"])
            left = left.args["this"]
        branches.append(left)
        return SetOperation(
            tuple(self.query(branch) for branch in reversed(branches)),
            role,
            by_name,
            kind is exp.Except,
            tuple(self._order_clauses(node)),
            common_tables,
        )

    def values(self, node: exp.Expr) -> Values:
        """VALUES; a row without brackets is one column."""
        rows = tuple(
            tuple(self._value(item) for item in (row.expressions if type(row) is exp.Tuple else [row]))
            for row in _distinct_rows(node.expressions)
        )
        width = max((len(row) for row in rows), default=0)
        return Values(rows, tuple(_value_name(self.names.dialect.name, number) for number in range(width)))

    def _value(self, node: exp.Expr) -> Expression:
        return _NO_EXPRESSION if type(node) is exp.Placeholder else self.expression(node)


def merge(function: str, expressions: list[Expression]) -> Expression:
    """One function over several expressions."""
    parts: list[str | int] = [function + "("]
    slots: list[Slot] = []
    for number, expression in enumerate(expressions):
        if number:
            parts.append(", ")
        parts.extend(p + len(slots) if isinstance(p, int) else p for p in expression.parts)
        slots.extend(expression.slots)  # type: ignore[arg-type]
    parts.append(")")
    return Expression(tuple(parts), tuple(slots), ATOM)


def _has_own_clauses(node: exp.Expr) -> bool:
    args = node.args
    return bool(args.get("joins") or args.get("pivots") or args.get("order") or args.get("laterals"))


def _plain_chain(node: exp.Expr) -> bool:
    args = node.args
    return not (args.get("with_") or args.get("order") or args.get("limit") or args.get("offset"))


def _set_role(node: exp.Expr) -> int | None:
    if type(node) is not exp.Union:
        return JOIN
    return GROUP_BY if node.args.get("distinct") else None


def _grouping_keys(group: exp.Expr) -> Iterator[exp.Expr]:
    yield from _flat(group.expressions)
    for key in ("grouping_sets", "cube", "rollup"):
        found = group.args.get(key)
        if isinstance(found, list):
            for item in found:
                yield from _flat(item.expressions if isinstance(item, exp.Expr) else [])


def _flat(nodes: list[exp.Expr]) -> Iterator[exp.Expr]:
    for node in nodes:
        if isinstance(node, exp.Tuple | exp.GroupingSets | exp.Cube | exp.Rollup):
            yield from _flat(node.expressions)
        elif type(node) is exp.Paren:
            yield from _flat([node.this])
        else:
            yield node


def _dotted(names: Names, node: exp.Expr) -> tuple[str, ...]:
    if type(node) is exp.Column:
        return names.column_parts(node)
    if type(node) is exp.Dot:
        return (*_dotted(names, node.this), *_dotted(names, node.expression))
    if type(node) is exp.Paren:
        return _dotted(names, node.this)
    return (names.column(node),) if type(node) is exp.Identifier else (node.name,)


def _distinct_rows(rows: list[exp.Expr]) -> Iterator[exp.Expr]:
    """The first row, and the later ones that say more than literals: a long VALUES list costs its tokens only."""
    for number, row in enumerate(rows):
        cells = row.expressions if type(row) is exp.Tuple else [row]
        if number == 0 or any(type(cell) is not exp.Literal for cell in cells):
            yield row


def _value_name(dialect: str, number: int) -> str:
    if dialect in (
        "postgres",
        "redshift",
        "greenplum",
        "cockroach",
        "materialize",
        "risingwave",
        "snowflake",
        "sqlite",
    ):
        return ("COLUMN" if dialect == "snowflake" else "column") + str(number + 1)
    if dialect in ("trino", "presto", "athena"):
        return f"_col{number}"
    if dialect == "mysql":
        return f"column_{number}"
    return f"c{number + 1}" if dialect == "clickhouse" else f"col{number + (0 if dialect == 'duckdb' else 1)}"


__all__ = ["QueryTranslator", "Relation", "merge"]
