"""What a log says of entities: one frozen result, whatever is asked of it, and in whatever order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import FrozenInstanceError

import pytest

from ingestion.analysis.symbolic import dumps
from ingestion.binding.binder import BoundStatement
from ingestion.binding.temporary_tables import PersistedFlow
from ingestion.binding.timeline import SchemaProvider
from ingestion.model.entities import TableEntity
from ingestion.model.isolation import FailureStage, no_probe
from ingestion.model.lineage import Column
from ingestion.model.outcomes import Outcome
from ingestion.parsing.sqlglot.tier import parse
from ingestion.parsing.templates import ParsedTemplate
from workflows.config.namespaces import SourceSettings
from workflows.run.bind.binding import LineageSource, bind_occurrences
from workflows.run.group.occurrences import OccurrenceGroup
from workflows.run.resolve.entities import RelationEntities
from workflows.run.resolve.lineage import EdgeOutcome, SourceLineage, lineage_of, processed_routines, statement_outcomes

LOAD = "db.public.load"
LOG = (
    "create view v as select a from old",
    "create view v as select a from s",
    "insert into t (a) select a from s",
    "insert into t (a) select a from nowhere",
    "insert into t (a) select a from t",
    "create temp table held as select a from s",
    "insert into u (a) select a from held",
    "insert into t (a) values (1)",
)
Probe = Callable[[FailureStage, object], None]


def source_of(log: tuple[str, ...] = LOG, probe: Probe = no_probe) -> LineageSource:
    """A log of one session, a statement a second, all of it of one routine."""
    templates = {
        text: ParsedTemplate(text, "postgres", "sqlglot", dumps(parse(text, "postgres")), text, None, False)
        for text in log
    }
    groups = [
        OccurrenceGroup(
            text,
            "db",
            ("public",),
            "s",
            (float(at), at),
            at,
            at,
            1,
            ("ann",),
            (at,),
            0.5,
            routine=LOAD,
            read_in_this_run=1,
        )
        for at, text in enumerate(log, 1)
    ]
    before = SchemaProvider(lambda key: (Column("a"),) if key.table != "nowhere" else None)
    return bind_occurrences(templates, groups, SourceSettings("db", "public"), before, probe)


def entities_of(source: LineageSource, statuses: Mapping[str, Outcome] | None = None) -> RelationEntities:
    """Every table has an entity, but those whose other status is given."""
    resolved, found = {}, {}
    for number, relation in enumerate(source.log.relations):
        table = relation.key.table
        found[number] = (statuses or {}).get(table, Outcome.RESOLVED)
        if found[number] is Outcome.RESOLVED:
            fqn = f"svc.db.public.{table}"
            resolved[number] = TableEntity(table, fqn, "svc", "db", "public", table, (Column("a"),))
    return RelationEntities(resolved, found)


def lineage(statuses: Mapping[str, Outcome] | None = None, probe: Probe = no_probe) -> SourceLineage:
    source = source_of(probe=probe)
    return lineage_of(source, entities_of(source, statuses))


def accepted(found: SourceLineage, rejected: str | None = None) -> dict[tuple[str, str], EdgeOutcome]:
    given_up = {key: EdgeOutcome(failure.reason) for key, failure in found.given_up.items()}
    return {**{request.key: EdgeOutcome(rejected) for request in found.requests}, **given_up}


def outcomes_by_text(found: SourceLineage, rejected: str | None = None) -> dict[str, str]:
    """What became of each statement, in a word or two."""
    outcomes = statement_outcomes(found, accepted(found, rejected))
    return {outcome.group.template: f"{outcome.status} {outcome.reason}".strip() for outcome in outcomes}


UNRESOLVED = {"nowhere": Outcome.UNRESOLVED}


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        (
            UNRESOLVED,
            [
                *("skipped superseded", "published", "published", "skipped unresolved"),
                *("published", "published", "published", "skipped no_source"),
            ],
        ),
        (
            {"nowhere": Outcome.RESOLUTION_FAILED, "s": Outcome.FILTERED, "u": Outcome.AMBIGUOUS},
            [
                *("skipped superseded", "skipped filtered", "skipped filtered", "dead resolution_failed"),
                *("published", "skipped temporary", "skipped ambiguous", "skipped no_source"),
            ],
        ),
    ],
)
def test_every_statement_ends_published_skipped_or_dead(statuses: dict[str, Outcome], expected: list[str]) -> None:
    assert outcomes_by_text(lineage(statuses)) == dict(zip(LOG, expected, strict=True))


def test_no_answer_depends_on_what_was_asked_before() -> None:
    found = lineage(UNRESOLVED)
    first = outcomes_by_text(found), found.requests, found.replacements, found.complete, found.template_failures
    assert outcomes_by_text(found, "refused")[LOG[2]] == "dead refused"
    assert processed_routines(found, (), accepted(found, "refused")) == frozenset()
    assert (
        outcomes_by_text(found),
        found.requests,
        found.replacements,
        found.complete,
        found.template_failures,
    ) == first
    assert lineage(UNRESOLVED).requests == found.requests
    with pytest.raises(FrozenInstanceError):
        found.requests = ()  # type: ignore[misc]


def test_one_request_an_edge_in_the_order_of_their_ends() -> None:
    found = lineage(UNRESOLVED)
    assert [request.key for request in found.requests] == [("s", "t"), ("s", "u"), ("s", "v"), ("t", "t")]
    assert [(one.to_entity.id, one.whole) for one in found.replacements] == [("v", True)]


def test_of_what_names_the_unknown_not_all_is_known() -> None:
    assert set(LOG) - lineage(UNRESOLVED).complete == {LOG[3]}
    assert lineage().complete == {*LOG, LOAD}
    assert LOAD not in lineage(UNRESOLVED).complete


def test_a_view_over_the_unknown_is_not_told_as_whole() -> None:
    assert [one.whole for one in lineage({"s": Outcome.UNRESOLVED}).replacements] == []
    text = "create view v as select s.a from s join nowhere on nowhere.a = s.a"
    source = source_of((text,))
    (replacement,) = lineage_of(source, entities_of(source, UNRESOLVED)).replacements
    assert not replacement.whole


def test_a_statement_that_fails_is_dead_and_no_other() -> None:
    def probe(stage: FailureStage, subject: object) -> None:
        if (
            stage is FailureStage.EVIDENCE
            and isinstance(subject, BoundStatement)
            and subject.occurrence.template == LOG[2]
        ):
            raise ZeroDivisionError

    found = lineage(UNRESOLVED, probe)
    assert set(found.template_failures) == {LOG[2]}
    expected = {**outcomes_by_text(lineage(UNRESOLVED)), LOG[2]: "dead evidence_failed"}
    assert outcomes_by_text(found) == expected
    assert [request.key for request in found.requests] == [("s", "u"), ("s", "v"), ("t", "t")]


def test_an_edge_of_which_no_request_can_be_made_is_given_up_and_its_view_replaces_nothing() -> None:
    def probe(stage: FailureStage, subject: object) -> None:
        if stage is FailureStage.PUBLISHING and isinstance(subject, tuple) and subject[1].name == "v":
            raise ZeroDivisionError

    found = lineage(UNRESOLVED, probe)
    assert set(found.given_up) == {("s", "v")}
    assert found.replacements == ()
    assert outcomes_by_text(found)[LOG[1]] == "dead publishing_failed"
    assert outcomes_by_text(found)[LOG[2]] == "published"


def test_a_flow_of_each_statement_has_what_became_of_it() -> None:
    found = lineage(UNRESOLVED)
    flows: tuple[PersistedFlow, ...] = found.source.flows
    by_statement = {
        found.source.group_of(flow).template: (one.edges, one.skipped)
        for flow, one in zip(flows, found.flows, strict=True)
    }
    assert by_statement[LOG[0]] == ((), "superseded")
    assert by_statement[LOG[6]] == ((("s", "u"),), None)
    assert by_statement[LOG[4]] == ((("t", "t"),), None)
