"""Statements of a batch that is too large to be bound at once, analysed some at a time.

What a statement says follows from its form and the columns of what it reads. These go in, and what comes out is little
where it is looked at (the columns of what the statement makes) and packed where it is not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ingestion.binding.binder import bound_lineage
from ingestion.binding.relation_schemas import Schema, ShownColumns, shown_columns
from ingestion.binding.restored_names import Order
from ingestion.binding.timeline import Occurrence
from ingestion.isolation import Failure, FailureStage, Isolation
from ingestion.model import StatementKind, StatementLineage, TableName
from ingestion.symbolic import Symbolic
from workflows.batches.passes import BatchStages
from workflows.control.shelf import pack
from workflows.templates.parsing import ParsedTemplate

UNREAD = StatementLineage(StatementKind.OTHER)
"""Stands for what a statement says where its names alone are at hand."""


@dataclass(frozen=True, slots=True)
class PlacedStatement:
    """A statement by its number, whose `occurrence` has names alone, and the columns that it finds under these."""

    number: int
    occurrence: Occurrence
    schemas: Mapping[TableName, Schema | None]


@dataclass(frozen=True, slots=True)
class AnalysisPiece:
    """Statements none of which reads what another makes, and their templates by fingerprint."""

    templates: Mapping[str, ParsedTemplate]
    statements: tuple[PlacedStatement, ...]


@dataclass(frozen=True, slots=True)
class AnalysedStatement:
    """The lineage of a statement, packed where it can be, and the columns that it shows."""

    number: int
    order: Order
    lineage: bytes | StatementLineage
    shown: tuple[ShownColumns, ...]


@dataclass(frozen=True, slots=True)
class PieceAnalysis:
    """What the statements of a piece say, and why some of them were given up on."""

    statements: tuple[AnalysedStatement, ...]
    failures: Mapping[Order, Failure]


def analyse_piece(stages: BatchStages, piece: AnalysisPiece, _given: None) -> tuple[None, PieceAnalysis]:
    """What the statements of a `piece` say."""
    isolation = Isolation[Order](stages.binding.probe)
    forms: dict[str, Symbolic] = {}
    known: dict[object, StatementLineage] = {}
    found = []
    for one in piece.statements:
        order, template = one.occurrence.order, one.occurrence.template
        with isolation.around(FailureStage.ANALYSIS, order):
            if template not in forms:
                forms[template] = piece.templates[template].statement()
            symbolic = forms[template]
            isolation.probe(FailureStage.ANALYSIS, replace(one.occurrence, symbolic=symbolic))
            lineage = bound_lineage(symbolic, one.schemas, known)
            shown = shown_columns(lineage, carried_out=isinstance(symbolic, StatementLineage))
            found.append(AnalysedStatement(one.number, order, pack(lineage) or lineage, shown))
    return None, PieceAnalysis(tuple(found), isolation.failures)
