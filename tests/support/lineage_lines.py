"""Lineage told in short lines, so that a test can say what it expects of a statement.

`a = t.x` (as it is), `a f t.x` (transformed), `a agg t.x` (aggregated), a `#` where the value is hidden (`a agg# t.x`),
`a if t.x`, `a window t.x` and so on where it only has a say in one output, `* filter t.x` where it has one in all,
`* = t` a star over a table of unknown schema, `a = t.x|u.x` candidates, `from t`, `into t`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ingestion.analysis.analyzer import analyze
from ingestion.model.lineage import Column, Flow, Reference, StatementLineage, TableName
from ingestion.parsing.sqlglot.tier import parse

_WORDS = {"identity": "=", "transformation": "f", "aggregation": "agg", "conditional": "if", "group_by": "group"}
Schemas = dict[str, str]


def analysed(text: str, dialect: str = "postgres", schemas: Schemas | None = None) -> StatementLineage:
    """The lineage of a statement; `schemas` has the columns of tables, spaces between (`{"t": "a b"}`)."""
    known = {name: [_column(word) for word in words.split()] for name, words in (schemas or {}).items()}

    def schema_of(name: TableName) -> list[Column] | None:
        return known.get(name.dotted)

    return analyze(parse(text, dialect), schema_of)


def _column(word: str) -> Column:
    name, _, type_ = word.partition(":")
    return Column(name, type_)


def lines_of_flows(text: str, dialect: str = "postgres", schemas: Schemas | None = None) -> list[set[str]]:
    """The lines of each flow."""
    return [set(lines_of(flow)) for flow in analysed(text, dialect, schemas).flows]


def column_lines(text: str, dialect: str = "postgres", schemas: Schemas | None = None) -> set[str]:
    """The lines of the only flow, without those that say from where and into what."""
    (lines,) = lines_of_flows(text, dialect, schemas)
    return {line for line in lines if not line.startswith(("from ", "into "))}


def value_lines(text: str, dialect: str) -> set[str]:
    """The lines of values: which rows there are decides none of them."""
    return {line for line in column_lines(text, dialect) if not line.startswith("* ")}


def lines_of(flow: Flow) -> Iterator[str]:
    if flow.target is not None:
        yield f"into {flow.target.name.dotted}"
    for name in flow.sources:
        yield f"from {name.dotted}"
    for output in flow.outputs:
        if output.star is not None:
            changes = "".join(f" -{name}" for name in output.star.excluded)
            changes += "".join(f" {old}>{new}" for old, new in output.star.renamed)
            yield f"* = {output.star.table.dotted}{changes}"
        for reference in output.references:
            yield f"{output.name} {_reference(reference)}"
        if not output.references and output.star is None:
            yield f"{output.name} is constant"
    for reference in flow.indirect:
        yield f"* {_reference(reference)}"


def _reference(reference: Reference) -> str:
    subtype = reference.transformation.subtype.value.lower()
    hidden = "#" if reference.transformation.masking else ""
    sources = "|".join(f"{source.table.dotted}.{source.column}" for source in reference.sources)
    return f"{_WORDS.get(subtype, subtype)}{hidden} {sources}"


def expression_of(text: str, output: str, dialect: str = "postgres", schemas: Schemas | None = None) -> set[str]:
    """The expressions behind an output of the only flow."""
    (flow,) = analysed(text, dialect, schemas).flows
    return {r.expression for o in flow.outputs if o.name == output for r in o.references}


def problems(text: str, dialect: str = "postgres", schemas: Schemas | None = None) -> list[tuple[str, str]]:
    """What stays unresolved, as kind and subject."""
    return [(p.kind.value, p.subject) for p in analysed(text, dialect, schemas).problems]
