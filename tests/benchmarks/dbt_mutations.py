"""Which columns of a dbt project follow a column of its raw tables, as a DuckDB shows it: a truth that parses no SQL.

    python dbt_mutations.py observe target/manifest.json built.duckdb --keep mutations.json
    ingest lineage . --format json > lineage.json
    python dbt_mutations.py compare mutations.json lineage.json

`observe` needs the package duckdb and nothing else. It changes the values of one raw column in several ways, builds all
models again from their compiled SQL, and compares the values of every column of every model with those of before: what
is another multiset has followed. Where new values come out as they were put in, they were carried. `compare` ends with
1 where the lineage lacks what has followed, calls indirect what was carried, or has a direct edge that nothing shows.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

Observed = dict[str, dict[str, list[str]]]
_TURNS = 4
_MARK = "zq"
_NUMBERS = ("INT", "DECIMAL", "DOUBLE", "FLOAT", "NUMERIC", "REAL")


def observe(manifest: Path, database: Path, rows: int) -> Observed:
    """For each raw column the columns of models that follow it, and those that carry its values."""
    import duckdb

    nodes = json.loads(manifest.read_text())["nodes"]
    models = [nodes[key] for key in _in_order(nodes)]
    built = {model["relation_name"] for model in models} | _snapshots(nodes)
    connection = duckdb.connect(config={"threads": 1})
    raw = _copy_raw(connection, database, built, rows)
    _build(connection, models)
    before = _values(connection, models)
    _build(connection, models)
    unstable = {column for column, values in _values(connection, models).items() if values != before[column]}
    found: Observed = {}
    for table, columns in raw.items():
        for column, kind in columns.items():
            followed: set[str] = set()
            carried: set[str] = set()
            for change, is_fresh in _changes(column, kind):
                _replace(connection, table, column, change)
                try:
                    _build(connection, models)
                except duckdb.Error:  # a value that a model cannot take shows nothing
                    continue
                after = _values(connection, models)
                moved = {name for name in after if after[name] != before[name]} - unstable
                followed |= moved
                if is_fresh:
                    given = set(_column(connection, _quoted(table), column))
                    carried |= {name for name in moved if _carries(after[name], before[name], given)}
            _replace(connection, table, column, f'"{column}"')
            found[f"{table}.{column}"] = {"followed": sorted(followed), "carried": sorted(carried)}
    return found


def compare(observed: Observed, edges: list[dict[str, Any]]) -> list[str]:
    """A line for each difference between what was observed and the column edges of `ingest lineage`."""
    every = _closure((edge["source"], edge["target"]) for edge in edges)
    direct = _closure((edge["source"], edge["target"]) for edge in edges if edge["type"] == "DIRECT")
    built = {name.rpartition(".")[0] for seen in observed.values() for name in seen["followed"]}
    lines = []
    for source, seen in observed.items():
        followed, carried = set(seen["followed"]), set(seen["carried"])
        lines += [f"not in the lineage: {source} -> {name}" for name in sorted(followed - every.get(source, set()))]
        lines += [f"not direct: {source} -> {name}" for name in sorted(carried - direct.get(source, set()))]
        unseen = sorted(direct.get(source, set()) - followed)
        lines += [f"never shown: {source} -> {name}" for name in unseen if name.rpartition(".")[0] in built]
    return lines


def _in_order(nodes: dict[str, Any]) -> Iterator[str]:
    needs = {key: node.get("depends_on", {}).get("nodes", ()) for key, node in nodes.items()}
    for key in TopologicalSorter(needs).static_order():
        node = nodes.get(key, {})
        if node.get("resource_type") == "model" and node.get("relation_name") and node.get("compiled_code"):
            yield key


def _snapshots(nodes: dict[str, Any]) -> set[str]:
    return {node["relation_name"] for node in nodes.values() if node["resource_type"] == "snapshot"}


def _copy_raw(connection: Any, database: Path, built: set[str], rows: int) -> dict[str, dict[str, str]]:
    """The tables that no model makes, copied; their columns with their types."""
    name = next(iter(built)).split(".")[0].strip('"')
    connection.execute(f"attach '{database}' as built_before (read_only)")
    connection.execute(f"attach ':memory:' as \"{name}\"")
    listed = connection.execute(
        "select table_schema, table_name, column_name, data_type from information_schema.columns "
        "where table_catalog = 'built_before' order by all"
    ).fetchall()
    raw: dict[str, dict[str, str]] = {}
    for schema, table, column, kind in listed:
        if f'"{name}"."{schema}"."{table}"' not in built:
            raw.setdefault(f"{name}.{schema}.{table}", {})[column] = kind
    for schema in {relation.split(".")[1].strip('"') for relation in (*built, *map(_quoted, raw))}:
        connection.execute(f'create schema if not exists "{name}"."{schema}"')
    for table in raw:
        _, schema, last = table.split(".")
        rows_of = f'(select * from built_before."{schema}"."{last}" limit {rows})'
        connection.execute(f"create table {_base(table)} as select row_number() over () as rn_, * from {rows_of}")
        connection.execute(f"create table {_quoted(table)} as select * exclude (rn_) from {_base(table)}")
    connection.execute(f'use "{name}"')
    return raw


def _quoted(table: str) -> str:
    return ".".join(f'"{part}"' for part in table.split("."))


def _base(table: str) -> str:
    return _quoted(f"{table}_")


def _build(connection: Any, models: list[dict[str, Any]]) -> None:
    for model in models:
        query = model["compiled_code"].strip().rstrip(";")
        if model["relation_name"] in query:  # what an incremental model had before
            was = model["relation_name"].split(".", 1)[1]
            connection.execute(f"create or replace table {model['relation_name']} as from built_before.{was}")
        connection.execute(f"create or replace table {model['relation_name']} as {query}")


def _values(connection: Any, models: list[dict[str, Any]]) -> dict[str, Counter[str | None]]:
    found = {}
    for model in models:
        relation = model["relation_name"]
        cursor = connection.execute(f"select cast(columns(*) as varchar) from {relation}")
        names = [column[0] for column in cursor.description]
        rows = cursor.fetchall()
        plain = relation.replace('"', "")
        for at, name in enumerate(names):
            found[f"{plain}.{name}"] = Counter(row[at] for row in rows)
    return found


def _column(connection: Any, table: str, column: str) -> list[str]:
    rows = connection.execute(f'select cast("{column}" as varchar) from {table}').fetchall()
    return [row[0] for row in rows if row[0] is not None]


def _replace(connection: Any, table: str, column: str, change: str) -> None:
    connection.execute(
        f'create or replace table {_quoted(table)} as select * exclude (rn_) replace ({change} as "{column}") '
        f"from {_base(table)} order by rn_"
    )


def _changes(column: str, kind: str) -> Iterator[tuple[str, bool]]:
    """Expressions for new values of a column, and whether all of them are new everywhere."""
    name = f'"{column}"'
    if kind.startswith(_NUMBERS) or kind.endswith("INT"):
        yield "987654321 + rn_ * 1000003", True
        yield f"-{name}", False
        yield f"{name} + 1", False
    elif kind in ("DATE", "TIMESTAMP") or kind.startswith("TIMESTAMP"):
        yield f"{name} + to_days(cast(40000 + rn_ as integer))", True
        yield f"{name} + to_days(1)", False
    elif kind == "BOOLEAN":
        yield f"not {name}", False
    else:
        yield f"'{_MARK}' || rn_ || '{_MARK}'", True
        yield f"{name} || 'x'", False
    yield "null", False
    for turn in range(_TURNS):
        shuffled = f"(list({name}) over ())[1 + cast(hash(rn_, {turn}) % count(*) over () as integer)]"
        yield shuffled, False
        yield f"case when hash(rn_, {turn}) % 2 = 0 then {name} end", False
        yield f"case when hash(rn_, {turn}) % 3 = 0 then {name} else {shuffled} end", False


def _carries(after: Counter[str | None], before: Counter[str | None], given: set[str]) -> bool:
    new = {value for value in after if value is not None and value not in before}
    return bool(new & given) or any(_MARK in value.lower() for value in new)


def _closure(pairs: Iterator[tuple[str, str]]) -> dict[str, set[str]]:
    """Everything downstream of each column."""
    following: dict[str, set[str]] = {}
    for source, target in pairs:
        following.setdefault(source, set()).add(target)
    found = {}
    for start in following:
        reached: set[str] = set()
        waiting = [start]
        while waiting:
            new = following.get(waiting.pop(), set()) - reached
            reached |= new
            waiting += new
        found[start] = reached
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    observing = commands.add_parser("observe")
    observing.add_argument("manifest", type=Path)
    observing.add_argument("database", type=Path)
    observing.add_argument("--rows", type=int, default=300, help="of each raw table")
    observing.add_argument("--keep", type=Path, required=True)
    comparing = commands.add_parser("compare")
    comparing.add_argument("observed", type=Path)
    comparing.add_argument("lineage", type=Path)
    given = parser.parse_args()
    if given.command == "observe":
        found = observe(given.manifest, given.database, given.rows)
        given.keep.write_text(json.dumps(found, indent=1) + "\n")
        print(f"{len(found)} raw columns, followed {sum(len(one['followed']) for one in found.values())} times")
        return 0
    observed = json.loads(given.observed.read_text())
    lines = compare(observed, json.loads(given.lineage.read_text())["column_lineage"])
    print("\n".join(lines) or "the lineage is what was observed")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
