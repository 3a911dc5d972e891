"""Binding of lineage that needs no relational form (it came from a plan): stars and candidates, as schemas allow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ingestion.analysis.columns.relations import SchemaLookup
from ingestion.model import ColumnRef, Flow, Output, Reference, StarOutput, StatementLineage, Subtype, Transformation

_IDENTITY = Transformation(Subtype.IDENTITY)


def bind_lineage(lineage: StatementLineage, schema_of: SchemaLookup) -> StatementLineage:
    """The lineage with its stars expanded and its candidates narrowed where schemas are known."""
    flows = tuple(_bind(flow, schema_of) for flow in lineage.flows)
    return lineage if flows == lineage.flows else replace(lineage, flows=flows)


def _bind(flow: Flow, schema_of: SchemaLookup) -> Flow:
    outputs = tuple(bound for output in flow.outputs for bound in _outputs(output, schema_of))
    outputs = _place(flow, outputs, schema_of)
    indirect = tuple(bound for reference in flow.indirect for bound in _references(reference, schema_of))
    if outputs == flow.outputs and indirect == flow.indirect:
        return flow
    return replace(flow, outputs=outputs, indirect=indirect)


def _outputs(output: Output, schema_of: SchemaLookup) -> Iterator[Output]:
    star = output.star
    if star is None:
        references = tuple(bound for reference in output.references for bound in _references(reference, schema_of))
        yield output if references == output.references else replace(output, references=references)
        return
    schema = schema_of(star.table)
    if not schema:
        yield output
        return
    yield from (
        Output(
            name,
            (Reference((ColumnRef(star.table, column),), _IDENTITY),),
            type_,
            None,
            output.name_assumed,
        )
        for name, column, type_ in _expand(star, schema_of)
    )


def _expand(star: StarOutput, schema_of: SchemaLookup) -> Iterator[tuple[str, str, str]]:
    renamed = dict(star.renamed)
    for column in schema_of(star.table) or ():
        if column.name not in star.excluded:
            yield renamed.get(column.name, column.name), column.name, column.type


def _references(reference: Reference, schema_of: SchemaLookup) -> Iterator[Reference]:
    sources = reference.sources
    if len(sources) == 1 and sources[0].column == "*":
        schema = schema_of(sources[0].table)
        for column in schema or ():
            yield replace(reference, sources=(ColumnRef(sources[0].table, column.name),))
        if not schema:
            yield reference
        return
    if len(sources) <= 1:
        yield reference
        return
    left = []
    for source in sources:
        schema = schema_of(source.table)
        if not schema:
            left.append((source, False))
        elif any(column.name == source.column for column in schema):
            left.append((source, True))
    sure = [source for source, known in left if known]
    kept = tuple(sure) if sure else tuple(source for source, _ in left)
    if kept:
        yield reference if kept == sources else replace(reference, sources=kept)


def _place(flow: Flow, outputs: tuple[Output, ...], schema_of: SchemaLookup) -> tuple[Output, ...]:
    """Outputs whose place was a guess, at the place that the target's schema gives them."""
    target = flow.target
    if target is None or target.by_name or not any(output.name_assumed for output in outputs):
        return outputs
    if any(output.star is not None for output in outputs):
        return outputs
    columns = target.columns or tuple(column.name for column in schema_of(target.name) or ())
    if not columns:
        return outputs
    return tuple(
        replace(output, name=columns[number], name_assumed=False) if number < len(columns) else output
        for number, output in enumerate(outputs)
    )
