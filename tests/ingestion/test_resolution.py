from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from ingestion.errors import TargetDown
from ingestion.model.entities import TableEntity
from ingestion.model.fqn import build_fqn, split_fqn
from ingestion.model.lineage import Column, NameKind, TableName
from ingestion.model.namespaces import Namespace, unreadable
from ingestion.model.outcomes import Outcome
from ingestion.resolution import (
    Ambiguous,
    FoundBy,
    Hits,
    PartialName,
    Resolution,
    Resolved,
    Resolver,
    SearchScope,
    Unresolved,
)

SHOWN = 10


def _entity(fqn: str) -> TableEntity:
    service, database, schema, name = split_fqn(fqn)
    return TableEntity(f"id of {fqn}", fqn, service, database, schema, name, (Column("Id", "int"),))


class Catalog:
    """A catalog in memory that counts its calls; `unindexed` tables are only found by their FQN."""

    def __init__(self, *fqns: str, unindexed: Sequence[str] = (), bulk: bool = False) -> None:
        self.tables = {fqn: _entity(fqn) for fqn in (*fqns, *unindexed)}
        self.indexed = set(fqns)
        self.bulk = bulk
        self.calls: list[str] = []
        self.paths: dict[str, list[TableEntity]] = {}

    def field_search(self, pattern: str) -> Hits:
        self.calls.append(f"search {pattern}")
        expression = re.escape(pattern).replace(r"\*", ".*").replace(r"\?", ".")
        found = [fqn for fqn in self.indexed if re.fullmatch(expression, fqn, re.IGNORECASE | re.DOTALL)]
        return Hits(tuple(sorted(found)[:SHOWN]), complete=len(found) <= SHOWN)

    def get_by_fqn(self, fqn: str) -> TableEntity | None:
        self.calls.append(f"get {fqn}")
        return self.tables.get(fqn)

    def bulk_lookup(self, service: str, names: Sequence[PartialName]) -> Sequence[Sequence[TableEntity]] | None:
        if not self.bulk:
            return None
        self.calls.append(f"bulk {len(names)}")
        return [[table for table in self.tables.values() if _meant(table, service, name)] for name in names]

    def path_lookup(self, path: str) -> Sequence[TableEntity]:
        self.calls.append(f"path {path}")
        return self.paths.get(path, ())


def _meant(table: TableEntity, service: str, name: PartialName) -> bool:
    wanted, parts = (name.database, name.schema, name.table), (table.database, table.schema, table.name)
    return table.service == service and all(
        want is None or want.casefold() == part.casefold() for want, part in zip(wanted, parts, strict=True)
    )


def _name(dotted: str) -> TableName:
    return TableName(tuple(dotted.split(".")))


def _resolve(
    catalog: Catalog, dotted: str, namespace: Namespace | None = None, scope: SearchScope | None = None
) -> Resolution:
    return Resolver(catalog, scope or SearchScope("svc")).resolve(_name(dotted), namespace or Namespace())


def _fqn(resolution: Resolution) -> str:
    assert isinstance(resolution, Resolved), resolution
    return resolution.entity.fully_qualified_name


def test_a_full_name_is_one_search_and_one_read() -> None:
    catalog = Catalog("svc.db.sales.orders", "svc.db.stage.orders")
    assert _fqn(_resolve(catalog, "db.sales.orders")) == "svc.db.sales.orders"
    assert catalog.calls == ["search svc.db.sales.orders", "get svc.db.sales.orders"]


def test_the_querys_own_qualification_beats_the_sessions_default() -> None:
    catalog = Catalog("svc.db.sales.orders", "svc.db.stage.orders")
    session = Namespace("db", ("stage",))
    assert _fqn(_resolve(catalog, "sales.orders", session)) == "svc.db.sales.orders"
    assert _fqn(_resolve(catalog, "orders", session)) == "svc.db.stage.orders"


def test_a_schema_that_the_query_names_is_never_given_up_for_another() -> None:
    catalog = Catalog("svc.db.sales.orders")
    assert _resolve(catalog, "stage.orders") == Unresolved(Outcome.NO_SUCH_TABLE, "stage.orders")


def test_the_search_path_is_followed_in_its_order() -> None:
    catalog = Catalog("svc.db.a.t", "svc.db.b.t", "svc.db.c.t")
    assert _fqn(_resolve(catalog, "t", Namespace("db", ("none", "b", "a")))) == "svc.db.b.t"
    assert catalog.calls == ["search svc.db.*.t", "get svc.db.none.t", "get svc.db.b.t"]


def test_without_the_schema_the_only_table_of_that_name_is_meant() -> None:
    resolution = _resolve(Catalog("svc.db.sales.orders"), "orders", Namespace("db", ("public",)))
    assert isinstance(resolution, Resolved)
    assert resolution.found_by is FoundBy.ONLY_ONE


def test_the_only_table_of_that_name_is_not_meant_where_a_session_is_not_known() -> None:
    place = unreadable("USE {{ schema }}")
    resolver = Resolver(Catalog("svc.db.web.t"), SearchScope("svc"))
    for name, namespace in (
        (TableName(("t",)), Namespace("db", (place,))),
        (TableName(("web", "t")), Namespace(place, (place,))),
        (TableName(("db", place, "t")), Namespace()),
    ):
        found = resolver.resolve(name, namespace)
        assert isinstance(found, Unresolved)
        assert found.reason is Outcome.UNKNOWN_SESSION
        assert place not in found.subject
    assert isinstance(resolver.resolve(TableName(("db", "web", "t")), Namespace(place, (place,))), Resolved)


def test_two_schemas_with_equal_right_are_an_ambiguity() -> None:
    catalog = Catalog("svc.db.b.orders", "svc.db.a.orders")
    assert _resolve(catalog, "orders") == Ambiguous(("svc.db.a.orders", "svc.db.b.orders"))
    assert not [call for call in catalog.calls if call.startswith("get")]


def test_what_the_index_does_not_show_yet_is_found_by_its_name() -> None:
    catalog = Catalog(unindexed=["svc.db.sales.orders"])
    assert _fqn(_resolve(catalog, "sales.orders", Namespace("db"))) == "svc.db.sales.orders"


def test_what_the_index_still_shows_but_is_gone_is_unresolved() -> None:
    catalog = Catalog("svc.db.sales.orders")
    catalog.tables.clear()
    assert isinstance(_resolve(catalog, "db.sales.orders"), Unresolved)


def test_the_search_order_is_field_then_fqn_then_without_the_schema() -> None:
    catalog = Catalog("svc.db.sales.orders")
    resolver = Resolver(catalog, SearchScope("svc"))
    found = resolver.search_table_entities("svc", "db", "public", "orders")
    assert _fqn(found) == "svc.db.sales.orders"
    assert catalog.calls[:3] == ["search svc.db.public.orders", "get svc.db.public.orders", "search svc.db.*.orders"]
    assert isinstance(resolver.search_table_entities("svc", "", "", "nowhere"), Unresolved)


def test_misses_are_remembered() -> None:
    catalog = Catalog()
    resolver = Resolver(catalog, SearchScope("svc"))
    for _ in range(750):
        assert isinstance(resolver.resolve(_name("orders"), Namespace("db", ("public",))), Unresolved)
    assert catalog.calls == ["search svc.db.*.orders", "get svc.db.public.orders"]
    assert (resolver.counts.field_searches, resolver.counts.fqn_lookups) == (1, 1)
    assert resolver.counts.remembered == 2 * 749


def test_no_more_than_a_thousand_answers_are_remembered() -> None:
    catalog = Catalog()
    resolver = Resolver(catalog, SearchScope("svc"))
    for number in (*range(1001), 0, 1000):
        resolver.resolve(_name(f"t{number}"), Namespace())
    assert catalog.calls.count("search svc.*.*.t0") == 2
    assert catalog.calls.count("search svc.*.*.t1000") == 1


def test_what_a_catalog_surely_lacks_is_asked_for_once_however_much_it_is() -> None:
    catalog = Catalog("svc.db.s.t0", bulk=True)
    resolver = Resolver(catalog, SearchScope("svc"))
    names = [(_name(f"t{number}"), Namespace("db", ("s",))) for number in range(2_000)]
    for _ in range(2):
        resolver.resolve_all(names)
    assert catalog.calls == ["bulk 250"] * 8


def test_an_exact_case_beats_another_case() -> None:
    catalog = Catalog("svc.db.public.Orders", "svc.db.public.orders", "svc.db.public.ITEMS")
    assert _fqn(_resolve(catalog, "orders")) == "svc.db.public.orders"
    assert _fqn(_resolve(catalog, "public.items")) == "svc.db.public.ITEMS"
    assert isinstance(_resolve(catalog, "ORDERS"), Ambiguous)


def test_hits_are_compared_part_by_part() -> None:
    catalog = Catalog('svc.db.public."x.orders"', "svc.db.public.orders2", "svc2.db.public.orders")
    assert isinstance(_resolve(catalog, "orders"), Unresolved)
    quoted = Resolver(catalog, SearchScope("svc")).resolve(TableName(("public", "x.orders")), Namespace("db"))
    assert _fqn(quoted) == 'svc.db.public."x.orders"'


@pytest.mark.parametrize("wild", ["or*", "or?ers", "*", "or\\ers"])
def test_wildcard_characters_in_a_name_match_only_themselves(wild: str) -> None:
    others = ["svc.db.public.orders", "svc.db.public.orxers"]
    assert isinstance(
        Resolver(Catalog(*others), SearchScope("svc")).resolve(TableName((wild,)), Namespace()), Unresolved
    )
    own = build_fqn("svc", "db", "public", wild)
    assert _fqn(Resolver(Catalog(*others, own), SearchScope("svc")).resolve(TableName((wild,)), Namespace())) == own


def test_a_search_that_does_not_show_all_hits_settles_nothing_that_a_hidden_hit_could_change() -> None:
    many = [f"svc.db.s{number:02}.orders" for number in range(30)]
    resolution = _resolve(Catalog(*many), "orders")
    assert isinstance(resolution, Ambiguous)
    assert not resolution.complete
    assert _fqn(_resolve(Catalog(*many), "orders", Namespace("db", ("s29",)))) == "svc.db.s29.orders"


def test_the_querys_own_service_comes_first() -> None:
    catalog = Catalog("svc.db.sales.orders", "b.db.sales.orders")
    scope = SearchScope("svc", others=("b",))
    assert _fqn(_resolve(catalog, "sales.orders", scope=scope)) == "svc.db.sales.orders"
    assert not [call for call in catalog.calls if call.startswith("search b")]


def test_another_service_is_taken_when_it_alone_has_the_table() -> None:
    resolution = _resolve(Catalog("c.x.sales.orders"), "sales.orders", Namespace("db"), SearchScope("svc", ("b", "c")))
    assert isinstance(resolution, Resolved)
    assert (resolution.entity.service, resolution.found_by) == ("c", FoundBy.OTHER_SERVICE)


def test_two_other_services_with_equal_right_are_an_ambiguity() -> None:
    catalog = Catalog("b.db.sales.orders", "c.db.sales.orders")
    resolution = _resolve(catalog, "sales.orders", scope=SearchScope("svc", ("b", "c")))
    assert resolution == Ambiguous(("b.db.sales.orders", "c.db.sales.orders"))


def test_a_catalog_stands_for_the_service_it_is_mapped_to() -> None:
    catalog = Catalog("pg.app.public.users", "svc.hive.public.users", "lake.default.web.hits")
    scope = SearchScope("svc", catalogs={"Postgres_Prod": "pg", "lake": "lake.default"})
    assert _fqn(_resolve(catalog, "postgres_prod.public.users", scope=scope)) == "pg.app.public.users"
    assert _fqn(_resolve(catalog, "hive.public.users", scope=scope)) == "svc.hive.public.users"
    assert _fqn(_resolve(catalog, "hits", Namespace("lake", ("web",)), scope)) == "lake.default.web.hits"


def test_a_linked_server_is_mapped_or_named_never_dropped() -> None:
    catalog = Catalog("svc.erp.dbo.items", "other.erp.dbo.items")
    linked = SearchScope("svc", catalogs={"srv2": "other"})
    assert _fqn(_resolve(catalog, "srv2.erp.dbo.items", scope=linked)) == "other.erp.dbo.items"
    assert _resolve(catalog, "srv9.erp.dbo.items") == Unresolved(Outcome.UNKNOWN_SERVER, "srv9.erp.dbo.items")
    assert _resolve(catalog, "a.b.c.d.e") == Unresolved(Outcome.TOO_MANY_PARTS, "a.b.c.d.e")


def test_an_omitted_part_is_the_sessions() -> None:
    catalog = Catalog("svc.erp.dbo.items", "svc.erp.x.items")
    resolution = Resolver(catalog, SearchScope("svc")).resolve(
        TableName(("erp", "", "items")), Namespace("z", ("dbo",))
    )
    assert _fqn(resolution) == "svc.erp.dbo.items"


def test_where_databases_are_schemas_the_sessions_database_is_one() -> None:
    catalog = Catalog("svc.default.shop.orders", "svc.default.crm.orders")
    scope = SearchScope("svc", two_level=True)
    assert _fqn(_resolve(catalog, "orders", Namespace("shop"), scope)) == "svc.default.shop.orders"
    assert _fqn(_resolve(catalog, "crm.orders", Namespace("shop"), scope)) == "svc.default.crm.orders"


def test_a_database_that_nobody_named_is_any_as_long_as_one_alone_has_the_table() -> None:
    catalog = Catalog("svc.prod.web.hits", "svc.prod.web.clicks", "svc.test.web.clicks", "svc.prod.public.users")
    scope = SearchScope("svc", guessed_database="default")
    nowhere = Namespace("default", ("public",))
    found = [_resolve(catalog, name, nowhere, scope) for name in ("web.hits", "users")]
    assert [_fqn(one) for one in found] == ["svc.prod.web.hits", "svc.prod.public.users"]
    assert [isinstance(one, Resolved) and one.found_by for one in found] == [FoundBy.ONLY_ONE] * 2
    assert _resolve(catalog, "web.clicks", nowhere, scope) == Ambiguous(("svc.prod.web.clicks", "svc.test.web.clicks"))
    # a database that somebody named is this one alone
    assert isinstance(_resolve(catalog, "default.web.hits", nowhere, scope), Unresolved)
    assert isinstance(_resolve(catalog, "web.hits", Namespace("default"), SearchScope("svc")), Unresolved)


def test_names_whose_database_nobody_told_are_asked_for_once_and_the_guessed_one_comes_first() -> None:
    fqns = [f"svc.{'default' if number % 2 else 'prod'}.web.t{number}" for number in range(40)]
    catalog = Catalog(*fqns, "svc.prod.web.t1", "other.prod.web.t0", bulk=True)
    resolver = Resolver(catalog, SearchScope("svc", ("other",), guessed_database="default"))
    nowhere = Namespace("default", ("web",))
    found = resolver.resolve_all((_name(f"t{number}"), nowhere) for number in range(40))
    assert [_fqn(one) for one in found] == fqns
    by = [one.found_by for one in found if isinstance(one, Resolved)]
    assert by == [FoundBy.ONLY_ONE, FoundBy.SESSION] * 20
    assert catalog.calls == ["bulk 40"]


def test_a_table_function_is_no_table() -> None:
    function = TableName(("generate_series",), kind=NameKind.FUNCTION)
    found = Resolver(Catalog(), SearchScope("svc")).resolve(function, Namespace())
    assert found == Unresolved(Outcome.NOT_STORED, "function")


def test_a_path_means_what_lies_there() -> None:
    path = TableName(("s3://bucket/key",), kind=NameKind.PATH)
    catalog = Catalog()
    resolver = Resolver(catalog, SearchScope("svc"))
    assert resolver.resolve_all([(path, Namespace())] * 3) == [Unresolved(Outcome.NOTHING_THERE, "s3://bucket/key")] * 3
    assert catalog.calls == ["path s3://bucket/key"]
    catalog.paths["s3://bucket/key"] = [_entity("s.d.x.one"), _entity("s.d.x.two")]
    assert isinstance(Resolver(catalog, SearchScope("svc")).resolve(path, Namespace()), Ambiguous)
    catalog.paths["s3://bucket/key"].pop()
    assert _fqn(Resolver(catalog, SearchScope("svc")).resolve(path, Namespace())) == "s.d.x.one"


def test_many_names_are_one_call_where_the_catalog_offers_it() -> None:
    fqns = [f"svc.db.s.t{number}" for number in range(200)]
    names = [(_name(f"t{number}"), Namespace("db", ("s",))) for number in range(220)]
    catalog, plain = Catalog(*fqns, bulk=True), Catalog(*fqns)
    resolver = Resolver(catalog, SearchScope("svc"))
    assert resolver.resolve_all(names) == Resolver(plain, SearchScope("svc")).resolve_all(names)
    assert catalog.calls == ["bulk 220"]
    assert resolver.counts.bulk_lookups == 1
    assert len(plain.calls) == 440


def test_a_dead_catalog_is_not_a_missing_table() -> None:
    class Dead(Catalog):
        def field_search(self, pattern: str) -> Hits:
            raise TargetDown("no answer")

    resolver = Resolver(Dead(), SearchScope("svc"))
    for _ in range(2):
        with pytest.raises(TargetDown):
            resolver.resolve(_name("orders"), Namespace())


def test_threads_share_a_resolver() -> None:
    fqns = [f"svc.db.s.t{number}" for number in range(50)]
    catalog = Catalog(*fqns)
    resolver = Resolver(catalog, SearchScope("svc"))
    resolve: Callable[[int], Resolution] = lambda number: resolver.resolve(_name(f"t{number % 60}"), Namespace())  # noqa: E731
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(resolve, range(600)))
    assert [isinstance(item, Resolved) for item in found] == [number % 60 < 50 for number in range(600)]
    counts = resolver.counts
    assert counts.field_searches + counts.fqn_lookups == len(catalog.calls)


def test_an_entitys_columns_are_found_by_name_exact_case_first() -> None:
    entity = TableEntity("1", "svc.d.s.t", "svc", "d", "s", "t", (Column("Id"), Column("a.b"), Column("id")))
    assert entity.column_fqns["id"] == "svc.d.s.t.id"
    assert entity.column_fqns["a.B"] == 'svc.d.s.t."a.b"'
    assert entity.column_fqns["ID"] is None
    assert entity.column_fqns["nope"] is None
