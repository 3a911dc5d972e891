"""Made-up pipelines that really run in DuckDB, tests that really fail, and faults that are put into them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import duckdb

FIRST_DAY = datetime(2026, 10, 1, tzinfo=UTC)
DAYS = 5
ROWS = 120
KEYS = ("id", "k", "day")
FAULTS = ("dropped rows", "nulls", "changed expression", "late load", "failed load", "type change")
SHAPES: dict[str, tuple[tuple[str, int, int], ...]] = {
    # layers of (name, tables, most parents), the first from landing
    "layers": (("raw", 4, 0), ("stg", 4, 1), ("mid", 4, 2), ("mart", 3, 2)),
    "narrow": (("raw", 3, 0), ("stg", 3, 1), ("mart", 4, 2)),
    "deep": (("raw", 2, 0), ("stg", 2, 1), ("one", 2, 2), ("two", 2, 1), ("three", 2, 2), ("mart", 2, 2)),
    "wide": (("raw", 7, 0), ("stg", 7, 1), ("hub", 2, 5), ("mart", 4, 2)),
    "star": (("raw", 6, 0), ("fact", 2, 4), ("mart", 6, 1)),
}
SEEN, HELD_OUT = ("layers", "narrow"), ("deep", "wide", "star")


@dataclass(frozen=True)
class Model:
    """A table that is emptied and filled each day; `columns` has the expression of each."""

    name: str
    parents: tuple[str, ...]
    columns: dict[str, str]
    grouped: bool = False
    where: str = ""

    @property
    def numbers(self) -> list[str]:
        return [column for column in self.columns if column not in KEYS]

    @property
    def insert(self) -> str:
        """The statement that fills it; parents have the aliases p0, p1, …"""
        listed = ", ".join(f"{text} AS {name}" for name, text in self.columns.items())
        joins = "".join(f" LEFT JOIN {one} p{i} ON p0.id = p{i}.id" for i, one in enumerate(self.parents[1:], 1))
        group = " GROUP BY p0.k" if self.grouped else ""
        names = ", ".join(self.columns)
        return f"INSERT INTO {self.name} ({names}) SELECT {listed} FROM {self.parents[0]} p0{joins}{self.where}{group}"


@dataclass(frozen=True)
class Check:
    """A test: a query that gives true where it holds."""

    table: str
    column: str | None
    name: str
    sql: str


@dataclass
class Case:
    """What a fault left behind: log records (time, statement, status), results of tests, loads that a job tells of."""

    number: int
    shape: str
    fault: str
    culprit: str
    asked: str = ""
    log: list[tuple[datetime, str, str]] = field(default_factory=list)
    results: dict[int, list[tuple[Check, bool]]] = field(default_factory=dict)
    loads: list[tuple[datetime, str, int | None, dict[str, str]]] = field(default_factory=list)
    """Time, table, rows (None: it failed), and the types of its columns."""


def pipeline(shape: str, chance: random.Random) -> list[Model]:
    """Tables in the order in which they are filled."""
    models: list[Model] = []
    above: list[Model] = []
    for layer, (name, count, most) in enumerate(SHAPES[shape]):
        made = []
        for number in range(count):
            table = f"{name}.t{number}"
            if not most:
                columns = {key: f"p0.{key}" for key in KEYS} | {f"v{i}": f"p0.v{i}" for i in range(3)}
                made.append(Model(table, (f"landing.t{number}",), columns))
                continue
            pool = above if layer < len(SHAPES[shape]) - 1 or chance.random() < 0.8 else above + made
            first = above[number] if most == 1 and len(above) == count else chance.choice(pool)
            others = [one for one in above if one is not first and not one.grouped]
            more = chance.randint(1, most - 1) if most > 1 else 0
            parents = (first, *chance.sample(others, min(len(others), more)))
            made.append(_model(table, parents, chance, grouped=layer == len(SHAPES[shape]) - 1 and not first.grouped))
        models += made
        above = made
    return models


def _model(table: str, parents: tuple[Model, ...], chance: random.Random, *, grouped: bool) -> Model:
    given = [f"p{i}.{column}" for i, one in enumerate(parents) for column in one.numbers]
    columns = {}
    for number in range(chance.randint(2, 4)):
        columns[f"v{number}"] = _expression(given, chance)
    names = tuple(one.name for one in parents)
    if not grouped:
        return Model(table, names, {key: f"p0.{key}" for key in KEYS} | columns)
    aggregated = {name: f"{chance.choice(('SUM', 'AVG'))}({text})" for name, text in columns.items()}
    return Model(table, names, {"id": "MIN(p0.id)", "k": "p0.k", "day": "MAX(p0.day)"} | aggregated, grouped=True)


def _expression(given: list[str], chance: random.Random) -> str:
    one, other = chance.choice(given), chance.choice(given)
    return chance.choice(
        (
            one,
            one,
            f"{one} * 2 + {other}",
            f"{one} - {other} * 0.1",
            f"CASE WHEN {one} > 40 THEN {one} ELSE {other} END",
        )
    )


def checks(models: list[Model], chance: random.Random) -> list[Check]:
    """Tests of some tables and columns, as projects have them: not all, and not everywhere the same."""
    found = []
    for model in models:
        watched = chance.random() < 0.8
        for column in model.numbers if watched else ():
            if chance.random() < 0.4:
                found.append(
                    Check(model.name, column, "not_null", f"SELECT count({column}) = count(*) FROM {model.name}")
                )
            if chance.random() < 0.4:
                mean = f"(SELECT avg({column}) FROM {model.name})"
                sql = f"SELECT {mean} BETWEEN {{low}} AND {{high}} -- {mean}"
                found.append(Check(model.name, column, "mean_between", sql))
        if watched and chance.random() < 0.5:
            count = f"(SELECT count(*) FROM {model.name})"
            found.append(
                Check(model.name, None, "row_count", f"SELECT {count} BETWEEN {{low}} AND {{high}} -- {count}")
            )
        if watched and chance.random() < 0.4:
            found.append(Check(model.name, None, "fresh", f"SELECT max(day) >= DATE '{{today}}' FROM {model.name}"))
    return found


class Warehouse:
    """One pipeline in a DuckDB of its own, day by day."""

    def __init__(self, models: list[Model], chance: random.Random) -> None:
        self.models, self.chance = models, chance
        self.engine = duckdb.connect(config={"threads": "1"})
        self.tests = checks(models, chance)
        self._bounds: dict[Check, tuple[float, float]] = {}

    def create(self) -> Iterator[str]:
        """Makes the tables, and tells the statements of those that the log has."""
        for schema in dict.fromkeys(("landing", *(model.name.partition(".")[0] for model in self.models))):
            self.engine.execute(f"CREATE SCHEMA {schema}")
        for model in self.models:
            kinds = {"id": "INTEGER", "k": "INTEGER", "day": "DATE"}
            columns = ", ".join(f"{column} {kinds.get(column, 'DOUBLE PRECISION')}" for column in model.columns)
            if model.parents[0].startswith("landing."):
                self.engine.execute(f"CREATE TABLE {model.parents[0]} ({columns})")
                yield f"CREATE TABLE {model.parents[0]} ({columns})"
            self.engine.execute(f"CREATE TABLE {model.name} ({columns})")
            yield f"CREATE TABLE {model.name} ({columns})"

    def land(self, day: int) -> None:
        """New data come in from outside."""
        today = f"{FIRST_DAY + timedelta(days=day):%Y-%m-%d}"
        for model in self.models:
            if model.parents[0].startswith("landing."):
                self.engine.execute(f"DELETE FROM {model.parents[0]}")
                values = ", ".join(f"{30 + 10 * i} + random() * 20" for i in range(3))
                self.engine.execute(
                    f"INSERT INTO {model.parents[0]} SELECT i, i % 12, DATE '{today}', {values} FROM range({ROWS}) r(i)"
                )

    def fill(self, model: Model) -> bool:
        """Carries out a load; whether it succeeded."""
        self.engine.execute("BEGIN")
        try:
            self.engine.execute(f"DELETE FROM {model.name}")
            self.engine.execute(model.insert)
        except duckdb.Error:
            self.engine.execute("ROLLBACK")
            return False
        self.engine.execute("COMMIT")
        return True

    def size(self, table: str) -> int:
        return int(self.engine.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0])

    def damage(self, fault: str, model: Model) -> None:
        """Rows or values are lost behind the log's back."""
        if fault == "dropped rows":
            self.engine.execute(f"DELETE FROM {model.name} WHERE random() < 0.6")
        else:
            column = self.chance.choice(model.numbers)
            self.engine.execute(f"UPDATE {model.name} SET {column} = NULL WHERE random() < 0.5")

    def verdicts(self, day: int) -> list[tuple[Check, bool]]:
        """What each test tells; the bounds are those of the first day."""
        if day > 1:  # all in one: it is only asked one by one where that fails
            try:
                row = self.engine.execute(
                    f"SELECT {', '.join(f'({self._sql(one, day)})' for one in self.tests)}"
                ).fetchone()
            except duckdb.Error:
                row = None
            if row is not None:
                return [(one, bool(held)) for one, held in zip(self.tests, row, strict=True)]
        return [(one, self._holds(one, day)) for one in self.tests]

    def _sql(self, one: Check, day: int) -> str:
        low, high = self._bounds.get(one, (0, 0))
        today = f"{FIRST_DAY + timedelta(days=day):%Y-%m-%d}"
        return one.sql.partition(" -- ")[0].format(low=low, high=high, today=today)

    def _holds(self, one: Check, day: int) -> bool:
        _, _, measured = one.sql.partition(" -- ")
        if measured and one not in self._bounds:
            usual = self.engine.execute(f"SELECT {measured}").fetchall()[0][0] or 0
            spread = abs(usual) * 0.25 + 1e-9
            self._bounds[one] = usual - spread, usual + spread
        try:
            return bool(self.engine.execute(self._sql(one, day)).fetchall()[0][0])
        except duckdb.Error:
            return False


def changed(model: Model, chance: random.Random) -> Model:
    """The model with another expression for one column, another filter, or only another number in it."""
    column = chance.choice(model.numbers)
    text = model.columns[column]
    others = sorted(
        {
            one
            for value in model.columns.values()
            for one in value.replace("(", " ").replace(")", " ").split()
            if one.startswith("p")
        }
    )
    kind = chance.choice(("factor", "nullif", "swapped", "number", "filter"))
    if kind == "filter" and not model.where:
        return replace(model, where=" WHERE p0.id % 3 = 0")
    if kind == "number" and " * 2" in text:
        return replace(model, columns={**model.columns, column: text.replace(" * 2", " * 20")})
    inner = {"nullif": "CASE WHEN {} > 0 THEN NULL END", "swapped": chance.choice(others) + " - {}"}.get(
        kind, "{} * 10"
    )
    if model.grouped:
        name, _, rest = text.partition("(")
        return replace(model, columns={**model.columns, column: f"{name}({inner.format('(' + rest[:-1] + ')')})"})
    return replace(model, columns={**model.columns, column: inner.format(f"({text})")})


def made_case(number: int, shape: str, seed: int) -> Case | None:
    """A pipeline with a fault on its last day; None where no test outside of the faulty table noticed it."""
    chance = random.Random(seed)
    models = pipeline(shape, chance)
    fault = FAULTS[number % len(FAULTS)]
    read = {parent for model in models for parent in model.parents}
    places = [m for m in models if m.name in read and (fault != "type change" or m.name.startswith("raw"))]
    culprit = chance.choice(places)
    warehouse = Warehouse(models, chance)
    warehouse.engine.execute(f"SELECT setseed({chance.random()})")
    case = Case(number, shape, fault, culprit.name)
    start = FIRST_DAY + timedelta(hours=1)
    case.log += [(FIRST_DAY + timedelta(seconds=i), sql, "ok") for i, sql in enumerate(warehouse.create())]
    told = {model.name for model in models if chance.random() < 0.5}
    for day in range(DAYS):
        warehouse.land(day)
        _run_day(case, warehouse, culprit, (start + timedelta(days=day), day == DAYS - 1), told)
        case.results[day] = warehouse.verdicts(day)
    flaky = {one for day in range(DAYS - 1) for one, passed in case.results[day] if not passed}
    case.results = {day: [r for r in found if r[0] not in flaky] for day, found in case.results.items()}
    order = [model.name for model in models]
    failing = [one.table for one, passed in case.results[DAYS - 1] if not passed and one.table != culprit.name]
    case.asked = max(failing, key=order.index, default="")
    warehouse.engine.close()
    return case if case.asked else None


def _run_day(case: Case, warehouse: Warehouse, culprit: Model, when: tuple[datetime, bool], told: set[str]) -> None:
    start, faulty = when
    chance = warehouse.chance
    late = case.fault == "late load" and chance.random() < 0.5
    for minute, model in enumerate(warehouse.models):
        time = start + timedelta(minutes=3 * minute, seconds=chance.randrange(60))
        hit = faulty and model.name == culprit.name
        if hit and case.fault in ("late load", "failed load"):
            if case.fault == "failed load" and chance.random() < 0.7:
                case.log.append((time, model.insert, "failed"))
                if model.name in told:
                    case.loads.append((time, model.name, None, {}))
            if late:
                continue_at = start + timedelta(hours=3)
                case.log += [(continue_at, f"TRUNCATE {model.name}", "ok"), (continue_at, model.insert, "ok")]
            continue
        if hit and case.fault == "type change":
            column = chance.choice(model.numbers)
            for table in (model.parents[0], model.name):
                sql = f"ALTER TABLE {table} ALTER COLUMN {column} TYPE VARCHAR"
                warehouse.engine.execute(sql)
                if table == model.name:
                    case.log.append((time, sql, "ok"))
        run = changed(model, chance) if hit and case.fault == "changed expression" else model
        succeeded = warehouse.fill(run)
        case.log.append((time, f"TRUNCATE {model.name}", "ok"))
        case.log.append((time, run.insert, "ok" if succeeded else "failed"))
        if hit and case.fault in ("dropped rows", "nulls"):
            warehouse.damage(case.fault, model)
        if model.name in told:
            kinds = {"id": "INTEGER", "k": "INTEGER", "day": "DATE"}
            types = {column: kinds.get(column, "DOUBLE PRECISION") for column in model.columns}
            if hit and case.fault == "type change":
                types[column] = "VARCHAR"
            case.loads.append((time, model.name, warehouse.size(model.name) if succeeded else None, types))
    if faulty and late:
        warehouse.fill(culprit)
