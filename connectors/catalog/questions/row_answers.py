"""What a change reaches, where a column comes from, what changed: a catalog's own answers as rows."""

from __future__ import annotations

from datetime import UTC, datetime

from connectors.catalog.answer.pages import Answer, NumberedTexts, Row, fact
from connectors.catalog.answer.writing import Name, quoted_text
from connectors.catalog.questions.lineage import how_text
from ingestion.model.lineage import Json
from ingestion.scripts.explanation import ExplainedHop, Explanation

_CUT_SHORT = "the walk was cut short: ask of one column, or of what is nearer"


def impact(found: Json) -> Answer:
    """Everything downstream, the nearest first, each with how it is tied and by way of what."""
    counts = found["counts"]
    facts = (
        fact(Name(found["root"]), f": {len(found['impacted'])} downstream in {counts['entities']} tables"),
        fact(
            f"{counts['direct']} get its values, {counts['indirect']} depend on them, {counts['table']} by table alone"
        ),
    )
    rows = [_impact_row(one) for one in found["impacted"]]
    return Answer("columns and tables", facts, tuple(rows), (_CUT_SHORT,) if found["truncated"] else ())


def _impact_row(one: Json) -> Row:
    name, kind, hops = one["column"] or one["entity"]["fullyQualifiedName"], one["type"].lower(), one["depth"]
    last = one["hops"][-1]
    how = how_text(last["type"], last.get("subtype") or "", masking=False, certain=True)
    via = one["path"][-2]
    parts = (Name(name), f" [{kind}, {hops} hop{'' if hops == 1 else 's'}] {how} of ", Name(via))
    return Row(parts, ("impacted", Name(name), kind, hops, how, Name(via)))


def explanation_answer(explanation: Explanation, *, complete: bool) -> Answer:
    """The base columns, then the chain of expressions, then the text of the statements behind it."""
    direct, indirect = explanation.base_columns()
    texts = NumberedTexts()
    rows = [_base_row(name, "values") for name in direct] + [_base_row(name, "a say") for name in indirect]
    for column, hops in explanation.hops.items():
        rows += [_hop_row(column, hop, explanation, texts) for hop in hops]
    facts = (
        fact(Name(explanation.column), f": made of {len(direct)} base columns, {len(indirect)} others have a say"),
        fact(f"{texts.statement_count} statements (their text follows the chain)"),
    )
    return Answer("rows", facts, (*rows, *texts.rows()), () if complete else (_CUT_SHORT,))


def _base_row(name: str, part: str) -> Row:
    return Row(("base ", Name(name), f" ({part})"), ("base", Name(name), part))


def _hop_row(column: str, hop: ExplainedHop, explanation: Explanation, texts: NumberedTexts) -> Row:
    statements = (explanation.statements[number - 1] for number in hop.statements)
    numbers = " ".join(texts.statement(one.text, one.producer, one.jobs) for one in statements)
    how = how_text(hop.type, hop.subtype, masking=hop.masking, certain=hop.certain)
    expression = texts.expression(hop.expression)
    shown = f" {expression}" if expression else ""
    parts = (Name(column), " <- ", Name(hop.source), f" [{how}] {numbers}{shown}")
    return Row(parts, ("edge", Name(column), Name(hop.source), how, numbers, expression))


def changes(found: Json) -> Answer:
    """What changed in schemas, then in lineage, what breaks something first, each with how much it reaches."""
    schema = sorted(found["schemaChanges"], key=lambda one: not one["breaking"])
    rows = [_schema_row(one) for one in schema] + [_lineage_row(one) for one in found["lineageChanges"]]
    breaking = sum(one["breaking"] for one in schema)
    span = " to ".join(_moment(found[key]) if found[key] is not None else "now" for key in ("from", "to"))
    facts = (
        fact(f"{span}: {len(schema)} changes of schemas, {len(found['lineageChanges'])} of lineage"),
        fact(f"{breaking} break something downstream"),
    )
    return Answer(
        "changes", facts, tuple(rows), ("there are more changes: ask of a shorter time",) * found["truncated"]
    )


def _schema_row(one: Json) -> Row:
    name = one["column"] or one["entity"]["fullyQualifiedName"]
    reaches, breaks = one["reaches"]["count"], " breaks" if one["breaking"] else ""
    now = Name(one["after"]) if one["kind"] == "entityRenamed" else None
    renamed = (" to ", now) if now else ()
    ending = f": reaches {reaches}{breaks}, at {_moment(one['at'])}"
    parts = (f"{_words(one['kind'])} ", Name(name), *renamed, ending)
    return Row(parts, (one["kind"], Name(name), now, reaches, one["breaking"], _moment(one["at"])))


def _lineage_row(one: Json) -> Row:
    ends = [Name(one.get(f"{key}Column") or one[key]) for key in ("from", "to")]
    reaches = one["reaches"]["count"]
    named = [part for name in ends for part in (name, " -> ")][:-1]
    return Row((f"{_words(one['kind'])} ", *named, f": reaches {reaches}"), (one["kind"], *ends, reaches))


def _words(kind: str) -> str:
    spaced = "".join(f" {one.lower()}" if one.isupper() else one for one in kind)
    return quoted_text(spaced)[1:-1]


def _moment(millis: int) -> str:
    return datetime.fromtimestamp(millis / 1000, UTC).isoformat(timespec="seconds")
