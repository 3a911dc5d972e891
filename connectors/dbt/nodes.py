"""What a dbt project is made of, as its artifacts or its files tell it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

EPHEMERAL_PREFIX = "__dbt__cte__"
"""How dbt names the WITH item that stands for an ephemeral model."""

NOT_KNOWN = "headwater_not_known"
"""What stands in SQL for what a missing package or variable would have made: no relation and no column is called so."""


class ResourceKind(StrEnum):
    """The kinds of node that have rows, as dbt names them."""

    MODEL = "model"
    SEED = "seed"
    SNAPSHOT = "snapshot"
    SOURCE = "source"


@dataclass(frozen=True, slots=True)
class DbtColumn:
    """A column that somebody described; the described ones need not be all."""

    name: str
    description: str = ""
    type: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DbtNode:
    """A model, seed, snapshot or source.

    `relation` is its name in the warehouse's own quotes, "" where it has none (an ephemeral model). `compiled` is its
    query without templates, None where the artifact does not have it. `path` is its file below the project's root.
    """

    unique_id: str
    kind: ResourceKind
    name: str
    package: str
    relation: str = ""
    relation_key: tuple[str, str, str] = ("", "", "")  # database, schema, identifier
    path: str = ""
    materialized: str = ""
    language: str = "sql"
    compiled: str | None = field(default=None, repr=False)
    raw: str = field(default="", repr=False)
    depends_on: tuple[str, ...] = ()
    description: str = ""
    tags: tuple[str, ...] = ()
    owner: str = ""
    columns: tuple[DbtColumn, ...] = ()
    config: Mapping[str, object] = field(default_factory=dict, repr=False)

    @property
    def ephemeral(self) -> bool:
        return self.materialized == "ephemeral"

    @property
    def dotted(self) -> str:
        """The name without quotes: `database.schema.identifier`, without the parts that it lacks."""
        return ".".join(filter(None, self.relation_key))


@dataclass(frozen=True, slots=True)
class DbtTest:
    """A test of a node, or of one of its columns (`column` "" otherwise). Its compiled query is no relation.

    `kind` is the generic test that it is one of, "" where it has SQL of its own: the names of those dbt makes of their
    parameters, values among them.
    """

    unique_id: str
    name: str
    tested: str  # unique_id of the node that it is attached to, "" where it is attached to none
    column: str = ""
    kind: str = ""

    @property
    def label(self) -> str:
        """A name that holds no value."""
        return self.kind or self.name


@dataclass(frozen=True, slots=True)
class DbtExposure:
    """What uses models outside of dbt: a dashboard, a notebook, an application."""

    unique_id: str
    name: str
    type: str
    depends_on: tuple[str, ...]
    owner: str = ""
    url: str = ""
    description: str = ""
    label: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DbtMeasure:
    """What a semantic model aggregates; `expression` is SQL over its model, literals and all."""

    name: str
    aggregation: str = ""
    expression: str = field(default="", repr=False)
    description: str = ""


@dataclass(frozen=True, slots=True)
class DbtMetric:
    """A metric with what the semantic models behind it tell: the measures it is made of, and what it splits by.

    `depends_on` are the models below, however many metrics are between; `dimensions` are (name, whether it is a time).
    """

    unique_id: str
    name: str
    type: str
    depends_on: tuple[str, ...]
    label: str = ""
    description: str = ""
    tags: tuple[str, ...] = ()
    owner: str = ""
    measures: tuple[DbtMeasure, ...] = ()
    dimensions: tuple[tuple[str, bool], ...] = ()


@dataclass(frozen=True, slots=True)
class Manifest:
    """A manifest.json. `generated_at` in seconds since the epoch, None where it does not say.

    `newer` says that it is of a version that was not known when this was written: what is known of it was read.
    """

    version: int
    adapter: str
    project: str
    dbt_version: str
    generated_at: float | None
    nodes: Mapping[str, DbtNode]
    tests: tuple[DbtTest, ...] = ()
    exposures: tuple[DbtExposure, ...] = ()
    metrics: tuple[DbtMetric, ...] = ()
    newer: bool = False
