"""What a change of a dbt project does, as people and pull requests read it."""

from __future__ import annotations

from collections.abc import Iterator

from connectors.catalog.answer.rendering import Renderings
from connectors.catalog.answer.writing import red
from connectors.sql_files.manifest_diff import ManifestDiff

_MOST_NAMES = 6


def _diff_lines(found: ManifestDiff) -> Iterator[str]:
    for change in found.changes:
        mark = red("breaks ") if change.broken else "       "
        needs = f": {', '.join(change.broken)}" if change.broken else ""
        yield f"{mark}{change.kind:16} {change.name}  reaches {len(change.reaches)}{needs}"
    yield f"{len(found.changes)} changes, {sum(bool(one.broken) for one in found.changes)} of them breaking"


def _diff_markdown(found: ManifestDiff) -> str:
    """For a pull request: a heading, a table, and what could not be read."""
    if not found.changes and not found.unread:
        return "### Lineage: nothing changes\n"
    broken = sum(bool(change.broken) for change in found.changes)
    lines = [f"### Lineage: {_count_of(len(found.changes), 'change')}, {broken} breaking something downstream", ""]
    if found.changes:
        lines += ["| | change | what | breaks | reaches |", "|---|---|---|---|---|"]
    for change in found.changes:
        mark = "❌" if change.broken else ""
        cells = (mark, str(change.kind), f"`{change.name}`", _name_list(change.broken), _name_list(change.reaches))
        lines.append(f"| {' | '.join(cells)} |")
    if found.unread:
        lines += ["", f"Not read: {_name_list(found.unread)}"]
    return "\n".join(lines) + "\n"


def _count_of(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _name_list(names: tuple[str, ...]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:_MOST_NAMES])
    return f"{shown} and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else shown


MANIFEST_DIFF = Renderings(_diff_lines, ManifestDiff.to_json, markdown=_diff_markdown)
