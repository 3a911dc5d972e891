"""The tables that a log fills with rows of values or of a client: no table is a source of them, and they are filled."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from pyspark.sql import Row

from ingestion.analysis.symbolic import Symbolic
from ingestion.model.lineage import TableName
from ingestion.model.namespaces import Mention, NamespaceDefaults, may_be_temporary
from ingestion.resolution import Resolved, Resolver
from workflows.config import RunConfig
from workflows.run.group.names import temporary_names
from workflows.run.group.runs import OF_SESSION, with_session_namespaces
from workflows.run.publish.run_records import SourcelessWrites
from workflows.run.read.reader import Statements
from workflows.run.resolve.entities import is_allowed, is_guess

_MOST_FILLED = 20_000
"""Tables of a run, each by a name and where that is looked for."""


@dataclass(frozen=True, slots=True)
class FilledTables:
    """Finds them. `symbolic` gives all that is known of what statements do: which names are of temporary tables."""

    config: RunConfig
    defaults: NamespaceDefaults
    symbolic: Callable[[], Iterable[Symbolic]]

    def writes(self, filling: Iterable[Row], resolver: Resolver) -> SourcelessWrites:
        """By table, with the end of the statements that fill it; only tables that are meant for certain."""
        mentions = {
            (mention, str(row["skipped"])): None for row in filling for mention in _mentions(row, self.defaults)
        }
        wanted = list(dict.fromkeys(mention for mention, _reason in mentions))
        if any(may_be_temporary(name) for name, _namespace in wanted):
            temporary = temporary_names(self.symbolic())
            wanted = [one for one in wanted if not (may_be_temporary(one[0]) and one[0].table in temporary)]
        resolutions = zip(wanted, resolver.without_columns().resolve_all(wanted), strict=True)
        registers = self.config.registers_tables
        entities = {
            mention: (one.entity.id, one.entity.type)
            for mention, one in resolutions
            if isinstance(one, Resolved)
            and is_allowed(one.entity, self.config.lineage)
            and not (registers and is_guess(one))
        }
        found: dict[tuple[str, str], dict[str, tuple[str, ...]]] = {}
        for mention, reason in mentions:
            if mention in entities:
                found.setdefault(entities[mention], {})[reason] = ()
        return found


def filling_rows(statements: Statements) -> Sequence[Row]:
    """Each way in which a table that is filled is named, once for each place where that is looked for."""
    if not statements.statistics.filled:
        return ()
    are_few = statements.are_few
    filling = statements.frame.where("filled is not null").select(*OF_SESSION, "filled", "skipped")
    whole = statements.whole if statements.session_changes else None
    named = with_session_namespaces(filling.coalesce(1) if are_few else filling, whole, are_few=are_few)
    distinct = named.select("filled", "skipped", "namespace_database", "namespace_path").distinct()
    return distinct.limit(_MOST_FILLED).collect()


def _mentions(row: Row, defaults: NamespaceDefaults) -> list[Mention]:
    namespace = defaults.namespace(row["namespace_database"] or "", tuple(row["namespace_path"] or ()))
    return [(TableName(tuple(parts)), namespace) for parts in row["filled"]]
