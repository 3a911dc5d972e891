"""What fills tables otherwise after a change: other definitions, other sources, values that are sensitive."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from connectors.catalog.store.evidence.column_dependencies import ColumnDependency
from ingestion.policies.values import ValueFlow, value_flow
from workflows.changes.differences import Sides, TableDifference
from workflows.changes.report import ChangeKind

_QUALIFIER = re.compile(r"(?:(?<![\w$])[\w$]++|\"[^\"]*+\"|`[^`]*+`)\s*+\.\s*+(?=[\w$\"`])")
_HARMLESS = ("PII.None", "PII.NonSensitive")
_SENSITIVE = ("PII", "PersonalData")
_Key = tuple[object, ...]


def filling_differences(sides: Sides) -> Iterator[TableDifference]:
    """The columns that a change gives another meaning or sensitive values."""
    rewritten = sides.rewritten_tables()
    for name in sorted(sides.after.filled):
        state = sides.state_before(name)
        if state is None or not state.exists:
            continue
        before, after = _before(sides, name), sides.after.dependencies.get(name, [])
        if name in rewritten:
            yield from _redefinitions(name, _of_definition(sides, name, before), after)
        elif name not in sides.after.defined:
            yield from _fillings_of(before, after)
        yield from _sensitive(sides, before, after)


def _before(sides: Sides, name: str) -> list[ColumnDependency]:
    stored = sides.tables.dependencies([name], upstream=True)
    return [*sides.before.dependencies.get(name, ()), *(one for one in stored if one.producer != "manual")]


def _of_definition(sides: Sides, name: str, before: list[ColumnDependency]) -> list[ColumnDependency]:
    """What the definition said that the change replaces."""
    if name in sides.before.defined:
        return sides.before.dependencies.get(name, [])
    views = [one for one in before if one.producer == "view"]
    return views if name in sides.after.views and views else before


def _redefinitions(
    name: str, before: list[ColumnDependency], after: list[ColumnDependency]
) -> Iterator[TableDifference]:
    if not before:
        yield TableDifference(ChangeKind.ROWS_REDEFINED, (name, None), "its former definition is not known")
        return
    if _rows(before) != _rows(after):
        yield TableDifference(ChangeKind.ROWS_REDEFINED, (name, None), "other tables, filters, joins or groups")
    old, new = _columns(before), _columns(after)
    for folded in sorted(old.keys() & new.keys()):
        if old[folded] != new[folded]:
            path = next(one.target[1] for one in after if (one.target[1] or "").casefold() == folded)
            yield TableDifference(ChangeKind.COLUMN_REDEFINED, (name, path), _how(after, path))


def _fillings_of(before: list[ColumnDependency], after: list[ColumnDependency]) -> Iterator[TableDifference]:
    known = {(one.source, one.target) for one in before}
    fresh = [one for one in after if one.type == "DIRECT" and (one.source, one.target) not in known]
    for target in dict.fromkeys(one.target for one in fresh):
        sources = dict.fromkeys(f"{one.source[0]}.{one.source[1]}" for one in fresh if one.target == target)
        yield TableDifference(ChangeKind.COLUMN_FILLED, target, f"from {', '.join(sources)}")


def _sensitive(
    sides: Sides, before: list[ColumnDependency], after: list[ColumnDependency]
) -> Iterator[TableDifference]:
    """The columns that get values of tagged columns, and have not had them, nor the tag."""
    had = {(one.source, one.target) for one in before if _keeps(one)}
    found: dict[tuple[str, str | None], dict[str, None]] = {}
    for one in after:
        if (one.source, one.target) not in had and _keeps(one):
            found.setdefault(one.target, {}).update(dict.fromkeys(sorted(_tags_brought(sides, one))))
    for target, tags in found.items():
        if tags:
            yield TableDifference(ChangeKind.COLUMN_SENSITIVE, target, ", ".join(tags))


def _tags_brought(sides: Sides, one: ColumnDependency) -> set[str]:
    """The sensitive tags of the source column that the target column lacks."""
    tags = []
    for table, path in (one.source, one.target):
        known = sides.tables.table(table)
        column = known.column(path.strip('"')) if known is not None and path is not None else None
        tags.append({tag for tag in column.tags if _is_sensitive(tag)} if column is not None else set())
    return tags[0] - tags[1]


def _is_sensitive(tag: str) -> bool:
    """Whether a tag says that values are personal, by the classifications that OpenMetadata has for that."""
    return tag.partition(".")[0] in _SENSITIVE and tag not in _HARMLESS


def _keeps(one: ColumnDependency) -> bool:
    return one.certain and one.type == "DIRECT" and value_flow(one) is ValueFlow.KEPT


def _rows(dependencies: Iterable[ColumnDependency]) -> frozenset[_Key]:
    return frozenset((_fold(one.source), one.subtype) for one in dependencies if one.target[1] is None)


def _columns(dependencies: Iterable[ColumnDependency]) -> dict[str, frozenset[_Key]]:
    found: dict[str, set[_Key]] = {}
    for one in dependencies:
        if one.target[1] is not None:
            key = (_fold(one.source), one.type, one.subtype, one.masking, _shape(one.expression))
            found.setdefault(one.target[1].casefold(), set()).add(key)
    return {name: frozenset(keys) for name, keys in found.items()}


def _fold(node: tuple[str, str | None]) -> tuple[str, str]:
    return node[0], (node[1] or "").casefold()


def _shape(expression: str) -> str:
    """An expression without what tells tables apart: two statements may write one table's name differently."""
    return re.sub(r"[\s\"`]", "", _QUALIFIER.sub("", expression)).casefold()


def _how(dependencies: Iterable[ColumnDependency], path: str | None) -> str:
    direct = [one for one in dependencies if one.target[1] == path and one.type == "DIRECT"]
    return ", ".join(dict.fromkeys(one.expression or f"{one.source[0]}.{one.source[1]}" for one in direct))
