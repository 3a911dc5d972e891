"""Which routine a call means, and what running it does in the end."""

from __future__ import annotations

from collections.abc import Sequence

from ingestion.model.namespaces import Namespace
from ingestion.statements.routines._registry import KnownRoutines, known_routines
from ingestion.statements.routines.definition import Definition, DefinitionKind

Logged = tuple[str, str, tuple[str, ...], float]


def known(*texts: str, definitions: Sequence[Definition] = (), dialect: str = "tsql") -> KnownRoutines:
    def namespace(database: str, path: tuple[str, ...]) -> Namespace:
        return Namespace(database or "db", path or ("dbo",))

    return known_routines(dialect, namespace, definitions, [(text, "", (), float(n)) for n, text in enumerate(texts)])


def body(name: str, *calls: str) -> str:
    return f"create procedure {name} as insert into t_{name.replace('.', '_')} select a from s " + " ".join(
        f"exec {call}" for call in calls
    )


def test_a_diamond_of_calls_is_followed_once_at_each_corner() -> None:
    routines = known(*(body(f"p{n}", f"p{n + 1}", f"p{n + 1}") for n in range(15)), body("p15"))
    (top,) = routines.by_key["db.dbo.p0"]
    assert len(list(routines.steps(top))) == 16


def test_a_name_that_two_schemas_have_is_settled_by_the_path_or_not_at_all() -> None:
    routines = known(body("one.p"), body("two.p"))
    assert routines.key_of_call(("p",), "", ("two",)) == "db.two.p"
    assert routines.key_of_call(("p",), "", ("three",)) is None
    assert routines.key_of_call(("one", "p"), "", ()) == "db.one.p"


def test_a_name_that_only_one_schema_has_is_found_there_whatever_its_case() -> None:
    assert known(body("etl.Load")).key_of_call(("LOAD",), "", ("dbo",)) == "db.etl.load"


def test_a_definition_is_in_force_until_the_next_one() -> None:
    routines = known(body("p"), body("p", "q"), body("q"))
    first, second = routines.by_key["db.dbo.p"]
    assert (first.since, first.until, second.since) == (0.0, 1.0, 1.0)


def test_overloads_are_one_routine_that_does_what_any_of_them_does() -> None:
    place = ("db", "dbo", "p")
    overloads = [Definition(DefinitionKind.ROUTINE, place, body("p", call), 5.0) for call in ("x", "y")]
    ((version,),) = known(definitions=overloads).by_key.values()
    assert [step.calls for step in version.routine.steps if step.calls] == [("x",), ("y",)]


def test_the_catalog_s_own_definition_outweighs_what_was_filed_of_it() -> None:
    place = ("db", "dbo", "p")
    filed = Definition(DefinitionKind.ROUTINE, place, "insert into x select ? from y", 9.0, own=True)
    whole = Definition(DefinitionKind.ROUTINE, place, body("p"), 5.0)
    ((version,),) = known(definitions=[filed, whole]).by_key.values()
    assert not version.filed
    ((alone,),) = known(definitions=[filed]).by_key.values()
    assert alone.filed


def test_a_routine_of_which_nothing_says_the_schema_is_known_by_its_name() -> None:
    text = "CREATE PROCEDURE p() INSERT INTO t (a) SELECT a FROM s"
    routines = known_routines("mysql", lambda database, path: Namespace("default", path), (), [(text, "", (), 0.0)])
    assert list(routines.by_key) == ["default.p"]
    assert routines.key_of_call(("p",), "", ()) == "default.p"
