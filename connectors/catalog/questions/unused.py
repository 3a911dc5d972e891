"""What nobody reads, ranked by what it costs: tables, columns and dashboards without a reader in a stretch of time.

It is claimed only of what logs cover: of a table whose service has a log of which the readers are known, that no query
of the stretch read, and that leads to nothing which is read or whose readers no log tells.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from sqlalchemy import Connection, func, select, union_all

from connectors.catalog.contract.entity_types import LINEAGE_TYPES
from connectors.catalog.graph import CatalogGraph
from connectors.catalog.questions.answer import Answer
from connectors.catalog.questions.file import open_catalog
from connectors.catalog.questions.tables import CatalogTable, tables_under
from connectors.catalog.store.database import loads, now_millis
from connectors.catalog.store.entities.entities import EntityRow, any_rows_of
from connectors.catalog.store.evidence import readers
from connectors.catalog.store.evidence.readers import KnownRead, KnownSpan, RunTotals
from connectors.catalog.store.lineage.reads import Moment
from connectors.catalog.store.lineage.window import DAY
from connectors.catalog.store.schema import attributes, entities, intervals
from ingestion.model import fqn
from ingestion.model.lineage import Json
from ingestion.model.uses import ColumnUseKind
from ingestion.walk import ColumnNode, Walk, node_name

DAYS = 90
MOST_ITEMS = 1_000
_EVERY = 10_000_000
TABLE, VIEW, COLUMN, DASHBOARD = "table", "view", "column", "dashboard"
_ROWS = ""
"""In place of a column's path: the rows of a table, which only what decides over them leads on from."""
_VIEWS = ("View", "SecureView")
_MOST_NAMED = 5
MEASURED_IN = "measuredIn"
"""In the extension of a metric: where it was found, a workflow's log or files."""
_OTHER_SERVICE = "service without a log of readers"
_LEADS_OUT = "leads to what no log tells the readers of"
_DAY_OF_EPOCH = date(1970, 1, 1).toordinal()


@dataclass(frozen=True, slots=True)
class UnusedOptions:
    """The `days` before `as_of` (milliseconds; None: the newest record of the logs), and `under` which name.

    What the readers `but_for` read counts as read by nobody: who looks at everything, as a test does.
    """

    days: int = DAYS
    as_of: int | None = None
    under: str | None = None
    but_for: tuple[str, ...] = ()
    limit: int = MOST_ITEMS


# The answer.


@dataclass(frozen=True, slots=True)
class Coverage:
    """What the log of a workflow tells of the readers of a `service`: from `first` to `last` (milliseconds).

    `selects` ran there, of which so many are `read`; `unread` are the others, and `may_read` statements beside them
    that may read something for somebody, both by reason; `undated` have no time. `days` of the stretch that is asked
    for have any statement, of so many that the log spans.
    """

    source: str
    service: str
    first: int | None
    last: int | None
    selects: int
    read: int
    undated: int
    days: int
    unread: Mapping[str, int] = field(default_factory=dict)
    may_read: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> Json:
        """The same as JSON."""
        return {
            "source": self.source,
            "service": self.service,
            "from": self.first,
            "to": self.last,
            "selects": self.selects,
            "read": self.read,
            "unread": dict(self.unread),
            "mayRead": dict(self.may_read),
            "undated": self.undated,
            "days": self.days,
        }


@dataclass(frozen=True, slots=True)
class LastTime:
    """When something was read or written last (milliseconds; None: nothing tells when), by whom and how."""

    at: int | None
    who: str = ""
    how: str = ""

    def to_json(self) -> Json:
        """The same as JSON."""
        return {"at": self.at, "who": self.who} | ({"how": self.how} if self.how else {})


@dataclass(frozen=True, slots=True)
class Unused:
    """A table, a view, a column or a dashboard without a reader.

    `only_by`: what is made of it, which nobody reads either, the nearest first. `since`: known only since then, later
    than the stretch begins. `cost`: what its runs took in the stretch, None where no run is known.
    """

    kind: str
    name: str
    id: str
    column: str = ""
    only_by: tuple[str, ...] = ()
    only_by_count: int = 0
    owners: tuple[str, ...] = ()
    since: int | None = None
    last_read: LastTime | None = None
    last_written: LastTime | None = None
    cost: RunTotals | None = None

    @property
    def full_name(self) -> str:
        """The name of the column, or of the whole."""
        return self.name if not self.column else f"{self.name}.{self.column}"

    def ask(self) -> tuple[str, ...]:
        """Who may know what it is for: its owners, else who wrote it last, else who read it last."""
        last = [one.who for one in (self.last_written, self.last_read) if one is not None and one.who]
        return self.owners or tuple(dict.fromkeys(last))

    def to_json(self) -> Json:
        """The same as JSON."""
        times = {"lastRead": self.last_read, "lastWritten": self.last_written}
        written: Json = {
            "kind": self.kind,
            "entity": {"id": self.id, "fullyQualifiedName": self.name},
            "column": self.column or None,
            "onlyReadBy": list(self.only_by),
            "onlyReadByCount": self.only_by_count,
            "owners": list(self.owners),
            "ask": list(self.ask()),
            "knownSince": self.since,
            **{key: None if time is None else time.to_json() for key, time in times.items()},
        }
        return written | {"cost": None if self.cost is None else _cost_json(self.cost)}


def _cost_json(cost: RunTotals) -> Json:
    taken = {"seconds": cost.seconds, "bytes": cost.bytes, "credits": cost.credits}
    return {"runs": cost.runs, "statements": cost.statements, **taken}


@dataclass(frozen=True, slots=True)
class StarColumn:
    """A column that is read by nobody but through a star (`SELECT *`): whether the value is used, nothing tells."""

    name: str
    last: LastTime

    def to_json(self) -> Json:
        """The same as JSON."""
        return {"column": self.name, "last": self.last.to_json()}


@dataclass(frozen=True, slots=True)
class UnusedReport:
    """What nobody reads from `since` to `until` (milliseconds), the dearest first; `columns` are of tables that are.

    `claimed_from`: from when on a reader would be known, later than `since` where the logs begin later; None where
    nothing is covered. `counts` are of tables and columns by what is known of them. `not_claimed` says, by reason, of
    how many tables and dashboards nothing is claimed.
    """

    days: int
    since: int
    until: int
    claimed_from: int | None
    coverage: tuple[Coverage, ...]
    counts: Mapping[str, int]
    not_claimed: Mapping[str, int]
    unused: tuple[Unused, ...] = ()
    columns: tuple[Unused, ...] = ()
    by_star: tuple[StarColumn, ...] = ()
    but_for: tuple[str, ...] = ()

    def to_json(self) -> Json:
        """The same as JSON."""
        return {
            "window": {"days": self.days, "since": self.since, "until": self.until, "claimedFrom": self.claimed_from},
            "coverage": [one.to_json() for one in self.coverage],
            "counts": dict(self.counts),
            "notClaimed": dict(self.not_claimed),
            "butFor": list(self.but_for),
            "unused": [one.to_json() for one in self.unused],
            "columns": [one.to_json() for one in self.columns],
            "onlyByStar": [one.to_json() for one in self.by_star],
        }


# What logs cover.


def _coverage(spans: Iterable[KnownSpan], since: int, until: int) -> Iterator[Coverage]:
    """The spans of each workflow that reach into the stretch, as one."""
    of_source: defaultdict[tuple[str, str], list[KnownSpan]] = defaultdict(list)
    for span in spans:
        if (span.last is None or span.last >= since) and (span.first is None or span.first <= until):
            of_source[span.source, span.service].append(span)
    for (source, service), some in sorted(of_source.items()):
        counted: Counter[str] = Counter()
        for span in some:
            counted.update(span.counts)
        days = {day for span in some for day in span.days if since <= (day + 1) * DAY and day * DAY <= until}
        first = min((span.first for span in some if span.first is not None), default=None)
        last = max((span.last for span in some if span.last is not None), default=None)
        unread, may_read = (_reasons(counted, kind) for kind in ("unread", "mayRead"))
        plain = counted["selects"], counted["read"], counted["undated"]
        yield Coverage(source, service, first, last, *plain, len(days), unread, may_read)


def _reasons(counted: Mapping[str, int], kind: str) -> dict[str, int]:
    found = {key.partition(":")[2]: count for key, count in counted.items() if key.startswith(f"{kind}:")}
    return dict(sorted(found.items(), key=lambda one: (-one[1], one[0])))


# What is read, directly and by what is made of it.


@dataclass(frozen=True, slots=True)
class _Reached:
    """Columns and tables (by ids) that something leads back to."""

    nodes: frozenset[ColumnNode]
    tables: frozenset[str]

    @classmethod
    def of(cls, graph: CatalogGraph, starts: Iterable[ColumnNode]) -> _Reached:
        walk = Walk(tuple(starts), graph.upstream.hops).finish()
        return cls(frozenset(walk.arrivals), frozenset(table for table, _path in walk.arrivals))

    def has(self, table: str, path: str) -> bool:
        """Whether a column is among them: where all of a table may be meant, each is."""
        return (table, path) in self.nodes or (table, None) in self.nodes


@dataclass(frozen=True, slots=True)
class _Readers:
    """Who read what: within the stretch, by stars alone, and when last before it."""

    starts: frozenset[ColumnNode]
    by_star: frozenset[ColumnNode]
    last: Mapping[ColumnNode, KnownRead]

    @classmethod
    def of(cls, known: Iterable[KnownRead], since: int, until: int, but_for: Iterable[str]) -> _Readers:
        named, star, last = set[ColumnNode](), set[ColumnNode](), dict[ColumnNode, KnownRead]()
        left_out = {name.casefold() for name in but_for}
        for one in known:
            if one.reader.casefold() in left_out or (one.last is not None and one.last > until and not one.undated):
                continue
            node = _node_of(one)
            inside = one.undated or (one.last is not None and one.last >= since)
            if inside:
                (star if one.how == ColumnUseKind.STAR and one.path else named).add(node)
            for key in {node, (one.entity, None)}:
                if (last[key].last or 0 if key in last else -1) < (one.last or 0):
                    last[key] = one
        return cls(frozenset(named | star), frozenset(star - named), last)


def _node_of(read: KnownRead) -> ColumnNode:
    if read.path:
        return read.entity, read.path
    return read.entity, _ROWS if read.how == ColumnUseKind.ROWS else None


# The question.


def unused_in_file(file: Path, options: UnusedOptions) -> Answer[UnusedReport]:
    """What nobody reads of a catalog's file. Raises ConfigError for a name that nothing is called by."""
    with open_catalog(file) as connection:
        return unused_report(connection, options)


def unused_report(connection: Connection, options: UnusedOptions) -> Answer[UnusedReport]:
    """The same of an open catalog."""
    spans = readers.known_spans(connection)
    newest = max((span.last for span in spans if span.last is not None), default=None)
    until = options.as_of if options.as_of is not None else newest or now_millis()
    since = until - options.days * DAY
    coverage = tuple(_coverage(spans, since, until))
    firsts = [one.first for one in coverage if one.first is not None and one.selects]
    claimed_from = max(since, *firsts) if firsts else None
    return _Search(connection, options, since, until, coverage).report(claimed_from)


def unread_tables(connection: Connection, days: int) -> frozenset[str]:
    """The tables and dashboards (by id) that nobody read in so many days."""
    found = unused_report(connection, UnusedOptions(days, limit=_EVERY)).content
    return frozenset(one.id for one in found.unused)


@dataclass(frozen=True, slots=True)
class _Ends:
    """Where lineage ends whose use no log tells, and what is but a query that was taken apart (by ids).

    `dashboards` are those whose use clients tell, `used` the ones among them that had any.
    """

    outside: Mapping[str, str]
    queries: frozenset[str]
    dashboards: Mapping[str, EntityRow]
    used: frozenset[str]

    @classmethod
    def of(cls, connection: Connection, sources: Iterable[str], since: int, until: int) -> _Ends:
        rows = _entities_beside_tables(connection)
        ours = frozenset(sources)
        boards = {row.id: row for row in rows if row.type == DASHBOARD}
        first, last = (_DAY_OF_EPOCH + at // DAY for at in (since, until))
        uses = readers.known_uses(connection, DASHBOARD, first, last)
        begin = readers.first_use(connection, DASHBOARD)
        known = boards if begin is not None and begin <= last else {}
        used = frozenset(one for one, use in uses.items() if use.times) & known.keys()
        of_known = {part: row.id for row in known.values() for part in _parts_of(row)}
        queries = frozenset(row.id for row in rows if _is_query(row, ours))
        outside = {
            row.id: row.type for row in rows if row.id not in queries and of_known.get(row.id, row.id) not in known
        }
        used_parts = {part for part, board in of_known.items() if board in used}
        return cls(outside, queries, known, used | used_parts)


def _entities_beside_tables(connection: Connection) -> list[EntityRow]:
    kinds = [kind for kind in LINEAGE_TYPES if kind != TABLE]
    where = (entities.c.type.in_(kinds), entities.c.deleted.is_(False))
    return list(connection.execute(select(entities).where(*where).order_by(entities.c.fqn)))


def _parts_of(dashboard: EntityRow) -> Iterator[str]:
    """The charts and the data models of a dashboard, by their ids."""
    document = loads(dashboard.document)
    yield from (str(one["id"]) for key in ("charts", "dataModels") for one in document.get(key) or () if "id" in one)


def _is_query(row: EntityRow, sources: frozenset[str]) -> bool:
    """Whether an entity is a SELECT of these logs, taken apart: who ran it is among the readers."""
    if row.type == "metric":
        return (loads(row.document).get("extension") or {}).get(MEASURED_IN) in sources
    model = row.type == "dashboardDataModel"
    return model and any(row.fqn.startswith(f"{fqn.quote(f'queries of {source}')}.") for source in sources)


@dataclass(frozen=True, slots=True)
class _Facts:
    """What is known of the stretch, each looked up once."""

    graph: CatalogGraph
    readers: _Readers
    read: _Reached
    maybe: _Reached
    totals: Mapping[str, RunTotals]
    written: Mapping[str, tuple[int, str, str]]
    appeared: Mapping[str, int]
    ends: _Ends


@dataclass(frozen=True, slots=True)
class _Search:
    """One question, over the edges that were seen in its stretch."""

    connection: Connection
    options: UnusedOptions
    since: int
    until: int
    coverage: tuple[Coverage, ...]

    def report(self, claimed_from: int | None) -> Answer[UnusedReport]:
        """The answer; of more than are asked for the dearest."""
        tables = tables_under(self.connection, self.options.under)
        covered = {one.service for one in self.coverage if one.selects}
        within = [one for one in tables if fqn.split(one.fqn)[0] in covered]
        facts = self._facts(tables, covered, claimed_from)
        unread = [one for one in within if one.id not in facts.read.tables and one.id not in facts.maybe.tables]
        dashboards = self._dashboards(facts)
        columns, by_star, columns_counted = self._columns(within, facts)
        not_claimed = Counter(_OTHER_SERVICE for one in tables if fqn.split(one.fqn)[0] not in covered)
        doubtful = [one for one in within if one.id not in facts.read.tables and one.id in facts.maybe.tables]
        not_claimed.update(_LEADS_OUT for _ in doubtful)
        not_claimed.update(kind for kind in facts.ends.outside.values() if kind == DASHBOARD)
        read = sum(one.id in facts.read.tables for one in within)
        counts = {"tables": len(within), "tablesRead": read, "tablesUnread": len(unread), **columns_counted}
        kinds = self._kinds()
        found = [self._table(one, facts, kinds) for one in unread]
        found.sort(key=lambda one: (*_cheapness(one.cost), one.name))
        limit, every = self.options.limit, [*found, *dashboards]
        report = UnusedReport(
            self.options.days,
            self.since,
            self.until,
            claimed_from,
            self.coverage,
            counts,
            dict(not_claimed),
            tuple(every[:limit]),
            tuple(columns[:limit]),
            tuple(by_star[:limit]),
            self.options.but_for,
        )
        most = max(len(every), columns_counted["columnsUnread"], len(by_star))
        return Answer(report, (f"only the first {limit} of a kind are listed: ask for more",) if most > limit else ())

    def _kinds(self) -> dict[str, str]:
        views = select(entities.c.id).where(entities.c.type == TABLE, entities.c.table_type.in_(_VIEWS))
        return dict.fromkeys(self.connection.scalars(views), VIEW)

    def _facts(self, tables: Iterable[CatalogTable], covered: set[str], claimed_from: int | None) -> _Facts:
        connection, options = self.connection, self.options
        known = _Readers.of(readers.known_reads(connection), self.since, self.until, options.but_for)
        graph = CatalogGraph(connection, Moment(options.as_of, self.since))
        ends = _Ends.of(connection, (one.source for one in self.coverage), self.since, self.until)
        elsewhere = select(entities.c.id, entities.c.fqn).where(entities.c.type == TABLE, entities.c.deleted.is_(False))
        others = {one for one, name in connection.execute(elsewhere) if fqn.split(name)[0] not in covered}
        used = known.starts | {(one, None) for one in ends.used}
        outside = {(one, None) for one in (*ends.outside, *others)}
        appeared = _first_moments(connection, {one.id for one in tables})
        return _Facts(
            graph,
            known,
            _Reached.of(graph, used),
            _Reached.of(graph, outside),
            readers.run_totals(connection, self.since, self.until),
            readers.last_runs(connection),
            {one: at for one, at in appeared.items() if at > max(self.since, claimed_from or 0)},
            ends,
        )

    def _table(self, table: CatalogTable, facts: _Facts, kinds: Mapping[str, str]) -> Unused:
        ahead = (edge.target for edge in facts.graph.downstream.edges([table.id]))
        # of what somebody reads by other columns only these are said to be read by nobody
        ends = (end if end[0] in facts.read.tables else (end[0], None) for end in ahead)
        names, count = self._names(ends, facts, table.id)
        kind = kinds.get(table.id, TABLE)
        return Unused(
            kind,
            table.fqn,
            table.id,
            "",
            names,
            count,
            table.owners,
            facts.appeared.get(table.id),
            _last_read(facts.readers.last.get((table.id, None))),
            _last_written(facts.written.get(table.id)),
            facts.totals.get(table.id) if kind == TABLE else None,  # what defines a view fills nothing
        )

    def _columns(
        self, tables: Iterable[CatalogTable], facts: _Facts
    ) -> tuple[list[Unused], list[StarColumn], dict[str, int]]:
        """The columns that nobody reads of tables that somebody does, and those that only stars read."""
        unread: list[tuple[CatalogTable, str]] = []
        by_star: list[StarColumn] = []
        counted = 0
        plain = _Reached.of(facts.graph, facts.readers.starts - facts.readers.by_star)
        for table in tables:
            counted += len(table.columns)
            if table.id not in facts.read.tables:
                continue
            for column in table.columns:
                if not facts.read.has(table.id, column.path):
                    if not facts.maybe.has(table.id, column.path):
                        unread.append((table, column.path))
                elif not plain.has(table.id, column.path) and not facts.maybe.has(table.id, column.path):
                    last = _last_read(facts.readers.last.get((table.id, column.path))) or LastTime(None)
                    by_star.append(StarColumn(f"{table.fqn}.{column.path}", last))
        counts = {"columns": counted, "columnsUnread": len(unread), "columnsOnlyByStar": len(by_star)}
        found = [self._column(*one, facts) for one in unread[: self.options.limit]]
        return found, by_star, counts

    def _column(self, table: CatalogTable, path: str, facts: _Facts) -> Unused:
        ahead = (hop.end for hop in facts.graph.downstream.hops([(table.id, path)]))
        names, count = self._names(ahead, facts, table.id)
        return Unused(
            COLUMN,
            table.fqn,
            table.id,
            path,
            names,
            count,
            table.owners,
            facts.appeared.get(table.id),
            _last_read(facts.readers.last.get((table.id, path))),
            _last_written(facts.written.get(table.id)),
        )

    def _names(self, nodes: Iterable[ColumnNode], facts: _Facts, own: str) -> tuple[tuple[str, ...], int]:
        """What is made of something, by name, and how many those are."""
        others = dict.fromkeys(node for node in nodes if node[0] not in facts.ends.queries and node[0] != own)
        rows = any_rows_of(self.connection, {node[0] for node in [*others][:_MOST_NAMED]})
        return tuple(node_name((rows[table].fqn, path)) for table, path in [*others][:_MOST_NAMED]), len(others)

    def _dashboards(self, facts: _Facts) -> list[Unused]:
        """The dashboards whose use is told and that nobody used; none where only some tables are asked about."""
        if self.options.under is not None:
            return []
        found = []
        for row in facts.ends.dashboards.values():
            if row.id not in facts.ends.used:
                document = loads(row.document)
                owners = tuple(
                    str(one.get("displayName") or one.get("name") or one["id"]) for one in document.get("owners") or ()
                )
                found.append(Unused(DASHBOARD, row.fqn, row.id, owners=owners))
        return found


def _cheapness(cost: RunTotals | None) -> tuple[float, ...]:
    if cost is None:
        return 0.0, 0.0, 0.0, 0.0
    return -(cost.credits or 0.0), -(cost.seconds or 0.0), -float(cost.bytes or 0), -float(cost.runs)


def _first_moments(connection: Connection, identifiers: set[str]) -> dict[str, int]:
    """When each entity was known first: to the catalog, or on an edge that a log tells the time of."""
    known = (attributes.c.name == "exists", attributes.c.value.is_not(None), attributes.c.column_path == "")
    ends = (
        select(attributes.c.entity_id.label("entity"), attributes.c.at.label("at")).where(*known),
        select(intervals.c.from_id.label("entity"), intervals.c.start.label("at")),
        select(intervals.c.to_id.label("entity"), intervals.c.start.label("at")),
    )
    every = union_all(*ends).subquery()
    first = select(every.c.entity, func.min(every.c.at)).group_by(every.c.entity)
    return {entity: at for entity, at in connection.execute(first) if entity in identifiers}


def _last_read(read: KnownRead | None) -> LastTime | None:
    return None if read is None else LastTime(read.last, read.reader, read.how)


def _last_written(run: tuple[int, str, str] | None) -> LastTime | None:
    if run is None:
        return None
    at, writer, job = run
    return LastTime(at, writer or job, job if writer else "")
