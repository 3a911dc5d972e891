"""Hunt: queries of ClickHouse's own tests beside what its analyzer says of what each column is made.

    pip install chdb
    python tests/hunts/clickhouse_suite.py tests/queries/0_stateless [--only '001*.sql'] [--findings found.jsonl]

The folder is of files as ClickHouse's clickhouse-test runs them. Each has the engine in a process of its own. What
creates is executed, and nothing is filled; queries and writes are analysed alone. Told are counts:

equal         nothing differs
wrong, lost   ours says that a column is made of what it is not, or does not say of what it is
tables        other tables are read
count, names  there are more or fewer columns, or they are called otherwise
problems, refused

Not compared: queries with functions that read tables of which the tree does not tell (merge, view, dictGet and their
like), and of hidden columns (_part).
A column's parts (`m.keys`, `t.1`) are taken as the column; names with literals as they are masked.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from ingestion.analysis.analyzer import analyze
from ingestion.errors import LineageError
from ingestion.model.lineage import Column, LineageType, NameKind, Output, StatementLineage, TableName
from ingestion.parsing.sqlglot.tier import parse
from tests.differential.clickhouse_tree import TreeLineage, lineage_of_tree
from tests.hunts.suite_counts import asked, in_own_process, is_called, tell

_TOKEN = re.compile(
    r"""(?P<gap>--[^\n]*|\#[! ][^\n]*|/\*.*?\*/)|'(?:\\.|''|[^'\\])*+'|"(?:\\.|[^"\\])*+"|`(?:\\.|[^`\\])*+`"""
    r"""|\$(?P<mark>\w*)\$.*?\$(?P=mark)\$|(?P<end>;)|(?P<other>.)""",
    re.DOTALL,
)
_EXECUTED = re.compile(r"\s*+(?:create|drop|alter|rename|set|use|attach|detach|exchange)\b", re.IGNORECASE)
_QUERY = re.compile(r"[\s(]*+(?:select|with|from)\b", re.IGNORECASE)
_WRITE = re.compile(
    r"\s*+(?:insert\s+into\b|create\b[^()]*?\bview\b).*?(?P<query>\(?\s*+\b(?:select\b|with\b(?!\s+(?:fill|ties)\b)).*)",
    re.IGNORECASE | re.DOTALL,
)
_VIEW_TO = re.compile(r"\s*+create\s+materialized\s+view\b[^()]*?\sto\s", re.IGNORECASE)
_FORMAT = re.compile(r"\bformat\s+\w+(?=\s*+(?:settings\b[^()]*+)?\Z)", re.IGNORECASE)
_OUTSIDE = re.compile(
    r"\b(?:s3\w*|gcs|url\w*|mysql|postgresql|mongodb|redis|hdfs\w*|kafka|rabbitmq|nats|azure\w*|iceberg\w*|hudi\w*|"
    r"deltalake\w*|joinget\w*|dict(?:get|has)\w*|dictionary|insert[^;]*?\bformat\b(?!\s+null)|remote\w*|odbc|jdbc|executable|outfile|ytsaurus|arrowflight)\b\s*+\(?|\benable_analyzer\b"
    r"|\ballow_experimental_analyzer\b",
    re.IGNORECASE,
)
_HIDDEN_TABLES = {"system.one"}
_OTHER_TABLES = ("merge", "view", "remote", "cluster", "loop", "dictionary", "viewIfPermitted", "mergeTree", "fuzz")


def main() -> int:
    """0 where nothing differs, 1 where something does."""
    return tell(asked(__doc__, "**/*.sql"), lambda file: in_own_process(file, _send_differences))


class _Refused(Exception):
    """The engine refuses a statement."""


class _Engine:
    """An engine with a database of its own."""

    def __init__(self, home: str) -> None:
        from chdb import session  # not above: its threads do not come along into a process that is made of this one

        os.chdir(home)  # tables of files are made there
        self._session = session.Session(home)
        for statement in ("CREATE DATABASE suite", "USE suite", "SET max_execution_time = 2"):
            self.run(statement)

    def run(self, statement: str) -> list[list[str]]:
        """The rows of its answer. Raises `_Refused`."""
        try:
            answer = self._session.query(statement, "JSONCompactEachRow")
        except RuntimeError as error:
            raise _Refused(str(error)) from error
        return [json.loads(line) for line in str(answer).splitlines()]


def _send_differences(file: Path, sending: Connection) -> None:
    with tempfile.TemporaryDirectory() as home:
        engine = _Engine(home)
        for statement in _statements(file.read_text(errors="replace")):
            if _OUTSIDE.search(statement):
                continue
            query = _query_of(statement)
            if query is not None:
                with suppress(_Refused):
                    found = _differences(engine, statement, query)
                    sending.send((" + ".join(found) or "equal", statement, found))
            if _EXECUTED.match(statement):
                with suppress(_Refused):
                    engine.run(statement)


def _statements(text: str) -> Iterator[str]:
    """The statements of a file without their comments."""
    statement = ""
    for token in _TOKEN.finditer(text.replace("{CLICKHOUSE_DATABASE:Identifier}", "suite")):
        if token["end"]:
            yield statement.strip()
            statement = ""
        else:
            statement += " " if token["gap"] else token[0]
    yield statement.strip()


def _query_of(statement: str) -> str | None:
    """The query that a statement is, or of which it writes what it gives."""
    write = _WRITE.match(statement)
    query = write["query"] if write is not None else statement
    return _FORMAT.sub("", query) if _QUERY.match(query) else None


def _differences(engine: _Engine, statement: str, query: str) -> dict[str, object]:
    """What differs, by kind. Raises `_Refused`."""
    known: dict[str, list[str]] = {}

    def columns_of(name: TableName) -> tuple[Column, ...] | None:
        quoted = ".".join("`" + part.replace("`", "``") + "`" for part in name.parts)
        try:
            rows = engine.run(f"DESCRIBE TABLE {quoted}")
        except _Refused:
            return None
        known[name.table.lower()] = [row[0] for row in rows]
        return tuple(Column(row[0], row[1]) for row in rows)

    tree = engine.run(f"EXPLAIN QUERY TREE passes = 1 {query}")
    theirs = lineage_of_tree("\n".join(row[0] for row in tree))
    if any(function.startswith(_OTHER_TABLES) for function in theirs.functions):
        raise _Refused
    try:
        lineage = analyze(parse(statement, "clickhouse"), columns_of)
    except LineageError as error:
        return {"refused": str(error)}
    if len(lineage.flows) != 1 + (_VIEW_TO.match(statement) is not None):
        return {"flows": len(lineage.flows)}
    for table in theirs.tables:
        columns_of(TableName(tuple(table.split("."))))
    named = query is statement or _WRITE.match(statement) is None
    return {kind: what for kind, what in _compared(lineage, theirs, known, named=named).items() if what}


def _compared(
    lineage: StatementLineage, theirs: TreeLineage, known: dict[str, list[str]], *, named: bool
) -> dict[str, object]:
    flow = lineage.flows[0]
    outputs = [output for output in flow.outputs if output.star is None]
    kinds: dict[str, object] = {"problems": [f"{each.kind.value} {each.subject}" for each in lineage.problems]}
    read = {
        name.table.lower() for name in flow.sources if name.kind is NameKind.TABLE and name.dotted not in _HIDDEN_TABLES
    }
    tables = {_bare(table) for table in theirs.tables - _HIDDEN_TABLES}
    if read != tables:
        kinds["tables"] = [sorted(read), sorted(tables)]
    if len(outputs) != len(theirs.names):
        return {**kinds, "count": [[output.name for output in outputs], theirs.names]}
    names = list(zip((output.name for output in outputs), theirs.names, strict=True))
    kinds["names"] = [[own, other] for own, other in names if named and not is_called(own, other)]
    wrong, lost = [], []
    for output, made_of in zip(outputs, theirs.columns, strict=True):
        other = {_whole(_bare(table), column, known) for table, column in made_of if table not in _HIDDEN_TABLES}
        wrong += [(output.name, *each) for each in _made_of(output, known, direct=True) - other]
        lost += [(output.name, *each) for each in other - _made_of(output, known, direct=False)]
    return {**kinds, "wrong": sorted(wrong), "lost": sorted(lost)}


def _bare(table: str) -> str:
    return table.rsplit(".", 1)[-1].strip("`").lower()


def _whole(table: str, column: str, known: dict[str, list[str]]) -> tuple[str, str]:
    """The column of a table that a reference is to, or is to a part of."""
    names = [each.lower() for each in known.get(table, []) if f"{column}.".lower().startswith(f"{each}.".lower())]
    return table, max(names, key=len, default=column.lower())


def _made_of(output: Output, known: dict[str, list[str]], *, direct: bool) -> set[tuple[str, str]]:
    return {
        _whole(source.table.table.lower(), source.column, known)
        for reference in output.references
        if not direct or reference.transformation.type is LineageType.DIRECT
        for source in reference.sources
        if source.table.dotted not in _HIDDEN_TABLES
    }


if __name__ == "__main__":
    sys.exit(main())
