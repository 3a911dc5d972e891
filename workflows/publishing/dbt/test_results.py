"""The tests of a dbt project and the freshness of its sources, with what dbt's last run made of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from connectors.dbt.model_statements import DbtProject
from connectors.dbt.target.nodes import DbtTest
from connectors.dbt.target.results import NodeResult
from connectors.openmetadata.entities.data_quality import TestCase, TestOutcome, TestStatus

DEFINITION_PREFIX = "dbt_"
_FRESHNESS = "freshness"
_SHOWN = 5
_STATUSES: Mapping[str, TestStatus] = {
    "pass": TestStatus.SUCCESS,
    "success": TestStatus.SUCCESS,
    "warn": TestStatus.FAILED,
    "fail": TestStatus.FAILED,
    "error": TestStatus.ABORTED,
    "runtime error": TestStatus.ABORTED,
}
"""A test that was skipped has no result."""


def test_cases(project: DbtProject, names: Mapping[str, str], results: Mapping[str, NodeResult]) -> Iterator[TestCase]:
    """The tests of the nodes in `names` (FQNs by unique_id), each with its result where it has one."""
    tests = [test for test in project.manifest.tests if test.tested in names] if project.manifest is not None else []
    alike = Counter(_place(test) for test in tests)
    for test in tests:
        *_, last = test.unique_id.split(".")
        name = f"{test.label}_{last}" if alike[_place(test)] > 1 else test.label
        level = "column" if test.column else "table"
        kind = test.kind or "singular"
        definition = f"{DEFINITION_PREFIX}{level}_{kind}"
        yield TestCase(names[test.tested], test.column, name, definition, _outcome(results.get(test.unique_id)))


def tests_without_table(project: DbtProject, names: Mapping[str, str]) -> str:
    """The line about tests that no table of the catalog can have, "" where there is none."""
    tests = project.manifest.tests if project.manifest is not None else ()
    left_out = [test for test in tests if test.tested not in names]
    if not left_out:
        return ""
    nodes = [project.nodes.get(test.tested) for test in left_out]
    ephemeral = sorted({node.name for node in nodes if node is not None and node.ephemeral})
    of_what = f"of ephemeral models ({', '.join(ephemeral[:_SHOWN])})" if ephemeral else ""
    others = sum(node is None or not node.ephemeral for node in nodes)
    of_none = f"{others} attached to no model" if others else ""
    return f"{len(left_out)} tests have no table: {', '.join(filter(None, (of_what, of_none)))}: they are left out"


def freshness_cases(names: Mapping[str, str], results: Mapping[str, NodeResult]) -> Iterator[TestCase]:
    """A test of each source whose freshness dbt has measured."""
    for unique_id, result in results.items():
        if unique_id in names:
            outcome = _outcome(result, {"error": TestStatus.FAILED})
            yield TestCase(names[unique_id], "", _FRESHNESS, f"{DEFINITION_PREFIX}table_{_FRESHNESS}", outcome)


def _place(test: DbtTest) -> tuple[str, str, str]:
    return test.tested, test.column.lower(), test.label


def _outcome(result: NodeResult | None, meanings: Mapping[str, TestStatus] | None = None) -> TestOutcome | None:
    status = {**_STATUSES, **(meanings or {})}.get(result.status) if result is not None else None
    if result is None or status is None or result.at is None:
        return None
    values: tuple[tuple[str, str], ...] = ()
    if result.newest is not None:
        values = (("max_loaded_at", datetime.fromtimestamp(result.newest, UTC).isoformat()),)
    failed = result.failures if status is TestStatus.FAILED and not values else None
    return TestOutcome(status, result.at, result.status, failed, values)
