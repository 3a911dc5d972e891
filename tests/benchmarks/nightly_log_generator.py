"""A synthetic query log as a warehouse keeps one: long statements, one nightly load after the other, no session ids.

    python tests/benchmarks/nightly_log_generator.py --rows 100000 --templates 2000 --out DIR

writes what query_log_generator.py writes, in PostgreSQL's SQL, at some 450 bytes a row: the jobs and the order of
pooled_log_generator.py, whose statements have lists of values, cases, intervals, comments with the number of the run,
and among which stand queries of people and statements that failed. The same arguments give the same files.
"""

from __future__ import annotations

import csv
import random
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from uuid import UUID

from pooled_log_generator import Job, run_nights
from query_log_generator import DATABASE, DAY, DEFAULT_SCHEMA, Answer, base_tables, literal, run_generator, schema_sql
from query_log_shapes import Pair, Table, Template

HEADER = ("query_id", "user_name", "database_name", "query_text", "start_time", "end_time", "status", "rows_produced")
_TEMPORARY_NAMES = 60
_NIGHTS = timedelta(days=20)
_FAILED, _ASKED = 0.01, 0.08
_DROP = "drop"
_FILTER = (
    "a.{moment} >= timestamp '%s 00:00:00' AND a.{moment} < timestamp '%s 00:00:00' + interval '1 day'\n"
    "   AND b.{label} IN ('%s', '%s', '%s')\n   AND a.{amount} BETWEEN %s AND %s AND coalesce(b.{label}, '') <> 'n/a'\n"
    "   AND (a.customer_id NOT IN (%s, %s, %s, %s, %s) OR a.product_id > %s) -- run %s\n"
    "   AND a.{moment} IS NOT NULL AND b.store_id IS NOT NULL AND a.{amount} * %s < %s"
)
_VALUES = ("date", "date", *("word",) * 3, *("number",) * 9, "factor", "number")


def make_load(rng: random.Random, tables: list[Table], number: int) -> Job:
    """A fact that is put together over three temporary tables and added to what is there."""
    a, b = rng.sample(tables, 2)
    names = [f"tmp_{n}" for n in rng.sample(range(_TEMPORARY_NAMES), 3)]
    read, marked, summed = names
    amount, label, moment = a.pick(rng, "numeric"), b.pick(rng, "text"), a.pick(rng, "timestamp")
    where = _FILTER.format(amount=amount, label=label, moment=moment)
    target = Table(
        DEFAULT_SCHEMA,
        f"load_{number:05d}",
        {"customer_id": "bigint", "total": "numeric", "label": "text", "at": "timestamp", "batch": "integer"},
    )
    pairs = (
        Pair(a, "customer_id", "customer_id"), Pair(a, amount, "total"), Pair(b, label, "label"), Pair(a, moment, "at"),
    )  # fmt: skip
    steps = (
        _step(
            f"/* nightly load {number}, run %s of %s */\nCREATE TEMPORARY TABLE {read} AS\n"
            f"SELECT a.customer_id, a.{amount} AS amount, a.{moment} AS moment, b.{label} AS label\n"
            f"  FROM {a.name} AS a\n  JOIN {b.name} AS b ON b.store_id = a.store_id AND b.product_id = a.product_id\n"
            f" WHERE {where}",
            ("number", "date", *_VALUES),
        ),
        _step(
            f"CREATE TEMPORARY TABLE {marked} AS\nSELECT r.customer_id, r.amount, r.moment, r.label,\n"
            "       CASE WHEN r.amount > %s THEN 'large' WHEN r.amount > %s THEN 'medium' ELSE 'small' END"
            " AS size_class,\n"
            f"       %s AS batch\n  FROM {read} AS r\n WHERE r.label IS NOT NULL AND r.label <> '%s'"
            " AND r.customer_id NOT IN (%s, %s, %s, %s, %s)",
            ("number", "number", "number", "word", "number", "number", "number", "number", "number"),
        ),
        _step(
            f"CREATE TEMPORARY TABLE {summed} AS\nSELECT customer_id, label, batch, sum(amount) AS total,"
            f" max(moment) AS latest\n  FROM {marked}\n WHERE size_class <> 'small' OR amount > %s\n"
            " GROUP BY customer_id, label, batch\nHAVING sum(amount) > %s",
            ("factor", "number"),
        ),
        Template(
            "load",
            f"-- run %s\nINSERT INTO {target.name} (customer_id, total, label, at, batch)\n"
            f"SELECT s.customer_id, s.total * %s, upper(s.label), s.latest, %s\n  FROM {summed} AS s\n"
            " WHERE s.latest >= date '%s' AND (s.batch <> %s OR s.customer_id IN"
            " (SELECT c.id FROM core.customers AS c))\n"
            "   AND s.total IS NOT NULL AND s.label NOT IN ('%s', '%s') AND s.latest < timestamp '%s 23:59:59'",
            ("number", "factor", "number", "date", "number", "word", "word", "date"),
            target,
            (a, b, next(table for table in tables if table.name == "core.customers")),
            pairs,
            target_exists=True,
        ),
        *(_step(f"DROP TABLE IF EXISTS {name}") for name in names),
    )
    return Job(steps, frozenset(names))


def make_table(rng: random.Random, tables: list[Table], number: int) -> Job:
    """A table that is dropped and made again every night, and a view over it."""
    a, b = rng.sample(tables, 2)
    amount, label, moment = a.pick(rng, "numeric"), b.pick(rng, "text"), a.pick(rng, "timestamp")
    made = Table(DEFAULT_SCHEMA, f"nightly_{number:05d}", {"id": "bigint", "label": "text", "total": "numeric"})
    view = Table(DEFAULT_SCHEMA, f"v_nightly_{number:05d}", {})
    where = _FILTER.format(amount=amount, label=label, moment=moment)
    table = Template(
        "table",
        f"CREATE TABLE {made.name} AS\nSELECT a.id, b.{label} AS label, a.{amount} AS total\n  FROM {a.name} AS a\n"
        f"  LEFT JOIN {b.name} AS b ON b.customer_id = a.customer_id\n WHERE {where}",
        _VALUES,
        made,
        (a, b),
        (Pair(a, "id", "id"), Pair(b, label, "label"), Pair(a, amount, "total")),
    )
    shown = tuple(Pair(made, column, column) for column in made.columns)
    text = (
        f"CREATE OR REPLACE VIEW {view.name} AS\nSELECT n.id, n.label, n.total FROM {made.name} AS n"
        " WHERE n.label <> '%s' AND n.total > %s"
    )
    drop = Template(_DROP, f"DROP TABLE IF EXISTS {made.name} CASCADE", (), made, ())
    return Job((drop, table, replace(table, kind="view", text=text, literals=("word", "number"), target=view,
                                     sources=(made,), pairs=shown)), frozenset())  # fmt: skip


def query_id(rng: random.Random) -> str:
    """What a server calls a statement."""
    return str(UUID(int=rng.getrandbits(128)))


def _step(text: str, literals: tuple[str, ...] = ()) -> Template:
    """A statement that shows no edge of its own."""
    return Template("step", text, literals, None, ())


def make_jobs(templates: int, rng: random.Random) -> tuple[list[Table], list[Job]]:
    """The tables that the jobs read, and jobs of about so many templates together."""
    tables, jobs = base_tables(rng), list[Job]()
    while sum(len(job.steps) for job in jobs) < templates:
        jobs.append((make_table if len(jobs) % 3 == 2 else make_load)(rng, tables, len(jobs)))
    return tables, jobs


def question(rng: random.Random, tables: list[Table]) -> str:
    """What a person asks, which bears no lineage."""
    a, b = rng.sample(tables, 2)
    amount, label, moment = a.pick(rng, "numeric"), b.pick(rng, "text"), a.pick(rng, "timestamp")
    where = _FILTER.format(amount=amount, label=label, moment=moment) % tuple(literal(kind, rng) for kind in _VALUES)
    return (
        f"SELECT b.{label}, date_trunc('month', a.{moment}) AS month, sum(a.{amount}) AS total\n  FROM {a.name} AS a\n"
        f"  JOIN {b.name} AS b ON b.store_id = a.store_id\n WHERE {where}\n GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 100"
    )


def generate(out: Path, rows: int, templates: int, seed: int) -> None:
    out.mkdir(parents=True, exist_ok=True)
    rng = random.Random(seed)
    tables, jobs = make_jobs(templates, rng)
    answers = {id(step): Answer(n, step) for n, step in enumerate(step for job in jobs for step in job.steps)}
    nights, pause = run_nights(jobs, rng), _NIGHTS / rows
    waiting: tuple[int, Template] | None = None
    gone = set[str]()
    with (out / "query_log.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        for row in range(rows):
            begin = DAY - _NIGHTS + pause * row
            end = begin + timedelta(milliseconds=rng.randint(5, 900))
            times = [moment.isoformat(" ", "milliseconds") for moment in (begin, end)]
            if rng.random() < _ASKED:
                asked = (f"analyst_{rng.randrange(30)}", DATABASE, question(rng, tables))
                writer.writerow((query_id(rng), *asked, *times, "success", rng.randrange(100)))
                continue
            user, step = waiting or next(nights)
            text = step.text % tuple(literal(kind, rng) for kind in step.literals)
            ran = (f"etl_{user}", DATABASE, text, *times)
            if rng.random() < _FAILED:
                writer.writerow((query_id(rng), *ran, "failed", ""))
                waiting = user, step  # which runs again
                continue
            waiting = None
            answers[id(step)].rows += 1
            if step.target is not None:
                (gone.add if step.kind == _DROP else gone.discard)(step.target.name)
            writer.writerow((query_id(rng), *ran, "success", rng.randrange(100_000)))
    targets = [answer.template.target for answer in answers.values() if answer.template.target_exists]
    (out / "schema.sql").write_text(schema_sql([*tables, *(target for target in targets if target is not None)]))
    known = (answer for answer in answers.values() if answer.rows and _stands(answer.template, gone))
    (out / "answers.jsonl").write_text("".join(answer.to_json() + "\n" for answer in known))


def _stands(template: Template, gone: set[str]) -> bool:
    """Whether there is what a template makes once the log ends, which may be between a table's DROP and its CREATE."""
    target, names = template.target, {table.name for table in template.sources}
    return target is not None and template.kind != _DROP and gone.isdisjoint({target.name, *names})


if __name__ == "__main__":
    run_generator(generate, __doc__, rows=20_000, templates=400)
