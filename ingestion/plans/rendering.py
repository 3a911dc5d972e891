"""The lineage of a plan as text that only its meaning decides, and the fingerprint that is made of it.

A fingerprint names a producer in the catalog for years: where a class stands, in which order it has its fields and
which of two equal names a set happened to keep must not change it. What is at its default is left out, so that a field
that is added later changes nothing that was said without it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache

from ingestion.analysis.symbolic import loads
from ingestion.model.digests import digest
from ingestion.model.lineage import (
    ColumnRef,
    CreateMode,
    Flow,
    FunctionBody,
    NameKind,
    Output,
    Problem,
    Reference,
    StarOutput,
    StatementLineage,
    TableChange,
    TableName,
    Target,
)

Json = str | bool | list["Json"] | dict[str, "Json"]

_PLANS_KEPT = 1024
"""Plans in their stored form, of which a process keeps the fingerprints: those of about as many jobs."""


@lru_cache(maxsize=_PLANS_KEPT)
def plan_fingerprint(symbolic: bytes) -> str:
    """The fingerprint (32 hexadecimal digits) of lineage as `ingestion.analysis.symbolic.dumps` wrote it.

    Raises Unparsable where it is not, TypeError where it is a parser's and not a plan's.
    """
    lineage = loads(symbolic)
    if not isinstance(lineage, StatementLineage):
        raise TypeError("a plan's lineage is complete as it is: relational forms have the fingerprint of their text")
    return digest(render(lineage))


def render(lineage: StatementLineage) -> str:
    """The lineage as one line of JSON: the same for equal lineage, another for lineage that differs.

    Flows, outputs, changes and lists of columns keep their order; references, sources, problems and what else is
    a set in all but its type is sorted.
    """
    return _text(
        _without_defaults(
            kind=lineage.kind.value,
            flows=[_flow(flow) for flow in lineage.flows],
            changes=[_change(change) for change in lineage.changes],
            aliases=_pairs(lineage.aliases),
            problems=_sort(map(_problem, lineage.problems)),
            unused=_sort(map(_column_ref, lineage.unused)),
            functions=_sort(map(_name, lineage.functions)),
            witness=lineage.witness,
            doubted=lineage.doubted,
        )
    )


def _flow(flow: Flow) -> Json:
    return _without_defaults(
        target=[] if flow.target is None else [_target(flow.target)],
        outputs=[_output(output) for output in flow.outputs],
        indirect=_sort(map(_reference, flow.indirect)),
        sources=_sort(map(_name, flow.sources)),
    )


def _target(target: Target) -> Json:
    return _without_defaults(
        name=_name(target.name),
        mode=target.mode.value,
        columns=[] if target.columns is None else [list(target.columns)],
        by_name=target.by_name,
        temporary=target.temporary,
        view=target.view,
        create_mode=_mode(target.create_mode),
    )


def _output(output: Output) -> Json:
    return _without_defaults(
        name=output.name,
        references=_sort(map(_reference, output.references)),
        type=output.type,
        star=[] if output.star is None else [_star(output.star)],
        name_assumed=output.name_assumed,
        body=[] if output.body is None else [_body(output.body)],
    )


def _body(body: FunctionBody) -> Json:
    uses: list[Json] = [
        _without_defaults(
            number=str(use.number),
            name=use.name,
            subtype=use.transformation.subtype.value,
            masking=use.transformation.masking,
            rows=use.rows,
        )
        for use in body.uses
    ]
    return _without_defaults(given=list(body.given), uses=uses, reads=body.reads)


def _star(star: StarOutput) -> Json:
    return _without_defaults(table=_name(star.table), excluded=list(star.excluded), renamed=_pairs(star.renamed))


def _reference(reference: Reference) -> Json:
    return _without_defaults(
        sources=_sort(map(_column_ref, reference.sources)),
        subtype=reference.transformation.subtype.value,
        masking=reference.transformation.masking,
        expression=reference.expression,
        opaque=reference.opaque,
    )


def _change(change: TableChange) -> Json:
    return _without_defaults(
        kind=change.kind.value,
        name=_name(change.name),
        columns=[[column.name, column.type] for column in change.columns],
        other=[] if change.other is None else [_name(change.other)],
        temporary=change.temporary,
        dropped_columns=list(change.dropped_columns),
        renamed_columns=_pairs(change.renamed_columns),
        retyped_columns=[[column.name, column.type] for column in change.retyped_columns],
        optional_columns=list(change.optional_columns),
        whole=change.whole,
        partition_columns=list(change.partition_columns),
        create_mode=_mode(change.create_mode),
        of_schema=change.of_schema,
    )


def _mode(mode: CreateMode) -> str:
    return "" if mode is CreateMode.NEW else mode.value


def _problem(problem: Problem) -> Json:
    return [problem.kind.value, problem.subject]


def _column_ref(column: ColumnRef) -> Json:
    return [_name(column.table), column.column]


def _name(name: TableName) -> Json:
    """What makes two names equal: how they were written is left out."""
    parts: list[Json] = list(name.parts)
    return parts if name.kind is NameKind.TABLE else {name.kind.value: parts}


def _pairs(pairs: Iterable[tuple[str, str]]) -> list[Json]:
    return [[first, second] for first, second in pairs]


def _sort(values: Iterable[Json]) -> list[Json]:
    return sorted(values, key=_text)


def _without_defaults(**values: Json) -> dict[str, Json]:
    """What is not at its default, which is false or empty everywhere: what may be missing is a list of one or none."""
    return {name: value for name, value in values.items() if value}


def _text(value: Json) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
