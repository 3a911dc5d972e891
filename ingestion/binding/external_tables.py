"""Tables that lie over files elsewhere: CREATE EXTERNAL TABLE and its kin read what their LOCATION holds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from ingestion.analysis.analyzer import without_schema
from ingestion.analysis.symbolic import Symbolic
from ingestion.dialects import Dialect, dialect_of
from ingestion.dialects.cursor import Code, string_content
from ingestion.dialects.definition import keywords
from ingestion.dialects.lexing import STRING
from ingestion.model.lineage import (
    ColumnRef,
    Flow,
    Output,
    Reference,
    StarOutput,
    StatementKind,
    Subtype,
    TableChange,
    Target,
    Transformation,
    WriteMode,
)
from ingestion.model.storage_paths import location

_CLAUSES = keywords("location external_location path uris uri")
_BETWEEN = keywords("= : ( [ , as")
_MAY_HAVE_ONE = re.compile(r"\b(?:location|external_location|path|uris?)\b", re.IGNORECASE)
_STAGE = re.compile(r"\blocation\s*=\s*(@[^\s;,)]+)", re.IGNORECASE)
_IS_PATH = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/|/|@")


def may_have_location(text: str) -> bool:
    """Whether `with_location` may find anything: where not, a statement's lineage need not be at hand."""
    return _MAY_HAVE_ONE.search(text) is not None


def with_location(symbolic: Symbolic, text: str, dialect: str) -> Symbolic:
    """The lineage of a CREATE TABLE, with what flows from its LOCATION to its columns of the same names.

    `text` is the statement: `CREATE TABLE t (a INT) USING csv LOCATION '/in'` fills t.a from the column a of /in.
    A table that is also filled by a query holds what the query gives: its location adds nothing.
    """
    if symbolic.kind is not StatementKind.CREATE_TABLE or not may_have_location(text):
        return symbolic
    lineage = without_schema(symbolic)
    created = next((change for change in lineage.changes if change.kind is StatementKind.CREATE_TABLE), None)
    if created is None or lineage.flows:
        return symbolic
    flows = tuple(_flow(created, path) for path in dict.fromkeys(_locations(text, dialect_of(dialect))))
    if not flows:
        return symbolic
    return replace(lineage, flows=flows)


def _locations(text: str, dialect: Dialect) -> Iterator[str]:
    """The paths that a CREATE TABLE names as the place of its data."""
    stage = _STAGE.search(text)
    if stage is not None and dialect.stage_names:
        yield stage[1]
        return
    code = Code.of(text, dialect)
    # A path below a T-SQL data source says nothing without it.
    relative = any(code.word(index) == "data_source" for index in range(len(code.tokens)))
    for index in range(len(code.tokens)):
        if _names_clause(code, index):
            for path in _strings(code, index + 1):
                if _IS_PATH.match(path) and not relative:
                    yield path


def _names_clause(code: Code, index: int) -> bool:
    token = code.tokens[index]
    written = string_content(token.text, code.dialect) if token.kind == STRING else token.text
    return written.lower() in _CLAUSES


def _strings(code: Code, index: int) -> Iterator[str]:
    while index < len(code.tokens):
        token = code.tokens[index]
        if token.kind == STRING:
            yield string_content(token.text, code.dialect)
            if code.word(index + 1) != ",":
                return
        elif code.word(index) not in _BETWEEN:
            return
        index += 1


def _flow(created: TableChange, path: str) -> Flow:
    source = location(path)
    target = Target(created.name, WriteMode.APPEND)
    identity = Transformation(Subtype.IDENTITY)
    outputs = tuple(
        Output(column.name, (Reference((ColumnRef(source, column.name),), identity),), column.type)
        for column in created.columns
    )
    return Flow(target, outputs or (Output("*", (), "", StarOutput(source)),), (), (source,))
