"""What nobody reads, as people, programs and language models read it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from connectors.catalog.answer.pages import AnswerRows, Cell, Row, fact
from connectors.catalog.answer.rendering import Renderings
from connectors.catalog.answer.writing import Name, bold, table_cell, visible_text
from connectors.catalog.questions.unused import Coverage, LastTime, StarColumn, Unused, UnusedReport
from connectors.catalog.store.evidence.readers import RunTotals
from connectors.catalog.store.lineage.window import DAY
from ingestion.model import fqn
from ingestion.model.moments import minute_text

_UNITS = ("B", "KB", "MB", "GB", "TB", "PB")
_NO_LOG = (
    "of no table is it known who reads it: set processEntities: true beside queryLogFilePath, and run on a log that "
    "has the SELECTs"
)


def unused_rows(found: UnusedReport) -> AnswerRows:
    """What the logs cover, then each table, dashboard and column that nobody reads, the dearest first.

    Of many a summary by schema, the dearest in full, then the names of the others alone.
    """
    facts = tuple(fact(line) for line in _facts(found))
    if len(found.unused) + len(found.columns) + len(found.by_star) <= _MOST_IN_FULL:
        rows = (*map(_row, (*found.unused, *found.columns)), *map(_star_row, found.by_star))
        return AnswerRows("unread", facts, rows)
    first, others = found.unused[:_IN_FULL], found.unused[_IN_FULL:]
    columns = _by_holder((one.name, one.full_name) for one in found.columns)
    stars = _by_holder((_holder_of(one.name), one.name) for one in found.by_star)
    rest = (
        *_name_rows("also", _by_holder((_holder_of(one.name), one.name) for one in others)),
        *_name_rows("columns that nobody reads", columns),
        *_name_rows("columns only by SELECT *", stars),
    )
    hint = fact("ask by the name of a schema or a table for what each costs, who read it last, whom to ask")
    return AnswerRows("rows", (*facts, hint), (*_schema_rows(found.unused), *map(_row, first), *rest))


_MOST_IN_FULL, _IN_FULL = 40, 5
"""Things that are told one by one; of more, so many of the dearest."""
_NAMES_A_ROW = 20
_MOST_ASKED = 3


def _holder_of(name: str) -> str:
    """What a table or a column is in, by its full name."""
    return ".".join(fqn.split(name)[:-1])


def _by_holder(names: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Names by what holds them, those first whose first is the dearest."""
    found: dict[str, list[str]] = {}
    for holder, name in names:
        found.setdefault(holder, []).append(name)
    return found


def _schema_rows(unused: Sequence[Unused]) -> Iterator[Row]:
    """How many of each schema nobody reads, what they take together, and whom to ask of most of them."""
    schemas: dict[str, list[Unused]] = {}
    for one in unused:
        schemas.setdefault(_holder_of(one.name), []).append(one)
    for schema, some in sorted(schemas.items(), key=lambda one: (-len(one[1]), one[0])):
        runs = sum(one.cost.runs for one in some if one.cost is not None)
        seconds = sum(one.cost.seconds or 0.0 for one in some if one.cost is not None)
        asked = Counter(name for one in some for name in one.ask())
        whom = ", ".join(f"{visible_text(name)} {count}" for name, count in asked.most_common(_MOST_ASKED))
        took = _duration(seconds) if seconds else ""
        text = f": {len(some)} unread" + (f", {runs} runs" if runs else "") + (f", {took}" if took else "")
        cells = "schema", Name(schema), len(some), runs, took, whom
        yield Row(("schema ", Name(schema), text, f"; ask {whom}" if whom else ""), cells)


def _name_rows(what: str, names: Mapping[str, Sequence[str]]) -> Iterator[Row]:
    """Names alone, so many in a row, of one that holds them."""
    for holder, some in names.items():
        for start in range(0, len(some), _NAMES_A_ROW):
            last = [visible_text(fqn.decode_name(fqn.split(one)[-1])) for one in some[start : start + _NAMES_A_ROW]]
            yield Row((f"{what} ", Name(holder), f": {', '.join(last)}"), (what, Name(holder), ", ".join(last)))


def _row(one: Unused) -> Row:
    parts: list[str] = [f"{one.kind} ", Name(one.full_name)]
    parts += [f" [{note}]" for note in _notes(one)]
    for number, name in enumerate(one.only_by):
        parts += [" read only by " if not number else ", ", Name(name)]
    cost = one.cost
    costs: tuple[Cell, ...] = () if cost is None else (cost.runs, _seconds(cost), _amount(cost.credits))
    return Row(tuple(parts), (one.kind, Name(one.full_name), ", ".join(one.ask()), *costs, *map(Name, one.only_by)))


def _star_row(one: StarColumn) -> Row:
    last = _time_text("last", one.last)
    return Row(
        ("column ", Name(one.name), f" [only by SELECT *, {last}]"), ("star", Name(one.name), one.last.who, last)
    )


# What is covered: the stretch, the logs, and what is not claimed.


def _facts(found: UnusedReport) -> Iterator[str]:
    if found.claimed_from is None:
        yield _NO_LOG
    else:
        stretch = f"{minute_text(found.claimed_from)} to {minute_text(found.until)} UTC"
        yield f"without a reader from {stretch}{_shorter_text(found, found.claimed_from)}"
    for one in found.coverage:
        yield _coverage_text(one, found.days)
    if found.but_for:
        yield f"what these read counts as read by nobody: {', '.join(map(visible_text, found.but_for))}"
    counts = found.counts
    yield (
        f"{counts['tables']} tables: {counts['tablesRead']} read, {counts['tablesUnread']} not; "
        f"{counts['columns']} columns: of those tables that are read {counts['columnsUnread']} not, "
        f"{counts['columnsOnlyByStar']} only by SELECT *"
    )
    for reason, count in sorted(found.not_claimed.items()):
        yield f"not told of {count}: {_NOT_CLAIMED.get(reason, reason)}"


_NOT_CLAIMED = {"dashboard": "dashboards, whose use nobody tells"}


def _shorter_text(found: UnusedReport, claimed_from: int) -> str:
    if claimed_from <= found.since:
        return f" ({found.days} days)"
    days = max(1, round((found.until - claimed_from) / DAY))
    return f": the logs begin then, so that of {found.days} days that were asked for the last {days} are told"


def _coverage_text(one: Coverage, days: int) -> str:
    known = "" if one.first is None or one.last is None else f", {minute_text(one.first)} to {minute_text(one.last)}"
    parts = [f"{one.selects} SELECTs, {one.read} understood{_reasons(one.unread)}"]
    if not one.selects:
        parts = ["no SELECT, so nothing is claimed of its tables"]
    if one.may_read:
        parts.append(f"{sum(one.may_read.values())} others that may read something{_reasons(one.may_read)}")
    if one.undated:
        parts.append(f"{one.undated} statements without a time")
    parts.append(f"statements on {one.days} of {days} days")
    return f"log of {visible_text(one.service)} ({visible_text(one.source)}{known}): {'; '.join(parts)}"


def _reasons(counts: Mapping[str, int]) -> str:
    return f" ({', '.join(f'{reason} {count}' for reason, count in counts.items())})" if counts else ""


# One thing that nobody reads.


def _notes(one: Unused) -> Iterator[str]:
    if one.cost is not None:
        yield _cost_text(one.cost)
    if one.last_written is not None and not one.column:
        yield _time_text("last written", one.last_written)
    yield "never read as far as is known" if one.last_read is None else _time_text("last read", one.last_read)
    if one.since is not None:
        yield f"known only since {minute_text(one.since)}"
    if one.ask():
        yield f"ask {', '.join(map(visible_text, one.ask()))}"


def _time_text(what: str, time: LastTime) -> str:
    when = "at a time that is not told" if time.at is None else minute_text(time.at)
    how = {"star": " (SELECT *)", "rows": " (rows only)", "unknown": " (not understood)"}.get(time.how, "")
    return f"{what} {when}{f' by {visible_text(time.who)}' if time.who else ''}{how}"


def _cost_text(cost: RunTotals) -> str:
    parts = [f"{cost.runs} runs" if cost.runs != 1 else "1 run"]
    if cost.seconds is not None:
        parts.append(_seconds(cost))
    if cost.bytes is not None:
        parts.append(_size(cost.bytes))
    if cost.credits is not None:
        parts.append(f"{_amount(cost.credits)} credits")
    return ", ".join(parts)


def _seconds(cost: RunTotals) -> str:
    if cost.seconds is None:
        return ""
    return _duration(cost.seconds)


def _duration(taken: float) -> str:
    seconds = round(taken)
    hours, minutes = seconds // 3600, seconds % 3600 // 60
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {seconds % 60} s" if minutes else f"{taken:.3g} s"


def _size(count: float) -> str:
    for unit in _UNITS[:-1]:
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} {_UNITS[-1]}"


def _amount(number: float | None) -> str:
    return "" if number is None else f"{number:.4g}"


def _lines(found: UnusedReport) -> Iterator[str]:
    yield from _facts(found)
    for number, one in enumerate(found.unused, 1):
        yield f"{number}. {one.kind} {bold(one.name)}"
        yield from (f"   {note}" for note in _notes(one))
        yield from _only_by(one)
    for one in found.columns:
        yield f"column {bold(one.full_name)}"
        yield f"   {'; '.join(_notes(one))}"
        yield from _only_by(one)
    for star in found.by_star:
        yield f"column {bold(star.name)} only by SELECT *, {_time_text('last', star.last)}"


def _only_by(one: Unused) -> Iterator[str]:
    if one.only_by:
        more = one.only_by_count - len(one.only_by)
        names = ", ".join(map(visible_text, one.only_by))
        yield f"   read only by what nobody reads: {names}{f' and {more} more' if more else ''}"


def _table(found: UnusedReport) -> Iterator[tuple[str | int, ...]]:
    yield (
        *("kind", "name", "runs", "seconds", "bytes", "credits", "last_written", "written_by", "last_read", "read_by"),
        *("read_how", "known_since", "ask", "read_only_by"),
    )
    for one in (*found.unused, *found.columns):
        costs = ("", "", "", "") if one.cost is None else _cost_cells(one.cost)
        written, read = one.last_written or LastTime(None), one.last_read or LastTime(None)
        since = "" if one.since is None else minute_text(one.since)
        times = (_cell(written), written.who, _cell(read), read.who, read.how)
        yield one.kind, one.full_name, *costs, *times, since, ", ".join(one.ask()), ", ".join(one.only_by)
    for star in found.by_star:
        nothing = ("",) * 6
        yield "only by *", star.name, *nothing, _cell(star.last), star.last.who, star.last.how, "", "", ""
    for line in _facts(found):
        yield (line,)


def _cost_cells(cost: RunTotals) -> tuple[str | int, ...]:
    seconds = "" if cost.seconds is None else f"{cost.seconds:.3f}"
    return cost.runs, seconds, "" if cost.bytes is None else cost.bytes, _amount(cost.credits)


def _cell(time: LastTime) -> str:
    return "" if time.at is None else minute_text(time.at)


def _markdown(found: UnusedReport) -> str:
    facts = "".join(f"- {visible_text(line)}\n" for line in _facts(found))
    rows = "".join(
        f"| {one.kind} | {table_cell(one.full_name)} | {'' if one.cost is None else _cost_text(one.cost)} "
        f"| {table_cell('; '.join(_notes(one)))} | {table_cell(', '.join(one.only_by))} |\n"
        for one in (*found.unused, *found.columns)
    )
    head = "| | name | cost | what is known | read only by |\n|---|---|---|---|---|\n"
    stars = "".join(f"| column | {table_cell(one.name)} | | only by SELECT * | |\n" for one in found.by_star)
    return f"{facts}\n{head}{rows}{stars}"


UNUSED = Renderings(_lines, UnusedReport.to_json, unused_rows, markdown=_markdown, table=_table, states_truncation=True)
