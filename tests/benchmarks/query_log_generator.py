"""A synthetic query log whose lineage is known: N rows in T templates, as a warehouse's nightly jobs would log them.

    python tests/benchmarks/query_log_generator.py --rows 100000 --templates 2000 --out DIR

writes `query_log.csv` (an export with a header), `schema.sql` (every table that exists before the log begins) and
`answers.jsonl`: for each template its target, the tables it reads, its direct column pairs and its rows. The same
arguments give the same files.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from query_log_shapes import SHAPES, Table, Template

HEADER = (
    "query_text", "start_time", "end_time", "user_name", "database_name", "schema_name", "session_id", "status",
)  # fmt: skip
DATABASE, DEFAULT_SCHEMA = "warehouse", "mart"
DAY = datetime(2026, 11, 19)

_SUBJECTS = {
    "sales": "orders order_lines refunds baskets quotes vouchers invoices returns",
    "core": "customers products stores suppliers employees regions currencies categories",
    "web": "visits clicks sessions searches signups campaigns pages devices",
    "finance": "ledger payments fees taxes budgets accruals transfers balances",
    "stock": "movements counts receipts shipments lots bins transfers_in orders_open",
}
_AMOUNTS = ("amount", "net", "gross", "discount", "cost", "margin", "weight", "volume", "price", "tax", "fee")
_TEXTS = ("status", "channel", "country", "city", "label", "segment", "note", "code", "source", "brand", "email")
_MOMENTS = ("created_at", "updated_at", "booked_at", "closed_at", "shipped_at", "seen_at")
_WORDS = ("paid", "open", "new", "web", "shop", "north", "south", "gold", "silver", "retail", "b2b", "late", "early")


def base_tables(rng: random.Random) -> list[Table]:
    """Tables that the templates read, a dozen columns each."""
    tables = []
    for schema, subjects in _SUBJECTS.items():
        for subject in subjects.split():
            columns = {"id": "bigint", "customer_id": "bigint", "product_id": "bigint", "store_id": "bigint"}
            columns |= dict.fromkeys(rng.sample(_AMOUNTS, 4), "numeric")
            columns |= dict.fromkeys(rng.sample(_TEXTS, 4), "text")
            columns |= dict.fromkeys(rng.sample(_MOMENTS, 2), "timestamp")
            tables.append(Table(schema, subject, columns))
    return tables


@dataclass(slots=True)
class Answer:
    """What is known of one template."""

    number: int
    template: Template
    rows: int = 0

    def to_json(self) -> str:
        template = self.template
        return json.dumps(
            {
                "id": self.number,
                "kind": template.kind,
                "target": template.target and template.target.name,
                "sources": sorted({table.name for table in template.sources}),
                "columns": sorted([pair.table.name, pair.column, pair.output] for pair in set(template.pairs)),
                "rows": self.rows,
            }
        )


@dataclass(slots=True)
class Log:
    """The templates and what they need."""

    tables: list[Table]
    answers: list[Answer] = field(default_factory=list)
    targets: list[Table] = field(default_factory=list)


def make_templates(count: int, rng: random.Random) -> Log:
    """`count` different templates, of all shapes in turn."""
    log = Log(base_tables(rng))
    names = list(SHAPES)
    for number in range(count):
        kind = names[number % len(names)]
        shape: Callable[..., Template] = SHAPES[kind]
        template = shape(rng, log.tables, f"{kind}_{number:05d}")
        if template.target is not None and template.target_exists:
            log.targets.append(template.target)
        log.answers.append(Answer(number, template))
    return log


def literal(kind: str, rng: random.Random) -> str:
    """One of the values that differ from row to row."""
    if kind == "date":
        return f"2026-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"
    if kind == "word":
        return rng.choice(_WORDS)
    if kind == "factor":
        return f"{rng.randint(1, 99) / 100:.2f}"
    return str(rng.randint(1, 99_999))


def write_log(path: Path, log: Log, rows: int, rng: random.Random) -> None:
    """Rows in the order of time over one day; every template at least once, some far more often than others."""
    users = [f"job_{number:02d}" for number in range(12)]
    count = len(log.answers)
    step = timedelta(days=1) / max(rows, 1)
    with path.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow(HEADER)
        for row in range(rows):
            answer = log.answers[row if row < count else min(int(rng.paretovariate(0.35)) - 1, 10**9) % count]
            answer.rows += 1
            template = answer.template
            text = template.text % tuple(literal(kind, rng) for kind in template.literals)
            begin = DAY + step * row
            end = begin + timedelta(milliseconds=rng.randint(5, 90_000))
            session = rng.randrange(40)
            writer.writerow(
                (
                    text, begin.isoformat(" ", "milliseconds"), end.isoformat(" ", "milliseconds"),
                    users[session % len(users)], DATABASE, DEFAULT_SCHEMA, f"s{session:02d}", "success",
                )
            )  # fmt: skip


def schema_sql(tables: Sequence[Table]) -> str:
    schemas = sorted({table.schema for table in tables} | {DEFAULT_SCHEMA})
    statements = [f"CREATE SCHEMA {schema};" for schema in schemas]
    for table in tables:
        columns = ",\n  ".join(f"{name} {type_}" for name, type_ in table.columns.items())
        statements.append(f"CREATE TABLE {table.name} (\n  {columns}\n);")
    return "\n".join(statements) + "\n"


def generate(out: Path, rows: int, templates: int, seed: int) -> None:
    out.mkdir(parents=True, exist_ok=True)
    rng = random.Random(seed)
    log = make_templates(templates, rng)
    write_log(out / "query_log.csv", log, rows, rng)
    (out / "schema.sql").write_text(schema_sql([*log.tables, *log.targets]))
    (out / "answers.jsonl").write_text("".join(answer.to_json() + "\n" for answer in log.answers if answer.rows))


def run_generator(
    generate: Callable[[Path, int, int, int], None], description: str | None, rows: int, templates: int
) -> None:
    """Calls `generate` with what the command line says: folder, rows, templates, seed."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=rows)
    parser.add_argument("--templates", type=int, default=templates)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    generate(arguments.out, arguments.rows, arguments.templates, arguments.seed)


if __name__ == "__main__":
    run_generator(generate, __doc__, rows=100_000, templates=2_000)
