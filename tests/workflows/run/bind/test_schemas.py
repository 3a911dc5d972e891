"""What stood before the log: each name is asked for once, and many in one call where the catalog can."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from connectors.source_settings import LineageConfig
from ingestion.binding.binder import BoundLog
from ingestion.binding.relations import Relation
from ingestion.binding.timeline import SchemaProvider
from ingestion.model.entities import TableEntity
from ingestion.model.lineage import Column, TableName
from ingestion.model.namespaces import Namespace, RelationKey
from ingestion.model.outcomes import Outcome
from ingestion.resolution import PREFETCHED, Hits, PartialName, Resolver, SearchScope
from workflows.run.bind.schemas import StatedSchemas, catalog_schemas
from workflows.run.resolve.entities import resolve_relations

HERE = Namespace("db", ("public",))
MANY = 3_000


class Catalog:
    """Tables t0, t1, … of schema public, and old ones of another schema that no search path leads to."""

    def __init__(self, bulk: bool = True) -> None:
        self.bulk = bulk
        self.calls = 0

    def field_search(self, pattern: str) -> Hits:
        self.calls += 1
        schema, table = pattern.split(".")[-2:]
        found = self._found(PartialName("db", None if "*" in schema else schema, table))
        return Hits(tuple(entity.fully_qualified_name for entity in found))

    def get_by_fqn(self, fqn: str) -> TableEntity | None:
        self.calls += 1
        _service, database, schema, table = fqn.split(".")
        return next(iter(self._found(PartialName(database, schema, table))), None)

    def bulk_lookup(self, service: str, names: Sequence[PartialName]) -> Sequence[Sequence[TableEntity]] | None:
        self.calls += self.bulk
        return [self._found(name) for name in names] if self.bulk else None

    def path_lookup(self, path: str) -> Sequence[TableEntity]:
        self.calls += 1
        return ()

    @staticmethod
    def _found(name: PartialName) -> list[TableEntity]:
        schema = {"t": "public", "o": "old"}.get(name.table[0])
        if schema is None or name.schema not in (None, schema):
            return []
        fqn = f"svc.db.{schema}.{name.table}"
        return [TableEntity(fqn, fqn, "svc", "db", schema, name.table, (Column(f"of_{name.table}", "int"),))]


def columns_and_place(before: SchemaProvider, table: str) -> tuple[list[str] | None, str | None]:
    """The columns of a table in public, and where else it stands."""
    columns = before.schema(RelationKey(("db", "public", table)))
    place = before.elsewhere(TableName((table,)), HERE)
    return None if columns is None else [column.name for column in columns], str(place) if place else None


def names() -> list[tuple[TableName, Namespace]]:
    return [(TableName((f"{letter}{number}",)), HERE) for number in range(MANY // 3) for letter in "tox"]


def test_of_more_names_than_are_remembered_each_is_asked_for_once() -> None:
    catalog = Catalog()
    before = catalog_schemas(StatedSchemas(), Resolver(catalog, SearchScope("svc")))
    before.expect(names())
    asked = catalog.calls
    assert asked < MANY / 50
    for _ in range(2):
        for name, _namespace in names():
            columns_and_place(before, name.table)
    # Whether a table of public stands elsewhere too is never asked for, as it is found there.
    assert catalog.calls - asked <= MANY / 3


def test_a_name_that_says_its_place_is_asked_for_once_also_where_nothing_is_there() -> None:
    catalog = Catalog()
    placed = [(TableName(("public", f"x{number}")), HERE) for number in range(MANY)]
    catalog_schemas(StatedSchemas(), Resolver(catalog, SearchScope("svc"))).expect(placed)
    assert catalog.calls == MANY / PREFETCHED


def test_of_a_relation_that_is_not_there_each_name_is_asked_for_once() -> None:
    catalog = Catalog()
    mentions = [(TableName(("db", "public", f"x{number}")), HERE) for number in range(MANY)]
    keys = [RelationKey(name.parts) for name, _namespace in mentions]
    relations = [Relation(n, key, key, mention) for n, (key, mention) in enumerate(zip(keys, mentions, strict=True))]
    wanted = dict.fromkeys(range(MANY), 1)
    resolver = Resolver(catalog, SearchScope("svc"))
    found = resolve_relations(BoundLog(tuple(relations), (), {}), wanted, resolver, LineageConfig(), registers=True)
    assert set(found.statuses.values()) == {Outcome.UNRESOLVED}
    assert catalog.calls == MANY / PREFETCHED


@pytest.mark.parametrize("bulk", [True, False])
@pytest.mark.parametrize("expected", [True, False])
def test_what_is_expected_is_told_as_if_it_had_not_been(bulk: bool, expected: bool) -> None:
    before = catalog_schemas(StatedSchemas(), Resolver(Catalog(bulk), SearchScope("svc")))
    if expected:
        before.expect(names()[:30])
    assert columns_and_place(before, "t3") == (["of_t3"], None)
    assert columns_and_place(before, "o3") == (None, "db.old.o3")
    assert columns_and_place(before, "x3") == (None, None)


def test_what_a_schema_file_says_is_not_asked_for() -> None:
    catalog = Catalog()
    given = {RelationKey(("db", "public", "t1")): (Column("a", "int"),)}
    before = catalog_schemas(StatedSchemas.of((given,)), Resolver(catalog, SearchScope("svc")))
    before.expect([(TableName(("t1",)), HERE)])
    assert [column.name for column in before.schema(RelationKey(("db", "public", "t1"))) or ()] == ["a"]
    assert catalog.calls == 0


def test_a_schema_file_is_found_by_a_database_that_differs_in_case_alone_where_quotes_keep_case() -> None:
    file = {
        RelationKey(("Db", "public", "x1")): (Column("a", "int"),),
        RelationKey(("Two", "s", "x2")): (Column("a", "int"),),
        RelationKey(("two", "s", "x2")): (Column("b", "int"),),
    }
    names = {"DB.public.x1": ["a"], "DB.public.X1": None, "TWO.s.x2": None, "two.s.x2": ["b"]}
    for in_any_case in (True, False):
        stated = StatedSchemas.of((file,), in_any_case=in_any_case)
        before = catalog_schemas(stated, Resolver(Catalog(), SearchScope("svc")))
        before.expect([(TableName(tuple(name.split("."))), Namespace()) for name in names])
        for name, expected in names.items():
            columns = before.schema(RelationKey(tuple(name.split("."))))
            found = None if columns is None else [column.name for column in columns]
            assert found == (expected if in_any_case or name == "two.s.x2" else None)


def test_what_one_shard_is_told_of_the_catalog_is_not_among_what_is_stated_for_the_next() -> None:
    key, told = RelationKey(("Db", "s", "t")), RelationKey(("db", "s", "u"))
    stated = StatedSchemas.of(({key: (Column("a", "int"),)},), in_any_case=True)
    first, second = (catalog_schemas(stated, Resolver(Catalog(), SearchScope("svc"))) for _ in range(2))
    first.expect([(TableName(told.parts), Namespace())])
    assert (first.schema(told), first.schema(RelationKey(("db", "s", "t")))) == (None, (Column("a", "int"),))
    assert stated.columns.keys() == {key}
    assert second.schema(key) == (Column("a", "int"),)
