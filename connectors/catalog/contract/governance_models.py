# ruff: noqa: N815 — the names are the wire's
"""What clients may send of who owns things and what is said of them: people, tags, domains."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from connectors.catalog.contract.models import Create, Derived, Fqn, Many, Model, Ref, Unkept, Word


class CreateTeam(Create):
    """Who owns things: a group of people."""

    teamType: Word = "Group"
    email: Word | None = None
    externalId: Word | None = None
    profile: dict[str, Any] | None = None
    isJoinable: bool | None = None
    parents: Many[Fqn | Ref] | None = None
    children: Many[Fqn | Ref] | None = None
    users: Many[Fqn | Ref] | None = None
    defaultRoles: Unkept = None
    policies: Unkept = None
    defaultPersona: Unkept = None


class CreateUser(Create):
    """Somebody who owns things or runs queries. The catalog signs nobody in: it takes no password and no role."""

    email: Word
    externalId: Word | None = None
    scimUserName: Word | None = None
    timezone: Word | None = None
    isBot: bool = False
    isAdmin: bool = False
    profile: dict[str, Any] | None = None
    teams: Many[Fqn | Ref] | None = None
    roles: Unkept = None
    personas: Unkept = None
    defaultPersona: Unkept = None
    authenticationMechanism: Unkept = None
    botName: Unkept = None
    createPasswordType: Unkept = None
    password: Unkept = None
    confirmPassword: Unkept = None


class _Labels(Create):
    """What classifications and tags have in common."""

    provider: Word = "user"
    mutuallyExclusive: bool | None = None
    reviewers: Many[Ref] | None = None
    disabled: bool | None = None


class CreateClassification(_Labels):
    """A family of tags."""

    autoClassificationConfig: dict[str, Any] | None = None


class CreateTag(_Labels):
    """A tag of a classification, or of another tag."""

    classification: Fqn | None = None
    parent: Fqn | Ref | None = None
    style: dict[str, Any] | None = None
    deprecated: bool | None = None
    recognizers: list[Any] | None = None
    autoClassificationEnabled: bool | None = None
    autoClassificationPriority: int | None = None
    associatedTags: Unkept = None


class CreateDomain(Create):
    """A part of the business that assets belong to; domains may lie in domains."""

    domainType: Word
    parent: Fqn | Ref | None = None
    style: dict[str, Any] | None = None
    experts: Many[Fqn | Ref] | None = None
    extension: dict[str, Any] | None = None
    certification: dict[str, Any] | None = None
    fullyQualifiedName: Derived = None


class Assets(Model):
    """What to put into a domain, or to take out of it."""

    assets: Annotated[Many[Ref], Field(max_length=1_000)]
