"""The queries that connectors read rows by: `query` of a JDBC source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from connectors.kafka_connect._messages import MessageFields
from connectors.platforms.connect_classes import SERVICE_TYPES
from ingestion.analysis.analyzer import without_schema
from ingestion.analysis.symbolic import loads
from ingestion.dialects import dialect_of
from ingestion.model.lineage import (
    ColumnRef,
    Flow,
    NameKind,
    Output,
    Reference,
    StatementLineage,
    Subtype,
    TableName,
    Target,
    Transformation,
)
from ingestion.parsing.sandbox.process import Limits, Sandbox
from ingestion.parsing.tiers import Parser, ParseRequest, parse_chunk

_LIMITS = Limits(seconds=5.0, max_bytes=200_000)
_PLAIN = "CustomDatabase"


def parsed_queries(queries: Iterable[tuple[str, str]]) -> Mapping[tuple[str, str], StatementLineage | str]:
    """What each query in the dialect of a system says without any schema, or the reason why that is not known."""
    asked = tuple(dict.fromkeys(queries))
    if not asked:
        return {}
    requests = [
        ParseRequest(str(number), text, dialect_of(SERVICE_TYPES.get(system, _PLAIN)).name)
        for number, (text, system) in enumerate(asked)
    ]
    with Sandbox(_LIMITS) as sandbox:
        outcomes = parse_chunk(requests, sandbox, Parser.AUTO)
    return {
        one: without_schema(loads(outcome.symbolic)) if outcome.symbolic is not None else outcome.dead_reason or ""
        for one, outcome in zip(asked, outcomes, strict=True)
    }


def filled_by(query: StatementLineage, target: Target, fields: MessageFields) -> tuple[Flow, ...]:
    """What a query puts into a topic, when transforms have made `fields` of its result."""
    return tuple(
        Flow(target, tuple(_outputs(flow, fields)), flow.indirect if fields.followed else (), flow.sources)
        for flow in query.flows
    )


def _outputs(flow: Flow, fields: MessageFields) -> Iterable[Output]:
    if not fields.followed:
        return
    made = {output.name: output for output in flow.outputs if output.star is None}
    stars = [output for output in flow.outputs if output.star is not None]
    for name, origin in fields.named.items():
        if origin.column in made:
            references = made[origin.column].references
            yield Output(name, tuple(_after_transform(one, origin.transformation) for one in references))
        elif origin.column is not None and len(stars) == 1 and (star := stars[0].star) is not None:
            # What no item of the result is called is a column of the one relation that a star stands for.
            yield Output(name, (Reference((ColumnRef(star.table, origin.column),), origin.transformation),))
    if not fields.open_ended:
        return
    hidden = fields.excluded | fields.named.keys()
    yield from (one for name, one in made.items() if name not in hidden)
    for one in stars:
        if one.star is not None:
            yield replace(one, star=replace(one.star, excluded=(*one.star.excluded, *sorted(hidden))))


def _after_transform(reference: Reference, by: Transformation) -> Reference:
    """A reference after a transform of its value."""
    before = reference.transformation
    kept = before.subtype if by.subtype is Subtype.IDENTITY or before.subtype is not Subtype.IDENTITY else by.subtype
    return replace(reference, transformation=Transformation(kept, before.masking or by.masking))


def with_tables(query: StatementLineage, name: Callable[[TableName], TableName]) -> StatementLineage:
    """The query over other names of its tables."""

    def rename(table: TableName) -> TableName:
        return name(table) if table.kind is NameKind.TABLE else table

    def reference(one: Reference) -> Reference:
        return replace(one, sources=tuple(ColumnRef(rename(it.table), it.column) for it in one.sources))

    def output(one: Output) -> Output:
        star = replace(one.star, table=rename(one.star.table)) if one.star is not None else None
        return replace(one, references=tuple(map(reference, one.references)), star=star)

    flows = tuple(
        Flow(
            flow.target,
            tuple(map(output, flow.outputs)),
            tuple(map(reference, flow.indirect)),
            tuple(map(rename, flow.sources)),
        )
        for flow in query.flows
    )
    return StatementLineage(query.kind, flows, problems=query.problems)
