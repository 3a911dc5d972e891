"""The lineage of SQL files, as people read it."""

from __future__ import annotations

from collections.abc import Iterator

from connectors.catalog.answer.rendering import Renderings
from connectors.catalog.answer.writing import bold, dim
from connectors.sql_files.lineage import ScriptLineage


def _lineage_lines(found: ScriptLineage) -> Iterator[str]:
    for target, columns in found.tree().items():
        yield bold(target)
        for column, rows in columns.items():
            yield from (f"  {column} <- {source}  {dim(how)}" for source, how in rows)
    yield from (f"  unresolved: {problem}" for problem in found.problems)
    if not found.tables and not found.failures:
        yield "no lineage: nothing here reads a table"


SCRIPT_LINEAGE = Renderings(_lineage_lines, ScriptLineage.to_json)
