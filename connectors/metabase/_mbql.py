"""Metabase's own queries (MBQL) as SQL: in the form that nests by `source-query`, and in the newer one of stages.

`{"source-table": 5, "aggregation": [["sum", ["field", 12, null]]], "breakout": [["field", 13, null]]}` is
`SELECT t0.region AS "region", SUM(t0.total) AS "sum" FROM shop.orders t0 GROUP BY t0.region`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Any

from connectors.dashboards.documents import Document, documents_in
from connectors.dashboards.queries import OutputColumn, column_text, query_text, subquery
from connectors.metabase._documents import MetabaseContent, TableField
from ingestion.dialects import Dialect
from ingestion.statements.routines.definition import quote_name

_AGGREGATES: Mapping[str, str] = {
    **{name: name.upper() for name in ("avg", "count", "max", "median", "min", "sum")},
    "distinct": "COUNT",
    "stddev": "STDDEV",
    "var": "VARIANCE",
    "cum-sum": "SUM",
    "cum-count": "COUNT",
    "count-where": "COUNT",
    "distinct-where": "COUNT",
    "sum-where": "SUM",
    "share": "AVG",
    "percentile": "MEDIAN",
}
_INFIX = frozenset({"+", "-", "*", "/", "=", "<", ">", "<=", ">=", "and", "or"})
_OTHERS: Mapping[str, str] = {"!=": "<>"}
_FIELDS = frozenset({"field", "field-id", "field-literal", "fk->"})
_WORD = re.compile(r"[a-z][a-z0-9-]*\Z")
_DEEPEST = 60
_CARD = "card__"


class UnknownQuery(Exception):
    """A query, or a part of one, of which it cannot be told what it reads: `kind` is what that is."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class MbqlReader:
    """What queries are read with: `card` gives the SQL of a card by its key, and its columns."""

    documents: MetabaseContent
    dialect: Dialect
    card: Callable[[str], str]

    def query(self, dataset_query: Document, metadata: object = None) -> tuple[str, tuple[str, ...]]:
        """The SQL of a query, and the names of its columns where it tells them. Raises UnknownQuery."""
        stages = dataset_query.get("stages")
        if isinstance(stages, list):
            nested: Document | None = None
            for stage in (one for one in stages if isinstance(one, dict)):
                nested = {**stage, **({"source-query": nested} if nested is not None else {})}
            return self.select(nested or {}, metadata, 0)
        inner = dataset_query.get("query")
        if not isinstance(inner, dict):
            raise UnknownQuery("query")
        return self.select(inner, metadata, 0)

    def table_field(self, given: object) -> TableField:
        """The field, or the table, that a number or a position means. Raises UnknownQuery."""
        if isinstance(given, int):
            found = self.documents.fields.get(given)
            if found is None:
                raise UnknownQuery("field")
            return found
        if isinstance(given, list) and len(given) >= _TABLE_LEVELS:
            _database, schema, table, name = (*(str(part or "") for part in given), "")[: _TABLE_LEVELS + 1]
            return TableField(schema, table, name)
        raise UnknownQuery("field")

    def select(self, query: Document, metadata: object, depth: int) -> tuple[str, tuple[str, ...]]:
        """The SQL of one level, and the names of its columns, which `metadata` tells where the query does not.

        Raises UnknownQuery.
        """
        if depth > _DEEPEST:
            raise UnknownQuery("depth")
        if isinstance(query.get("native"), str | dict):
            raise UnknownQuery("native stage")
        scope = _Scope(self, query)
        origin = scope.origin(depth)
        joined = scope.joins(depth)
        outputs = scope.outputs(metadata)
        whole = [] if outputs else scope.whole_columns()
        grouping = [one.expression for one in scope.breakouts] if scope.aggregations else []
        deciding = [scope.expression(one, 0) for one in scope.filters]
        origin += joined + scope.implicit_joins()
        text = query_text(outputs, origin, self.dialect, deciding, grouping)
        if not outputs:
            text = text.replace("SELECT 1 FROM", f"SELECT {', '.join(whole)} FROM", 1)
        return text, tuple(one.name for one in outputs)


_TABLE_LEVELS = 3
"""Parts of the position of a table: database, schema, table."""


@dataclass
class _Scope:
    """One level of a query: what its fields mean."""

    reader: MbqlReader
    query: Document
    breakouts: list[OutputColumn] = field(default_factory=list)
    aggregations: list[OutputColumn] = field(default_factory=list)
    aliases: dict[tuple[str, str], str] = field(default_factory=dict)
    implicit: dict[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def filters(self) -> list[object]:
        found = [self.query[key] for key in ("filter",) if self.query.get(key)]
        several = self.query.get("filters")
        return [*found, *(several if isinstance(several, list) else ())]

    def origin(self, depth: int) -> str:
        """What the query reads, as `t0`."""
        nested = self.query.get("source-query")
        if isinstance(nested, dict):
            text, _names = self.reader.select(nested, None, depth + 1)
            return subquery(text, "t0")
        source = self.query.get("source-card") or self.query.get("source-table")
        return f"{self._relation(source)} t0"

    def _relation(self, source: object, alias: str = "t0") -> str:
        if isinstance(source, str) and source.startswith(_CARD):
            return self.reader.card(source.removeprefix(_CARD))
        if isinstance(source, str) or (isinstance(source, int) and self.query.get("source-card") == source):
            return self.reader.card(str(source))
        table = self.reader.documents.tables.get(source) if isinstance(source, int) else None
        if table is None:
            table = self.reader.table_field(source) if isinstance(source, list) else None
        if table is None:
            raise UnknownQuery("table")
        self.aliases.setdefault((table.schema, table.table), alias)
        return ".".join(column_text(part, self.reader.dialect) for part in (table.schema, table.table) if part)

    def joins(self, depth: int) -> str:
        """The joins that the query has."""
        text = ""
        for join in documents_in(self.query.get("joins")):
            alias = quote_name(str(join.get("alias") or "joined"), self.reader.dialect)
            stages = join.get("stages")
            nested = join.get("source-query") or (stages[-1] if isinstance(stages, list) and len(stages) == 1 else None)
            nested = nested if isinstance(nested, dict) else {}
            if set(nested) - {"source-table", "source-card", "lib/type"}:
                inner, _names = self.reader.select(nested, None, depth + 1)
                relation = subquery(inner, alias)
            else:
                source = (nested or join).get("source-card") or (nested or join).get("source-table")
                relation = f"{self._relation(source, alias)} {alias}"
            conditions = join.get("conditions")
            conditions = conditions if isinstance(conditions, list) and conditions else [join.get("condition")]
            on = " AND ".join(self.expression(one, 0) for one in conditions if one)
            text += f" LEFT JOIN {relation} ON {on}" if on else f" CROSS JOIN {relation}"
        return text

    def implicit_joins(self) -> str:
        """The tables of which fields are read by way of a foreign key."""
        return "".join(
            f" LEFT JOIN {relation} {alias} ON NOT {key} IS NULL" for alias, (relation, key) in self.implicit.items()
        )

    def outputs(self, metadata: object) -> list[OutputColumn]:
        """The columns of the query, as far as it tells them."""
        for one in _clauses(self.query.get("breakout")):
            self.breakouts.append(OutputColumn(self.expression(one, 0), self._name(one)))
        taken = {one.name for one in self.breakouts}
        for one in _clauses(self.query.get("aggregation")):
            called = self._name(one)  # Metabase counts on: sum, sum_2, sum_3
            numbered = chain([called], (f"{called}_{number}" for number in count(2)))
            name = next(name for name in numbered if name not in taken)
            taken.add(name)
            self.aggregations.append(OutputColumn(self.expression(one, 0), name))
        if self.breakouts or self.aggregations:
            return [*self.breakouts, *self.aggregations]
        given = self.query.get("fields")
        if isinstance(given, list):
            return [OutputColumn(self.expression(one, 0), self._name(one)) for one in _clauses(given)]
        return [
            OutputColumn(self.expression(one["field_ref"], 0), one["name"])
            for one in (metadata if isinstance(metadata, list) else ())
            if isinstance(one, dict) and isinstance(one.get("field_ref"), list) and isinstance(one.get("name"), str)
        ]

    def whole_columns(self) -> list[str]:
        """What a query shows that names no columns: those of its source, of joins as far as they say, its own."""
        found = ["t0.*"]
        for join in documents_in(self.query.get("joins")):
            fields = join.get("fields")
            if fields == "all":
                found.append(f"{quote_name(str(join.get('alias') or 'joined'), self.reader.dialect)}.*")
            named = fields if isinstance(fields, list) else ()
            found += [f"{self.expression(one, 0)} AS {self._quoted_name(one)}" for one in named]
        made = self.query.get("expressions")
        names = list(made) if isinstance(made, dict) else []
        for one in made if isinstance(made, list) else ():
            options = next((part for part in one if isinstance(part, dict)), {}) if isinstance(one, list) else {}
            names += [str(options[key]) for key in ("lib/expression-name",) if key in options]
        own = [(name, self._own_expression(name, 0)) for name in names]
        return [*found, *(f"{text} AS {quote_name(name, self.reader.dialect)}" for name, text in own)]

    def _quoted_name(self, clause: object) -> str:
        return quote_name(self._name(clause), self.reader.dialect)

    def _name(self, clause: object) -> str:
        if isinstance(clause, list) and clause:
            options = next((one for one in clause[1:] if isinstance(one, dict)), {})
            given = options.get("name") or options.get("display-name")
            if isinstance(given, str):
                return given
            if clause[0] == "aggregation-options" and len(clause) > 1:
                return self._name(clause[1])
            if _head(clause) in _FIELDS:
                named = _target(clause)
                return named if isinstance(named, str) else self.reader.table_field(named).name
            if clause[0] == "expression":
                return str(_target(clause))
            return str(clause[0])
        return "column"

    def expression(self, clause: object, depth: int) -> str:
        """A clause as SQL; values are left out of it."""
        if depth > _DEEPEST:
            raise UnknownQuery("depth")
        if not isinstance(clause, list) or not clause or not isinstance(clause[0], str):
            return "0" if isinstance(clause, int | float) else "''"
        head = clause[0]
        if head in _FIELDS:
            return self._field(clause)
        if head == "expression":
            return self._own_expression(str(_target(clause)), depth)
        arguments = [one for one in clause[1:] if not isinstance(one, dict)]
        if head == "aggregation-options":
            return self.expression(arguments[0] if arguments else None, depth + 1)
        if head in ("metric", "segment", "measure"):
            raise UnknownQuery(head)
        if head in ("case", "if") and arguments and isinstance(arguments[0], list):
            pairs = [one for one in arguments[0] if isinstance(one, list) and len(one) > 1]
            whens = " ".join(
                f"WHEN {self.expression(one[0], depth + 1)} THEN {self.expression(one[1], depth + 1)}" for one in pairs
            )
            default = next((one["default"] for one in clause if isinstance(one, dict) and "default" in one), None)
            other = arguments[1] if len(arguments) > 1 else default
            return f"CASE {whens}{'' if other is None else f' ELSE {self.expression(other, depth + 1)}'} END"
        texts = [self.expression(one, depth + 1) for one in arguments]
        return _call(head, texts)

    def _own_expression(self, name: str, depth: int) -> str:
        made = self.query.get("expressions")
        if isinstance(made, dict) and name in made:
            return f"({self.expression(made[name], depth + 1)})"
        for one in made if isinstance(made, list) else ():
            options = next((part for part in one if isinstance(part, dict)), {}) if isinstance(one, list) else {}
            if options.get("lib/expression-name") == name:
                return f"({self.expression(one, depth + 1)})"
        raise UnknownQuery("expression")

    def _field(self, clause: list[Any]) -> str:
        dialect, named = self.reader.dialect, _target(clause)
        options = next((one for one in clause[1:] if isinstance(one, dict)), {})
        alias = options.get("join-alias")
        if isinstance(named, str):
            owner = quote_name(str(alias), dialect) if alias else "t0"
            return f"{owner}.{column_text(named, dialect)}"
        found = self.reader.table_field(named)
        column = column_text(found.name, dialect)
        if alias:
            return f"{quote_name(str(alias), dialect)}.{column}"
        source = options.get("source-field")
        if clause[0] == "fk->" and len(clause) > 1:
            source = _target(clause[1]) if isinstance(clause[1], list) else clause[1]
        if source is not None:
            return f"{self._implicit_alias(found, source)}.{column}"
        if self.aliases and (found.schema, found.table) not in self.aliases:
            raise UnknownQuery("field")  # of a table that is not read here
        return f"{self.aliases.get((found.schema, found.table), 't0')}.{column}"

    def _implicit_alias(self, target: TableField, source: object) -> str:
        """What the table goes by that a foreign key leads to, which may be one of a table that is joined."""
        key, dialect = self.reader.table_field(source), self.reader.dialect
        relation = ".".join(column_text(part, dialect) for part in (target.schema, target.table) if part)
        owner = self.aliases.get((key.schema, key.table), "t0")
        made = relation, f"{owner}.{column_text(key.name, dialect)}"
        alias = f"by_{re.sub(r'[^a-z0-9]+', '_', key.name.lower())}"
        if self.implicit.setdefault(alias, made) != made:
            alias = f"{alias}_of_{re.sub(r'[^a-z0-9]+', '_', key.table.lower())}"
            self.implicit[alias] = made
        return alias


def _call(head: str, texts: list[str]) -> str:
    if head in _AGGREGATES:
        distinct = "DISTINCT " if head == "distinct" else ""
        if head in ("sum-where", "distinct-where", "count-where", "share") and texts:
            value = "1" if len(texts) == 1 else texts[0]
            distinct = "DISTINCT " if head == "distinct-where" else ""
            return f"{_AGGREGATES[head]}({distinct}CASE WHEN {texts[-1]} THEN {value} END)"
        return f"{_AGGREGATES[head]}({distinct}{texts[0] if texts else '*'})"
    if (head in _INFIX or head in _OTHERS) and len(texts) > 1:
        return "(" + f" {_OTHERS.get(head, head).upper()} ".join(texts) + ")"
    if not _WORD.match(head):
        raise UnknownQuery("clause")
    return f"mb_{head.replace('-', '_')}({', '.join(texts)})"


def named_field(clause: object) -> object:
    """What a reference to a field names: its number, its position, a column of what is asked; None of other clauses."""
    return _target(clause) if isinstance(clause, list) and _head(clause) in _FIELDS else None


def _target(clause: list[Any]) -> object:
    """What a reference names: the newer form has its options before that, the older one behind."""
    rest = [one for one in clause[1:] if one is not None and not isinstance(one, dict)]
    if not rest:
        return None
    found = rest[-1] if clause[0] == "fk->" else rest[0]
    return _target(found) if isinstance(found, list) and _head(found) in _FIELDS else found


def _head(clause: list[Any]) -> str:
    """What a clause is, "" where it does not say."""
    return clause[0] if clause and isinstance(clause[0], str) else ""


def _clauses(given: object) -> Iterator[object]:
    """The clauses of a list, or one that stands in the position of a list."""
    if isinstance(given, list) and given:
        yield from (given,) if isinstance(given[0], str) else given
