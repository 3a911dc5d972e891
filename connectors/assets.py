"""What a dashboard tool has, whichever it is: data models over tables, charts over data models, dashboards of charts.

Of each its query says what its columns are made of, as SQL in which other assets go by their `relation`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from ingestion.dialects import dialect_of
from ingestion.model.entities import CHART, DASHBOARD, DATA_MODEL
from ingestion.model.lineage import Column
from ingestion.statements.routines.definition import quote_name

_PREFIX = "dashboards"
_NOT_PLAIN = re.compile(r"\W+")
_WORDS = {DATA_MODEL: "model", CHART: "chart", DASHBOARD: "dashboard"}


@dataclass(frozen=True, slots=True)
class AssetQuery:
    """A query in a `dialect`, whose bare names are in this database and schema ("" where nothing tells)."""

    text: str = field(repr=False)
    dialect: str
    database: str = ""
    schema: str = ""


@dataclass(frozen=True, slots=True)
class Asset:
    """A data model, a chart or a dashboard (`kind`, an entity type of the catalog), by the `key` that its tool has.

    `location`: where it is told of (`file:line`). `columns` are a data model's, or those of a chart's query; `members`
    the keys of a dashboard's charts. `query` None: it has none, and `end` is how it ends then. `subtype`: the catalog's
    word for what it is.
    """

    kind: str
    key: str
    title: str
    location: str
    query: AssetQuery | None = None
    end: str = ""
    columns: tuple[Column, ...] = ()
    members: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    description: str = ""
    url: str = ""
    subtype: str = ""

    @property
    def relation(self) -> tuple[str, str, str]:
        """The parts of the name by which queries know it: such as no dialect folds or splits."""
        return _PREFIX, _WORDS[self.kind], _plain(self.title)

    def relation_text(self, dialect: str) -> str:
        """The same as SQL has it."""
        rules = dialect_of(dialect)
        return ".".join(quote_name(part, rules) for part in self.relation)


def _plain(title: str) -> str:
    return _NOT_PLAIN.sub("_", title).strip("_").lower() or "_"


@dataclass(frozen=True, slots=True)
class UnreadFile:
    """What could not be read: where, and why, without its content."""

    location: str
    problem: str


@dataclass(frozen=True, slots=True)
class Assets:
    """All of a tool's that was read; `service` and `service_type` are what the catalog calls it.

    `tool`: its name for people. `notes`: what else to tell of the reading. `complete`: nothing else is there, so what
    is not among the items is gone.
    """

    tool: str
    service: str
    service_type: str
    items: tuple[Asset, ...] = ()
    unread: tuple[UnreadFile, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        return not self.unread and bool(self.items)

    def of_kind(self, kind: str) -> Iterator[Asset]:
        """Those of one kind."""
        return (one for one in self.items if one.kind == kind)


def with_own_names(assets: Iterable[Asset]) -> tuple[Asset, ...]:
    """The same assets of one kind, each with a title that no other has: its key is added where several have one."""
    given = tuple(assets)
    titles = Counter(_plain(one.title) for one in given)
    return tuple(
        replace(one, title=f"{one.title} ({one.key})") if titles[_plain(one.title)] > 1 else one for one in given
    )
