"""What sessions have set after each change: of those that hold for a transaction, or depend on what is set already."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from ingestion.statements.session_changes import SessionChange, TransactionStep
from ingestion.statements.sessions import Session
from workflows.run.read.statements import ORDER, Row
from workflows.state.segments import EMPTIES, LOCAL, OF_TRANSACTION

_OF_CHANGE = ("sets", "set_database", "set_path", "set_how")
_CHANGES = f"(sets or (set_how is not null and set_how != '{EMPTIES}'))"
_BEGIN, _UNDONE, _KEPT = (
    f"{OF_TRANSACTION}{step}" for step in (TransactionStep.BEGIN, TransactionStep.UNDONE, TransactionStep.KEPT)
)
_EMPTIES_NOTHING = "\0"
"""Behind the session of what may have emptied nothing: one that has no table."""


def with_session_states(statements: DataFrame, *, are_few: bool) -> DataFrame:
    """`statements` (STATEMENT_SCHEMA) whose changes say what is set after them, whatever was set before.

    After `SET search_path TO web; BEGIN; SET LOCAL search_path TO mart` COMMIT sets web. Only what changes sessions is
    gone through, which is little beside a log.
    """
    statements = _with_sure_emptyings(statements, are_few=are_few)
    changes = statements.where(_CHANGES)
    placed = changes.coalesce(1) if are_few else changes.repartition("session")
    done = placed.sortWithinPartitions("session", *ORDER).mapInArrow(_follow_sessions, statements.schema)
    return statements.where(f"not {_CHANGES}").unionByName(done)


def _with_sure_emptyings(statements: DataFrame, *, are_few: bool) -> DataFrame:
    """`statements`, those that empty a table in a session of its own each where its rows may have come back.

    After `DELETE FROM t` they come back by a ROLLBACK that stands before the next transaction: where nothing ended the
    one before, BEGIN begins none. Nobody knows it of a session that has savepoints rolled back, or that deletes some
    rows at a time.
    """
    concerned = (F.col("set_how") == EMPTIES) | F.col("set_how").startswith(OF_TRANSACTION)
    marked = statements.where(concerned)
    marked = marked.coalesce(1) if are_few else marked
    own = Window.partitionBy("session")
    before = own.orderBy(*ORDER).rowsBetween(Window.unboundedPreceding, -1)
    behind = own.orderBy(*(F.desc(name) for name in ORDER)).rowsBetween(Window.unboundedPreceding, Window.currentRow)
    bound = F.when(~F.col("set_how").isin(EMPTIES, _KEPT), F.col("set_how"))
    within = F.last(bound, ignorenulls=True).over(before).eqNullSafe(_BEGIN)
    begun = (F.col("set_how") == _BEGIN) & ~within
    comes_back = F.when(F.col("set_how") == _UNDONE, F.lit(True)).when(begun, F.lit(False))
    found = marked.withColumn("comes_back", comes_back)
    undone = F.last("comes_back", ignorenulls=True).over(behind).eqNullSafe(F.lit(True))
    unsure = undone | F.max(F.col("set_how") == _KEPT).over(own)
    moved = F.when((F.col("set_how") == EMPTIES) & unsure, F.concat("session", F.lit(_EMPTIES_NOTHING)))
    done = found.withColumn("session", F.coalesce(moved, "session")).select(statements.columns)
    others = statements.where(~F.coalesce(concerned, F.lit(False)))
    return others.unionByName(done)


def _follow_sessions(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    name, session = None, Session()
    for batch in batches:
        own: list[Row] = []
        for row in batch.select(["session", *_OF_CHANGE]).to_pylist():
            if row["session"] != name:
                name, session = row["session"], Session()
            after = session.follow(_change_in(row))
            own.append(_absolute(row, session, after))
            session = after
        yield _with_columns(batch, own)


def _change_in(row: Row) -> SessionChange:
    """What a row of STATEMENT_SCHEMA says."""
    how, database, path = row["set_how"], row["set_database"], row["set_path"]
    if how is not None and str(how).startswith(OF_TRANSACTION):
        return SessionChange(transaction=TransactionStep(str(how).removeprefix(OF_TRANSACTION)))
    local = how == LOCAL
    if database == "":
        return SessionChange(reset=True, local=local)
    schemas = tuple(path) if isinstance(path, list) else None
    elsewhere = "" if how is None or local else str(how)
    return SessionChange(None if database is None else str(database), schemas, local=local, elsewhere=elsewhere)


def _absolute(row: Row, before: Session, after: Session) -> Row:
    """What is set after a change; what it leaves as it was is not set anew, and stays of the moment when it was."""
    was, now = before.namespace, after.namespace
    plain = row["set_how"] is None or row["set_how"] == LOCAL
    sets_path = now.search_path != was.search_path or (plain and row["set_path"] is not None)
    sets_database = now.database != was.database or (plain and row["set_database"] is not None)
    return {
        "sets": sets_path or sets_database,
        "set_database": now.database if sets_database else None,
        "set_path": list(now.search_path) if sets_path else None,
        "set_how": None,
    }


def _with_columns(batch: pa.RecordBatch, own: Sequence[Row]) -> pa.RecordBatch:
    for column in _OF_CHANGE:
        number = batch.schema.get_field_index(column)
        field = batch.schema.field(number)
        batch = batch.set_column(number, field, pa.array([row[column] for row in own], field.type))
    return batch
