"""Hunt: queries of DuckDB's own tests beside what its plan says of what each column is made.

    python tests/hunts/duckdb_suite.py test/sql [--only 'join/**/*.test'] [--findings found.jsonl]

The folder is of files as DuckDB's sqllogictest runs them. Each has a database in memory and a process of its own, as
some of them are made to bring one down. Statements are executed; each query before it is, is compared. Told are counts:

equal         nothing differs
wrong, lost   ours says that a column is made of what it is not, or does not say of what it is
tables        other tables are read
count, names  there are more or fewer columns, or they are called otherwise
problems, refused, crash

Not differences of ours: calls with NULL and typeof(), which the engine folds away; generated columns, which it reads as
what they are generated from; macros, whose definition a query alone does not have; names with literals, as they are
masked.
"""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path

import duckdb

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from ingestion.analysis.analyzer import analyze
from ingestion.errors import LineageError
from ingestion.model.lineage import Column, LineageType, NameKind, Output, StatementLineage, TableName
from ingestion.parsing.sqlglot.tier import parse
from tests.differential.duckdb_plan import MARK, PlanLineage, UnreadPlan, lineage_of_plan
from tests.hunts.suite_counts import asked, in_own_process, tell

_QUERY = re.compile(
    r"(?:\s|--[^\n]*+\n|/\*.*?\*/|\()*+(?:select|with|from|values|table|pivot|unpivot)\b", re.IGNORECASE | re.DOTALL
)
_VIEW = re.compile(r"\s*+create\b.{0,80}?\bview\b.*?\bas\b(?P<query>.*)", re.IGNORECASE | re.DOTALL)
_OUTSIDE = re.compile(
    r"\s*+(?:copy|export|import|install|load|attach|checkpoint|vacuum|explain|restart)\b", re.IGNORECASE
)
_SYSTEM = re.compile(r"\b(?:duckdb_|pragma_|pg_|sqlite_master|information_schema)", re.IGNORECASE)
_SECONDS_OF_STATEMENT = 2.5


def main() -> int:
    """0 where nothing differs, 1 where something does."""
    return tell(asked(__doc__, "**/*.test"), lambda file: in_own_process(file, _send_differences))


def _send_differences(file: Path, sending: Connection) -> None:
    with duckdb.connect(config={"threads": 1, "memory_limit": "1500MB"}) as connection:
        for statement in _statements(file.read_text(errors="replace")):
            query = _query_of(statement)
            if query is not None and _SYSTEM.search(query) is None:
                with _time_limit(connection):
                    found = _differences(connection, query)
                if found is not None:
                    sending.send((" + ".join(found) or "equal", query, found))
            if query is not statement and _OUTSIDE.match(statement) is None:
                with suppress(duckdb.Error), _time_limit(connection):
                    connection.execute(statement)


@contextmanager
def _time_limit(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    timer = threading.Timer(_SECONDS_OF_STATEMENT, connection.interrupt)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _statements(text: str) -> Iterator[str]:
    """The statements of a file that are to succeed; of a loop those of its first turn."""
    values: list[tuple[str, str]] = []
    lines = iter(text.split("\n"))
    for line in map(str.strip, lines):
        words = line.split()
        if line.startswith(("foreach ", "loop ")):
            values.append((words[1], words[2] if len(words) > 2 else ""))
        elif line == "endloop" and values:
            values.pop()
        elif line.startswith(("statement", "query")):
            body = []
            for following in lines:
                if following.strip() in ("", "----"):
                    break
                body.append(following)
            statement = "\n".join(body).strip().rstrip(";")
            for name, value in values:
                statement = statement.replace(f"${{{name}}}", value)
            if "error" not in words[:2]:
                yield statement


def _query_of(statement: str) -> str | None:
    """The query that a statement is, or that a view is made of; None of others and of several in one."""
    if ";" in statement:
        return None
    view = _VIEW.match(statement)
    query = view["query"] if view is not None else statement
    return query if _QUERY.match(query) else None


def _differences(connection: duckdb.DuckDBPyConnection, query: str) -> dict[str, object] | None:
    """What differs, by kind; None where the engine does not say."""
    views: dict[str, tuple[list[str], PlanLineage]] = {}

    def columns_of(name: TableName) -> tuple[Column, ...] | None:
        quoted = ".".join('"' + part.replace('"', '""') + '"' for part in name.parts)
        try:
            columns = [row[0] for row in connection.execute(f"DESCRIBE SELECT * FROM {quoted}").fetchall()]
            views[name.table.lower()] = columns, lineage_of_plan(connection, f"SELECT * FROM {quoted}")
        except (duckdb.Error, UnreadPlan):
            return None
        return tuple(map(Column, columns))

    try:
        plan = lineage_of_plan(connection, query)
        names = [row[0] for row in connection.execute(f"DESCRIBE {query}").fetchall()]
    except (duckdb.Error, UnreadPlan, RecursionError):
        return None
    try:
        lineage = analyze(parse(query, "duckdb"), columns_of)
    except LineageError as error:
        return {"refused": str(error)}
    if len(lineage.flows) != 1:
        return {"flows": len(lineage.flows)}
    return {kind: what for kind, what in _compared(lineage, names, plan, views).items() if what}


def _compared(
    lineage: StatementLineage, names: list[str], plan: PlanLineage, views: dict[str, tuple[list[str], PlanLineage]]
) -> dict[str, object]:
    (flow,) = lineage.flows
    outputs = [output for output in flow.outputs if output.star is None]
    kinds: dict[str, object] = {"problems": [f"{each.kind.value} {each.subject}" for each in lineage.problems]}
    read = {name.table.lower() for name in flow.sources if name.kind is NameKind.TABLE}
    tables = {table.lower() for name in read for table in (views[name][1].tables if name in views else {name})}
    if tables != {table.lower() for table in plan.tables}:
        kinds["tables"] = [sorted(tables), sorted(plan.tables)]
    if len(outputs) != len(names):
        return {**kinds, "count": [len(outputs), len(names)]}
    if [output.name.lower() for output in outputs] != [name.lower() for name in names]:
        kinds["names"] = [[output.name for output in outputs], names]
    wrong, lost = [], []
    for output, made_of in zip(outputs, plan.columns, strict=False):
        if MARK in made_of:
            continue
        theirs = {(table.lower(), column.lower()) for table, column in made_of if column != "rowid"}
        wrong += [(output.name, *each) for each in _made_of(output, views, direct=True) - theirs]
        lost += [(output.name, *each) for each in theirs - _made_of(output, views, direct=False)]
    return {**kinds, "wrong": sorted(wrong), "lost": sorted(lost)}


def _made_of(output: Output, views: dict[str, tuple[list[str], PlanLineage]], *, direct: bool) -> set[tuple[str, str]]:
    """Our references of a column, those of views as the columns behind them."""
    found: set[tuple[str, str]] = set()
    for reference in output.references:
        if direct and reference.transformation.type is not LineageType.DIRECT:
            continue
        for source in reference.sources:
            columns, behind = views.get(source.table.table.lower(), ([], None))
            lowered = [column.lower() for column in columns]
            if behind is None or source.column.lower() not in lowered:
                found.add((source.table.table.lower(), source.column.lower()))
            else:
                made_of = behind.columns[lowered.index(source.column.lower())]
                found |= {(table.lower(), column.lower()) for table, column in made_of}
    return found


if __name__ == "__main__":
    sys.exit(main())
