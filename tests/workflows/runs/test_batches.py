"""A log in batches says what it says as a whole."""

from __future__ import annotations

from pathlib import Path

from tests.support.batched_runs import batched_run, tangled_log


def test_batches_of_any_size_give_the_catalog_and_the_counts_of_one(tmp_path: Path) -> None:
    """Also where the log is another one later: what nothing says any more is withdrawn once, and nothing else."""
    log = tangled_log(1, 30)
    logs = [log, [record for record in log if int(record.at or 0) % 7]]
    whole, parted = (batched_run(tmp_path / str(size), logs, size) for size in (1000, 1))
    assert whole.batches == 1
    assert whole.catalog["edges"]
    assert parted.batches > 3
    for kind, contents in whole.catalog.items():
        assert parted.catalog[kind] == contents
    assert parted.counts == whole.counts
    assert (parted.dead, set(parted.warnings)) == (whole.dead, set(whole.warnings))
