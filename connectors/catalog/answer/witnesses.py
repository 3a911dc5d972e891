"""Where witnesses agree and where not, as people, programs and language models read it."""

from __future__ import annotations

from collections.abc import Iterator

from connectors.catalog.answer.pages import AnswerRows, Row, fact
from connectors.catalog.answer.rendering import Renderings
from connectors.catalog.answer.writing import Name, bold
from connectors.catalog.questions.witnesses import Disagreement, WitnessCounts, WitnessReport


def witness_rows(found: WitnessReport) -> AnswerRows:
    """The counts, then each disagreement with what those have who tell otherwise."""
    facts = (fact(_total(found)), *(fact(f"{who}: {_counts_text(counts)}") for who, counts in found.of_each.items()))
    return AnswerRows("disagreements", facts, tuple(map(_disagreement_row, found.disagreements)))


def _disagreement_row(one: Disagreement) -> Row:
    parts: list[str] = [Name(one.target), " <- ", Name(one.source), f" [{one.verdict}]"]
    for witness, names in one.instead.items():
        listed = [part for name in names for part in (", ", Name(name))]
        parts += [f" {witness} has ", *listed[1:]]
    cells = "differs", Name(one.target), Name(one.source), str(one.verdict), *map(Name, _others(one))
    return Row(tuple(parts), cells)


def _others(one: Disagreement) -> list[str]:
    """The columns that those have who tell otherwise, each once."""
    return list(dict.fromkeys(name for names in one.instead.values() for name in names))


def _total(found: WitnessReport) -> str:
    return f"{found.tables} tables that more than one witness tells of: {_counts_text(found.of_all)}"


def _counts_text(counts: WitnessCounts) -> str:
    return (
        f"{counts.edges} column edges, {counts.confirmed} confirmed by another, {counts.alone} seen by one alone, "
        f"{counts.disputed} disputed"
    )


def _lines(found: WitnessReport) -> Iterator[str]:
    target = None
    for one in found.disagreements:
        if one.target != target:
            target = one.target
            yield bold(target)
        against = "; ".join(f"{witness} has {', '.join(names)}" for witness, names in one.instead.items())
        yield f"  <- {one.source}  {one.verdict} ({against})"
    yield _total(found)
    for witness, counts in found.of_each.items():
        yield f"  {witness}: {_counts_text(counts)}"


def _table(found: WitnessReport) -> Iterator[tuple[str | int, ...]]:
    yield "target", "source", "seen by", "not by", "instead"
    for one in found.disagreements:
        seen_by, not_by = (", ".join(some) for some in (one.verdict.seen_by, one.verdict.not_by))
        yield one.target, one.source, seen_by, not_by, ", ".join(_others(one))


WITNESSES = Renderings(_lines, WitnessReport.to_json, witness_rows, table=_table, states_truncation=True)
