"""Random schemas: tables that share column names, so that names are ambiguous and joins can merge columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ingestion.model.lineage import Column, TableName
from tests.differential.choices import Choices

INT, TEXT, INTS, PAIR = "int", "text", "ints", "pair"
"""Kinds of columns: what expressions may be made of them."""

_NAMES = {INT: ("id", "k", "a", "b", "qty"), TEXT: ("name", "s", "c"), INTS: ("xs",), PAIR: ("st",)}
_SPARK_TYPES = {INT: "int", TEXT: "string", INTS: "array<int>", PAIR: "struct<x:int,y:string>"}
_POSTGRES_TYPES = {INT: "int", TEXT: "text", INTS: "int[]"}

Columns = tuple[tuple[str, str], ...]
"""(name, kind) in order."""


@dataclass(frozen=True)
class Schema:
    """Tables and their columns."""

    tables: Mapping[str, Columns]

    def lookup(self, name: TableName) -> tuple[Column, ...] | None:
        """What the analyzer asks for."""
        return self.lookup_of(name.table)

    def lookup_of(self, table: str) -> tuple[Column, ...] | None:
        """A table's columns, None where it is not one of these."""
        columns = self.tables.get(table)
        return tuple(Column(column) for column, _ in columns) if columns is not None else None

    def spark_type(self, table: str) -> str:
        """A table's columns as Spark's DDL string."""
        return ", ".join(f"{name} {_SPARK_TYPES[kind]}" for name, kind in self.tables[table])

    def postgres_columns(self, table: str) -> str:
        """A table's columns as in CREATE TABLE."""
        return ", ".join(f"{name} {_POSTGRES_TYPES[kind]}" for name, kind in self.tables[table])


def random_schema(choices: Choices, kinds: tuple[str, ...], suffix: str = "") -> Schema:
    """Three tables of one to ten columns, `id` in each."""
    return Schema({table + suffix: _columns(choices, kinds) for table in ("t", "u", "w")})


def _columns(choices: Choices, kinds: tuple[str, ...]) -> Columns:
    found = [("id", INT)]
    for kind in kinds:
        share = 55 if kind in (INT, TEXT) else 40
        found += [(name, kind) for name in _NAMES[kind] if name != "id" and choices.number(100) < share]
    return tuple(found)
