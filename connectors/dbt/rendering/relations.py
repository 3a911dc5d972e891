"""Relations and columns as templates handle them: names that print as the warehouse's SQL has them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from connectors.dbt.rendering.failures import NotRenderable
from ingestion.dialects import dialect_of
from ingestion.dialects.definition import Fold
from ingestion.routines.definition import quote_name

_BARE_NAME = re.compile(r"[A-Za-z_]\w*")
_PARTS = ("database", "schema", "identifier", "metadata")


@dataclass(frozen=True)
class TemplateRelation(Mapping[str, Any]):
    """A relation's name in its parts, as dbt's own objects have them (mappings too); prints as the quoted name.

    `cte` is the name of the WITH item where it is an ephemeral model, which has no place.
    """

    database: str | None
    schema: str | None
    identifier: str
    dialect: str = "ansi"
    cte: str = ""

    def __str__(self) -> str:
        return self.cte or relation_name(self.place, self.dialect)

    def __getitem__(self, name: str) -> Any:
        values = (self.database, self.schema, self.identifier, self.metadata)
        return dict(zip(_PARTS, values, strict=True))[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_PARTS)

    def __len__(self) -> int:
        return len(_PARTS)

    @property
    def place(self) -> tuple[str, str, str]:
        return self.database or "", self.schema or "", self.identifier

    @property
    def metadata(self) -> dict[str, str]:
        return {"type": "Relation"}

    @property
    def name(self) -> str:
        return self.identifier

    @property
    def table(self) -> str:
        return self.identifier

    @property
    def is_cte(self) -> bool:
        return bool(self.cte)

    def render(self) -> str:
        return str(self)

    def include(self, *, database: bool = True, schema: bool = True, identifier: bool = True) -> TemplateRelation:
        """The relation without the parts of its name that are False: database, schema, identifier."""
        return replace(
            self,
            database=self.database if database else None,
            schema=self.schema if schema else None,
            identifier=self.identifier if identifier else "",
        )

    def without_identifier(self) -> TemplateRelation:
        return self.include(identifier=False)

    def quote(self, **_parts: bool) -> TemplateRelation:
        """Quotes do not change what a name here means."""
        return self

    def quoted(self, identifier: str) -> str:
        return quote_name(identifier, dialect_of(self.dialect))


class _UnknownType:
    """A column's type: it may be printed, for a cast changes no lineage; nothing may be decided by it."""

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return "unknown"

    def __eq__(self, other: object) -> bool:
        raise NotRenderable("the type of a column asks the warehouse")

    def __bool__(self) -> bool:
        return True


@dataclass(frozen=True)
class TemplateColumn:
    """A column of a relation; its type only the warehouse knows."""

    name: str
    dialect: str = "ansi"

    @property
    def column(self) -> str:
        return self.name

    @property
    def quoted(self) -> str:
        return quote_name(self.name, dialect_of(self.dialect))

    @property
    def data_type(self) -> _UnknownType:
        return _UnknownType()

    dtype = data_type

    def can_expand_to(self, _other: object) -> bool:
        """Which of two types is the wider one decides nothing but a type."""
        return False


def relation_name(place: tuple[str, str, str], dialect: str) -> str:
    """A place as dbt writes it in the dialect: in quotes, but where bare names are in upper case."""
    rules = dialect_of(dialect)
    parts = place[1:] if rules.two_level and place[1] else place
    bare = rules.relations.bare is Fold.UPPER
    return ".".join(part if bare and _BARE_NAME.fullmatch(part) else quote_name(part, rules) for part in parts if part)
