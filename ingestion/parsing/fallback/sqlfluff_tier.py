"""The second tier: what sqlglot refuses, through sqlfluff's tree, which takes ten to forty times as long.

Columns are followed through the shapes of queries that are known; where a statement has others, its tables are kept
and a Problem marks that its columns were not followed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from sqlfluff.core.parser import BaseSegment

from ingestion.analysis.form import (
    COLUMNS_NOT_FOLLOWED,
    Clause,
    CommonTable,
    OutputNames,
    Projection,
    Query,
    RelationalStatement,
    RelationSource,
    Select,
    SetOperation,
    Star,
    WriteForm,
    opaque_column,
    plain_column,
    tables_only_select,
)
from ingestion.analysis.roles import FILTER, GROUP_BY, IDENTITY, JOIN, SORT
from ingestion.dialects import Dialect, dialect_of
from ingestion.dialects.cursor import Code
from ingestion.dialects.functions import GENERATORS
from ingestion.dialects.keywords import METADATA_QUERIES, TEMPORARY
from ingestion.errors import Unparsable
from ingestion.model.lineage import CreateMode, Problem, StatementKind, TableName, Target, WriteMode
from ingestion.model.outcomes import ProblemKind
from ingestion.parsing.fallback._changed_queries import refuse_changed_query
from ingestion.parsing.fallback._sqlfluff_tree import (
    QUERIES,
    ExpressionReader,
    NotFollowed,
    code,
    column_name,
    column_parts,
    is_value_word,
    keywords,
    only_code,
    qualifier,
    read_statement,
    relation_alias,
    table_name,
)
from ingestion.parsing.sqlglot.expressions.output_names import plain_text
from ingestion.parsing.sqlglot.repairs.by_dialect import as_understood
from ingestion.statements.cleaning import plainly_spelled

_REFERENCES = ("table_reference", "object_reference", "file_reference")

_CONDITIONS = {
    "where_clause": (FILTER, OutputNames.LATERAL),
    "having_clause": (FILTER, OutputNames.AFTER_COLUMNS),
    "qualify_clause": (FILTER, OutputNames.AFTER_COLUMNS),
    "groupby_clause": (GROUP_BY, OutputNames.AFTER_COLUMNS),
    "orderby_clause": (SORT, OutputNames.BEFORE_COLUMNS),
}
_NO_COLUMNS = (
    "select_clause",
    "from_clause",
    "into_clause",
    "into_table_clause",
    "limit_clause",
    "offset_clause",
    "fetch_clause",
    "for_clause",
    "for_update_clause",
    "option_clause",
)

_BY_NAME = frozenset({"name", "corresponding"})
_CREATED = frozenset({"table", "view"})
_FIRST_WORDS = frozenset(
    {"(", "create", "from", "ins", "insert", "merge", "replace", "sel", "select", "table", "upd", "update", "upsert"}
    | {"values", "with"}
)
"""Of statements with a shape that carries lineage. To find that another one has none takes sqlfluff 3 to 8
milliseconds, and sqlglot half of one: of scripts of routines that it does not know either, that was all of the time.
"""

_Referenced: TypeAlias = tuple[BaseSegment, BaseSegment | None]


# What a statement of sqlfluff's tree does: its kind, its target, and where its query stands.


@dataclass(frozen=True, slots=True)
class _StatementShape:
    """One statement: `query` gives the target's columns (None where they are not followed), `outer` has its WITH.

    `source` is the table that MERGE names behind USING.
    """

    kind: StatementKind
    target: Target | None
    query: BaseSegment | None
    outer: BaseSegment | None = None
    source: BaseSegment | None = None


def _shape_of(statement: BaseSegment, dialect: Dialect) -> _StatementShape:
    """The statement's shape. Raises Unparsable when it has none that carries lineage."""
    outer, main = None, statement
    if statement.is_type("with_compound_statement") and not code(statement)[-1].is_type(*QUERIES, "bracketed"):
        outer, main = statement, code(statement)[-1]
    kind = main.get_type()
    if main.is_type(*QUERIES, "bracketed"):
        return _select(main, dialect)
    if main.is_type("insert_statement"):
        return _insert(main, outer, dialect)
    if kind.startswith("create_") and ("table" in kind or "view" in kind):
        return _create(main, dialect, view="view" in kind)
    if main.is_type("update_statement"):
        target = Target(table_name(_target(main), dialect), WriteMode.UPDATE)
        return _StatementShape(StatementKind.UPDATE, target, None)
    if main.is_type("merge_statement"):
        return _merge(main, dialect)
    raise Unparsable("the statement has no shape that carries lineage")


def _may_have_shape(statement: Code) -> bool:
    """Whether `_shape_of` could know the statement, by its first word and, of a definition, by what it makes."""
    first = next((index for index in range(len(statement)) if statement.word(index) != ";"), 0)
    if statement.word(first) not in _FIRST_WORDS or _fills_several(statement, first):
        return False
    return statement.word(first) != "create" or any(word in _CREATED for word in statement.words(0, len(statement)))


def _fills_several(statement: Code, first: int) -> bool:
    """INSERT ALL and FIRST: the rows would be taken for those of the first of their tables, by position."""
    kind = first + 1 + (statement.word(first + 1) == "overwrite")
    several = statement.word(kind) in ("all", "first") and statement.word(kind + 1) in ("into", "when")
    return statement.word(first) == "insert" and several


def _target(segment: BaseSegment) -> BaseSegment:
    reference = segment.get_child(*_REFERENCES)
    if reference is None:
        raise Unparsable("the statement names no target")
    return reference


def _query_in(segment: BaseSegment) -> BaseSegment | None:
    """The query among a segment's children, in brackets or not."""
    for child in code(segment):
        if child.is_type(*QUERIES):
            return child
        inner = only_code(child) if child.is_type("bracketed") else None
        if inner is not None and inner.is_type(*QUERIES, "bracketed"):
            return inner
    return None


def _columns(segment: BaseSegment, behind: BaseSegment, dialect: Dialect) -> tuple[str, ...] | None:
    """The column list right behind a name, with or without types."""
    children = code(segment)
    position = next(number for number, child in enumerate(children) if child is behind) + 1
    if position >= len(children) or not children[position].is_type("bracketed"):
        return None
    names = []
    for child in code(children[position])[1:-1]:
        if child.is_type("column_definition"):
            names.append(column_name(code(child)[0], dialect))
        elif child.is_type("column_reference", "identifier"):
            names.append(column_name(code(child)[-1] if child.segments else child, dialect))
        elif not child.is_type("comma"):
            return None
    return tuple(names) or None


def _insert(segment: BaseSegment, outer: BaseSegment | None, dialect: Dialect) -> _StatementShape:
    """INSERT INTO t (a, b) SELECT …; with a PARTITION its columns are not followed."""
    reference = _target(segment)
    words = keywords(segment)
    mode = WriteMode.OVERWRITE if "overwrite" in words else WriteMode.APPEND
    columns = _columns(segment, reference, dialect)
    by_name = "name" in words
    target = Target(table_name(reference, dialect), mode, columns, by_name)
    partitioned = any("partition" in child.get_type() for child in code(segment)) or "partition" in words
    query = None if partitioned else _query_in(segment)
    return _StatementShape(StatementKind.INSERT, target, query, outer)


def _create(segment: BaseSegment, dialect: Dialect, *, view: bool) -> _StatementShape:
    """CREATE TABLE t AS SELECT …, CREATE VIEW v (a) AS SELECT …."""
    reference = _target(segment)
    query = _query_in(segment)
    if query is None:
        raise Unparsable("CREATE has no query")
    name = table_name(reference, dialect)
    words = keywords(segment)
    temporary = bool(TEMPORARY & {*words}) or name.table.startswith("#")
    columns = _columns(segment, reference, dialect)
    modes = {"replace": CreateMode.REPLACE, "exists": CreateMode.IF_ABSENT}
    mode = next((modes[word] for word in words if word in modes), CreateMode.NEW)
    target = Target(name, WriteMode.CREATE, columns, temporary=temporary, view=view, create_mode=mode)
    kind = StatementKind.CREATE_VIEW if view else StatementKind.CREATE_TABLE_AS
    return _StatementShape(kind, target, query)


def _merge(segment: BaseSegment, dialect: Dialect) -> _StatementShape:
    """MERGE INTO t USING s: tables alone, as its branches are not followed."""
    references = segment.get_children(*_REFERENCES)
    if not references:
        raise Unparsable("MERGE names no target")
    target = Target(table_name(references[0], dialect), WriteMode.UPDATE)
    source = references[1] if len(references) > 1 else None
    return _StatementShape(StatementKind.MERGE, target, None, source=source)


def _select(segment: BaseSegment, dialect: Dialect) -> _StatementShape:
    into = next(segment.recursive_crawl("into_clause", "into_table_clause"), None)
    if into is None:
        return _StatementShape(StatementKind.SELECT, None, segment)
    reference = into.get_child(*_REFERENCES)
    if reference is None:
        raise Unparsable("SELECT INTO names no table")
    name = table_name(reference, dialect)
    temporary = bool(TEMPORARY & set(keywords(into))) or name.table.startswith("#")
    return _StatementShape(StatementKind.CREATE_TABLE_AS, Target(name, WriteMode.CREATE, temporary=temporary), segment)


# Queries of sqlfluff's tree: WITH, SELECT over tables, derived tables and joins, set operations.


class _SqlfluffQueries:
    """Reads the queries of one statement; gathers the problems and aliases that it met."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.problems: list[Problem] = []
        self.aliases: list[tuple[str, str]] = []

    def query(self, segment: BaseSegment) -> Query:
        """The query of a segment. Raises NotFollowed where a relation is of a shape that is not known."""
        while segment.is_type("bracketed"):
            inner = only_code(segment)
            if inner is None:
                raise NotFollowed("brackets")
            segment = inner
        if segment.is_type("with_compound_statement"):
            return _replace_common(self.query(code(segment)[-1]), self.common_tables(segment))
        if segment.is_type("set_expression"):
            return self._set_operation(segment)
        if segment.is_type("select_statement"):
            return self._select(segment)
        raise NotFollowed(segment.get_type())

    def common_tables(self, segment: BaseSegment) -> tuple[CommonTable, ...]:
        """The WITH items of a statement."""
        recursive = "recursive" in keywords(segment) or self.dialect.recursion_without_keyword
        return tuple(
            self._common_table(child, recursive=recursive)
            for child in segment.segments
            if child.is_type("common_table_expression")
        )

    def _common_table(self, segment: BaseSegment, *, recursive: bool) -> CommonTable:
        name, *rest = code(segment)
        columns: tuple[str, ...] = ()
        for child in rest:
            if child.is_type("cte_column_list"):
                columns = self._names(child)
        query = self.query(rest[-1])
        return CommonTable(
            relation_alias(name, self.dialect), columns, query, recursive and isinstance(query, SetOperation)
        )

    def _names(self, segment: BaseSegment) -> tuple[str, ...]:
        found = segment.recursive_crawl("naked_identifier", "quoted_identifier")
        return tuple(column_name(child, self.dialect) for child in found)

    def _set_operation(self, segment: BaseSegment) -> Query:
        branches: list[Query] = []
        operators: set[str] = set()
        clauses: list[Clause] = []
        for child in code(segment):
            if child.is_type("set_operator"):
                if _BY_NAME & {*child.raw.lower().split()}:
                    raise NotFollowed("columns that meet by name")
                operators.add(" ".join(keywords(child)))
            elif child.is_type("orderby_clause"):
                clauses.extend(self._clauses(child))
            elif child.is_type("bracketed", *QUERIES):
                branches.append(self.query(child))
            elif not child.is_type(*_NO_COLUMNS):
                raise NotFollowed(child.get_type())
        if len(operators) != 1 or len(branches) < 2:
            raise NotFollowed("mixed set operations")
        operator = operators.pop().upper()
        role = JOIN if not operator.startswith("UNION") else None if operator == "UNION ALL" else GROUP_BY
        first_only = operator.startswith(("EXCEPT", "MINUS"))
        return SetOperation(tuple(branches), role, first_only=first_only, clauses=tuple(clauses))

    def _select(self, segment: BaseSegment) -> Select:
        relations: list[RelationSource] = []
        projections: list[Projection | Star] = []
        clauses: list[Clause] = []
        distinct = False
        for child in code(segment):
            if child.is_type("select_clause"):
                projections.extend(self._projections(child))
                modifier = child.get_child("select_clause_modifier")
                if modifier is not None and "on" in keywords(modifier):
                    clauses.extend(clause for part in code(modifier) for clause in self._keys(part))
                distinct |= modifier is not None and "distinct" in keywords(modifier) and "on" not in keywords(modifier)
            elif child.is_type("from_clause"):
                relations.extend(self._relations(child))
            elif child.is_type(*_CONDITIONS):
                clauses.extend(self._clauses(child))
            elif not child.is_type(*_NO_COLUMNS) and _has_names(child):
                raise NotFollowed(child.get_type())
        return Select(tuple(projections), tuple(relations), tuple(clauses), (), distinct)

    def _projections(self, clause: BaseSegment) -> Iterator[Projection | Star]:
        if clause.get_child("select_exclude_clause") is not None:
            raise NotFollowed("a list without some columns")  # Redshift's stands behind the list
        elements = [child for child in clause.segments if child.is_type("select_clause_element")]
        for element in elements:
            value, *rest = code(element)
            if value.is_type("wildcard_expression"):
                yield self._star(value, rest)
            else:
                yield self._projection(code(element))

    def _star(self, segment: BaseSegment, rest: list[BaseSegment]) -> Star:
        star, *more = code(segment)
        names: list[tuple[str, ...]] = []
        for child in (*more, *rest):
            if not child.is_type("select_except_clause", "select_exclude_clause"):
                raise NotFollowed(child.get_type())
            names = self._dotted_names(child)
        of = qualifier(star, self.dialect)
        plain = tuple(parts[-1] for parts in names if of or len(parts) == 1)
        changed = tuple((parts, "") for parts in names if not of and len(parts) > 1)
        return Star(of, plain, changed_of=changed)

    def _dotted_names(self, segment: BaseSegment) -> list[tuple[str, ...]]:
        """The names in a list: of `EXCEPT (a, b.v)` a, and v of b."""
        found: list[tuple[str, ...]] = []
        follows_dot = False
        for part in segment.recursive_crawl("naked_identifier", "quoted_identifier", "dot"):
            if part.is_type("dot"):
                follows_dot = True
                continue
            name = column_name(part, self.dialect)
            found[-1:] = [(*found[-1], name)] if follows_dot else [*found[-1:], (name,)]
            follows_dot = False
        return found

    def _projection(self, segments: list[BaseSegment]) -> Projection:
        alias = ""
        if self.dialect.row_generators and segments[0].raw.partition("(")[0].strip().upper() in GENERATORS:
            raise NotFollowed("columns of a generator")  # how many they are is not sure
        if segments[-1].is_type("alias_expression"):
            alias = column_name(code(segments[-1])[-1], self.dialect)
            segments = segments[:-1]
        if len(segments) == 1 and segments[0].is_type("column_reference") and not is_value_word(segments[0]):
            parts = column_parts(segments[0], self.dialect)
            return plain_column(parts, alias or parts[-1])
        try:
            expression = self._expressions().read(segments, IDENTITY)
        except NotFollowed as unknown:
            self.problems.append(Problem(ProblemKind.UNSUPPORTED, str(unknown)))
            return opaque_column(alias)
        return Projection(alias or plain_text(expression), expression)

    def _expressions(self) -> ExpressionReader:
        return ExpressionReader(self.dialect, self.query)

    def _clauses(self, segment: BaseSegment) -> Iterator[Clause]:
        role, aliases = next(_CONDITIONS[kind] for kind in _CONDITIONS if segment.is_type(kind))
        for child in code(segment):
            if role in (GROUP_BY, SORT) and child.is_type("numeric_literal"):
                yield Clause(role, None, int(child.raw))
            elif not child.is_type("keyword", "comma"):
                yield from self._condition(child, role, aliases)

    def _keys(self, segment: BaseSegment) -> Iterator[Clause]:
        """The keys of DISTINCT ON (…)."""
        if not segment.is_type("keyword", "symbol"):
            yield from self._condition(segment, GROUP_BY, OutputNames.BEFORE_COLUMNS)

    def _condition(self, segment: BaseSegment, role: int, aliases: OutputNames) -> Iterator[Clause]:
        try:
            expression = self._expressions().read([segment], role)
        except NotFollowed as unknown:
            self.problems.append(Problem(ProblemKind.UNSUPPORTED, str(unknown)))
            return
        if expression.slots:
            yield Clause(role, expression, 0, aliases)

    def _relations(self, clause: BaseSegment) -> Iterator[RelationSource]:
        for child in code(clause):
            if child.is_type("from_expression"):
                for part in code(child):
                    yield from self._joined_relations(part)
            elif not child.is_type("keyword", "comma"):
                raise NotFollowed(child.get_type())

    def _joined_relations(self, segment: BaseSegment) -> Iterator[RelationSource]:
        if segment.is_type("from_expression_element"):
            yield from self._element(segment)
        elif segment.is_type("join_clause"):
            yield from self._join(segment)
        elif segment.is_type("from_expression"):
            for part in code(segment):
                yield from self._joined_relations(part)
        elif segment.is_type("table_expression"):
            yield self._table_expression(segment)
        elif segment.is_type("bracketed"):
            for part in code(segment)[1:-1]:
                yield from self._joined_relations(part)
        else:
            raise NotFollowed(segment.get_type())

    def _join(self, segment: BaseSegment) -> Iterator[RelationSource]:
        words = [word for word in keywords(segment) if word not in ("join", "outer", "inner", "using", "natural")]
        natural = "natural" in keywords(segment)
        relations: list[RelationSource] = []
        on: list[Clause] = []
        using: tuple[str, ...] = ()
        for child in code(segment):
            if child.is_type("join_on_condition"):
                for part in code(child)[1:]:
                    on.extend(self._condition(part, JOIN, OutputNames.HIDDEN))
            elif child.is_type("bracketed"):
                using = self._names(child)
            elif not child.is_type("keyword"):
                relations.extend(self._joined_relations(child))
        if not relations or {"apply", "lateral"} & set(words):
            raise NotFollowed("join")
        if len(relations) > 1 and (using or natural or any(one.using or one.natural for one in relations)):
            raise NotFollowed("sides of a join")  # which of its relations have the columns that become one
        relations[0] = replace(relations[0], join=" ".join(words).upper(), natural=natural)
        relations[-1] = replace(relations[-1], on=(*relations[-1].on, *on), using=using)
        yield from relations

    def _element(self, segment: BaseSegment) -> Iterator[RelationSource]:
        first, *rest = code(segment)
        alias = ""
        columns: tuple[str, ...] = ()
        for child in rest:
            if not child.is_type("alias_expression"):
                raise NotFollowed(child.get_type())
            alias, columns = self._alias(child)
        if first.is_type("bracketed") and not alias:
            yield from self._joined_relations(first)
            return
        relation = self._table_expression(first)
        if alias and not isinstance(relation.source, Select | SetOperation):
            self.aliases.append((alias, str(relation.source)))
        yield replace(relation, alias=alias, columns=columns)

    def _alias(self, segment: BaseSegment) -> tuple[str, tuple[str, ...]]:
        alias = ""
        columns: tuple[str, ...] = ()
        for child in code(segment):
            if child.is_type("bracketed"):
                columns = self._names(child)
            elif child.is_type("identifier"):
                alias = relation_alias(child, self.dialect)
        return alias, columns

    def _table_expression(self, segment: BaseSegment) -> RelationSource:
        inner = only_code(segment) if segment.is_type("table_expression") else segment
        if inner is None:
            raise NotFollowed(segment.get_type())
        if inner.is_type("table_reference", "file_reference"):
            return RelationSource(table_name(inner, self.dialect))
        return RelationSource(self.query(inner))


def _has_names(segment: BaseSegment) -> bool:
    """Whether a clause that is not known names anything: WITH UR does not."""
    return next(segment.recursive_crawl("column_reference", "table_reference", *QUERIES), None) is not None


def _replace_common(query: Query, common: tuple[CommonTable, ...]) -> Query:
    """The query with WITH items in front of its own."""
    if not common:
        return query
    if not isinstance(query, Select | SetOperation):
        raise NotFollowed("WITH before VALUES")
    return replace(query, common_tables=(*common, *query.common_tables))


@dataclass(frozen=True, slots=True)
class _Reads:
    """The tables that a statement reads, wherever they stand, and their aliases."""

    tables: tuple[TableName, ...]
    aliases: dict[str, TableName]


def parse(text: str, dialect: str) -> RelationalStatement:
    """The lineage of one statement.

    Raises Unparsable when sqlfluff understands the text only in part, or the statement reads no table.
    """
    known_dialect = dialect_of(dialect)
    text = as_understood(plainly_spelled(text, known_dialect), known_dialect)
    if not _may_have_shape(Code.of(text, known_dialect)):
        raise Unparsable("the statement has no shape that carries lineage")
    statement = read_statement(text, known_dialect)
    shape = _shape_of(statement, known_dialect)
    refuse_changed_query(Code.of(text, known_dialect), shape.kind, shape.target)
    read = _reads(statement, shape, known_dialect)
    if not read.tables:
        raise Unparsable("no table is read")
    try:
        reader, query = _query(shape, known_dialect)
    except NotFollowed:
        return _loose(shape, read, known_dialect)
    write = WriteForm(shape.target, query)
    return RelationalStatement(
        shape.kind,
        known_dialect.name,
        (write,),
        aliases=tuple(reader.aliases),
        problems=tuple(dict.fromkeys(reader.problems)),
    )


def _query(shape: _StatementShape, dialect: Dialect) -> tuple[_SqlfluffQueries, Query]:
    if shape.query is None:
        raise NotFollowed(shape.kind)
    reader = _SqlfluffQueries(dialect)
    common = reader.common_tables(shape.outer) if shape.outer is not None else ()
    return reader, _replace_common(reader.query(shape.query), common)


def _loose(shape: _StatementShape, read: _Reads, dialect: Dialect) -> RelationalStatement:
    target, tables = shape.target, read.tables
    if shape.kind is StatementKind.UPDATE and target is not None:
        target, tables = _updated_target(target, read)
    query = tables_only_select((), [RelationSource(name) for name in tables], ())
    aliases = tuple((alias, str(name)) for alias, name in read.aliases.items())
    problems = (COLUMNS_NOT_FOLLOWED,)
    return RelationalStatement(shape.kind, dialect.name, (WriteForm(target, query),), (), aliases, problems)


def _updated_target(target: Target, read: _Reads) -> tuple[Target, tuple[TableName, ...]]:
    """T-SQL may update a table by the alias that its FROM gives it."""
    meant = read.aliases.get(target.name.dotted, target.name)
    return replace(target, name=meant), tuple(name for name in read.tables if name not in (meant, target.name))


def _reads(statement: BaseSegment, shape: _StatementShape, dialect: Dialect) -> _Reads:
    common = {relation_alias(code(item)[0], dialect) for item in statement.recursive_crawl("common_table_expression")}
    aliases: dict[str, TableName] = {}
    tables: list[TableName] = []
    for reference, alias in _references(statement, shape, dialect):
        name = table_name(reference, dialect)
        if len(name.parts) == 1 and name.table in common:
            continue
        tables.append(name)
        if alias is not None:
            aliases[relation_alias(alias, dialect)] = name
    return _Reads(tuple(dict.fromkeys(tables)), aliases)


def _references(statement: BaseSegment, shape: _StatementShape, dialect: Dialect) -> Iterator[_Referenced]:
    """The references to tables in FROM, JOIN and MERGE's USING, each with the identifier that is its alias."""
    if shape.source is not None:
        yield shape.source, None
    for element in statement.recursive_crawl("from_expression_element"):
        alias = element.get_child("alias_expression")
        name = alias.get_child("identifier") if alias is not None else None
        expression = element.get_child("table_expression")
        inner = expression.get_child("table_reference", "file_reference") if expression is not None else None
        if inner is not None:
            if dialect.described_relations and name is not None and inner.raw.lower() in METADATA_QUERIES:
                raise Unparsable("what is told of a table stands for a relation")  # (DESCRIBE t)
            yield inner, name
    for bracketed in statement.recursive_crawl("bracketed"):
        direct = bracketed.get_child("table_expression")
        inner = direct.get_child("table_reference", "file_reference") if direct is not None else None
        if inner is not None:
            yield inner, None
