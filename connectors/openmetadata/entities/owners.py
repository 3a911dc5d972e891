"""Owners by the names that other tools have for them: a team or a user of the platform."""

from __future__ import annotations

from connectors.openmetadata.entities import extension
from connectors.openmetadata.entities.crud import Collection, find_reference, put
from connectors.openmetadata.transport.platform import Platform
from ingestion.entities import EntityReference
from ingestion.names.fqn import build_fqn


def owner_reference(platform: Platform, name: str) -> EntityReference | None:
    """The team or user with this name or e-mail address, None when there is none.

    Headwater's own catalog, which has no users, takes it for a team that is new.
    """
    fqn = build_fqn(name)
    team = find_reference(platform.http, Collection.TEAMS, fqn)
    if team is not None:
        return team
    if extension.TABLES in platform.capabilities:
        return put(platform.http, Collection.TEAMS, {"name": name, "teamType": "Group"})
    return find_reference(platform.http, Collection.USERS, build_fqn(name.partition("@")[0]))
