"""A plan carried out on a platform: labels are put on columns and taken off them, by one PATCH a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from connectors.openmetadata.entities import extension
from connectors.openmetadata.entities.crud import Collection, get_by_name
from connectors.openmetadata.transport.http import Call, path_of
from connectors.openmetadata.transport.platform import Platform
from ingestion.model import Json
from ingestion.names import fqn
from ingestion.names.fqn import split_fqn
from workflows.policy.plan import LABEL_TYPE, PolicyPlan, TagAction, TagChange, path_in, reason_of

_PURPOSE = "What a lineage policy derives."


def apply_plan(platform: Platform, plan: PolicyPlan) -> tuple[str, ...]:
    """Carries out a plan; what could not be, because a table or a column is gone by now. Raises TargetDown.

    Labels that a person or another tool has set meanwhile stay as they are.
    """
    if extension.TABLES not in platform.capabilities:
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
    places = dict(_places(stored.get("columns") or [], "", "/columns")) if stored is not None else {}
    operations = []
    for path, of_column in groupby(changes, key=lambda change: change.column[1]):
        if path not in places:
            yield f"{table}.{path} is not there any more"
            continue
        place, column = places[path]
        before = column.get("tags") or []
        after = _labels(before, list(of_column))
        if after != before:
            operations.append({"op": "add", "path": f"{place}/tags", "value": after})
    if operations:
        call = Call("PATCH", f"{Collection.TABLES}/name/{path_of(table)}", body=operations, answered=False)
        platform.http.send(call)


def _places(columns: list[Json], parent: str, pointer: str) -> Iterator[tuple[str, tuple[str, Json]]]:
    for number, column in enumerate(columns):
        path, place = fqn.join(parent, str(column["name"])), f"{pointer}/{number}"
        yield path, (place, column)
        yield from _places(column.get("children") or [], path, f"{place}/children")


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
