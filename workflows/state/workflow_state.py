"""What a workflow remembers from its earlier runs, and what this run adds to it."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from sqlalchemy import Connection

from ingestion.errors import ConfigError
from ingestion.model.digests import digest
from ingestion.model.engine_names import EngineNameRules
from ingestion.model.file_marks import FileMarks
from ingestion.parsing.templates import ParsedTemplate
from workflows.config import RunConfig
from workflows.runtime.options import Backfill
from workflows.state.acknowledgements import (
    CompleteScope,
    PublishedState,
    acknowledge,
    acknowledged_targets,
    acknowledgements,
    edges_of_other_workflows,
    forget_edges,
    keys_of_other_workflows,
    targets_of_written_edges,
)
from workflows.state.dead_letters import DeadLetter, dead_letters_of, drop_resolved_dead_letters, file_dead_letters
from workflows.state.journal import (
    SECONDS_A_DAY,
    ReadState,
    Watermark,
    journal_of,
    position_of,
    store_position,
)
from workflows.state.lease import Lease
from workflows.state.log_files import files_read, note_files
from workflows.state.log_queries import (
    FiledMetric,
    LogQuery,
    QueryChanges,
    QueryKey,
    filed_metrics,
    known_queries,
    literal_key,
    store_changes,
)
from workflows.state.reading_code import parsing_version
from workflows.state.runs import records_of_last_run
from workflows.state.segments import (
    KnownRecords,
    Segment,
    digests_with,
    fingerprints_of,
    known_records,
    newest_of,
    oldest_of,
    queries_of,
)
from workflows.state.store import StateStore
from workflows.state.templates import ParserSettings, forget_templates, remember_templates, remembered_templates

_BINDING = frozenset(
    {
        "query_log_duration",
        "filter_condition",
        "database_filter_pattern",
        "schema_filter_pattern",
        "table_filter_pattern",
        "stored_procedure_filter_pattern",
        "override_view_lineage",
        "process_view_lineage",
        "process_query_lineage",
        "process_stored_procedure_lineage",
        "process_cross_database_lineage",
        "cross_database_service_names",
        "enable_temp_table_lineage",
        "incremental_lineage_processing",
        "process_entities",
    }
)
"""Of what a source is read with: all that lineage depends on."""


@dataclass(frozen=True, slots=True)
class RunCheckpoint:
    """What a run that came to its end adds: what it read (with the newest record's time and id), and what is open.

    `succeeded`: templates (by fingerprint) none of whose statements is dead any more; `read_again`: source ids of dead
    letters whose record was read again. `to_retry` counts names and edges to try again. `files_read` are
    those of the log that need no reading until they change, `files_known` those of which what is noted stays. `queries`
    are those that were taken apart.
    """

    segments: Sequence[Segment] = ()
    newest: float | None = None
    source_id: str = ""
    dead_letters: Iterable[DeadLetter] = ()
    succeeded: frozenset[str] = frozenset()
    read_again: frozenset[str] = frozenset()
    to_retry: int = 0
    files_read: FileMarks = field(default_factory=dict)
    files_known: Collection[str] = ()
    queries: QueryChanges | None = None


class WorkflowState:
    """The state of one workflow, as the run that holds its lease sees it. `sink` tells one catalog from another."""

    def __init__(self, store: StateStore, lease: Lease, config: RunConfig, extent: Backfill) -> None:
        self._store = store
        self._lease = lease
        self._config = config
        self._extent = extent
        self._version = _reading_version(config)
        self._settings = _settings_digest(config)
        self.parsing = ParserSettings(parsing_version(), config.limits, config.lineage.parser)
        self._journal = journal_of(store, lease.workflow, lease.run_id, config.headwater.state.folder)
        self.literal_key = literal_key(store) if config.lineage.process_entities else None
        self._latest = time.time() + SECONDS_A_DAY  # clocks differ, and zones are mistaken
        written = self._journal.present_files()
        with store.read() as connection:
            # what a whole source said before is not to be bound beside what it says now
            self._segments = [] if config.lineage.is_whole else self._journal.segments(connection)
            self.position = self._possible(position_of(connection, lease.workflow) or Watermark())
            self.templates = remembered_templates(
                connection, lease.workflow, self.parsing, config.headwater.templates_at_once
            )
            self.dead_letters = _dead_letters_to_read(dead_letters_of(connection, lease.workflow), extent)
            self._files = files_read(connection, lease.workflow)
        self._journal.remove_unnamed(written, self._segments)
        self._says_again = False
        self._starts_over = extent.full or config.lineage.is_whole or self.position.version != self._version
        self.past = self._past()

    def _possible(self, position: Watermark) -> Watermark:
        """The position, without a time that an earlier run took from a record and that cannot be yet."""
        if (position.newest or 0.0) <= self._latest and (position.complete_since or 0.0) <= self._latest:
            return position
        newest = newest_of(self._segments, self._latest)
        since = position.complete_since
        return replace(position, newest=newest, complete_since=None if since is None else min(since, self._latest))

    def _past(self) -> ReadState:
        """What needs no reading. A version that reads differently reads everything again that the log still has."""
        extent, known = self._extent, KnownRecords()
        if not self._starts_over:
            again = [digests_with(self._segments, self._stale_templates())]
            if extent.dead:
                dead = [letter.digest for letter in self.dead_letters if letter.digest is not None]
                again.append(np.array(dead, np.int64))
            read_again = np.unique(np.concatenate(again))
            known = replace(
                known_records(self._segments), again=read_again, between=extent.between, latest=self._latest
            )
        rereads = bool(self._segments) and (self._starts_over or known.leaves_out)
        return ReadState(
            known,
            self._segments,
            {} if self._starts_over or rereads or extent != Backfill() else self._files,
            None if extent.full else self.position.newest,
            rereads=rereads,
            between=extent.between,
            log_may_be_gone=extent.dead,
            latest=self._latest,
            written=self._journal.folder,
            everywhere=self._journal.is_everywhere,
            literal_key=self.literal_key,
            complete_since=self.position.complete_since,
        )

    def _stale_templates(self) -> set[str]:
        """The templates of the journal that are not remembered."""
        used = {fingerprint for fingerprint, _dialect in fingerprints_of(self._segments)}
        return used - {key[0] for key in self.templates}

    @property
    def must_rebind(self) -> bool:
        """Whether lineage may come out differently although nothing new was read."""
        changed = self.position.settings != self._settings or self.position.version != self._version
        return changed or self._says_again or bool(self.position.to_retry) or self._extent != Backfill()

    def records_of_last_run(self) -> tuple[int, Mapping[str, int]] | None:
        """As `records_of_last_run` of the runs has it."""
        with self._store.read() as connection:
            return records_of_last_run(connection, self._lease.workflow)

    def complete_scope(self, templates: frozenset[str], replaced: Mapping[str, frozenset[str]]) -> CompleteScope:
        """What a run that bound these templates over the whole journal knows the whole of.

        Templates that were replaced by others (by fingerprint) that it bound have ended: what they said is said under
        other keys, or is not true.
        """
        ended = frozenset(before for before, now in replaced.items() if now <= templates)
        return CompleteScope(templates, self.position.complete_since, ended, self.window)

    @property
    def window(self) -> float | None:
        """Where the window begins that was read before; None where all of it counts."""
        return self.horizon(self.past.newest)

    def acknowledged_targets(self, sink: str) -> list[str]:
        """The targets of which the sink has acknowledged anything, in order."""
        with self._store.read() as connection:
            return acknowledged_targets(connection, self._lease.workflow, sink)

    def acknowledged_states(self, sink: str, targets: Collection[str] | None = None) -> dict[str, PublishedState]:
        """What the sink has acknowledged of these `targets` (None: of all), by target.

        Of no content where everything is to be sent again.
        """
        with self._store.read() as connection:
            found = acknowledgements(connection, self._lease.workflow, sink, targets)
        return {target: replace(known, digest="") for target, known in found.items()} if self._extent.full else found

    def targets_of_written_edges(self, sink: str) -> list[str]:
        """The targets of edges that the sink can take back, in order."""
        with self._store.read() as connection:
            return targets_of_written_edges(connection, self._lease.workflow, sink)

    def keys_of_other_workflows(self, sink: str, targets: Collection[str]) -> dict[str, frozenset[str]]:
        """Under which keys other workflows of this state wrote what stands of these `targets`, by the target's id."""
        with self._store.read() as connection:
            return keys_of_other_workflows(connection, self._lease.workflow, sink, targets)

    def edges_of_other_workflows(self, sink: str, targets: Collection[str]) -> frozenset[tuple[str, str]]:
        """The edges into these `targets` that other workflows of this state say too, by the ids of their ends."""
        with self._store.read() as connection:
            return edges_of_other_workflows(connection, self._lease.workflow, sink, targets)

    def forget_edges(self, sink: str, target: str, sources: Collection[str]) -> None:
        """Forgets edges into a target that the sink has taken back, or that are another's. Raises LeaseHeld."""
        with self._store.write() as connection:
            self._lease.confirm(connection)
            forget_edges(connection, self._lease.workflow, sink, target, sources)

    def say_again(self, sink: str, known: Mapping[str, PublishedState]) -> None:
        """Keeps what stands in a sink out of which others have taken something: that is said again, also where the log
        has nothing new. Raises LeaseHeld like `acknowledge`."""
        self._says_again = True
        self.acknowledge(sink, known)

    def acknowledge(self, sink: str, done: Mapping[str, PublishedState]) -> None:
        """Keeps what the sink has acknowledged. Raises LeaseHeld where another run has taken over."""
        with self._store.write() as connection:
            self._lease.confirm(connection)
            acknowledge(connection, self._lease.workflow, sink, done)

    def remember(self, templates: Iterable[ParsedTemplate]) -> None:
        """Keeps what was parsed: true whatever becomes of the run. Raises LeaseHeld like `acknowledge`."""
        with self._store.write() as connection:
            self._lease.confirm(connection)
            remember_templates(connection, self._lease.workflow, templates, self.parsing)

    def commit(self, checkpoint: RunCheckpoint) -> None:
        """Notes what was read, all at once: from now on it needs no reading. Raises LeaseHeld like `acknowledge`."""
        workflow = self._lease.workflow
        newest = max(filter(None, (self.past.newest, checkpoint.newest)), default=None)
        written = self._journal.present_files()
        with self._store.write() as connection:
            self._lease.confirm(connection)
            self._store_journal(connection, checkpoint, newest)
            kept = self._journal.segments(connection)
            forget_templates(connection, workflow, fingerprints_of(kept) | queries_of(kept))
            drop_resolved_dead_letters(
                connection, workflow, templates=checkpoint.succeeded, source_ids=checkpoint.read_again
            )
            file_dead_letters(connection, workflow, checkpoint.dead_letters)
            advanced = newest is not None and newest == checkpoint.newest
            position = Watermark(
                newest,
                checkpoint.source_id if advanced else self.position.source_id,
                self._complete_since(newest),
                self._version,
                self._settings,
                checkpoint.to_retry,
            )
            store_position(connection, workflow, position)
            note_files(connection, workflow, checkpoint.files_read, checkpoint.files_known)
            if checkpoint.queries is not None:
                store_changes(connection, workflow, checkpoint.queries)
        self._journal.remove_unnamed(written, kept)

    def log_queries(self) -> tuple[dict[QueryKey, LogQuery], dict[str, FiledMetric]]:
        """The queries that earlier runs have taken apart, and the metrics that were filed of them, by identity."""
        with self._store.read() as connection:
            return known_queries(connection, self._lease.workflow), filed_metrics(connection, self._lease.workflow)

    def open_dead_letters(self) -> list[DeadLetter]:
        """The dead letters as they are now."""
        with self._store.read() as connection:
            return list(dead_letters_of(connection, self._lease.workflow))

    def _store_journal(self, connection: Connection, checkpoint: RunCheckpoint, newest: float | None) -> None:
        if self._config.lineage.is_whole:
            return
        segments = self._journal.without_small_files(checkpoint.segments)
        if self.past.rereads:
            # What is left to a later run (resultLimit) was skipped for a reason that may be none any more.
            self._journal.drop_records(connection, segments, skipped=self._starts_over)
        horizon = self.horizon(newest)
        if horizon is not None:
            self._journal.forget_before(connection, horizon)
        self._journal.append(connection, segments)
        self._journal.compact(connection)

    def horizon(self, newest: float | None) -> float | None:
        """Where the window begins that lineage is bound over; `newest` is the newest time read, since the epoch."""
        return None if newest is None else newest - self._config.lineage.days_kept * SECONDS_A_DAY

    def _complete_since(self, newest: float | None) -> float | None:
        horizon, oldest = self.horizon(newest), oldest_of(self._segments)
        before = self.position.complete_since
        if horizon is None or oldest is None or oldest >= horizon:
            return before
        return horizon if before is None else max(before, horizon)


def _reading_version(config: RunConfig) -> str:
    """What decides which statements a record has; another version reads a log again."""
    lineage, rules = config.lineage, config.name_rules
    procedures, condition = lineage.process_stored_procedure_lineage, lineage.filter_condition
    read = f"{parsing_version()}; {config.source.dialect}; procedures {procedures}; condition {condition}"
    if lineage.process_entities:
        read += "; entities"
    return read if rules == EngineNameRules() else f"{read}; places {digest(repr(rules))}"


def _settings_digest(config: RunConfig) -> str:
    """Of what lineage depends on besides the log; another one binds it again."""
    files = [(file.path.read_bytes(), file.database, file.schema_) for file in config.headwater.schema_files]
    ours = config.headwater
    wanted = sorted(config.lineage.model_dump(include=set(_BINDING)).items())
    parts = (
        config.source.service_name, wanted, ours.defaults, sorted(ours.catalog_services.items()),
        ours.register_tables, config.target, files, config.spark_catalogs, _log_reading(config),
        *(() if config.sink.config.writes_to_catalog else (config.sink.type, config.sink.config.identity(""))),
    )  # fmt: skip
    return digest(repr(parts))


def _log_reading(config: RunConfig) -> str:
    """With what a log's files are read that have not changed."""
    ours, connection = config.headwater, config.source.connection
    columns = sorted(ours.query_log_columns.by_field.items())
    return repr((ours.query_log_timezone, columns, connection.type if connection is not None else ""))


def _dead_letters_to_read(dead_letters: Iterable[DeadLetter], extent: Backfill) -> tuple[DeadLetter, ...]:
    """All of them, or those of the one statement that is to be read again. Raises ConfigError where there is none."""
    found = tuple(dead_letters)
    if not (extent.dead and extent.statement):
        return found
    wanted = tuple(one for one in found if extent.statement in (one.location_text, one.location[0], one.fingerprint))
    if not wanted:
        raise ConfigError(f"{extent.statement}: no dead statement stands there; the dead letters name each")
    return wanted
