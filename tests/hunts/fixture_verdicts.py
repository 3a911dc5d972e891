"""What became of each statement in a run, and whether that is right as far as an independent look can tell."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ingestion.analysis.analyzer import without_schema
from ingestion.analysis.symbolic import loads
from ingestion.model import outcomes
from ingestion.model.lineage import Flow, NameKind, StatementLineage, TableName
from tests.hunts.fixture_looks import Look, look_at
from tests.hunts.fixture_statements import WHOLE, FixtureStatement
from workflows.run.read.statements import rows_of

_TRUE_OF_WRITES = frozenset(
    {
        outcomes.Outcome.ROUTINE_DEFINITION,
        outcomes.Outcome.ANONYMOUS_BLOCK,
        outcomes.Outcome.DYNAMIC_SQL,
        outcomes.Outcome.COPY_STDIO,
        outcomes.Outcome.EXPLAIN,
        outcomes.Outcome.PREPARE,
    }
)
"""Reasons that may be true of a statement with a write in it: the write runs elsewhere, or has no name at its end."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A finding: `kind` is "no edge", "lost", "dead", "invented" or "refused", `detail` says what of it."""

    statement: FixtureStatement
    kind: str
    detail: str


@dataclass(slots=True)
class Outcome:
    """What a run left: each template by fingerprint, and who contributed to edges where it came to publish them."""

    published: bool
    symbolic: dict[str, bytes | None] = field(default_factory=dict)
    dead: dict[str, str] = field(default_factory=dict)
    tiers: dict[str, str] = field(default_factory=dict)
    fingerprints: set[str] = field(default_factory=set)
    targets: set[str] = field(default_factory=set)


def outcome_of(folder: Path, *, published: bool) -> Outcome:
    """The templates of the state store that a run left in a folder, and, of one that came to its end, the catalog's
    contributions."""
    found = Outcome(published)
    with sqlite3.connect(folder / "state.db") as state:
        for row in state.execute("select fingerprint, tier, symbolic, dead from headwater_template"):
            found.symbolic[row[0]], found.tiers[row[0]] = row[2], row[1]
            if row[2] is None:
                found.dead[row[0]] = row[3] or "unparsable"
    if not published:
        return found
    with sqlite3.connect(folder / "catalog.db") as catalog:
        found.fingerprints = {row[0] for row in catalog.execute("select key from contributions")}
        query = "select e.fqn from contributions c join entities e on e.id = c.to_id"
        found.targets = {_last(row[0]) for row in catalog.execute(query)}
    return found


def verdicts(statements: Iterable[FixtureStatement], outcome: Outcome) -> tuple[dict[str, int], list[Verdict]]:
    """How many single statements ended how, and everything that an independent look finds wrong."""
    counts: dict[str, int] = {}
    found: list[Verdict] = []
    for statement in statements:
        if statement.number == WHOLE:
            continue
        for row in _rows(statement):
            ending, lineage = _ending_of(row, outcome)
            counts[ending] = counts.get(ending, 0) + 1
            look = look_at(statement.text, statement.dialect)
            if row["step"] == 0:
                found += _of_write(statement, look, (ending, lineage), row, outcome)
            if lineage is not None:
                found += (Verdict(statement, "invented", name) for name in dict.fromkeys(_invented(lineage, look)))
    return counts, found


def _rows(statement: FixtureStatement) -> list[dict[str, object]]:
    names = "source_id start_time end_time duration user session database schema dialect status problem symbolic"
    record: dict[str, object] = dict.fromkeys(names.split())
    return rows_of([record | {"text": statement.text, "source_id": "log:1"}], statement.dialect)


def _ending_of(row: Mapping[str, object], outcome: Outcome) -> tuple[str, StatementLineage | None]:
    if row.get("skipped"):
        return f"skipped {row['skipped']}", None
    fingerprint = str(row.get("fingerprint"))
    if row.get("dead") or fingerprint in outcome.dead:
        return f"dead {row.get('dead') or outcome.dead[fingerprint]}", None
    stored = outcome.symbolic.get(fingerprint)
    if stored is None:
        return "lost", None
    try:
        lineage = without_schema(loads(stored))
    except Exception as error:  # noqa: BLE001 what the run has to survive is a finding here
        return f"dead analysis:{type(error).__name__}", None
    return ("edge" if any(map(_has_edge, lineage.flows)) else "nothing"), lineage


def _has_edge(flow: Flow) -> bool:
    return flow.target is not None and any(source != flow.target.name for source in flow.sources)


def _of_write(
    statement: FixtureStatement,
    look: Look,
    became: tuple[str, StatementLineage | None],
    row: Mapping[str, object],
    outcome: Outcome,
) -> Iterator[Verdict]:
    ending, lineage = became
    how, _, reason = ending.partition(" ")
    if ending == "lost" or "analysis:" in ending or "internal_error" in ending:
        yield Verdict(statement, "lost", ending)
    elif how == "dead":
        yield Verdict(statement, "dead" if look.writes_from_source else "refused", reason)
    elif not look.writes_from_source:
        return
    elif how == "skipped" and reason not in _TRUE_OF_WRITES:
        yield Verdict(statement, "no edge", ending)
    elif ending == "nothing" and not (lineage is not None and _says_why(lineage)):
        yield Verdict(statement, "no edge", "published nothing")
    elif ending == "edge" and lineage is not None and not _in_catalog(lineage, str(row["fingerprint"]), outcome):
        yield Verdict(statement, "lost", "its edge is not in the catalog")


def _says_why(lineage: StatementLineage) -> bool:
    """Whether it only moves data within one relation."""
    flows = [flow for flow in lineage.flows if flow.target is not None]
    return bool(flows) and all(
        flow.sources and set(flow.sources) == {flow.target.name} for flow in flows if flow.target
    )


def _in_catalog(lineage: StatementLineage, fingerprint: str, outcome: Outcome) -> bool:
    flows = [flow for flow in lineage.flows if flow.target is not None and _has_edge(flow)]
    if not outcome.published or fingerprint in outcome.fingerprints:
        return True
    for flow in flows:
        if flow.target is None or flow.target.temporary:
            return True
        kinds = {source.kind for source in flow.sources}
        if flow.target.name.kind is not NameKind.TABLE or NameKind.TABLE not in kinds:
            return True  # a path or a function that no catalog knows is reported as unresolved
        if flow.target.view and _last(flow.target.name.table) in outcome.targets:
            return True
    return False


def _last(fqn: str) -> str:
    return fqn.rpartition(".")[2].strip('"').casefold()


def _invented(lineage: StatementLineage, look: Look) -> Iterator[str]:
    """What of the lineage's names does not stand in the statement, or stands there as something else."""
    there, ctes = look.names(), look.ctes()
    for flow in lineage.flows:
        if flow.target is None:
            continue
        for role, name in (("target", flow.target.name), *(("source", source) for source in flow.sources)):
            yield from _of_relation(role, name, look, there, ctes)
        for output in flow.outputs:
            for reference in output.references:
                if reference.certain and not _stands(reference.sources[0].column, there):
                    yield f"column {reference.sources[0]}"


def _of_relation(role: str, name: TableName, look: Look, there: frozenset[str], ctes: frozenset[str]) -> Iterator[str]:
    if name.kind is NameKind.PATH:
        return
    missing = [part for part in name.parts if not _stands(part, there)]
    if missing:
        yield f"{role} {name.dotted}: {missing[0]!r} is not in the statement"
    elif len(name.parts) == 1 and name.kind is NameKind.TABLE:
        if role == "source" and name.table.lower() in ctes and name.table.lower() not in set(look.relations_read()):
            yield f"{role} {name.dotted} is a CTE"
        elif not look.stands_as_relation(name.table):
            yield f"{role} {name.dotted} stands nowhere as a relation"


def _stands(name: str, there: frozenset[str]) -> bool:
    lowered = name.lower()
    return name == "*" or not name or lowered in there or all(p in there for p in lowered.replace('"', "").split("."))
