"""What changed between two moments, as people and language models read it."""

from __future__ import annotations

from collections.abc import Iterator

from connectors.catalog.answer.pages import AnswerRows, Row, fact
from connectors.catalog.answer.rendering import Renderings
from connectors.catalog.answer.writing import Name, quoted_text, red
from connectors.catalog.questions.answer import moment_text
from connectors.catalog.questions.diff import CatalogDiff, LineageChange, SchemaChange


def diff_rows(found: CatalogDiff) -> AnswerRows:
    """What changed in schemas, then in lineage, what breaks something first, each with how much it reaches."""
    schema = sorted(found.schema, key=lambda one: not one.breaking)
    rows = [_schema_row(one) for one in schema] + [_lineage_row(one) for one in found.lineage]
    span = f"{moment_text(found.start)} to {'now' if found.now else moment_text(found.end)}"
    facts = (
        fact(f"{span}: {len(schema)} changes of schemas, {len(found.lineage)} of lineage"),
        fact(f"{sum(one.breaking for one in schema)} break something downstream"),
    )
    return AnswerRows("changes", facts, tuple(rows))


def _schema_row(one: SchemaChange) -> Row:
    reaches, breaks = one.reaches.count, " breaks" if one.breaking else ""
    now = Name(one.new_name) if one.new_name else None
    renamed = (" to ", now) if now else ()
    ending = f": reaches {reaches}{breaks}, at {moment_text(one.at)}"
    parts = (f"{_in_words(one.kind)} ", Name(one.name), *renamed, ending)
    return Row(parts, (one.kind, Name(one.name), now, reaches, one.breaking, moment_text(one.at)))


def _lineage_row(one: LineageChange) -> Row:
    source, target = Name(one.source), Name(one.target)
    parts = (f"{_in_words(one.kind)} ", source, " -> ", target, f": reaches {one.reaches.count}")
    return Row(parts, (one.kind, source, target, one.reaches.count))


def _in_words(kind: str) -> str:
    spaced = "".join(f" {one.lower()}" if one.isupper() else one for one in kind)
    return quoted_text(spaced)[1:-1]


def _lines(found: CatalogDiff) -> Iterator[str]:
    for change in found.schema:
        mark = red("breaks ") if change.breaking else "       "
        yield f"{mark}{change.kind:16} {change.name}  reaches {change.reaches.count}"
    for one in found.lineage:
        yield f"       {one.kind:16} {one.source} -> {one.target}  reaches {one.reaches.count}"
        for sign, texts in (("-", one.before), ("+", one.after)):
            yield from (f"         {sign} {' '.join(text.split())}" for text in texts)
    broken = sum(change.breaking for change in found.schema)
    yield f"{len(found.schema)} schema changes, {broken} of them breaking; {len(found.lineage)} lineage changes"


DIFF = Renderings(_lines, CatalogDiff.to_json, diff_rows, states_truncation=True)
