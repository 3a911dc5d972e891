"""What a statement's lineage says beside what its engine does when the values of one column are others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from ingestion.model.lineage import LineageType
from ingestion.parser import LineageParser
from tests.differential.form_grammar import TARGET
from tests.differential.script_engines import Contents, Filling, Runner, changed, random_filling
from tests.differential.script_grammar import Engine, Script

_Pair = tuple[str, str]
"""A source column with its table, and a column of the target."""


@dataclass
class FormFindings:
    """What was compared, and what differs: what moved and is not told, what is said to flow and never moved."""

    statements: int = 0
    moved: int = 0
    claims: int = 0
    refused: list[str] = field(default_factory=list)
    untold: list[str] = field(default_factory=list)
    unmoved: list[str] = field(default_factory=list)


def compare(number: int, script: Script, engine: Engine, runner: Runner, found: FormFindings) -> None:
    """Runs the statement over several fillings, and over each with one column's values changed.

    Which keys are there already decides what rows the target has, of all columns: that is nobody's lineage. And what
    a statement leaves as it was is no flow of it.
    """
    random = Random(number)
    statement = script.statements[-1]
    moved, ran = _moved(random, script, runner)
    if not ran:
        found.refused.append(f"{number}: {statement}")
        return
    direct, told = _said(script, engine)
    for _ in range(_MORE):  # rows that meet in two columns are few
        if not direct - moved:
            break
        moved |= _moved(random, script, runner)[0]
    found.statements += 1
    found.moved += len(moved)
    found.claims += len(direct)
    found.untold += [
        f"{number}: {source} moves {target}: {statement}"
        for source, target in sorted(moved - told)
        if source != f"{TARGET}.{target}" and not (TARGET in script.bases and source.endswith(".k"))
    ]
    found.unmoved += [
        f"{number}: {source} flows into {target}: {statement}" for source, target in sorted(direct - moved)
    ]


def _said(script: Script, engine: Engine) -> tuple[set[_Pair], set[_Pair]]:
    """The pairs that values flow along for sure, and all pairs that are tied."""
    tables = {**script.bases, **script.made}
    schema = {table: dict.fromkeys(columns, "BIGINT") for table, columns in tables.items()}
    parser = LineageParser(script.statements[-1], dialect=engine.connection, schema=schema)
    edges = [(str(edge.source), str(edge.target).removeprefix(f"{TARGET}."), edge) for edge in parser.edges]
    every = {target for _, target, _ in edges} | set(script.made[TARGET])
    told: set[_Pair] = set()
    for source, target, _ in edges:
        told |= {(source, one) for one in (every if target == "*" else (target,))}
    certain = {(s, t) for s, t, edge in edges if edge.certain and edge.type is LineageType.DIRECT and t != "*"}
    return certain, told


def _moved(random: Random, script: Script, runner: Runner) -> tuple[set[_Pair], bool]:
    """What moved in the target when a column had other values, but the column itself; and whether the statement ran."""
    fillings: list[Filling] = []
    sources: list[str] = []
    for _ in range(_ROUNDS):
        first = _meeting(random, script)
        fillings.append(first)
        sources.append("")
        for table, columns in script.bases.items():
            for number, column in enumerate(columns):
                fillings.append(changed(random, first, table, number))
                sources.append(f"{table}.{column}")
    left = runner.contents(script, fillings)
    found: set[_Pair] = set()
    before: Contents | None = None
    for source, contents in zip(sources, left, strict=True):
        if not source:
            before = contents
        elif before is not None and contents is not None:
            found |= {(source, target) for target in _other(script, before, contents)}
    return found, any(one is not None for one in left)


def _meeting(random: Random, script: Script) -> Filling:
    """A filling in which rows meet in several columns at once."""
    filling = dict(random_filling(random, script))
    for table, columns in script.bases.items():
        for number, column in enumerate(columns):
            if column in ("j", "u"):
                filling[table] = tuple(
                    (*row[:number], random.choice((1, 2, 1, 2, None)), *row[number + 1 :]) for row in filling[table]
                )
    return filling


def _other(script: Script, before: Contents, after: Contents) -> Iterator[str]:
    for number, column in enumerate(script.made[TARGET]):
        if before[TARGET][number] != after[TARGET][number]:
            yield column


_ROUNDS = 4
_MORE = 8
