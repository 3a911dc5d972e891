"""Text to statements: split a script as its dialect splits, clean each statement, say what it does."""

from ingestion.dialects.lexing import ill_formed
from ingestion.statements._splitting import StatementText, is_single, split
from ingestion.statements.classification import Classification, SkipReason, classify
from ingestion.statements.cleaning import clean, holds_sql
from ingestion.statements.session_changes import SessionChange

__all__ = [
    "Classification",
    "SessionChange",
    "SkipReason",
    "StatementText",
    "classify",
    "clean",
    "holds_sql",
    "ill_formed",
    "is_single",
    "split",
]
