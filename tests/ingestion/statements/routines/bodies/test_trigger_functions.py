"""Which function a defined trigger runs, and what that does for its table."""

from __future__ import annotations

from ingestion.statements.routines.bodies import trigger_runs
from ingestion.statements.routines.definition import Definition, DefinitionKind

FUNCTION = (
    "CREATE OR REPLACE FUNCTION a.f() RETURNS trigger LANGUAGE plpgsql AS"
    " $$ BEGIN INSERT INTO a.t VALUES (NEW.*); END $$"
)
TRIGGER = "CREATE TRIGGER w AFTER INSERT ON {} FOR EACH ROW EXECUTE FUNCTION {}()"


def defined(schema: str, name: str, text: str) -> Definition:
    return Definition(DefinitionKind.ROUTINE, ("db", schema, name), text)


def test_a_trigger_runs_its_function_over_its_own_table() -> None:
    definitions = [
        defined("a", "f", FUNCTION),
        defined("a", "one.w", TRIGGER.format("a.one", "a.f")),
        defined("b", "two.w", TRIGGER.format("b.two", "a.f")),
        defined("b", "three.w", TRIGGER.format("b.three", "b.f")),
        defined("b", "p", "CREATE PROCEDURE b.p() LANGUAGE sql AS 'SELECT 1'"),
    ]
    found = trigger_runs(definitions, "postgres")
    assert [(run.trigger[2], run.function, [step.text for step in run.steps]) for run in found] == [
        ("one.w", ("db", "a", "f"), ["INSERT INTO a.t SELECT NEW.* FROM a.one NEW"]),
        ("two.w", ("db", "a", "f"), ["INSERT INTO a.t SELECT NEW.* FROM b.two NEW"]),
    ]
