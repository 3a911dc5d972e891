"""The shapes of the synthetic log's statements, each with the lineage that it has by construction."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Table:
    schema: str
    table: str
    columns: Mapping[str, str] = field(hash=False)

    @property
    def name(self) -> str:
        return f"{self.schema}.{self.table}"

    def pick(self, rng: random.Random, kind: str) -> str:
        """A column of this type that is no key."""
        return rng.choice([name for name, type_ in self.columns.items() if type_ == kind and not name.endswith("id")])


@dataclass(frozen=True, slots=True)
class Pair:
    """A column whose value goes into an output of the target."""

    table: Table
    column: str
    output: str


@dataclass(frozen=True, slots=True)
class Template:
    """A statement with `%s` for its literals (their kinds in order), and its lineage."""

    kind: str
    text: str
    literals: tuple[str, ...]
    target: Table | None
    sources: tuple[Table, ...]
    pairs: tuple[Pair, ...] = ()
    target_exists: bool = False


def _target(name: str, columns: Mapping[str, str] | None = None) -> Table:
    return Table("mart", name, columns or {})


def _written(rng: random.Random, table: Table) -> str:
    """The target's name as the job writes it: often without the session's default schema."""
    return table.table if rng.random() < 0.3 else table.name


def _two(rng: random.Random, tables: list[Table]) -> tuple[Table, Table]:
    first, second = rng.sample(tables, 2)
    return first, second


def _ctas_join(rng: random.Random, tables: list[Table], name: str) -> Template:
    a, b = _two(rng, tables)
    target = _target(name)
    label, moment = a.pick(rng, "text"), a.pick(rng, "timestamp")
    state, amount = b.pick(rng, "text"), b.pick(rng, "numeric")
    text = (
        f"CREATE TABLE {_written(rng, target)} AS\n"
        f"SELECT a.id AS {a.table}_id, a.customer_id, upper(a.{label}) AS label,\n"
        f"       b.{amount} * %s AS adjusted,\n"
        f"       CASE WHEN b.{state} = '%s' THEN b.{amount} ELSE 0 END AS {amount}_if,\n"
        f"       date_trunc('day', a.{moment}) AS day, 'batch %s' AS origin\n"
        f"  FROM {a.name} a\n  JOIN {b.name} b ON b.customer_id = a.customer_id AND b.store_id = a.store_id\n"
        f" WHERE a.{moment} >= '%s' AND b.{state} <> '%s' AND a.id > %s"
    )
    pairs = (
        Pair(a, "id", f"{a.table}_id"), Pair(a, "customer_id", "customer_id"), Pair(a, label, "label"),
        Pair(b, amount, "adjusted"), Pair(b, amount, f"{amount}_if"), Pair(a, moment, "day"),
    )  # fmt: skip
    return Template("ctas_join", text, ("factor", "word", "number", "date", "word", "number"), target, (a, b), pairs)


def _insert_aggregate(rng: random.Random, tables: list[Table], name: str) -> Template:
    a, b = _two(rng, tables)
    columns = {"store_id": "bigint", "day": "timestamp", "lines": "bigint", "total": "numeric", "top": "numeric"}
    target = _target(name, columns)
    amount, other, moment = a.pick(rng, "numeric"), b.pick(rng, "numeric"), a.pick(rng, "timestamp")
    text = (
        f"INSERT INTO {_written(rng, target)} (store_id, day, lines, total, top)\n"
        f"SELECT a.store_id, date_trunc('day', a.{moment}), count(*), sum(a.{amount} * %s), max(b.{other})\n"
        f"  FROM {a.name} a LEFT JOIN {b.name} b ON a.product_id = b.product_id\n"
        f" WHERE a.{moment} BETWEEN '%s' AND '%s' AND coalesce(b.store_id, %s) NOT IN (%s, %s, %s)\n"
        f" GROUP BY 1, 2\nHAVING sum(a.{amount}) > %s"
    )
    pairs = (
        Pair(a, "store_id", "store_id"), Pair(a, moment, "day"), Pair(a, amount, "total"), Pair(b, other, "top"),
    )  # fmt: skip
    literals = ("factor", "date", "date", "number", "number", "number", "number", "number")
    return Template("insert_aggregate", text, literals, target, (a, b), pairs, target_exists=True)


def _insert_by_position(rng: random.Random, tables: list[Table], name: str) -> Template:
    (a,) = rng.sample(tables, 1)
    first, second = a.pick(rng, "text"), a.pick(rng, "text")
    amount = a.pick(rng, "numeric")
    target = _target(name, {"key": "bigint", "name": "text", "remark": "text", "value": "numeric"})
    text = (
        f"INSERT INTO {_written(rng, target)}\n"
        f"SELECT t.customer_id, t.{first} AS remark, t.{second} || ' (%s)' AS name, t.{amount} - %s AS key\n"
        f"  FROM {a.name} AS t\n"
        f" WHERE t.{first} IN ('%s', '%s') AND t.product_id BETWEEN %s AND %s\n"
        f"   AND EXISTS (SELECT 1 FROM {a.name} AS u WHERE u.id = t.id AND u.{amount} > %s)"
    )
    pairs = (Pair(a, "customer_id", "key"), Pair(a, first, "name"), Pair(a, second, "remark"), Pair(a, amount, "value"))
    literals = ("word", "number", "word", "word", "number", "number", "number")
    return Template("insert_by_position", text, literals, target, (a,), pairs, target_exists=True)


def _ctas_with(rng: random.Random, tables: list[Table], name: str) -> Template:
    a, b, c = rng.sample(tables, 3)
    target = _target(name)
    amount, label, state = a.pick(rng, "numeric"), b.pick(rng, "text"), c.pick(rng, "text")
    text = (
        f"CREATE TABLE {_written(rng, target)} AS\nWITH recent AS (\n"
        f"  SELECT customer_id, product_id, sum({amount}) AS spent, count(*) AS n\n"
        f"    FROM {a.name} WHERE store_id <> %s AND {amount} > %s GROUP BY customer_id, product_id\n), named AS (\n"
        f"  SELECT r.*, b.{label} AS label FROM recent r JOIN {b.name} b ON b.product_id = r.product_id\n"
        f"   WHERE b.{label} LIKE '%s%%'\n)\n"
        f"SELECT n.customer_id, n.label, n.spent / %s AS spent, max(c.{state}) AS state\n"
        f"  FROM named n LEFT JOIN {c.name} c ON c.customer_id = n.customer_id AND c.{state} = '%s'\n"
        f" GROUP BY 1, 2, 3 ORDER BY 3 DESC LIMIT %s"
    )
    pairs = (
        Pair(a, "customer_id", "customer_id"), Pair(b, label, "label"),
        Pair(a, amount, "spent"), Pair(c, state, "state"),
    )  # fmt: skip
    literals = ("number", "number", "word", "number", "word", "number")
    return Template("ctas_with", text, literals, target, (a, b, c), pairs)


def _ctas_window(rng: random.Random, tables: list[Table], name: str) -> Template:
    a, b = _two(rng, tables)
    target = _target(name)
    amount, moment, label = a.pick(rng, "numeric"), a.pick(rng, "timestamp"), b.pick(rng, "text")
    text = (
        f"CREATE TABLE {_written(rng, target)} AS\n"
        f"SELECT ranked.customer_id, ranked.latest, ranked.running, b.{label}\n  FROM (\n"
        f"        SELECT a.customer_id, a.store_id, a.{moment} AS latest,\n"
        f"               sum(a.{amount}) OVER (PARTITION BY a.customer_id ORDER BY a.{moment}) AS running,\n"
        f"               row_number() OVER (PARTITION BY a.customer_id ORDER BY a.{moment} DESC) AS rn\n"
        f"          FROM {a.name} a WHERE a.{moment} > '%s' AND a.{amount} >= %s\n       ) ranked\n"
        f"  JOIN {b.name} b ON b.store_id = ranked.store_id\n WHERE ranked.rn <= %s AND b.{label} <> '%s' AND b.id < %s"
    )
    pairs = (
        Pair(a, "customer_id", "customer_id"), Pair(a, moment, "latest"),
        Pair(a, amount, "running"), Pair(b, label, label),
    )  # fmt: skip
    return Template("ctas_window", text, ("date", "number", "number", "word", "number"), target, (a, b), pairs)


def _insert_union(rng: random.Random, tables: list[Table], name: str) -> Template:
    a, b = _two(rng, tables)
    target = _target(name, {"customer_id": "bigint", "what": "text", "amount": "numeric", "at": "timestamp"})
    sides = []
    pairs: list[Pair] = []
    for side in (a, b):
        amount, moment, label = side.pick(rng, "numeric"), side.pick(rng, "timestamp"), side.pick(rng, "text")
        sides.append(
            f"SELECT x.customer_id, lower(x.{label}), x.{amount} * %s, x.{moment}\n"
            f"  FROM {side.name} x WHERE x.{moment} < '%s' AND x.{label} = '%s'"
        )
        columns = {"customer_id": "customer_id", "what": label, "amount": amount, "at": moment}
        pairs += [Pair(side, column, output) for output, column in columns.items()]
    text = f"INSERT INTO {_written(rng, target)} (customer_id, what, amount, at)\n" + "\nUNION ALL\n".join(sides)
    literals = ("factor", "date", "word") * 2
    return Template("insert_union", text, literals, target, (a, b), tuple(pairs), target_exists=True)


def _view_star(rng: random.Random, tables: list[Table], name: str) -> Template:
    a, b = _two(rng, tables)
    target = _target(name)
    label, state = b.pick(rng, "text"), b.pick(rng, "text")
    text = (
        f"CREATE OR REPLACE VIEW {_written(rng, target)} AS\n"
        f"SELECT a.*, b.{label} AS other_{label}, b.store_id AS other_store\n"
        f"  FROM {a.name} a\n  LEFT JOIN {b.name} b\n"
        f"    ON a.customer_id = b.customer_id AND b.{state} IN ('%s', '%s', '%s')\n"
        f" WHERE a.store_id <> %s AND coalesce(b.{label}, '%s') <> '%s' AND a.product_id > %s"
    )
    pairs = [Pair(a, column, column) for column in a.columns]
    pairs += [Pair(b, label, f"other_{label}"), Pair(b, "store_id", "other_store")]
    literals = ("word", "word", "word", "number", "word", "word", "number")
    return Template("view_star", text, literals, target, (a, b), tuple(pairs))


def _merge(rng: random.Random, tables: list[Table], name: str) -> Template:
    a, b = _two(rng, tables)
    target = _target(name, {"customer_id": "bigint", "spent": "numeric", "label": "text", "checked": "bigint"})
    amount, label = a.pick(rng, "numeric"), b.pick(rng, "text")
    text = (
        f"MERGE INTO {_written(rng, target)} AS t\nUSING (\n"
        f"  SELECT a.customer_id, sum(a.{amount}) AS spent, min(b.{label}) AS label\n"
        f"    FROM {a.name} a JOIN {b.name} b ON a.product_id = b.product_id\n"
        f"   WHERE a.{amount} > %s AND b.{label} <> '%s' GROUP BY a.customer_id\n) AS s\n"
        f"ON t.customer_id = s.customer_id\n"
        f"WHEN MATCHED THEN UPDATE SET spent = s.spent * %s, label = s.label, checked = %s\n"
        f"WHEN NOT MATCHED THEN INSERT (customer_id, spent, label, checked)\n"
        f"  VALUES (s.customer_id, s.spent, s.label, %s)"
    )
    pairs = (Pair(a, "customer_id", "customer_id"), Pair(a, amount, "spent"), Pair(b, label, "label"))
    literals = ("number", "word", "factor", "number", "number")
    return Template("merge", text, literals, target, (a, b), pairs, target_exists=True)


def _update_from(rng: random.Random, tables: list[Table], name: str) -> Template:
    a, b = _two(rng, tables)
    target = _target(name, {"customer_id": "bigint", "best": "numeric", "label": "text", "note": "text"})
    amount, label, state = a.pick(rng, "numeric"), b.pick(rng, "text"), a.pick(rng, "text")
    text = (
        f"UPDATE {_written(rng, target)} AS t\n"
        f"   SET best = greatest(s.{amount}, %s), label = initcap(r.{label}), note = 'checked in run %s'\n"
        f"  FROM {a.name} s\n  JOIN {b.name} r ON r.store_id = s.store_id AND r.{label} <> '%s'\n"
        f" WHERE t.customer_id = s.customer_id AND s.{state} = '%s' AND s.{amount} BETWEEN %s AND %s"
    )
    pairs = (Pair(a, amount, "best"), Pair(b, label, "label"))
    literals = ("number", "number", "word", "word", "number", "number")
    return Template("update_from", text, literals, target, (a, b), pairs, target_exists=True)


def _ctas_star(rng: random.Random, tables: list[Table], name: str) -> Template:
    (a,) = rng.sample(tables, 1)
    target = _target(name)
    moment, label, amount = a.pick(rng, "timestamp"), a.pick(rng, "text"), a.pick(rng, "numeric")
    text = (
        f"-- nightly copy, run %s\nCREATE TABLE {_written(rng, target)} AS\nSELECT *\n  FROM {a.name}\n"
        f" WHERE {moment} >= '%s' AND {moment} < '%s'\n   AND ({label} = '%s' OR {label} IS NULL)\n"
        f"   AND {amount} NOT BETWEEN %s AND %s\n   AND store_id NOT IN (%s, %s, %s)"
    )
    literals = ("number", "date", "date", "word", "number", "number", "number", "number", "number")
    return Template("ctas_star", text, literals, target, (a,), tuple(Pair(a, column, column) for column in a.columns))


def _report(rng: random.Random, tables: list[Table], name: str) -> Template:
    """A SELECT that writes nothing."""
    a, b = _two(rng, tables)
    amount, label = a.pick(rng, "numeric"), b.pick(rng, "text")
    text = (
        f"SELECT b.{label} AS {name}, sum(a.{amount}) AS total,\n"
        f"       avg(a.{amount}) FILTER (WHERE a.store_id = %s) AS mean\n"
        f"  FROM {a.name} a JOIN {b.name} b ON a.product_id = b.product_id\n"
        f" WHERE b.{label} IN ('%s', '%s') AND a.id > %s\n GROUP BY 1 ORDER BY 2 DESC LIMIT %s"
    )
    return Template("report", text, ("number", "word", "word", "number", "number"), None, ())


SHAPES: dict[str, Callable[[random.Random, list[Table], str], Template]] = {
    "ctas_join": _ctas_join,
    "insert_aggregate": _insert_aggregate,
    "insert_by_position": _insert_by_position,
    "ctas_with": _ctas_with,
    "ctas_window": _ctas_window,
    "insert_union": _insert_union,
    "view_star": _view_star,
    "merge": _merge,
    "update_from": _update_from,
    "ctas_star": _ctas_star,
    "report": _report,
}
"""By kind: how to make a template of it."""
