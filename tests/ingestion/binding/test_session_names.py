"""Names with what their session leaves out of them, and those that may mean other tables."""

from __future__ import annotations

import pytest

from ingestion.binding.relations import Relation
from ingestion.binding.session_names import doubted_relations, with_session_names
from ingestion.binding.timeline import Occurrence, SchemaProvider
from ingestion.model.lineage import Column, NameKind, StatementKind, StatementLineage, TableName
from ingestion.model.namespaces import Namespace, RelationKey, unreadable

NOTHING = SchemaProvider(lambda _key: None)
PATH = Namespace("db", ("web", "shop"))


@pytest.mark.parametrize(
    ("name", "key", "shown"),
    [
        (TableName(("T",), "t"), RelationKey(("PROD", "CORE", "T")), "prod.CORE.t"),
        (TableName(("core", "t"), "Core.T"), RelationKey(("prod", "core", "t")), "prod.Core.T"),
        (TableName(("t",)), RelationKey(("", "", "t")), "t"),
        (TableName(("t",)), RelationKey(("", unreadable("{{ db }}"), "t")), "t"),
        (TableName(("t",)), RelationKey(("db", unreadable("{{ s }}"), "t")), "t"),
        (TableName(("t",)), RelationKey(("db", "", "t")), "t"),
        (TableName(("s", "t")), RelationKey((unreadable("{{ db }}"), "s", "t")), "s.t"),
        (TableName(("t",)), RelationKey(("t",), session=""), "t"),
        (TableName(("n",)), RelationKey(("db", "web", "t")), "n"),
        (TableName(("f",), kind=NameKind.FUNCTION), RelationKey(("db", "web", "f")), "f"),
    ],
)
def test_a_name_is_shown_with_what_its_key_has_before_it(name: TableName, key: RelationKey, shown: str) -> None:
    found = with_session_names(name, key, {"PROD": "prod"})
    assert str(found) == shown
    assert found.parts[-len(name.parts) :] == name.parts


def mention(name: tuple[str, ...], namespace: Namespace, number: int) -> tuple[Occurrence, dict[TableName, int]]:
    lineage = StatementLineage(StatementKind.SELECT)
    return Occurrence("1", lineage, namespace, (0.0, number)), {TableName(name): number}


def relation(number: int, *parts: str) -> Relation:
    key = RelationKey(parts)
    return Relation(number, key, key, (TableName(parts), Namespace()))


def test_what_may_stand_in_several_schemas_is_doubted_unless_it_is_made_named_or_given() -> None:
    found = relation(0, "db", "web", "t")
    guessed = mention(("t",), PATH, 0)
    assert doubted_relations((found,), [guessed], NOTHING) == {0}
    assert doubted_relations((found,), [mention(("t",), Namespace("db", ("web",)), 0)], NOTHING) == set()
    assert doubted_relations((found,), [guessed, mention(("web", "t"), PATH, 0)], NOTHING) == set()
    given = SchemaProvider(lambda key: (Column("a"),) if key.schema == "web" else None)
    assert doubted_relations((found,), [guessed], given) == set()
    found.creator = 3
    assert doubted_relations((found,), [guessed], NOTHING) == set()


def test_what_is_written_alike_and_looked_for_in_different_schemas_is_doubted() -> None:
    here, there = Namespace(), Namespace("", (unreadable("{{ db }}"),))
    relations = (relation(0, "", "", "t"), relation(1, "", unreadable("{{ db }}"), "t"), relation(2, "", "", "s"))
    mentions = [mention(("t",), here, 0), mention(("t",), there, 1), mention(("s",), here, 2)]
    assert doubted_relations(relations, mentions, NOTHING) == {0, 1}
    assert doubted_relations(relations, mentions[::2], NOTHING) == set()
