"""Text to statements: split a script as its dialect splits, clean each statement, say what it does."""

from ingestion.lexing import ill_formed
from ingestion.statements.classification import classify
from ingestion.statements.cleaning import clean
from ingestion.statements.session_changes import SessionChange
from ingestion.statements.skip_reasons import Classification, SkipReason
from ingestion.statements.splitting import StatementText, is_single, split
from ingestion.statements.sql_words import holds_sql

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
