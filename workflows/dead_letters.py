"""Statements that were given up on, kept where a person can look at them: masked, with the reason and their place."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 the name that every PySpark user knows

from ingestion.errors import ConfigError
from workflows.templates import Template


def write_dead_letters(
    file: Path, statements: DataFrame, templates: Mapping[str, Template], dead: Mapping[str, str]
) -> None:
    """Writes a JSON line for every dead statement, in place of what an earlier run left: `dead` is by fingerprint.

    What cannot be masked has no text in it. Raises ConfigError where the file cannot be written.
    """
    gone = statements.where(F.col("dead").isNotNull() | F.col("fingerprint").isin(list(dead)))
    rows = gone.select("source_id", "position", "fingerprint", "dead", "dialect", "time")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("w", encoding="utf-8") as out:
            for row in rows.orderBy("file", "line", "position").toLocalIterator():
                template = templates.get(row["fingerprint"])
                letter = {
                    "source_id": row["source_id"],
                    "statement": row["position"] + 1,
                    "reason": row["dead"] or dead[row["fingerprint"]],
                    "dialect": row["dialect"],
                    "time": row["time"] or None,
                    "masked": template.masked if template is not None else "",
                }
                out.write(json.dumps(letter, ensure_ascii=False) + "\n")
    except OSError as error:
        raise ConfigError(f"dead letters cannot be written to {file}: set headwater.deadLetters") from error
