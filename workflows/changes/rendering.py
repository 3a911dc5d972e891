"""The report of a proposed change as people read it: in a terminal, and below a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from workflows.changes.markdown import cell, code
from workflows.changes.report import ChangeReport, DownstreamEffect, EffectKind, ProposedChange

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
