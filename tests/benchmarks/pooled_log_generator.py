"""A synthetic query log without session ids, whose lineage is known: pooled users, nights, chains of temporary tables.

    python tests/benchmarks/pooled_log_generator.py --rows 20000 --templates 400 --out DIR

writes what query_log_generator.py writes, in Snowflake's SQL: eight users whose jobs run interleaved night after night;
a job is a chain of statements over temporary tables whose names other jobs use too, or a view or a table that is made
again, and says USE now and then. The same arguments give the same files.
"""

from __future__ import annotations

import csv
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from query_log_generator import DATABASE, DAY, DEFAULT_SCHEMA, Answer, base_tables, literal, run_generator, schema_sql
from query_log_shapes import Pair, Table, Template

HEADER = ("query_text", "start_time", "end_time", "user_name", "database_name", "schema_name", "status")
_USERS = 8
_AT_ONCE = 3
"""Jobs of one user that run interleaved."""
_TEMPORARY_NAMES = 30
_NIGHTS = timedelta(days=20)


@dataclass(frozen=True, slots=True)
class Job:
    """Statements of one night in their order, each with what it shows, and the temporary names that they use."""

    steps: tuple[Template, ...]
    names: frozenset[str]


def make_chain(rng: random.Random, tables: list[Table], number: int) -> Job:
    """A fact that is put together in two temporary tables, of which the second is sometimes left behind."""
    a, b = rng.sample(tables, 2)
    first, second = (f"stg_{n}" for n in rng.sample(range(_TEMPORARY_NAMES), 2))
    amount, label, moment = a.pick(rng, "numeric"), b.pick(rng, "text"), a.pick(rng, "timestamp")
    columns = {"customer_id": "bigint", "total": "numeric", "label": "text", "at": "timestamp"}
    target = Table(DEFAULT_SCHEMA, f"fact_{number:05d}", columns)
    pairs = (
        Pair(a, "customer_id", "customer_id"), Pair(a, amount, "total"),
        Pair(b, label, "label"), Pair(a, moment, "at"),
    )  # fmt: skip
    steps = [
        _silent(
            f"CREATE OR REPLACE TEMPORARY TABLE {first} AS\nSELECT a.customer_id, a.{amount}, a.{moment}, b.{label}\n"
            f"  FROM {a.name} a JOIN {b.name} b ON a.store_id = b.store_id WHERE a.{amount} > %s",
            "number",
        ),
        _silent(
            f"CREATE OR REPLACE TEMPORARY TABLE {second} AS\nSELECT s.*, 'run %s' AS origin FROM {first} s", "number"
        ),
        _silent(f"USE SCHEMA {DATABASE}.{DEFAULT_SCHEMA}"),
        Template(
            "chain",
            f"INSERT INTO {target.table} (customer_id, total, label, at)\n"
            f"SELECT customer_id, sum({amount}), upper({label}), max({moment}) FROM {second}\n"
            f" WHERE {moment} > '%s' GROUP BY customer_id, {label}",
            ("date",),
            target,
            (a, b),
            pairs,
            target_exists=True,
        ),
        _silent(f"DROP TABLE {first}"),
    ]
    if rng.random() < 0.5:
        steps.append(_silent(f"DROP TABLE IF EXISTS {second}"))
    return Job(tuple(steps), frozenset({first, second}))


def make_redefinition(rng: random.Random, tables: list[Table], number: int) -> Job:
    """A table that is made again every night, and a view over it that is too."""
    (a,) = rng.sample(tables, 1)
    label, moment = a.pick(rng, "text"), a.pick(rng, "timestamp")
    made = Table(DEFAULT_SCHEMA, f"daily_{number:05d}", {"id": "bigint", "label": "text", "at": "timestamp"})
    view = Table(DEFAULT_SCHEMA, f"v_{number:05d}", {})
    table = Template(
        "table",
        f"CREATE OR REPLACE TABLE {made.name} AS\n"
        f"SELECT id, {label} AS label, {moment} AS at FROM {a.name} WHERE {moment} > '%s'",
        ("date",),
        made,
        (a,),
        (Pair(a, "id", "id"), Pair(a, label, "label"), Pair(a, moment, "at")),
    )
    shown = tuple(Pair(made, column, column) for column in made.columns)
    text = f"CREATE OR REPLACE VIEW {view.name} AS SELECT * FROM {made.name} WHERE label <> '%s'"
    return Job((table, Template("view", text, ("word",), view, (made,), shown)), frozenset())


def _silent(text: str, *literals: str) -> Template:
    """A statement that shows no edge of its own."""
    return Template("step", text, literals, None, ())


def make_jobs(templates: int, rng: random.Random) -> tuple[list[Table], list[Job]]:
    """The tables that the jobs read, and jobs of about so many templates together."""
    tables, jobs = base_tables(rng), list[Job]()
    while sum(len(job.steps) for job in jobs) < templates:
        make = make_redefinition if len(jobs) % 4 == 3 else make_chain
        jobs.append(make(rng, tables, len(jobs)))
    return tables, jobs


def run_nights(jobs: list[Job], rng: random.Random) -> Iterator[tuple[int, Template]]:
    """Statements without end, each with its user: night after night all jobs, those of one user interleaved."""
    while True:
        waiting = [list(jobs[user::_USERS]) for user in range(_USERS)]
        running: list[list[tuple[Job, list[Template]]]] = [[] for _ in range(_USERS)]
        while any(waiting) or any(running):
            user = rng.randrange(_USERS)
            _begin(waiting[user], running[user])
            if running[user]:
                chosen = rng.randrange(len(running[user]))
                steps = running[user][chosen][1]
                yield user, steps.pop(0)
                if not steps:
                    running[user].pop(chosen)


def _begin(waiting: list[Job], running: list[tuple[Job, list[Template]]]) -> None:
    """Begins the next job of a user where it shares no temporary name with those that run: the log could not tell."""
    used = frozenset(name for job, _steps in running for name in job.names)
    if waiting and len(running) < _AT_ONCE and used.isdisjoint(waiting[0].names):
        job = waiting.pop(0)
        running.append((job, list(job.steps)))


def generate(out: Path, rows: int, templates: int, seed: int) -> None:
    out.mkdir(parents=True, exist_ok=True)
    rng = random.Random(seed)
    tables, jobs = make_jobs(templates, rng)
    answers = {id(step): Answer(n, step) for n, step in enumerate(step for job in jobs for step in job.steps)}
    pause = _NIGHTS / rows
    with (out / "query_log.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        for row, (user, step) in zip(range(rows), run_nights(jobs, rng), strict=False):
            answers[id(step)].rows += 1
            text = step.text % tuple(literal(kind, rng) for kind in step.literals)
            begin = DAY - _NIGHTS + pause * row
            end = begin + timedelta(milliseconds=rng.randint(5, 900))
            times = (moment.isoformat(" ", "milliseconds") for moment in (begin, end))
            writer.writerow((text, *times, f"pool_{user}", DATABASE, "", "success"))
    targets = [answer.template.target for answer in answers.values() if answer.template.target_exists]
    (out / "schema.sql").write_text(schema_sql([*tables, *(target for target in targets if target is not None)]))
    known = (answer for answer in answers.values() if answer.rows and answer.template.target is not None)
    (out / "answers.jsonl").write_text("".join(answer.to_json() + "\n" for answer in known))


if __name__ == "__main__":
    run_generator(generate, __doc__, rows=20_000, templates=400)
