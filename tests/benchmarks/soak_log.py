"""A log that grows from run to run: the generator's templates, and statements whose lineage hangs on each other.

Some records come late, some twice, and a new file is begun every few parts, as where logs are rotated.
"""

from __future__ import annotations

import csv
import random
import re
import sys
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]

from query_log_generator import Answer, literal, make_templates  # noqa: E402

from tests.support.growing_log import SHOP  # noqa: E402

START = datetime(2026, 1, 1)
_HEADER = ("query_text", "start_time", "session_id", "status")
_LATE, _TWICE, _DEPENDING = 0.05, 0.03, 0.3
_PARTS_A_FILE = 8
_CYCLES_OF_A_NAME = 3
_OWN_NAMES = re.compile(r"\b(orders|customers|early|late|daily|marked|summary|wide|report|broken|tmp)\b")

Row = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class GrowingLog:
    """The records of each part, in the order in which they are written."""

    parts: list[list[Row]]

    def write(self, folder: Path, number: int) -> None:
        """Adds a part to the log."""
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"log{number // _PARTS_A_FILE:02d}.csv"
        begins = not file.exists()
        with file.open("a", newline="", encoding="utf-8") as out:
            writer = csv.writer(out)
            writer.writerows([_HEADER, *self.parts[number]] if begins else self.parts[number])


def make_log(parts: int, rows: int, templates: int, seed: int) -> GrowingLog:
    """`rows` records for each part, a second apart. The same arguments make the same log."""
    rng = random.Random(seed)
    answers = make_templates(templates, rng).answers
    written: list[list[Row]] = [[] for _ in range(parts)]
    depending = 0
    for number in range(parts * rows):
        if rng.random() < _DEPENDING:
            text, session = _of_the_shop(depending)
            depending += 1
        else:
            text, session = _of_the_warehouse(rng.choice(answers), rng)
        row = (text, (START + timedelta(seconds=number)).isoformat(" "), session, "success")
        part = number // rows
        late = rng.random() < _LATE
        written[min(part + rng.randint(1, 5), parts - 1) if late else part].append(row)
        if rng.random() < _TWICE:
            written[rng.randint(part, parts - 1)].append(row)
    return GrowingLog(written)


def _of_the_shop(number: int) -> tuple[str, str]:
    """Statements about temporary tables, views before what they read, paths that are set: over and over."""
    cycle, place = divmod(number, len(SHOP))
    session, text = SHOP[place]
    name = cycle // _CYCLES_OF_A_NAME
    return _OWN_NAMES.sub(rf"\1_{name}", text), f"{session}-{cycle}"


def _of_the_warehouse(answer: Answer, rng: random.Random) -> tuple[str, str]:
    template = answer.template
    return template.text % tuple(literal(kind, rng) for kind in template.literals), f"w{rng.randrange(20)}"
