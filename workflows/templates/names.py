"""What the grouping of occurrences has to know of each template's names."""

from __future__ import annotations

from collections.abc import Collection

from ingestion.binding.statement_names import TableUsageNames, mentions
from ingestion.isolation import FailureStage, Isolation
from ingestion.model import NameKind, StatementKind, TableName
from ingestion.names.namespaces import may_be_temporary
from workflows.templates.grouping import TableUsage
from workflows.templates.parsing import ParsedTemplate

_ENDING_KINDS = frozenset({StatementKind.DROP, StatementKind.RENAME, StatementKind.SWAP})


_NOTHING = TableUsageNames((), (), (), ())


def names_of(templates: Collection[ParsedTemplate], isolation: Isolation[str]) -> dict[str, TableUsage]:
    """The names of every template, by fingerprint; one that could not be parsed has none.

    A template is temporary when it mentions a name that some template creates as a temporary relation: what it means
    then depends on its session. `isolation` gets those whose names cannot be read off.
    """
    mentioned = {t.fingerprint: _NOTHING for t in templates}
    for template in templates:
        if template.symbolic is not None:
            with isolation.around(FailureStage.ANALYSIS, template.fingerprint):
                isolation.probe(FailureStage.ANALYSIS, template)
                mentioned[template.fingerprint] = mentions(template.symbolic)
    temporary = {name.table for names in mentioned.values() for name, is_temporary in names.created if is_temporary}
    return {fingerprint: _names(names, temporary) for fingerprint, names in mentioned.items()}


def _names(names: TableUsageNames, temporary: set[str]) -> TableUsage:
    every = list(names.names())
    ended = frozenset(change.name.table for change in names.changes if change.kind in _ENDING_KINDS)
    gained = frozenset(
        change.other.table for change in names.changes if change.kind in _ENDING_KINDS and change.other is not None
    )
    altered = frozenset(change.name.table for change in names.changes if change.kind is StatementKind.ALTER_TABLE)
    return TableUsage(
        mentioned=frozenset(_own(name) for name in every),
        defined=frozenset(_own(name) for name, _temporary in names.created) | gained | altered,
        ended=ended,
        temporary=any(name.table in temporary and may_be_temporary(name) for name in every),
    )


def _own(name: TableName) -> str:
    """A name without what qualifies it: a function's is one part, however it is written."""
    return name.table.rpartition(".")[2] if name.kind is NameKind.FUNCTION else name.table
