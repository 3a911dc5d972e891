"""What is known of one exporter: which headers tell it, and what its columns mean."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from connectors.query_log.engine_lineage.rows import EngineLineage

RowStates = Mapping[str, Mapping[str, str | None]]
"""By column: the status that a row has for a value (in lower case) of it; None where that value says nothing bad."""

OTHERWISE = "*"
"""Stands for any value of a column that is not named."""

NOT_A_STATEMENT = "not_a_statement"
"""Status of a record that holds no executed statement: a server's message, an empty text."""

PART_OF_ANOTHER = "part_of_another"
"""Status of a statement that the platform made of another one, or that holds others, which the log has too."""

NO_WRITE = "no_write"
"""Status of a record of the engine's own lineage that tells of no write."""

FAILED, UNFINISHED = "failed", "unfinished"

MILLISECONDS, MICROSECONDS, PICOSECONDS = 1e-3, 1e-6, 1e-12


def marks(*sets: str) -> tuple[frozenset[str], ...]:
    """Sets of columns, each written as one text."""
    return tuple(frozenset(names.split()) for names in sets)


@dataclass(frozen=True, slots=True)
class Pieces:
    """How a text stands in several rows: those with one `key`, in the order of a column that counts from `first`.

    `width`: characters of every piece but the last, where the platform cuts blanks off their ends.
    """

    key: tuple[str, ...]
    order: str
    first: int = 0
    width: int | None = None


@dataclass(frozen=True, slots=True)
class TextLimit:
    """Where a platform cuts a column's texts: at so many characters, or (`in_bytes`) bytes of UTF-8.

    `mark` is what it puts in place of the last characters of a text that it cuts.
    """

    length: int
    in_bytes: bool = False
    mark: str = ""

    def cuts(self, text: str) -> bool:
        """Whether a text is just as long as it can be, which is hardly ever all of it.

        A longer one comes from a server that was told to cut later, or from a column of another kind.
        """
        if len(text) * 4 < self.length - 4:
            return False
        if self.mark and text.endswith(self.mark):
            return True
        if not self.in_bytes or text.isascii():
            return len(text) == self.length
        # A character that does not fit is left out whole.
        return self.length - 4 < len(text.encode("utf-8", "surrogatepass")) <= self.length


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Rows that are no statement and do what one does: where `column` is `value`, and the text has `pattern`."""

    column: str
    value: str
    pattern: re.Pattern[str]
    statement: str


@dataclass(frozen=True, slots=True)
class ExportProfile:
    """One exporter. Column names are in lower case, words joined by `_`, fields of fields too: `status_state`.

    `marks`: any one of these sets of columns tells it, and any of `own_marks` where the connection is of one of its
    `services`, which also decide where two fit. `columns`: a record's field to its columns, of which the first that
    holds something counts. `units`: seconds in one unit of a column. `patterns`: what of a column's value counts, the
    pattern's first group. `noise`: what stands before the statement. `escaped`: line ends are written `\\n`. `limits`:
    where a column's texts are cut. `job_ids`: columns that name a job by its id, and what kind of job. `lineage`: what
    the engine itself tells of it, beside the text or, where no column has one, in its place. `adds_rows`: the columns
    of `rows` count different rows (inserted, updated), and are no aliases of one count.
    """

    name: str
    marks: tuple[frozenset[str], ...]
    columns: Mapping[str, tuple[str, ...]]
    services: frozenset[str] = frozenset()
    own_marks: tuple[frozenset[str], ...] = ()
    units: Mapping[str, float] = field(default_factory=dict)
    patterns: Mapping[str, re.Pattern[str]] = field(default_factory=dict)
    states: RowStates = field(default_factory=dict)
    rewrites: tuple[Rewrite, ...] = ()
    pieces: Pieces | None = None
    noise: re.Pattern[str] | None = None
    escaped: bool = False
    limits: Mapping[str, TextLimit] = field(default_factory=dict)
    job_ids: Mapping[str, str] = field(default_factory=dict)
    lineage: EngineLineage | None = None
    adds_rows: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """All columns that it reads, each once."""
        found = [name for names in self.columns.values() for name in names]
        found += [*self.states, *(rewrite.column for rewrite in self.rewrites)]
        if self.pieces is not None:
            found += [*self.pieces.key, self.pieces.order]
        if self.lineage is not None:
            found += self.lineage.columns
        return tuple(dict.fromkeys(found))
