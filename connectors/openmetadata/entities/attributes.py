"""What people say of tables and columns: descriptions and tags, put beside what the platform has or in its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from connectors.openmetadata.entities import extension
from connectors.openmetadata.entities.crud import Collection, get_by_name
from connectors.openmetadata.transport.http import Call, path_of
from connectors.openmetadata.transport.platform import Platform
from ingestion.entities import EntityReference
from ingestion.model import Json
from ingestion.names.fqn import build_fqn, decode_name


@dataclass(frozen=True, slots=True)
class Attributes:
    """A description ("": none is told) and the tags of one classification."""

    description: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TableAttributes:
    """Those of a table (by its FQN), who owns it, and those of its columns (by name, whose case does not matter)."""

    fqn: str
    own: Attributes = Attributes()
    columns: Mapping[str, Attributes] = field(default_factory=dict)
    owner: EntityReference | None = None


@dataclass(frozen=True, slots=True)
class Overwriting:
    """What takes the place of what the platform has; what does not is put only where nothing is."""

    descriptions: bool = False
    owners: bool = False


def register_tags(platform: Platform, classification: str, tags: Sequence[str]) -> None:
    """Makes a classification and its tags, which an OpenMetadata wants before it takes a label of them."""
    if extension.TABLES in platform.capabilities or not tags:
        return
    purpose = "What dbt's models are tagged with."
    platform.http.send(Call("PUT", "classifications", body={"name": classification, "description": purpose}))
    for tag in tags:
        platform.http.send(
            Call("PUT", "tags", body={"name": tag, "classification": classification, "description": purpose})
        )


def describe(platform: Platform, described: TableAttributes, classification: str, overwriting: Overwriting) -> bool:
    """Puts descriptions, tags and an owner on a table that is there; whether anything was new.

    `overwriting` says what takes the place of what is there. Tags are added and none taken away.
    """
    table = get_by_name(platform.http, Collection.TABLES, described.fqn, ("tags", "columns", "owners"))
    if table is None:
        return False
    overwrite = overwriting.descriptions
    operations = list(_operations(table, "", described.own, classification, overwrite=overwrite))
    owners = [str(owner["id"]) for owner in table.get("owners") or ()]
    if described.owner is not None and owners != [described.owner.id] and (overwriting.owners or not owners):
        operations.append({"op": "add", "path": "/owners", "value": [described.owner.to_json()]})
    columns = {name.lower(): attributes for name, attributes in described.columns.items()}
    for number, column in enumerate(table.get("columns") or ()):
        attributes = columns.get(decode_name(str(column["name"])).lower())
        if attributes is not None:
            place = f"/columns/{number}"
            operations += _operations(column, place, attributes, classification, overwrite=overwrite)
    if operations:
        path = f"{Collection.TABLES}/name/{path_of(described.fqn)}"
        platform.http.send(Call("PATCH", path, body=operations, answered=False))
    return bool(operations)


def _operations(
    stored: Json, place: str, described: Attributes, classification: str, *, overwrite: bool
) -> Iterator[dict[str, object]]:
    known = stored.get("description") or ""
    if described.description and described.description != known and (overwrite or not known):
        yield {"op": "add", "path": f"{place}/description", "value": described.description}
    labels = stored.get("tags") or []
    there = {str(label.get("tagFQN")) for label in labels}
    new = [tag for tag in described.tags if build_fqn(classification, tag) not in there]
    if new:
        added = [label_of(build_fqn(classification, tag)) for tag in new]
        yield {"op": "add", "path": f"{place}/tags", "value": [*labels, *added]}


def label_of(fqn: str) -> Json:
    """The label of a tag that a tool put on."""
    return {"tagFQN": fqn, "source": "Classification", "labelType": "Automated", "state": "Confirmed"}
