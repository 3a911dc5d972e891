"""Lineage in the form in which two analyses are compared: per output, who has what part in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from ingestion.model.lineage import Flow, Reference, StatementLineage


class Use(NamedTuple):
    """One column's part. `cast`: the value went through casts only, which an engine may have added itself."""

    table: str
    column: str
    part: str
    masking: bool = False
    cast: bool = False


Uses = frozenset[Use]
NOTHING: Uses = frozenset()
DIRECT = ("IDENTITY", "TRANSFORMATION", "AGGREGATION")


@dataclass(frozen=True)
class Facts:
    """The outputs of a query in order, and the tables it reads."""

    outputs: tuple[tuple[str, Uses], ...]
    tables: frozenset[str]


def composed(outer: str, inner: Use, *, masking: bool = False) -> Use:
    """What a column that is `inner` to a value is to a result in which the value plays `outer`."""
    hidden = masking or inner.masking
    if outer not in DIRECT:
        return Use(inner.table, inner.column, outer, hidden)
    if inner.part not in DIRECT:
        return inner._replace(masking=hidden)
    part = max(outer, inner.part, key=DIRECT.index)
    return Use(inner.table, inner.column, part, hidden, inner.cast and part == "IDENTITY")


def playing(part: str, uses: Iterable[Use], *, masking: bool = False) -> Uses:
    """Uses of a value that plays a part."""
    return frozenset(composed(part, use, masking=masking) for use in uses)


def facts_of(lineage: StatementLineage) -> Facts:
    """Our lineage of a statement with one flow; what acts on whole rows is a part of each output."""
    (flow,) = lineage.flows
    return Facts(tuple(_outputs(flow)), frozenset(name.table for name in flow.sources))


def _outputs(flow: Flow) -> Iterable[tuple[str, Uses]]:
    rows = [use for reference in flow.indirect for use in _uses(reference)]
    for output in flow.outputs:
        own = [use for reference in output.references for use in _uses(reference)]
        yield output.name.lower(), frozenset([*own, *rows])


def _uses(reference: Reference) -> Iterable[Use]:
    how = reference.transformation
    for source in reference.sources:
        part = how.subtype.value if reference.certain else f"{how.subtype.value}?"
        yield Use(source.table.table, source.column.lower(), part, how.masking)


def without_cast_marks(uses: Uses, ours: Uses) -> Uses:
    """An engine's uses, a column that only casts touched taken as we take it: as it is, or as made of it."""
    found = set()
    for use in uses:
        plain = use._replace(cast=False)
        made = plain._replace(part="TRANSFORMATION")
        found.add(made if use.cast and plain not in ours and made in ours else plain)
    return frozenset(found)


def differences(ours: Facts, theirs: Facts, *, named: Callable[[str], bool] = lambda _name: True) -> list[str]:
    """What we say and the engine does not (+), and the other way round (-); names count where `named` says so."""
    found = [f"+ reads {table}" for table in sorted(ours.tables - theirs.tables)]
    found += [f"- reads {table}" for table in sorted(theirs.tables - ours.tables)]
    if len(ours.outputs) != len(theirs.outputs):
        return [*found, f"outputs {[n for n, _ in ours.outputs]} are not {[n for n, _ in theirs.outputs]}"]
    for number, ((name, own), (expected, uses)) in enumerate(zip(ours.outputs, theirs.outputs, strict=True), 1):
        if name != expected and named(expected):
            found.append(f"output {number}: {name} is not {expected}")
        other = without_cast_marks(uses, own)
        found += [f"+ {expected} <- {_shown(use)}" for use in sorted(own - other)]
        found += [f"- {expected} <- {_shown(use)}" for use in sorted(other - own)]
    return found


def _shown(use: Use) -> str:
    return f"{use.table}.{use.column} {use.part}{' masking' if use.masking else ''}"
