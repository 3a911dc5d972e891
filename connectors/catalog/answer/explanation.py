"""Where a column comes from, as people and language models read it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from connectors.catalog.answer.lookups import table_rows
from connectors.catalog.answer.pages import AnswerRows, NumberedTexts, Row, fact
from connectors.catalog.answer.rendering import Renderings
from connectors.catalog.answer.writing import Name, bold, dim, how_text, with_verdict
from ingestion.model.moments import minute_text
from ingestion.scripts.explanation import ExplainedHop, ExplainedStatement, Explanation

_CHARACTERS = 120
"""Of an expression, unless the whole is asked for: what a wide terminal shows in a line or two."""

_LINES = 12
"""Of a statement, likewise."""

_NO_TEXT = "(its statement was not kept)"
_WITHOUT_TEXT = {
    "manual": "(no statement: entered by hand)",
    "engine": "(no statement: recorded by the engine itself)",
    "openlineage": "(no statement: an OpenLineage event tells of it)",
    "dbt": "(no statement: dbt's manifest tells of it)",
    "external_table": "(no statement: files that a plan or the definition of a table names)",
    "edge_list": "(no statement: a list of edges has it)",
    "plan": "(no statement: a plan)",
}


def explanation(*, full: bool = False) -> Renderings[Explanation]:
    """How explanations are written; `full`: without cutting what is long in the lines for people."""
    return Renderings(partial(_lines, full=full), Explanation.to_json, explanation_rows)


def explanation_rows(found: Explanation) -> AnswerRows:
    """The base columns, the tables on the way, the chain of expressions, the text of the statements behind it."""
    direct, indirect = found.base_columns()
    texts = NumberedTexts()
    rows = [_base_row(name, "values") for name in direct] + [_base_row(name, "a say") for name in indirect]
    rows += [_base_row(name, "not seen any more") for name in found.unseen_columns()]
    rows += table_rows(
        ((found.tables[column], found.tables.get(hop.source, hop.source)), hop.direct)
        for column, hops in found.hops.items()
        for hop in hops
        if column in found.tables
    )
    for column, hops in found.hops.items():
        rows += [_hop_row(column, hop, found, texts) for hop in hops]
    facts = (
        fact(Name(found.column), f": made of {len(direct)} base columns, {len(indirect)} others have a say"),
        fact(f"{texts.statement_count} statements (their text follows the chain)"),
        *(
            (fact(f"{found.left_out} edges of columns are left out: they are farther, or indirect"),)
            if found.left_out
            else ()
        ),
    )
    return AnswerRows("rows", facts, (*rows, *texts.rows()))


def _base_row(name: str, part: str) -> Row:
    return Row(("base ", Name(name), f" ({part})"), ("base", Name(name), part))


def _hop_row(column: str, hop: ExplainedHop, found: Explanation, texts: NumberedTexts) -> Row:
    statements = [found.statements[number - 1] for number in hop.statements]
    numbers = " ".join(texts.statement(one.text, one.producer, one.jobs, one.last_seen) for one in statements)
    how = _hop_text(hop)
    return texts.edge((column, hop.source), how, hop.expression, numbers)


def _lines(found: Explanation, *, full: bool) -> Iterator[str]:
    """The chain as a tree, the base columns, the statements by their numbers."""
    yield bold(found.column)
    if not found.hops[found.column]:
        yield "  nothing upstream of it is known"
    shown = {found.column}
    waiting = [(1, hop) for hop in _direct_last(found.hops[found.column])]
    while waiting:  # as deep as the chain goes, so no recursion
        depth, hop = waiting.pop()
        sources = found.hops[hop.source]
        again = bool(sources) and hop.source in shown
        shown.add(hop.source)
        yield "  " * depth + _hop_line(hop, again=again, full=full)
        if not again:
            waiting += [(depth + 1, source) for source in _direct_last(sources)]
    direct, indirect = found.base_columns()
    unseen = found.unseen_columns()
    for title, names in (("made of", direct), ("and depending on", indirect), ("not seen any more", unseen)):
        if names:
            yield f"{title}: {', '.join(names)}"
    if found.left_out:
        yield f"{found.left_out} edges of columns are left out: they are farther, or indirect"
    for number, statement in enumerate(found.statements, 1):
        yield from _statement_lines(number, statement, full=full)


def _statement_lines(number: int, statement: ExplainedStatement, *, full: bool) -> Iterator[str]:
    run_by = f"run by {', '.join(statement.jobs)}" if statement.jobs else ""
    seen = f"last seen {minute_text(statement.last_seen)}" if statement.last_seen is not None else ""
    origin = ", ".join(dict.fromkeys(filter(None, (statement.producer, statement.parser, run_by, seen))))
    yield f"[{number}] {dim(origin)}"
    lines = (statement.text or _WITHOUT_TEXT.get(statement.producer, _NO_TEXT)).splitlines()
    shown = lines if full or len(lines) <= _LINES else lines[: _LINES - 1]
    yield from (f"    {line}" for line in shown)
    if len(shown) < len(lines):
        yield f"    … {len(lines) - len(shown)} more lines: --full"


def _direct_last(hops: Iterable[ExplainedHop]) -> list[ExplainedHop]:
    """In the order for a stack: what is taken off it first are the direct ones, in their own order."""
    return sorted(hops, key=lambda hop: (hop.unseen is not None, not hop.direct))[::-1]


def _hop_line(hop: ExplainedHop, *, again: bool, full: bool) -> str:
    how = _hop_text(hop)
    if hop.subtype:
        how = f"{hop.type.lower()}, {how}"
    numbers = "".join(f" [{number}]" for number in hop.statements)
    cut = not full and len(hop.expression) > _CHARACTERS
    shown = f"{hop.expression[:_CHARACTERS]}…" if cut else hop.expression
    expression = f"  {shown}" if shown else ""
    ending = "  (see above)" if again else ""
    return f"<- {hop.source}  {dim(how)}{expression}{numbers}{ending}"


def _hop_text(hop: ExplainedHop) -> str:
    how = how_text(hop.type, hop.subtype, masking=hop.masking, certain=hop.certain, unseen=hop.unseen)
    return with_verdict(how, hop.verdict)
