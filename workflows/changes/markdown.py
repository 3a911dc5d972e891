"""Texts of others in Markdown, written so that they stay data."""

from __future__ import annotations


def code(name: str) -> str:
    """A name as code, which nothing in it can end or turn into markup."""
    plain = cell(name)
    fence = "`" * (1 + max((len(run) for run in _runs(plain)), default=0))
    return f"{fence} {plain} {fence}" if "`" in plain else f"{fence}{plain}{fence}"


def _runs(text: str) -> list[str]:
    return [run for run in "".join(c if c == "`" else " " for c in text).split() if run]


def cell(text: str) -> str:
    """A text in one line, which ends no cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")
