"""Where the sessions of statements looked for names, told from what they had set before."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from workflows.templates.grouping import ORDER, with_namespace, with_namespaces

OF_SESSION = ("session", *ORDER, "user", "database", "schema", "path", "set_database", "set_path")
"""The columns of a statement that its namespace is told from."""


def with_session_namespaces(rows: DataFrame, whole: DataFrame | None, *, are_few: bool = False) -> DataFrame:
    """Statements (with OF_SESSION), and the namespace that their session had: `with_namespace`.

    `whole` has all that their sessions did; None where nothing changed what a session had set. Both `are_few` where
    neither has more than FEW.
    """
    if whole is None:
        return with_namespace(rows, session_changes=False)
    changes = whole.where("sets").select(*OF_SESSION).withColumn("asked", F.lit(False))
    both = rows.withColumn("asked", F.lit(True)).unionByName(changes, allowMissingColumns=True)
    placed = with_namespace(both.coalesce(1), session_changes=True) if are_few else with_namespaces(both)
    return placed.where("asked").drop("asked")
