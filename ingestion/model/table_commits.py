"""Commits of open table formats: what a table's own log tells of a write, which is not where its rows came from."""

from __future__ import annotations

from enum import StrEnum

from ingestion.model.lineage import StatementLineage

COMMIT_TIER = "commit"
"""The tier of what a table's own log tells."""

COMMITTED = f"{COMMIT_TIER}-"
"""How the fingerprint of a commit begins; its format follows."""


class TableFormat(StrEnum):
    """The formats whose logs are read, by how they are called."""

    DELTA = "Delta Lake"
    ICEBERG = "Iceberg"


_VERSIONS = {TableFormat.DELTA: "version", TableFormat.ICEBERG: "snapshot"}


def commit_format(lineage: StatementLineage) -> TableFormat | None:
    """The format of whose commit a statement is; None where it is none.

    A commit names what it wrote and who says so, and no source: an edge that stands in a list has one.
    """
    if not lineage.witness or lineage.sources:
        return None
    return next((found for found in TableFormat if found == lineage.witness), None)


def commit_beginning(table_format: TableFormat) -> str:
    """How the fingerprint of a commit of this format begins: `commit-delta-lake-`."""
    return f"{COMMITTED}{table_format.lower().replace(' ', '-')}-"


def commit_run(version: int) -> str:
    """What tells a commit from others of its table: its version as sixteen hexadecimal digits."""
    return f"{version & (1 << 64) - 1:016x}"


def commit_text(fingerprint: str, run: str, job: str) -> str:
    """A commit as people know it (`MERGE by etl, Delta Lake version 42`), "" of what is no commit.

    `fingerprint` is that of what tells it, `run` what tells it from others, `job` its operation and who carried it out.
    """
    found = next((one for one in TableFormat if fingerprint.startswith(commit_beginning(one))), None)
    if found is None:
        return ""
    number = f"{found} {_VERSIONS[found]} {int(run, 16)}"
    return f"{job}, {number}" if job else number
