"""run_results.json and sources.json: what became of each node in dbt's last run, and how fresh its sources were."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from connectors.dbt.target.json_stream import Artifact, mapping_of, text_of
from connectors.dbt.target.manifest import seconds_of


@dataclass(frozen=True, slots=True)
class NodeResult:
    """`status` is dbt's own word: success, error, skipped; of tests pass, fail, warn; of sources pass, warn, error.

    `at` is when it ended (seconds since the epoch); `failures` counts the rows that failed a test; `newest` is when the
    newest row of a source was loaded; `rows` is how many the warehouse says were written, None where it does not.
    """

    unique_id: str
    status: str
    at: float | None = None
    failures: int = 0
    newest: float | None = None
    rows: int | None = None


def read_run_results(file: Path) -> dict[str, NodeResult]:
    """The results of a run by unique_id. Raises UnreadableArtifact."""
    artifact = Artifact.of(file, "run-results")
    generated = seconds_of(artifact.metadata.generated_at)
    found: dict[str, NodeResult] = {}
    for entry in artifact.items("results"):
        ended = [mapping_of(step).get("completed_at") for step in entry.get("timing") or ()]
        at = max(filter(None, (seconds_of(text_of(moment)) for moment in ended)), default=generated)
        failures = entry.get("failures")
        unique_id = text_of(entry.get("unique_id"))
        count = failures if isinstance(failures, int) else 0
        affected = mapping_of(entry.get("adapter_response")).get("rows_affected")
        rows = affected if isinstance(affected, int) and affected >= 0 else None
        found[unique_id] = NodeResult(unique_id, text_of(entry.get("status")), at, count, rows=rows)
    return found


def read_source_freshness(file: Path) -> dict[str, NodeResult]:
    """How fresh each source was, by unique_id. Raises UnreadableArtifact."""
    artifact = Artifact.of(file, "sources")
    generated = seconds_of(artifact.metadata.generated_at)
    found: dict[str, NodeResult] = {}
    for entry in artifact.items("results"):
        unique_id = text_of(entry.get("unique_id"))
        at = seconds_of(text_of(entry.get("snapshotted_at"))) or generated
        newest = seconds_of(text_of(entry.get("max_loaded_at")))
        found[unique_id] = NodeResult(unique_id, text_of(entry.get("status")), at, newest=newest)
    return found
