"""How much of real dbt projects is read without artifacts: `dbt_projects.py DIALECT FOLDER …`.

A model is whole where its template is rendered and every statement of it is parsed. Told are those that are not, with
the reasons, and how many statements have a template in them, of which there must be none. Packages are those that
`dbt deps` put into the folders. Ends with 1 where less than 95 % are whole.

Rendered are 1,892 of the 1,900 models of duneanalytics/spellbook's `dbt_subprojects/dex` (trino) and all 262 of its
`solana`.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path

from connectors.dbt.nodes import ResourceKind
from connectors.dbt.projects import open_project
from ingestion.dialects.unfilled_templates import template_in_code
from ingestion.errors import RecordError
from ingestion.parser import LineageParser
from ingestion.parsing.sandbox.process import Limits

_SHOWN = 10
_ENOUGH = 95.0


def main(dialect: str, folders: list[str]) -> int:
    return max(int(_whole_percent(Path(folder), dialect) < _ENOUGH) for folder in folders)


def _whole_percent(folder: Path, dialect: str) -> float:
    started = time.monotonic()
    project = open_project(folder, dialect, Limits())
    nodes = project.nodes.values()
    models = {node.unique_id for node in nodes if node.kind is ResourceKind.MODEL and node.language == "sql"}
    reasons = {failure.node.unique_id: failure.reason for failure in project.failures}
    texts = [one.text for one in project.statements]
    for one, parser in zip(project.statements, LineageParser.of_each(texts, dialect=project.dialect), strict=True):
        failures = [parser] if isinstance(parser, RecordError) else parser.failures
        if failures:
            reasons.setdefault(one.node.unique_id, f"not parsed: {failures[0]}"[:120])
    templated = sum(template_in_code(one.body, project.dialect) is not None for one in project.statements)
    lost = models & reasons.keys()
    percent = 100 * (1 - len(lost) / len(models))
    print(
        f"{folder}: {len(models)} models, {percent:.1f} % whole, {len(texts)} statements, {templated} with a template, "
        f"{time.monotonic() - started:.0f} s"
    )
    for reason, count in Counter(reasons[unique_id] for unique_id in lost).most_common(_SHOWN):
        print(f"  {count} {reason}")
    return percent


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
