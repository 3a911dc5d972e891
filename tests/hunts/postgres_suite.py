"""Hunt: queries of SQL scripts, each as a view of a real PostgreSQL, beside what pg_depend says that it reads.

    python tests/hunts/postgres_suite.py sql [--setup test_setup.sql] [--only join subselect] [--findings found.jsonl]

The folder is of scripts as psql runs them, such as src/test/regress/sql of PostgreSQL's sources. Each file has a
database of its own, made as --setup left the first one. Its statements are executed; of each query and view before it
is, a view is made and taken back, and compared: the names of its columns, the tables, the columns. Told are counts of

equal                 nothing differs
wrong tables/columns  ours reads what the server does not
lost tables/columns   the server reads what ours does not, and ours names it nowhere
names                 a column is called otherwise
problems, refused     ours says so

The server counts no column where a row is passed on whole (`SELECT t FROM t`), and a relation that a text names
(`'t'::regclass`); both are to be read in the findings. Catalogs (pg_…) are left out: no view depends on them.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from ingestion.analysis.analyzer import analyze
from ingestion.errors import LineageError
from ingestion.model.lineage import Column, NameKind, StatementLineage, TableName
from ingestion.parsing.sqlglot.tier import parse
from ingestion.statements import split
from tests.support.live_postgres import Session, server
from tests.support.server_folder import server_folder

_VIEW = "hunted_view"
_DEPENDENCIES = f"""
    SELECT DISTINCT s.relname, a.attname
    FROM pg_depend d
    JOIN pg_rewrite r ON r.oid = d.objid
    JOIN pg_class s ON s.oid = d.refobjid
    LEFT JOIN pg_attribute a ON a.attrelid = s.oid AND a.attnum = d.refobjsubid AND d.refobjsubid > 0
    WHERE d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass
      AND r.ev_class = '{_VIEW}'::regclass AND s.oid <> r.ev_class
"""
_COLUMNS = """
    SELECT attname FROM pg_attribute
    WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped
    ORDER BY attnum
"""
_QUERY = re.compile(r"[\s(]*+(?:select|with|values|table)\b(?!.*\bpg_sleep)", re.IGNORECASE | re.DOTALL)
_VIEW_HEAD = re.compile(
    r"create\s.{0,60}?\bview\s++(?:if\s++not\s++exists\s++)?([\w.]++|\"[^\"]*+\")", re.IGNORECASE | re.DOTALL
)
_DATA = re.compile(r"\bfrom\s++stdin\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ServerView:
    """What the server says of a view: its columns, and the tables and columns that it depends on."""

    text: str
    columns: list[str]
    tables: set[str]
    references: set[tuple[str, str]]


def main() -> int:
    """0 where nothing differs, 1 where something does."""
    given = _arguments()
    files = [file for file in sorted(given.folder.glob("*.sql")) if not given.only or file.stem in given.only]
    found, findings = Counter[str](), given.findings.open("w") if given.findings else None
    with server_folder() as folder, server(folder / "data") as (_, uri):
        with _session(uri, "postgres") as session:
            session.execute("CREATE DATABASE hunted")
        if given.setup:
            with _session(uri, "hunted") as session:
                for statement in _statements(given.folder / given.setup):
                    _execute(session, statement)
        for number, file in enumerate(files):
            for kind, view, detail in _differences(uri, f"hunted_{number}", file):
                found[kind] += 1
                if findings is not None and kind != "equal":
                    findings.write(json.dumps({"file": file.name, "kind": kind, "sql": view, "detail": detail}) + "\n")
    for kind, times in found.most_common():
        print(f"{times:7d} {kind}")
    return 0 if found.keys() <= {"equal"} else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--setup")
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--findings", type=Path)
    return parser.parse_args()


def _statements(file: Path) -> Iterator[str]:
    """The statements of a script, without psql's own commands and the rows of COPY … FROM STDIN."""
    lines, in_data = [], False
    for line in file.read_text(errors="replace").split("\n"):
        if not in_data and not line.startswith("\\"):
            lines.append(line)
        in_data = (in_data or _DATA.search(line) is not None) and line.strip() != "\\."
    for statement in split("\n".join(lines), "postgres"):
        yield statement.text


@contextmanager
def _session(uri: str, database: str) -> Iterator[Session]:
    with psycopg.connect(uri, dbname=database, autocommit=True) as session:
        session.execute("SET statement_timeout = '4s'")
        yield session


def _execute(session: Session, statement: str) -> None:
    with suppress(psycopg.Error):
        session.execute(statement.encode())


def _differences(uri: str, database: str, file: Path) -> Iterator[tuple[str, str, object]]:
    with _session(uri, "postgres") as session:
        session.execute(f"CREATE DATABASE {database} TEMPLATE hunted".encode())
    with suppress(psycopg.OperationalError), _session(uri, database) as session:
        for statement in _statements(file):
            for view in _views(session, statement):
                made = _server_view(session, view)
                if isinstance(made, ServerView):
                    differences = _compared(session, made)
                    yield " + ".join(differences) or "equal", view, differences
                    break
            _execute(session, statement)
    with _session(uri, "postgres") as session:
        session.execute(f"DROP DATABASE {database} WITH (FORCE)".encode())


def _views(session: Session, statement: str) -> Iterator[str]:
    """The views that a statement can be: of a query a second one with a list of columns, where names clash."""
    head = _VIEW_HEAD.match(statement)
    if head is not None:
        yield f"{statement[: head.start(1)]}{_VIEW}{statement[head.end(1) :]}"
    elif _QUERY.match(statement):
        yield f"CREATE VIEW {_VIEW} AS {statement}"
        with suppress(psycopg.Error), session.transaction(force_rollback=True):
            shape = session.execute(f"SELECT * FROM ({statement}) q LIMIT 0".encode()).description or ()
            yield f"CREATE VIEW {_VIEW} ({', '.join(f'c{number}' for number in range(len(shape)))}) AS {statement}"


def _server_view(session: Session, view: str) -> ServerView | None:
    """What the server says of a view, which stands only while it is asked; None where it refuses it."""
    try:
        with session.transaction(force_rollback=True):
            session.execute(view.encode())
            rows = session.execute(_DEPENDENCIES.encode()).fetchall()
            columns = [name for (name,) in session.execute(_COLUMNS.encode(), (_VIEW,)).fetchall()]
    except psycopg.Error:
        return None
    return ServerView(
        view, columns, {table for table, _ in rows}, {(table, column) for table, column in rows if column}
    )


def _compared(session: Session, view: ServerView) -> dict[str, list[Any]]:
    """What differs, by kind."""
    known: dict[tuple[str, ...], Sequence[Column] | None] = {}

    def columns_of(name: TableName) -> Sequence[Column] | None:
        if name.parts not in known:
            quoted = ".".join(f'"{part}"' for part in name.parts)
            rows = session.execute(_COLUMNS.encode(), (quoted,)).fetchall()
            known[name.parts] = tuple(Column(column) for (column,) in rows) or None
        return known[name.parts]

    try:
        lineage = analyze(parse(view.text, "postgres"), columns_of)
    except LineageError as error:
        return {"refused": [str(error)]}
    tables, references, unused, names = _read_by(lineage)
    lost = view.references - references - unused
    kinds = {
        "wrong tables": tables - view.tables,
        "lost tables": view.tables - tables - {table for table, _ in unused},
        "wrong columns": references - view.references,
        "lost columns": lost,
        "names": set() if names == view.columns else {str((names, view.columns))},
        "problems": {f"{problem.kind.value} {problem.subject}" for problem in lineage.problems},
    }
    return {kind: sorted(items) for kind, items in kinds.items() if items}


def _read_by(lineage: StatementLineage) -> tuple[set[str], set[tuple[str, str]], set[tuple[str, str]], list[str]]:
    """The tables that are read, their columns, those that are named alone, and the columns of the view."""
    outputs = [output for flow in lineage.flows for output in flow.outputs]
    references = [reference for flow in lineage.flows for reference in flow.indirect]
    references += [reference for output in outputs for reference in output.references]
    columns = {(one.table.table, one.column) for reference in references for one in reference.sources}
    tables = {name.table for flow in lineage.flows for name in flow.sources if name.kind is NameKind.TABLE}
    unused = {(one.table.table, one.column) for one in lineage.unused}
    own = {name for name in tables if not name.startswith("pg_")}
    return own, {one for one in columns if one[0] in own}, unused, [output.name for output in outputs]


if __name__ == "__main__":
    sys.exit(main())
