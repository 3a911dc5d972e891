"""Rows of an export as records: what its columns say, by the profile that fits."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.pandas.types import to_arrow_schema

from connectors.platforms.error_codes import error_code
from connectors.platforms.generic import GENERIC
from connectors.platforms.job_names import has_comment, job_of
from connectors.platforms.profile import OTHERWISE, EngineLineage, ExportProfile, MalformedLineage, SplitText
from connectors.query_log._columns import ColumnReading
from connectors.query_log._values import NULLS, joined_state, parse_duration, parse_flag, parse_state, parse_times
from connectors.records import MALFORMED_EDGES, RECORD_SCHEMA
from ingestion.analysis.symbolic import dumps
from ingestion.model.lineage import StatementLineage
from ingestion.model.outcomes import Outcome

ARROW_SCHEMA = to_arrow_schema(RECORD_SCHEMA)

_NO_STATEMENT = ";"
"""In place of a failed statement whose text is cut: of what template it was, so whether it ran again, nothing tells."""
_NULLS = NULLS | {"?"}

_ESCAPE = re.compile(r"\\([nrt\\])")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\"}
# of tab-separated text without quotes: what mysql --batch, PostgreSQL's COPY and ClickHouse's TabSeparated write
_TAB_ESCAPE = re.compile(r"\\([bfnrtv0\\])")
_QUOTE_ESCAPE = re.compile(r"\\([bfnrtv0\\'])")
_TAB_ESCAPES = {**_ESCAPES, "b": "\b", "f": "\f", "v": "\v", "0": "\0", "'": "'"}

_QUERY = re.compile(r"(?:\s|--[^\n]*\n|/\*.*?\*/)*+(?:\(|(?:select|with)\b)", re.IGNORECASE | re.DOTALL)

_MOST_ROWS = 1 << 53
"""Up to which a number with a fraction has each whole one."""
_ID = re.compile(r"[\w-]{1,64}")
_NUL = re.compile(rb"\0")

Column = Sequence[str]
Columns = Sequence[Column] | Mapping[int, Column]


# Columns of RECORD_SCHEMA for the rows of one input, and what of it could not be read.


@dataclass(frozen=True, slots=True)
class Malformed:
    """A record that cannot be read: its first line (1-based) and why, without its content."""

    line: int
    problem: str


@dataclass(slots=True)
class Records:
    """Rows, the line each starts on, and what could not be read."""

    rows: list[list[str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    malformed: list[Malformed] = field(default_factory=list)


@dataclass(slots=True)
class Table:
    """Some columns of RECORD_SCHEMA (missing ones are null), the line of each row, and what could not be read."""

    lines: list[int]
    columns: dict[str, list[Any]]
    malformed: list[Malformed] = field(default_factory=list)

    def drop(self, problems: dict[int, str]) -> Table:
        """Without the rows at these positions, which are malformed for the reason given."""
        if not problems:
            return self
        keep = [position for position in range(len(self.lines)) if position not in problems]
        malformed = [Malformed(self.lines[position], problem) for position, problem in problems.items()]
        columns = {name: [values[position] for position in keep] for name, values in self.columns.items()}
        return Table([self.lines[position] for position in keep], columns, self.malformed + malformed)

    def to_batch(self, name: str, schema: pa.Schema = ARROW_SCHEMA) -> pa.RecordBatch:
        """An Arrow batch of `schema`; `name` is the file's. What is not valid UTF-8, or holds a NUL, turns malformed.

        No statement that ran has a NUL in it: an export's damage, and PostgreSQL could store no such text.
        """
        try:
            batch = self._to_batch(name, schema)
        except UnicodeEncodeError:
            return self.drop(self._where(_encodable, "not valid UTF-8")).to_batch(name, schema)
        if any(map(_has_nul, batch.columns)):
            return self.drop(self._where(_without_nul, "a NUL character in it"))._to_batch(name, schema)
        return batch

    def _to_batch(self, name: str, schema: pa.Schema) -> pa.RecordBatch:
        good, bad = len(self.lines), len(self.malformed)
        lines = [*self.lines, *(record.line for record in self.malformed)]
        numbers = pa.array(lines, pa.int64()).cast(pa.string())
        arrays = [pc.binary_join_element_wise(name, numbers, ":")]
        for column in list(schema)[1:]:
            values = self.columns.get(column.name)
            if column.name == "problem":
                values = [None] * good + [record.problem for record in self.malformed]
            elif values is not None and bad:
                values = values + [None] * bad
            arrays.append(pa.nulls(good + bad, column.type) if values is None else pa.array(values, column.type))
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _where(self, is_sound: Callable[[Any], bool], problem: str) -> dict[int, str]:
        """The problem of each row of which a text is not sound."""
        texts = [values for values in self.columns.values() if any(isinstance(value, str) for value in values)]
        return {
            position: problem
            for position in range(len(self.lines))
            if not all(is_sound(values[position]) for values in texts)
        }


def _encodable(value: Any) -> bool:
    if not isinstance(value, str):
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _without_nul(value: Any) -> bool:
    return not isinstance(value, str) or "\0" not in value


def _has_nul(column: pa.Array) -> bool:
    """Whether a text of a column holds one: a search in its bytes, at some 2 GB a second."""
    if not pa.types.is_string(column.type) or column.null_count == len(column):  # of nulls alone the bytes are zeros
        return False
    characters = column.buffers()[-1]
    return characters is not None and _NUL.search(characters) is not None


# Rows by the profile that fits.


def interpret(columns: Columns, lines: list[int], malformed: list[Malformed], reading: ColumnReading) -> Table:
    """A table of the rows whose values stand in `columns`, by the positions that the reading gives them."""
    found: dict[str, list[Any]] = {name: [value] * len(lines) for name, value in reading.constants.items()}
    problems: dict[int, str] = {}
    for name in ("start_time", "end_time"):
        if name in reading.fields:
            found[name], wrong = _times(name, columns, reading)
            problems |= {row: f"{reading.names[position]} is no time" for row, position in wrong.items()}
    for position in reading.fields.get("duration", ())[:1]:
        unit = reading.units.get(position, 1.0)
        found["duration"] = [parse_duration(value, unit) for value in columns[position]]
    for name in ("user", "session", "database", "schema", "query_type"):
        if name in reading.fields:
            found[name] = _named_columns(name, columns, reading)
    statuses = _statuses(columns, len(lines), reading)
    if "error_code" in reading.fields:
        found["error_code"] = _error_codes(columns, statuses, reading)
    found |= _amount_columns(columns, len(lines), reading)
    if reading.profile.split_text is not None:
        found |= _split_texts(columns, reading.profile.split_text, reading, problems)
    elif "text" in reading.fields:
        found["text"] = _texts(columns, statuses, reading)
        if None in found["text"]:
            pairs = zip(statuses, found["text"], strict=True)
            statuses = [status if text else Outcome.NOT_A_STATEMENT for status, text in pairs]
    if reading.profile.lineage is not None:
        recorded = _recorded_lineage(columns, reading.profile.lineage, reading, statuses, problems)
        alone = "text" not in reading.fields
        found["edges"] = [_edges(one, alone=alone) for one in recorded]
        if alone:
            wrote = map(_tells_a_write, recorded)
            statuses = [
                status or (None if write else Outcome.NO_WRITE) for status, write in zip(statuses, wrote, strict=True)
            ]
    found["status"] = statuses
    if "job" not in found:
        found["job"] = _jobs(columns, found.get("text", [None] * len(lines)), reading)
    return Table(lines, found, malformed).drop(problems)


def _recorded_lineage(
    columns: Columns,
    lineage: EngineLineage,
    reading: ColumnReading,
    statuses: Sequence[str | None],
    problems: dict[int, str],
) -> list[StatementLineage | MalformedLineage | None]:
    """What the engine says of each row that counts."""
    nothing = [""] * len(statuses)
    positions = map(reading.position, lineage.columns)
    recorded_columns = [nothing if at is None else columns[at] for at in positions]
    nulls = frozenset[str]() if lineage.verbatim else _NULLS
    found: list[StatementLineage | MalformedLineage | None] = []
    for row, (status, *values) in enumerate(zip(statuses, *recorded_columns, strict=True)):
        if status is not None:
            found.append(None)
            continue
        try:
            found.append(lineage.read(["" if value in nulls else value for value in values]))
        except MalformedLineage as error:
            if "text" not in reading.fields:
                problems[row] = str(error)
            found.append(error)
    return found


def _tells_a_write(recorded: StatementLineage | MalformedLineage | None) -> bool:
    return isinstance(recorded, MalformedLineage) or (recorded is not None and bool(recorded.targets))


def _edges(recorded: StatementLineage | MalformedLineage | None, *, alone: bool) -> bytes | None:
    """As `ingestion.analysis.symbolic.dumps` writes it; a text tells more of what was only read, unless `alone`."""
    if isinstance(recorded, MalformedLineage):
        return MALFORMED_EDGES
    return dumps(recorded) if recorded is not None and (alone or recorded.targets) else None


def _split_texts(
    columns: Columns, split: SplitText, reading: ColumnReading, problems: dict[int, str]
) -> dict[str, list[Any]]:
    """The text of each row as it is, with what tells where it belongs."""
    positions = [at for at in map(reading.position, split.key) if at is not None]
    rows: Iterable[tuple[str, ...]] = (
        zip(*(columns[at] for at in positions), strict=True)
        if positions
        else repeat((), len(columns[reading.fields["text"][0]]))
    )
    # a row that names no statement belongs to no other row
    keys = ["\x1f".join((reading.profile.name, *values)) if set(values) - _NULLS else None for values in rows]
    order = reading.position(split.order)
    numbers: list[int | None] = [_number(value) for value in columns[order]] if order is not None else []
    problems |= {row: f"{split.order} is no number" for row, number in enumerate(numbers) if number is None}
    if split.order:
        problems |= {row: f"{split.key[0]} is empty" for row, key in enumerate(keys) if key is None}
    exporters = [reading.profile.name] * len(keys)
    texts: list[str] = [text or "" for text in _texts(columns, [None] * len(keys), reading)] if not split.order else []
    texts = texts or list(columns[reading.fields["text"][0]])
    if not split.order:
        numbers = [0 if text.strip() else 1 for text in texts]
    return {"text": texts, "piece_key": keys, "piece": numbers, "exporter": exporters}


def _number(value: str) -> int | None:
    try:
        return int(float(value))
    except (ValueError, OverflowError):
        return None


def _times(name: str, columns: Columns, reading: ColumnReading) -> tuple[list[float | None], dict[int, int]]:
    """The time of each row, and by row the column's position that holds what is no time."""
    first, *others = reading.fields[name]
    times, of_first = _times_of(first, columns, reading)
    wrong = dict.fromkeys(of_first, first)
    for position in others:
        if None not in times:
            break
        later, also_wrong = _times_of(position, columns, reading)
        times = [one if one is not None else other for one, other in zip(times, later, strict=True)]
        wrong = {at: of for at, of in {**dict.fromkeys(also_wrong, position), **wrong}.items() if times[at] is None}
    return times, wrong


def _times_of(position: int, columns: Columns, reading: ColumnReading) -> tuple[list[float | None], list[int]]:
    zone = reading.zones.get(position, reading.zone)
    return parse_times(columns[position], zone, reading.units.get(position))


def _named_columns(name: str, columns: Columns, reading: ColumnReading) -> list[str | None]:
    found = [_part(position, columns, reading) for position in reading.fields[name]]
    if len(found) == 1:
        return found[0]
    return [next((value for value in values if value is not None), None) for values in zip(*found, strict=True)]


def _error_codes(columns: Columns, statuses: Sequence[str | None], reading: ColumnReading) -> list[str | None]:
    """The codes of those that failed."""
    codes: list[str | None] = [None] * len(statuses)
    for position in reading.fields["error_code"]:
        known = {value: error_code(value) for value in set(columns[position])}
        codes = [code or known[value] for code, value in zip(codes, columns[position], strict=True)]
    return [
        code if status is not None and status == Outcome.FAILED else None
        for code, status in zip(codes, statuses, strict=True)
    ]


def _rows_written(columns: Columns, count: int, reading: ColumnReading) -> list[int | None]:
    """The sum of what counts different rows, else the largest of the counts.

    No rows in a result may be those of a statement that only writes.
    """
    written = _counts(columns, count, reading.fields.get("rows", ()), 0)
    returned = _counts(columns, count, reading.fields.get("result_rows", ()), 1)
    if reading.profile.adds_rows:
        written = [[total] if row and (total := sum(row)) <= _MOST_ROWS else [] for row in written]
    return [max(row + other, default=None) for row, other in zip(written, returned, strict=True)]


def _amount_columns(columns: Columns, count: int, reading: ColumnReading) -> dict[str, list[Any]]:
    """How many rows a statement wrote, and what it took."""
    found: dict[str, list[Any]] = {}
    if "rows" in reading.fields or "result_rows" in reading.fields:
        found["rows"] = _rows_written(columns, count, reading)
    for name in ("bytes", "credits"):
        if name in reading.fields:
            found[name] = _amounts(columns, count, reading.fields[name], is_whole=name == "bytes")
    return found


def _amounts(
    columns: Columns, count: int, positions: Sequence[int], *, is_whole: bool
) -> list[float | None] | list[int | None]:
    """What a statement took, by the first of the columns that tells; what is no number, or below 0, tells nothing."""
    found: list[float | None] = [None] * count
    for position in positions:
        known = {value: _amount(value) for value in set(columns[position])}
        found = [known[value] if one is None else one for one, value in zip(found, columns[position], strict=True)]
    return [None if one is None else int(one) for one in found] if is_whole else found


def _amount(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if 0 <= number <= _MOST_ROWS else None


def _counts(columns: Columns, count: int, positions: Sequence[int], least: int) -> list[list[int]]:
    """What these columns tell, for each of so many rows."""
    found: list[list[int]] = [[] for _ in range(count)]
    for position in positions:
        known = {value: _count(value, least) for value in set(columns[position])}
        for counts, value in zip(found, columns[position], strict=True):
            number = known[value]
            if number is not None:
                counts.append(number)
    return found


def _count(value: str, least: int) -> int | None:
    number = _number(value)
    return number if number is not None and least <= number <= _MOST_ROWS else None


def _jobs(columns: Columns, texts: Sequence[str | None], reading: ColumnReading) -> list[str | None]:
    tags: list[str | None] = [None] * len(texts)
    known = tags[:]
    for position in reading.fields.get("job", ()):
        kind = reading.profile.job_ids.get(reading.names[position])
        values = _part(position, columns, reading)
        if kind is None:
            tags = [tag or value for tag, value in zip(tags, values, strict=True)]
        else:
            ids = (f"{kind} {value}" if value and _ID.fullmatch(value) else None for value in values)
            known = [one or other for one, other in zip(known, ids, strict=True)]
    rows = zip(tags, texts, known, strict=True)
    return [job_of(tag, text) or one if tag or has_comment(text) else one for tag, text, one in rows]


def _part(position: int, columns: Columns, reading: ColumnReading) -> list[str | None]:
    """A column without what stands for nothing, and only that of it which counts."""
    pattern = reading.profile.patterns.get(reading.names[position])
    values = columns[position]
    distinct = set(values)
    if pattern is None:
        parts = {value: None if value in _NULLS else value.rstrip() or None for value in distinct}
    else:
        matches = ((value, pattern.search(value)) for value in distinct)
        parts = {value: match[1] or None if match else None for value, match in matches}
    return [parts[value] for value in values]


def _texts(columns: Columns, statuses: list[str | None], reading: ColumnReading) -> list[str | None]:
    texts: list[str | None] = [None] * len(statuses)
    for position in reading.fields["text"]:
        limit = reading.profile.limits.get(reading.names[position])
        found = _texts_of(columns[position])
        if limit is None and position == reading.fields["text"][0]:
            texts = found
            continue
        for row, text in enumerate(found):
            if texts[row] is None and text is not None:
                texts[row] = text
                if limit is not None and limit.cuts(text):
                    if statuses[row] is None:
                        statuses[row] = Outcome.CUT
                    else:
                        texts[row] = _NO_STATEMENT
    if reading.profile.escaped or reading.profile.noise is not None:
        texts = [clean_text(text, reading.profile) for text in texts]
    if reading.profile.fills:
        texts = _with_targets(texts, columns, reading)
    for rewrite in reading.profile.rewrites:
        at = reading.position(rewrite.column)
        for row, kind in enumerate(columns[at] if at is not None else ()):
            match = rewrite.pattern.search(texts[row] or "") if kind.lower() == rewrite.value else None
            if match is not None:
                texts[row], statuses[row] = rewrite.statement.format(match[1].replace("`", "``")), None
    return texts


def _with_targets(texts: Sequence[str | None], columns: Columns, reading: ColumnReading) -> list[str | None]:
    """`SELECT a FROM s` as `CREATE TABLE t AS SELECT a FROM s`, where a column names the table that it fills."""
    positions = [at for at in map(reading.position, reading.profile.fills) if at is not None]
    found: list[str | None] = []
    for row, text in enumerate(texts):
        target = next((value for at in positions if (value := columns[at][row].strip()) not in _NULLS), "")
        is_query = bool(text and target and _QUERY.match(text))
        found.append(f"CREATE TABLE {target} AS\n{text}" if is_query else text)
    return found


def _texts_of(values: Column) -> list[str | None]:
    return [value if value not in _NULLS and value.strip() else None for value in values]


def clean_text(text: str | None, profile: ExportProfile) -> str | None:
    """A statement as it was sent, without what its exporter made of it."""
    if text is not None and profile.escaped:
        text = _unescape(text)
    if text is not None and profile.noise is not None:
        text = profile.noise.sub("", text, count=1)
    return text if text and text.strip() else None


def _unescape(text: str) -> str:
    """With the line ends and tabs that stand as a backslash and a letter."""
    return _ESCAPE.sub(lambda match: _ESCAPES[match[1]], text) if "\\" in text else text


def unescape_tabbed(text: str, *, quotes: bool) -> str:
    """A field of tab-separated text as it was; `quotes`: apostrophes have a backslash too."""
    pattern = _QUOTE_ESCAPE if quotes else _TAB_ESCAPE
    return pattern.sub(lambda match: _TAB_ESCAPES[match[1]], text) if "\\" in text else text


def _statuses(columns: Columns, count: int, reading: ColumnReading) -> list[str | None]:
    statuses: list[str | None] = [None] * count
    for name, states in reading.profile.states.items():
        at = reading.position(name)
        if at is not None:
            known = {value: states.get(value.strip().lower(), states.get(OTHERWISE)) for value in set(columns[at])}
            statuses = [status or known[value] for status, value in zip(statuses, columns[at], strict=True)]
    by_column: list[Sequence[str | None]] = []
    for position in reading.fields.get("status", ()):
        known = {value: parse_state(value, reading.names[position]) for value in set(columns[position])}
        by_column.append([known[value] for value in columns[position]])
    if "failure" in reading.profile.columns and reading.profile is not GENERIC:
        flags = [_named_columns("failure", columns, reading)] if "failure" in reading.fields else []
    else:  # every one of an unknown export; of a known one the first that holds something, as a warning has a code too
        flags = [_part(position, columns, reading) for position in reading.fields.get("failure", ())]
    for values in flags:
        failures = {value: parse_flag(value or "") for value in set(values)}
        by_column.append([failures[value] for value in values])
    if not by_column:
        return statuses
    rows = [*zip(*by_column, strict=True)]
    joined = {row: joined_state(row) for row in set(rows)}
    return [status or joined[row] for status, row in zip(statuses, rows, strict=True)]
