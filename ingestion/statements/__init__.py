"""Text to statements: split a script as its dialect splits, clean each statement, say what it does."""

from ingestion.dialects.lexing import ill_formed
from ingestion.model.outcomes import Outcome
from ingestion.statements._splitting import StatementText, is_single, split
from ingestion.statements.classification import Classification, classify
from ingestion.statements.cleaning import clean, holds_sql
from ingestion.statements.session_changes import SessionChange

__all__ = [
    "Classification",
    "Outcome",
    "SessionChange",
    "StatementText",
    "classify",
    "clean",
    "holds_sql",
    "ill_formed",
    "is_single",
    "split",
]
