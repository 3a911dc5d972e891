"""Statements with secrets and values in every form of each dialect's grammar: {} stands for a text, {n} for digits.

No form has one where a name must stand: whatever is filled in is to be found nowhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SPOKEN = {"flink": "spark"}
"""Of engines without a dialect of their own, the one that their logs are read by."""

FORMS: dict[str, list[str]] = json.loads(Path(__file__).with_suffix(".json").read_text())


class Filled(NamedTuple):
    """A form with canaries in it, each of which is found nowhere else."""

    dialect: str
    text: str
    canaries: tuple[str, ...]


_MARK = re.compile(r"\{\{|\}\}|\{n\}|\{\}")


def filled() -> Iterator[Filled]:
    """Every form, with canaries that are told apart: `qzk00001x`, `700000140318`."""
    count = 0

    def fill(match: re.Match[str]) -> str:
        nonlocal count
        if match.group() in ("{{", "}}"):
            return match.group()[0]
        count += 1
        canaries.append(f"qzk{count:05}x" if match.group() == "{}" else f"70{count:05}40318")
        return canaries[-1]

    for engine, texts in FORMS.items():
        for text in texts:
            canaries = list[str]()
            yield Filled(SPOKEN.get(engine, engine), _MARK.sub(fill, text), tuple(canaries))
