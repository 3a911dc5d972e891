"""A table as a contract of the Open Data Contract Standard: a draft of what is known, to be agreed upon."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from connectors.odcs.contract import NEW_VERSION
from connectors.odcs.logical_types import logical_type
from ingestion.model.lineage import Json

_NAMESPACE = uuid.UUID("0c7a9a52-5d0f-5a3e-8a1b-9a6a0d2b41c3")
_FIRST_VERSION = "0.1.0"
_TITLE_TABLES = 3
_HEAD = "# A draft of what is known of the table: say what you promise, and set its status to active.\n"


@dataclass(frozen=True, slots=True)
class DraftColumn:
    """A column of a draft; `key` is its position in the primary key, 0 outside it.

    `sources` are the columns that it is made of, by their full names; `checks` the metrics that are to be 0."""

    name: str
    type: str
    description: str = ""
    required: bool = False
    key: int = 0
    unique: bool = False
    tags: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """What is known of a table by its full name; `parts` are those of its name below the service."""

    fqn: str
    parts: tuple[str, ...]
    kind: str
    columns: tuple[DraftColumn, ...]
    description: str = ""
    owners: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


def contract_text(drafts: Sequence[Draft]) -> str:
    """One contract of all the tables as YAML, which reads back as the contract of those."""
    document = _document(drafts)
    text: str = yaml.dump(document, Dumper=yaml.SafeDumper, sort_keys=False, allow_unicode=True, width=120)
    return _HEAD + text


def _document(drafts: Sequence[Draft]) -> Json:
    """The same as a document of the standard."""
    owners = dict.fromkeys(owner for draft in drafts for owner in draft.owners)
    members = [{"username": owner, "role": "owner"} for owner in owners]
    more = f" and {len(drafts) - _TITLE_TABLES} more" if len(drafts) > _TITLE_TABLES else ""
    return {
        "apiVersion": NEW_VERSION,
        "kind": "DataContract",
        "id": str(uuid.uuid5(_NAMESPACE, "\n".join(draft.fqn for draft in drafts))),
        "version": _FIRST_VERSION,
        "status": "draft",
        "name": ", ".join(draft.parts[-1] for draft in drafts[:_TITLE_TABLES]) + more,
        **_present({"team": {"members": members} if members else {}}),
        "schema": [_table(draft) for draft in drafts],
    }


def _table(draft: Draft) -> Json:
    name = ".".join(_quoted_part(part) for part in draft.parts)
    table = _present({"name": draft.parts[-1], "physicalName": name, "physicalType": draft.kind})
    table |= _present({"description": draft.description, "tags": list(draft.tags)})
    return {**table, "properties": [_property(column) for column in draft.columns]}


def _property(column: DraftColumn) -> Json:
    written: Json = {"name": column.name}
    written |= _present({"logicalType": logical_type(column.type), "physicalType": column.type})
    written |= _present({"required": column.required, "unique": column.unique})
    if column.key:
        written |= {"primaryKey": True, "primaryKeyPosition": column.key}
    written |= _present({"description": column.description, "tags": list(column.tags)})
    written |= _present({"transformSourceObjects": list(column.sources)})
    return written | _present({"quality": [{"metric": metric, "mustBe": 0} for metric in column.checks]})


def _present(values: Mapping[str, Any]) -> Json:
    return {key: value for key, value in values.items() if value}


def _quoted_part(part: str) -> str:
    """A part of a name, in quotes where a dot or a quote is in it, so that it stays one."""
    plain = not any(sign in part for sign in '."')
    return part if plain else '"' + part.replace('"', '""') + '"'
