"""Tags and a policy: the labelled columns of a platform, and a plan carried out there by one PATCH a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from connectors.openmetadata import client
from connectors.openmetadata.client import Platform
from connectors.openmetadata.edges import Graph, graph
from connectors.openmetadata.entities import Collection, get_by_name, pages
from connectors.openmetadata.http import Call, path_of
from ingestion.model import fqn
from ingestion.model.entities import EntityReference
from ingestion.model.fqn import split_fqn
from ingestion.model.lineage import Json
from ingestion.policies.plan import (
    LABEL_TYPE,
    CatalogColumns,
    PolicyPlan,
    TagAction,
    TagChange,
    catalog_columns,
    path_in,
    reason_of,
)
from ingestion.walk import DIRECT, TABLE, ColumnNode

_PURPOSE = "What a lineage policy derives."


def columns_of_platform(platform: Platform) -> CatalogColumns:
    """Everything on a platform: of its lineage what OpenMetadata's contract has, certain pairs with their expressions.

    Raises TargetDown and ConfigError.
    """
    documents = list(pages(platform.http, Collection.TABLES, {"fields": "columns,tags"}))
    found: dict[_PlatformEdge, None] = {}
    for document in documents:
        name = str(document["fullyQualifiedName"])
        around = graph(platform.http, EntityReference(str(document["id"]), "table", fully_qualified_name=name), 1, 0)
        found.update(dict.fromkeys(_dependencies(around) if around is not None else ()))
    return catalog_columns(documents, found)


@dataclass(frozen=True, slots=True)
class _PlatformEdge:
    """A pair of columns (or of tables, of which nothing more is known) that a platform tells of."""

    source: ColumnNode
    target: ColumnNode
    type: str
    expression: str = ""
    subtype: str = ""
    masking: bool = False
    certain: bool = True


def _dependencies(around: Graph) -> Iterator[_PlatformEdge]:
    for edge in around.upstream:
        source, target = (around.nodes[end].fully_qualified_name or "" for end in (edge.from_id, edge.to_id))
        pairs = edge.details.columns_lineage
        if not pairs:
            yield _PlatformEdge((source, None), (target, None), TABLE)
        for pair in pairs:
            for column in pair.from_columns:
                ends = _column_of(source, column), _column_of(target, pair.to_column)
                yield _PlatformEdge(*ends, DIRECT, pair.function or "")


def _column_of(table: str, full: str) -> ColumnNode:
    """A column by the full name that begins with its table's."""
    return table, full.removeprefix(f"{table}.")


# A plan carried out on a platform: labels are put on columns and taken off them, by one PATCH a table.


def apply_plan(platform: Platform, plan: PolicyPlan) -> tuple[str, ...]:
    """Carries out a plan; what could not be, because a table or a column is gone by now. Raises TargetDown.

    Labels that a person or another tool has set meanwhile stay as they are.
    """
    if client.TABLES not in platform.capabilities:
        _make_tags(platform, {one.tag for one in plan.changes if one.action is TagAction.ADD})
    lost: list[str] = []
    by_table = sorted(plan.changes, key=lambda change: change.column[0])
    for table, changes in groupby(by_table, key=lambda change: change.column[0]):
        lost += _apply_to_table(platform, table, list(changes))
    return tuple(lost)


def _make_tags(platform: Platform, tags: Iterable[str]) -> None:
    """Makes the tags that are not there, which an OpenMetadata wants before it takes a label of them."""
    for tag in sorted(tags):
        if platform.http.get(f"tags/name/{path_of(tag)}") is not None:
            continue
        classification, *names = split_fqn(tag)
        if platform.http.get(f"classifications/name/{path_of(fqn.quote(classification))}") is None:
            body = {"name": classification, "description": _PURPOSE}
            platform.http.send(Call("PUT", "classifications", body=body))
        parent = {"parent": ".".join(map(fqn.quote, (classification, *names[:-1])))} if names[:-1] else {}
        body = {"name": names[-1], "classification": classification, "description": _PURPOSE, **parent}
        platform.http.send(Call("PUT", "tags", body=body))


def _apply_to_table(platform: Platform, table: str, changes: list[TagChange]) -> Iterator[str]:
    stored = get_by_name(platform.http, Collection.TABLES, table, ("tags", "columns"))
    pointers = dict(_column_pointers(stored.get("columns") or [], "", "/columns")) if stored is not None else {}
    operations = []
    for path, of_column in groupby(changes, key=lambda change: change.column[1]):
        if path not in pointers:
            yield f"{table}.{path} is not there any more"
            continue
        pointer, column = pointers[path]
        before = column.get("tags") or []
        after = _labels(before, list(of_column))
        if after != before:
            operations.append({"op": "add", "path": f"{pointer}/tags", "value": after})
    if operations and stored is not None:
        call = Call("PATCH", f"{Collection.TABLES}/{path_of(str(stored['id']))}", body=operations, answered=False)
        platform.http.send(call)


def _column_pointers(columns: list[Json], parent: str, pointer: str) -> Iterator[tuple[str, tuple[str, Json]]]:
    for number, column in enumerate(columns):
        path, own = fqn.join(parent, str(column["name"])), f"{pointer}/{number}"
        yield path, (own, column)
        yield from _column_pointers(column.get("children") or [], path, f"{own}/children")


def _labels(before: list[Json], changes: list[TagChange]) -> list[Json]:
    """A column's labels after the changes: of one tag there is one label, and one that is not derived stays."""
    changed = {change.tag for change in changes}
    kept = [label for label in before if label["tagFQN"] not in changed or path_in(label) is None]
    there = {str(label["tagFQN"]) for label in kept}
    added = [one for one in changes if one.action is not TagAction.WITHDRAW and one.tag not in there]
    return [*kept, *(_label(one) for one in added)]


def _label(change: TagChange) -> Json:
    return {
        "tagFQN": change.tag,
        "source": "Classification",
        "labelType": LABEL_TYPE,
        "state": "Confirmed",
        "reason": reason_of(change.path),
    }
