"""What moves a schema, or a database, in a log: with the tables that the log knows of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

from ingestion.analysis.analyzer import lineage_with_names
from ingestion.analysis.symbolic import dumps
from ingestion.binding import schema_changes
from ingestion.model.isolation import FailureStage, Isolation
from ingestion.model.lineage import TableUsageNames
from ingestion.model.namespaces import Namespace, NamespaceDefaults, RelationKey
from ingestion.parsing.templates import ParsedTemplate


class _RunsOfTemplates(Protocol):
    templates: list[str]
    namespaces: list[tuple[str, tuple[str, ...]]]


def with_tables_of_schemas(
    templates: Mapping[str, ParsedTemplate],
    names: Mapping[str, TableUsageNames],
    runs: _RunsOfTemplates,
    defaults: NamespaceDefaults,
    isolation: Isolation[str],
) -> Mapping[str, ParsedTemplate]:
    """The templates (by fingerprint) that move all tables of a schema, with these tables; none where none does."""
    moving = {key for key, of_one in names.items() if schema_changes.changes_namespaces(of_one)}
    if not moving:
        return {}
    known = set[RelationKey]()
    found: defaultdict[str, set[Namespace]] = defaultdict(set)
    for key, (database, path) in zip(runs.templates, runs.namespaces, strict=True):
        namespace = defaults.namespace(database, path)
        if key in moving:
            found[key].add(namespace)
        elif key in names:
            known.update(schema_changes.keys_of(names[key], namespace))
    others: dict[str, ParsedTemplate] = {}
    for key in sorted(moving):
        with isolation.around(FailureStage.ANALYSIS, key):
            statement = templates[key].statement()
            # One text in two databases moves the tables of both: each by their whole names, where it finds them.
            each = [
                schema_changes.with_tables_of_schemas(statement, one, known)
                for one in sorted(found[key] or {defaults.namespace("", ())}, key=str)
            ]
            changes = tuple(dict.fromkeys(change for one in each for change in one.changes))
            whole = replace(each[0], changes=changes)
            others[key] = replace(templates[key], symbolic=lineage_with_names(dumps(whole), whole))
    return others
