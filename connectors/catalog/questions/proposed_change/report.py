"""What a proposed change does: its changes of tables and columns, what each does downstream, what stays unknown; and
how people read it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from connectors.catalog.answer.pages import Answer, Row, fact
from connectors.catalog.answer.writing import Name, cell, code, quoted_text, short_text
from ingestion.errors import ConfigError
from ingestion.model.lineage import Json

# What a proposed change does: its changes of tables and columns, what each does downstream, what stays unknown.


class ChangeKind(StrEnum):
    """What happens to a table or a column."""

    TABLE_ADDED = "table added"
    TABLE_DROPPED = "table dropped"
    TABLE_RENAMED = "table renamed"
    ROWS_REDEFINED = "rows redefined"
    COLUMN_ADDED = "column added"
    COLUMN_DROPPED = "column dropped"
    COLUMN_RENAMED = "column renamed"
    COLUMN_RETYPED = "column retyped"
    COLUMN_REDEFINED = "column redefined"
    COLUMN_FILLED = "column filled from elsewhere"
    COLUMN_SENSITIVE = "column gets sensitive values"


class EffectKind(StrEnum):
    """What a change does to something downstream. UNCERTAIN: it may break, and the catalog does not tell."""

    BREAKS = "breaks"
    TYPE = "type"
    MEANING = "meaning"
    SENSITIVITY = "sensitivity"
    UNCERTAIN = "may break"


@dataclass(frozen=True, slots=True)
class DownstreamEffect:
    """What happens to a column, or to a `whole` table, downstream; `path` leads to it from what is changed."""

    kind: EffectKind
    name: str
    owners: tuple[str, ...]
    path: tuple[str, ...]
    expressions: tuple[str, ...] = ()
    why: str = ""
    whole: bool = False


@dataclass(frozen=True, slots=True)
class ProposedChange:
    """A change of a table or column (by its full name), with what it does downstream, the worst first."""

    kind: ChangeKind
    name: str
    detail: str = ""
    effects: tuple[DownstreamEffect, ...] = ()

    @property
    def breaks(self) -> bool:
        return any(effect.kind is EffectKind.BREAKS for effect in self.effects)


@dataclass(frozen=True, slots=True)
class ChangeReport:
    """All that a proposed change does. `unknown` is what could not be understood: then nothing is said to be safe."""

    changes: tuple[ProposedChange, ...]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    unknown: tuple[str, ...] = ()

    @property
    def breaks(self) -> bool:
        return any(change.breaks for change in self.changes)

    @property
    def complete(self) -> bool:
        """Whether all of it was understood, and all of its effects are known."""
        uncertain = (effect for change in self.changes for effect in change.effects)
        return not self.unknown and not any(effect.kind is EffectKind.UNCERTAIN for effect in uncertain)

    def count(self, kind: EffectKind) -> int:
        """How many columns and tables downstream one kind of effect has."""
        return len({e.name for change in self.changes for e in change.effects if e.kind is kind})

    def to_json(self) -> Json:
        """The same as JSON."""
        return {
            "version": 1,
            "breaking": self.breaks,
            "complete": self.complete,
            "reads": list(self.reads),
            "writes": list(self.writes),
            "changes": [
                {
                    "kind": str(change.kind),
                    "name": change.name,
                    "detail": change.detail,
                    "breaking": change.breaks,
                    "effects": [_effect_json(effect) for effect in change.effects],
                }
                for change in self.changes
            ],
            "unknown": list(self.unknown),
        }


def _effect_json(effect: DownstreamEffect) -> Json:
    return {
        "kind": str(effect.kind),
        "name": effect.name,
        "owners": list(effect.owners),
        "path": list(effect.path),
        "expressions": list(effect.expressions),
        "why": effect.why,
    }


# The report of a proposed change as people read it: in a terminal, and below a pull request.

_SHOWN = 50
"""Effects of one change in a pull request: a comment is cut at 65,536 characters."""

_COUNTED = (
    (EffectKind.BREAKS, "break"),
    (EffectKind.UNCERTAIN, "may break"),
    (EffectKind.TYPE, "change their type"),
    (EffectKind.MEANING, "change their meaning"),
    (EffectKind.SENSITIVITY, "get sensitive values"),
)


def _verdict(report: ChangeReport) -> str:
    """What there is to say in one line."""
    counts = [f"{count} {what}" for kind, what in _COUNTED if (count := report.count(kind))]
    if counts:
        known = "" if not report.unknown else f"; {len(report.unknown)} things not understood"
        return f"downstream {', '.join(counts)}{known}"
    if report.unknown:
        return f"not known: {len(report.unknown)} things not understood"
    return "nothing breaks downstream" if report.changes else "nothing changes"


def as_text(report: ChangeReport) -> Iterator[str]:
    """The report line by line."""
    for title, names in (("reads", report.reads), ("writes", report.writes)):
        if names:
            yield f"{title} {', '.join(names)}"
    for change in report.changes:
        yield f"{change.kind}  {change.name}{f'  ({change.detail})' if change.detail else ''}"
        yield from (f"  {_line(effect)}" for effect in change.effects)
    yield from (f"not understood: {one}" for one in report.unknown)
    yield _verdict(report)


def as_markdown(report: ChangeReport) -> str:
    """The report for a pull request: a heading, the changes, and a table of what each does downstream."""
    lines = [f"### Lineage: {_verdict(report)}", ""]
    for title, names in (("Reads", report.reads), ("Writes", report.writes)):
        if names:
            lines += [f"{title} {', '.join(map(code, names))}.", ""]
    for change in report.changes:
        lines += [f"**{change.kind}** {code(change.name)}{f': {code(change.detail)}' if change.detail else ''}", ""]
        lines += _table(change)
    if report.unknown:
        lines += ["**Not understood**", "", *(f"- {code(one)}" for one in report.unknown), ""]
    return "\n".join(lines)


def _table(change: ProposedChange) -> list[str]:
    if not change.effects:
        return []
    lines = ["| | what | owner | path |", "|---|---|---|---|"]
    for effect in change.effects[:_SHOWN]:
        mark = f"❌ {effect.kind}" if effect.kind is EffectKind.BREAKS else str(effect.kind)
        owners = ", ".join(map(cell, effect.owners))
        path = " → ".join(map(code, effect.path)) + (f" ({cell(effect.why)})" if effect.why else "")
        lines.append(f"| {mark} | {code(effect.name)} | {owners} | {path} |")
    left = len(change.effects) - _SHOWN
    return [*lines, *([f"| | and {left} more | | |"] if left > 0 else []), ""]


def _line(effect: DownstreamEffect) -> str:
    via = f"  via {' -> '.join(effect.path[1:-1])}" if len(effect.path) > len(("from", "to")) else ""
    owners = f"  (owner {', '.join(effect.owners)})" if effect.owners else ""
    why = f"  {effect.why}" if effect.why else ""
    return f"{effect.kind:11} {effect.name}{' (every row)' if effect.whole else ''}{owners}{via}{why}"


# What a proposed change does, as rows: each change of a table or column, with what it does downstream.


def change_answer(report: ChangeReport) -> Answer:
    """The verdict, then each change with its effects, what breaks something first, and what is not known of them."""
    if not report.changes and not report.reads and not report.writes and not report.unknown:
        raise ConfigError("the text changes nothing that a catalog knows: give DDL, or statements that fill tables")
    counts = ", ".join(f"{report.count(kind)} {kind}" for kind in EffectKind)
    verdict = "breaks something downstream" if report.breaks else "breaks nothing that is known"
    facts = (
        fact(f"{verdict}{'' if report.complete else ', and not all of it is known'}"),
        fact(f"downstream: {counts}"),
        fact(f"{len(report.reads)} tables read, {len(report.writes)} written, {len(report.unknown)} things not known"),
    )
    rows = [row for one in report.changes for row in _change_rows(one)]
    rows += [Row((f"not known: {(why := short_text(one))}",), ("not known", why)) for one in report.unknown]
    rows += (_table_row("reads", name) for name in report.reads)
    rows += (_table_row("writes", name) for name in report.writes)
    return Answer("rows", facts, tuple(rows))


def _table_row(how: str, name: str) -> Row:
    return Row((f"{how} ", Name(name)), (how, Name(name)))


def _change_rows(change: ProposedChange) -> Iterator[Row]:
    detail = short_text(change.detail)
    shown = f": {detail}" if detail else ""
    yield Row((f"{change.kind} ", Name(change.name), shown), ("change", str(change.kind), Name(change.name), detail))
    for effect in change.effects:
        yield _effect_row(effect)


def _effect_row(effect: DownstreamEffect) -> Row:
    way = [Name(one) for one in effect.path[:-1]]  # it ends with what is affected
    why, owners = short_text(effect.why), ", ".join(map(quoted_text, effect.owners))
    via = [part for one in way for part in (" -> ", one)][1:]
    ending = "".join((f" ({why})" if why else "", f" owned by {owners}" if owners else ""))
    parts = (f"  {effect.kind} ", Name(effect.name), *((" via ", *via) if via else ()), ending)
    return Row(parts, ("effect", str(effect.kind), Name(effect.name), " -> ".join(way), why, owners))
