"""The names of a script's tables with what its session leaves out of them, and those of which that is not certain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from ingestion.binding.relations import Relation
from ingestion.binding.timeline import Occurrence, SchemaProvider
from ingestion.model.lineage import NameKind, TableName
from ingestion.model.namespaces import RelationKey, readable

Mentions = Iterable[tuple[Occurrence, Mapping[TableName, int]]]
"""Statements, and the number of the relation that each name in them means."""


def with_session_names(name: TableName, key: RelationKey, spelled: Mapping[str, str]) -> TableName:
    """A name as its relation's key has it: after `USE SCHEMA prod.core` the name t is prod.core.t.

    `spelled` has the parts that the text writes otherwise than they are stored. What is temporary has no schema, unless
    it was made under one.
    """
    if name.kind is not NameKind.TABLE:
        return name
    parts = readable(key.parts)
    before = parts[: -len(name.parts)]
    if not before or parts[-len(name.parts) :] != name.parts:
        return name
    written = ".".join((*(spelled.get(part, part) for part in before), str(name)))
    return replace(name, parts=parts, written=written)


def doubted_relations(relations: tuple[Relation, ...], mentions: Mentions, before: SchemaProvider) -> frozenset[int]:
    """The relations of a script whose names may mean others, by number.

    Those that the session may find in several schemas, where nothing tells that the first one has it:
    `SET search_path TO web, shop; SELECT a FROM t`. And those that have one name as far as it is known, and are looked
    for in different schemas: t of before and after `USE {{ db }}`.
    """
    guessed, certain = set[int](), set[int]()
    keys_by_name: dict[tuple[str, ...], set[RelationKey]] = {}
    numbers: dict[tuple[str, ...], set[int]] = {}
    for occurrence, meaning in mentions:
        for name, number in meaning.items():
            key = relations[number].born
            if name.kind is not NameKind.TABLE or key.session is not None:
                continue
            several = len(name.parts) == 1 and len(occurrence.namespace.search_path) > 1
            (guessed if several else certain).add(number)
            keys_by_name.setdefault(readable(key.parts), set()).add(key)
            numbers.setdefault(readable(key.parts), set()).add(number)
    unknown = {
        number
        for number in guessed - certain
        if relations[number].creator is None and before.schema(relations[number].born) is None
    }
    return frozenset(unknown.union(*(numbers[name] for name, keys in keys_by_name.items() if len(keys) > 1)))
