"""Random logs of a small warehouse, one of whose statements is marked, and runs over them without Spark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from connectors.sink import target_batches
from ingestion.model.isolation import Isolation
from tests.behaviour.harness import Record, Warehouse, group_of, statement_rows, templates_of
from tests.support.growing_log import configuration, contributions_in, write_log
from tests.support.one_batch import log_queries, name_warnings, names_of, resolved_names
from workflows.config import load_config
from workflows.run.bind.binding import LineageSource, bind_occurrences
from workflows.run.bind.schemas import StatedSchemas, catalog_schemas
from workflows.run.publish._ddl_events import publish_events_of_shards
from workflows.run.publish.delivery import Publisher
from workflows.run.resolve.lineage import EdgeOutcome, lineage_of, statement_outcomes
from workflows.run.resolve.resolution import NameResolution, ResolvedNames
from workflows.runtime.options import Failpoints, RunOptions
from workflows.state.acknowledgements import CompleteScope
from workflows.target import RunTarget, open_target

MARK = "canary_mark"
_COLUMNS = ("a", "b", "c", "d")
_BASES = ("orders", "customers", "items")


def random_log(seed: int, *, leaf: bool, statements: int = 14) -> tuple[list[Record], int]:
    """Statements a second apart, and the number of the one that shows MARK.

    With `leaf` it is an INSERT into a table of that name, which no other statement mentions; else any of them, whose
    first column has that name.
    """
    random = Random(seed)
    marked = random.randrange(3, statements - 3)
    made = [*_BASES]
    records = []
    for number in range(statements):
        source, other = random.choice(made), random.choice(made)
        first = f"x.a AS {MARK}" if number == marked and not leaf else "x.a"
        columns = f"{first}, x.b + y.c AS b, y.c, y.d"
        query = f"SELECT {columns} FROM {source} x JOIN {other} y ON x.a = y.a WHERE y.d = {1000 + number}"
        if random.random() < 0.4 and number != marked:
            query = f"SELECT * FROM {source} WHERE b > {1000 + number}"
        target, session = f"t{number}", f"s{random.randrange(3)}"
        if number == marked and leaf:
            text = f"INSERT INTO {MARK} (a, b, c, d) {query}"
        else:
            start = random.choice(
                ["CREATE TABLE {} AS", "CREATE VIEW {} AS", "CREATE TEMP TABLE {} AS", "INSERT INTO {}"]
            )
            text = f"{start.format(target)} {query}"
            made.append(target)
        records.append(Record(text, session, 1000.0 + number))
    ddl = [Record(f"CREATE TABLE {base} ({', '.join(f'{c} int' for c in _COLUMNS)})", "s0", 1.0) for base in _BASES]
    return [*ddl, *records], len(ddl) + marked


@dataclass(frozen=True)
class Ran:
    """What a run made of a log: how each statement ended by its time, the edges, what it warned of."""

    outcomes: Mapping[float, tuple[str, str]]
    edges: frozenset[tuple[str, str, str, str]]  # source, target, producer, content
    warnings: tuple[str, ...]

    def check_whole(self, log: Sequence[Record]) -> None:
        """Every statement ended once."""
        assert set(self.outcomes) == {record.at for record in log}
        assert {status for status, _reason in self.outcomes.values()} <= {"published", "skipped", "dead"}


def ran(
    folder: Path,
    log: Sequence[Record],
    failpoint: str | None = None,
    warehouse: Warehouse | None = None,
    **ours: object,
) -> Ran:
    """A run over a log into a new catalog: every stage but those that are Spark's own; `ours` is Headwater's block."""
    write_log(folder / "log" / "all.csv", ())  # the configuration names one; the statements are given
    config = load_config(configuration(folder, None, **ours))
    options = RunOptions("run", failpoints=Failpoints(failpoint))
    warehouse = warehouse or Warehouse()
    rows = statement_rows(log, warehouse)
    templates = templates_of(rows)
    analysis = Isolation[str](options.failpoints.probe)
    names_of(templates.values(), analysis)
    dead = {key: failure.reason for key, failure in analysis.failures.items()}
    templates |= {key: replace(templates[key], symbolic=None, dead=reason) for key, reason in dead.items()}
    groups = [group_of(number, row) for number, row in enumerate(rows) if row.get("fingerprint")]
    with open_target(config, "run", dry_run=False) as target:
        names = NameResolution(config, warehouse.settings, target, options.failpoints.probe)
        before = catalog_schemas(StatedSchemas(), names.resolver(), registers=True)
        source = bind_occurrences(templates, groups, warehouse.settings, before, options.failpoints.probe)
        outcomes, warnings = _published(source, names, target, options)
    said = {(one.source, one.target, one.producer, one.text) for one in contributions_in(folder / "catalog.db")}
    return Ran(outcomes, frozenset(said), warnings)


def _published(
    source: LineageSource, names: NameResolution, target: RunTarget, options: RunOptions
) -> tuple[dict[float, tuple[str, str]], tuple[str, ...]]:
    entities = resolved_names(names, source).entities
    lineage = lineage_of(source, entities)
    deliverer = Publisher(target.sink, {}, lambda _sending: None, lambda _done: None, 4, options)
    delivery = deliverer.deliver(
        target_batches(lineage.requests, lineage.replacements), CompleteScope(), lambda _count: None
    )
    given_up = {key: EdgeOutcome(failure.reason) for key, failure in lineage.given_up.items()}
    published = {**delivery.edges, **given_up}
    warnings = name_warnings(ResolvedNames(entities), source.log, names.settings)
    warnings += publish_events_of_shards(target, [source.log.ddl_events], names.resolver(), options.failpoints.probe)
    warnings += log_queries(lineage, entities, published).file(target, "shop", source.probe)
    outcomes = statement_outcomes(lineage, published)
    assert Counter(outcome.group.order for outcome in outcomes).most_common(1)[0][1] == 1
    return {one.group.order[0]: (str(one.status), one.reason) for one in outcomes}, warnings
