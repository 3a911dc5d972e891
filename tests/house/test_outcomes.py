"""The words for how a statement, a name or an edge ends are written in one table, and nowhere else."""

from __future__ import annotations

import ast

from ingestion.model.outcomes import Outcome, ProblemKind, WriteOutcome
from tests.house.source_tree import modules

CODES = frozenset(outcome.value for table in (Outcome, WriteOutcome, ProblemKind) for outcome in table)

OTHER_MEANINGS = {
    **dict.fromkeys(("call", "comment", "cursor", "delete", "explain", "index", "lock", "prepare"), "a word of SQL"),
    **dict.fromkeys(("select", "temporary", "transaction", "truncate", "new", "show"), "a word of SQL"),
    **dict.fromkeys(("published", "ambiguous", "unresolved"), "a count of a report"),
    **dict.fromkeys(("merged", "replaced", "unchanged", "rejected"), "a key of the catalog's answers"),
    "definition": "a field of what is filed of a table",
    "failed": "a state of loads, runs and checks",
    "filtered": "a count of a pipeline's step, as OpenMetadata calls it",
    "memory": "a check of `ingest doctor`",
    "timeout": "a setting of databases",
    "unread": "a key of the answer to a diff of manifests",
}
"""Codes that are words for something else too."""

OF_OTHERS = {
    "ingestion.errors": "an error's code is the error's, and the table takes it from there",
    "ingestion.model.outcomes": "the table",
    "ingestion.parsing.fallback._sqlfluff_tree": "sqlfluff's name of a node",
    "ingestion.statements": "the name of a function",
}


def _written() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for module in modules():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in CODES:
                found.setdefault(node.value, set()).add(module.name)
    return found


def test_a_code_is_written_in_the_table_alone() -> None:
    elsewhere = {code: homes - OF_OTHERS.keys() for code, homes in _written().items() if code not in OTHER_MEANINGS}
    assert {code: homes for code, homes in elsewhere.items() if homes} == {}


def test_each_exception_is_needed() -> None:
    written = _written()
    assert [word for word in OTHER_MEANINGS if not written.get(word, set()) - OF_OTHERS.keys()] == []
    homes = {home for code, found in written.items() if code not in OTHER_MEANINGS for home in found}
    assert OF_OTHERS.keys() - homes == set()
