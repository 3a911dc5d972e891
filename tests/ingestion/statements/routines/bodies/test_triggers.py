"""Triggers and rules: what runs when a table is written, over the rows of that table."""

from __future__ import annotations

import pytest

from ingestion.model.namespaces import Namespace
from ingestion.model.outcomes import Outcome
from ingestion.parser import LineageParser
from ingestion.statements.routines._registry import known_routines
from ingestion.statements.routines.bodies import take_apart
from ingestion.statements.routines.definition import Definition, DefinitionKind

FUNCTION = """CREATE FUNCTION audit.on_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO audit.changes (who, id, amount) VALUES (current_user, NEW.id, NEW.amount - OLD.amount);
  IF TG_OP = 'DELETE' THEN
    INSERT INTO audit.gone SELECT OLD.*;
    INSERT INTO audit.kept VALUES (OLD.*);
    INSERT INTO audit.wide SELECT OLD.*, c.city FROM customers c;
  END IF;
  RETURN NEW;
END $$"""

KNOWN = ("shop.orders", "audit.gone")


def columns(text: str, dialect: str, *known_tables: str) -> set[tuple[str, str]]:
    """("table.column", "table.column") of every pair whose value flows, in lower case."""
    schema = {name: {"id": "int", "amount": "int"} for name in known_tables}
    parser = LineageParser(text, dialect, schema)
    return {(str(source).lower(), str(target).lower()) for source, target in parser.column_lineage}


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        (
            "mysql",
            "CREATE TRIGGER t1 AFTER UPDATE ON orders FOR EACH ROW"
            " INSERT INTO changes (id, was) VALUES (NEW.id, OLD.amount)",
        ),
        (
            "mysql",
            "CREATE DEFINER=`r`@`%` TRIGGER t1 BEFORE INSERT ON `orders` FOR EACH ROW FOLLOWS t0 BEGIN"
            " INSERT INTO changes (id, was) VALUES (NEW.id, NEW.amount); END",
        ),
        (
            "oracle",
            "CREATE OR REPLACE TRIGGER t1 BEFORE INSERT OR UPDATE OF amount ON orders FOR EACH ROW WHEN (NEW.id > 0)"
            " DECLARE n NUMBER; BEGIN INSERT INTO changes (id, was) VALUES (:NEW.id, :OLD.amount); END;",
        ),
        (
            "oracle",
            "CREATE TRIGGER t1 AFTER DELETE ON orders REFERENCING OLD AS o FOR EACH ROW BEGIN"
            " INSERT INTO changes (id, was) VALUES (:o.id, :o.amount); END;",
        ),
        (
            "sqlite",
            "CREATE TRIGGER IF NOT EXISTS t1 INSTEAD OF UPDATE OF amount ON orders WHEN NEW.id > 1 BEGIN"
            " INSERT INTO changes (id, was) SELECT NEW.id, OLD.amount; END",
        ),
        (
            "tsql",
            "CREATE TRIGGER dbo.t1 ON orders WITH EXECUTE AS OWNER AFTER INSERT, UPDATE AS BEGIN SET NOCOUNT ON"
            " INSERT INTO changes (id, was) SELECT i.id, deleted.amount FROM inserted i"
            " JOIN deleted ON deleted.id = i.id END",
        ),
        ("tsql", "CREATE TRIGGER t1 ON orders FOR DELETE AS INSERT changes (id, was) SELECT id, amount FROM deleted"),
    ],
)
def test_the_rows_of_a_trigger_are_its_table_s(dialect: str, text: str) -> None:
    routine = take_apart(text, dialect)
    assert routine is not None
    assert (routine.kind, routine.name[-1].lower()) == ("trigger", "t1")
    (step,) = routine.steps
    assert columns(step.text, dialect, *KNOWN) == {("orders.id", "changes.id"), ("orders.amount", "changes.was")}


def edges(text: str, dialect: str) -> set[tuple[str, str, str]]:
    """(source, target, whether its value flows or decides) of every column edge, in lower case."""
    found = LineageParser(text, dialect).edges
    return {(str(edge.source).lower(), str(edge.target).lower(), edge.type.value.lower()) for edge in found}


WATCHES = {("t.a", "log.x", "direct"), ("t.k", "log.x", "indirect")}
WATCHING = (
    "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS"
    " $$ BEGIN INSERT INTO log (x) VALUES (NEW.a); RETURN NEW; END $$"
)
PUT_ON = "CREATE TRIGGER g AFTER INSERT ON t FOR EACH ROW WHEN (NEW.k > OLD.k) EXECUTE FUNCTION f()"


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        (
            "oracle",
            "CREATE TRIGGER g AFTER INSERT ON t REFERENCING NEW AS n FOR EACH ROW WHEN (n.k > 1) BEGIN"
            " INSERT INTO log (x) VALUES (:n.a); END;",
        ),
        ("postgres", f"{PUT_ON}; {WATCHING}"),
        ("postgres", f"{WATCHING}; {PUT_ON}"),
        ("postgres", "CREATE RULE r AS ON UPDATE TO t WHERE new.k > old.k DO INSERT INTO log (x) SELECT new.a"),
        ("postgres", "CREATE RULE r AS ON INSERT TO t WHERE new.k > 1 DO ALSO (INSERT INTO log (x) VALUES (new.a); )"),
        ("sqlite", "CREATE TRIGGER g AFTER INSERT ON t WHEN (NEW.k) > 1 BEGIN INSERT INTO log (x) VALUES (NEW.a); END"),
    ],
)
def test_what_says_for_which_rows_something_runs_decides_what_it_writes(dialect: str, text: str) -> None:
    assert edges(text, dialect) == WATCHES


def test_a_condition_on_whole_rows_says_nothing_of_a_column() -> None:
    changed = PUT_ON.replace("NEW.k > OLD.k", "NEW.* IS DISTINCT FROM OLD.*")
    assert edges(f"{WATCHING}; {changed}", "postgres") == {("t.a", "log.x", "direct")}


def test_a_rule_does_each_of_its_statements_for_the_rows_of_its_table() -> None:
    text = (
        "CREATE OR REPLACE RULE r AS ON INSERT TO shop.v DO INSTEAD (INSERT INTO shop.base (x) VALUES (new.a);"
        " UPDATE shop.sums SET total = total + new.b WHERE k = new.k); CREATE TABLE o AS SELECT z FROM p"
    )
    assert edges(text, "postgres") == {
        ("shop.v.a", "shop.base.x", "direct"),
        ("shop.v.b", "shop.sums.total", "direct"),
        ("shop.sums.total", "shop.sums.total", "direct"),
        ("shop.v.k", "shop.sums.total", "indirect"),
        ("shop.sums.k", "shop.sums.total", "indirect"),
        ("p.z", "o.z", "direct"),
    }
    assert {owner for owner, _text, _problem in known(text.partition("; CREATE TABLE")[0])} == {'db.shop."v.r"'}


def test_a_rule_that_answers_queries_is_a_view() -> None:
    text = 'CREATE RULE "_RETURN" AS ON SELECT TO v DO INSTEAD SELECT a AS z FROM t WHERE b > 1'
    assert edges(text, "postgres") == {("t.a", "v.z", "direct"), ("t.b", "v.z", "indirect")}


@pytest.mark.parametrize("action", ["INSTEAD NOTHING", "ALSO NOTIFY watchers"])
def test_a_rule_that_writes_nothing_has_no_lineage_and_fails_nothing(action: str) -> None:
    found = LineageParser(f"CREATE RULE r AS ON INSERT TO t DO {action}; CREATE TABLE o AS SELECT z FROM p", "postgres")
    assert found.failures == ()
    assert [str(target) for target in found.target_tables] == ["o"]


def test_every_section_of_a_compound_trigger_is_read() -> None:
    text = (
        "CREATE OR REPLACE TRIGGER t1 FOR INSERT OR UPDATE ON orders COMPOUND TRIGGER"
        " BEFORE STATEMENT IS n NUMBER; BEGIN INSERT INTO began SELECT a FROM s; END BEFORE STATEMENT;"
        " AFTER EACH ROW IS BEGIN INSERT INTO changes (id) VALUES (:NEW.id); END AFTER EACH ROW; END t1;"
    )
    routine = take_apart(text, "oracle")
    assert routine is not None
    first, second = routine.steps
    assert first.text == "INSERT INTO began SELECT a FROM s"
    assert columns(second.text, "oracle", *KNOWN) == {("orders.id", "changes.id")}


def known(*texts: str, dialect: str = "postgres") -> list[tuple[str, str, str]]:
    """(owner, text, problem) of what the triggers among these definitions do."""
    logged = [(text, "db", ("public",), float(at)) for at, text in enumerate(texts)]
    routines = known_routines(dialect, lambda database, path: Namespace(database, path or ("public",)), (), logged)
    return [
        (owner.key, step.text, step.problem)
        for key in sorted(set(routines.by_key) - routines.called_by_others())
        for owner, step in routines.steps(routines.by_key[key][-1])
    ]


def test_a_trigger_s_function_runs_over_the_rows_of_each_table_that_it_is_put_on() -> None:
    trigger = "CREATE TRIGGER watch AFTER UPDATE ON {} FOR EACH ROW EXECUTE FUNCTION audit.on_change()"
    found = known(FUNCTION, trigger.format("shop.orders"), trigger.format("shop.returns"))
    assert {owner for owner, _text, _problem in found} == {"db.audit.on_change"}
    assert [problem for _owner, text, problem in found if not text] == [Outcome.WHOLE_ROWS] * 2
    first, gone, kept = [text for _owner, text, _problem in found if "shop.orders" in text]
    assert columns(first, "postgres", *KNOWN) == {
        ("shop.orders.id", "audit.changes.id"),
        ("shop.orders.amount", "audit.changes.amount"),
    }
    assert columns(gone, "postgres", *KNOWN) == {
        ("shop.orders.id", "audit.gone.id"),
        ("shop.orders.amount", "audit.gone.amount"),
    }
    assert kept == "INSERT INTO audit.kept SELECT OLD.* FROM shop.orders OLD"
    assert len([text for _owner, text, _problem in found if "shop.returns" in text]) == 3


def test_a_bare_table_is_in_the_trigger_s_schema() -> None:
    trigger = "CREATE TRIGGER watch AFTER UPDATE ON orders FOR EACH ROW EXECUTE PROCEDURE audit.on_change('x')"
    assert '(SELECT * FROM "public".orders)' in known(FUNCTION, trigger)[0][1]


def test_a_trigger_s_function_alone_says_nothing() -> None:
    assert known(FUNCTION) == []
    assert known(FUNCTION.replace("trigger", "void")) != []


def test_a_whole_row_is_every_column_of_the_table() -> None:
    text = FUNCTION.replace("NEW.id, NEW.amount - OLD.amount", "to_jsonb(NEW), 1").replace("id, amount)", "data, n)")
    trigger = "CREATE TRIGGER watch AFTER UPDATE ON shop.orders FOR EACH ROW EXECUTE FUNCTION audit.on_change()"
    assert columns(known(text, trigger)[0][1], "postgres", *KNOWN) >= {
        ("shop.orders.id", "audit.changes.data"),
        ("shop.orders.amount", "audit.changes.data"),
    }


ASSIGNING = """CREATE FUNCTION audit.on_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE vat numeric;
BEGIN
  NEW.total := NEW.price * NEW.qty;
  SELECT c.city INTO NEW.city FROM shop.customers c WHERE c.id = NEW.customer;
  SELECT r.vat, r.unit INTO vat, NEW.unit FROM shop.rates r;
  NEW."Tax" = vat * NEW.total;
  NEW.seen := now();
  RETURN NEW;
END $$"""


def test_what_a_trigger_assigns_to_its_row_is_lineage_of_the_table() -> None:
    found = known(
        ASSIGNING, "CREATE TRIGGER w BEFORE INSERT ON shop.orders FOR EACH ROW EXECUTE FUNCTION audit.on_change()"
    )
    assert [text[text.index("UPDATE") :].split(" = ")[0] for _owner, text, _problem in found] == [
        f"UPDATE shop.orders SET {column}" for column in ("total", "city", "unit", '"Tax"', "seen")
    ]
    pairs = set[tuple[str, str]]().union(*(columns(text, "postgres") for _owner, text, _problem in found))
    assert {(source.removeprefix("shop."), target.removeprefix("shop.orders.")) for source, target in pairs} == {
        ("orders.price", "total"),
        ("orders.qty", "total"),
        ("customers.city", "city"),
        ("rates.unit", "unit"),
        ("rates.vat", "tax"),
        ("orders.price", "tax"),
        ("orders.qty", "tax"),
    }


def test_a_row_that_is_written_already_or_not_at_all_is_not_changed_by_what_is_assigned_to_it() -> None:
    for timing in ("AFTER INSERT", "INSTEAD OF INSERT"):
        trigger = f"CREATE TRIGGER w {timing} ON shop.orders FOR EACH ROW EXECUTE FUNCTION audit.on_change()"
        assert known(ASSIGNING, trigger) == []


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        (
            "db2",
            "CREATE TRIGGER t1 NO CASCADE BEFORE INSERT ON orders REFERENCING NEW AS n FOR EACH ROW MODE DB2SQL"
            " SET n.total = n.price * n.qty, n.k = n.a",
        ),
        (
            "db2",
            "CREATE TRIGGER t1 BEFORE INSERT ON orders REFERENCING NEW AS n FOR EACH ROW"
            " SET (n.total, n.k) = (n.price * n.qty, n.a)",
        ),
        (
            "mysql",
            "CREATE TRIGGER t1 BEFORE UPDATE ON orders FOR EACH ROW SET NEW.total = NEW.price * NEW.qty, NEW.k = OLD.a",
        ),
        (
            "oracle",
            "CREATE TRIGGER t1 BEFORE INSERT ON orders FOR EACH ROW BEGIN :NEW.total := :NEW.price * :NEW.qty;"
            " IF :NEW.k IS NULL THEN :new.k := :old.a; END IF; END;",
        ),
        (
            "oracle",
            "CREATE TRIGGER t1 FOR INSERT ON orders COMPOUND TRIGGER BEFORE EACH ROW IS BEGIN"
            " :NEW.total := :NEW.price * :NEW.qty; :NEW.k := :NEW.a; END BEFORE EACH ROW; END t1;",
        ),
    ],
)
def test_each_dialect_assigns_to_the_row_in_its_own_way(dialect: str, text: str) -> None:
    found = {(source.split(".")[-1], target) for source, target in columns(text, dialect)}
    assert found == {("price", "orders.total"), ("qty", "orders.total"), ("a", "orders.k")}


@pytest.mark.parametrize(
    "text", ["NEW := other", "SELECT * INTO NEW FROM others", "NEW = jsonb_populate_record(NEW, x)"]
)
def test_a_whole_row_that_is_assigned_is_told(text: str) -> None:
    function = (
        f"CREATE FUNCTION audit.on_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {text}; RETURN NEW; END $$"
    )
    trigger = "CREATE TRIGGER w BEFORE INSERT ON shop.orders FOR EACH ROW EXECUTE FUNCTION audit.on_change()"
    assert [problem for _owner, _text, problem in known(function, trigger)] == [Outcome.WHOLE_ROWS]


@pytest.mark.parametrize("text", ["CREATE TRIGGER", "CREATE TRIGGER t", "CREATE TRIGGER t AFTER INSERT ON", "trigger"])
def test_what_is_no_whole_trigger_is_none(text: str) -> None:
    assert take_apart(text, "postgres") is None


def test_a_live_database_s_trigger_is_followed_too() -> None:
    trigger = "CREATE TRIGGER watch AFTER INSERT ON shop.orders FOR EACH ROW EXECUTE FUNCTION audit.on_change()"
    definitions = [
        Definition(DefinitionKind.ROUTINE, ("db", "audit", "on_change"), FUNCTION, language="plpgsql"),
        Definition(DefinitionKind.ROUTINE, ("db", "shop", "orders.watch"), trigger, language="sql"),
    ]
    routines = known_routines("postgres", lambda database, path: Namespace(database, path), definitions, ())
    steps = [(owner.key, step) for owner, step in routines.steps(routines.by_key['db.shop."orders.watch"'][0])]
    assert {owner for owner, _step in steps} == {"db.audit.on_change"}
    assert len(steps) == 4


def test_the_rows_of_a_nested_table_are_no_table_s() -> None:
    text = (
        "CREATE OR REPLACE TRIGGER t INSTEAD OF INSERT ON NESTED TABLE lines OF shop_orders REFERENCING NEW AS n"
        " FOR EACH ROW BEGIN INSERT INTO items (id) VALUES (:n.id); END;"
    )
    assert LineageParser(text, dialect="oracle").edges == ()


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        (
            "db2",
            "CREATE TRIGGER t1 AFTER INSERT ON orders REFERENCING NEW TABLE AS n FOR EACH STATEMENT BEGIN ATOMIC"
            " INSERT INTO changes (id, was) SELECT id, amount FROM n WHERE n.id > 0; END",
        ),
        (
            "db2",
            "CREATE TRIGGER t1 AFTER UPDATE ON orders REFERENCING NEW_TABLE AS n OLD_TABLE AS o FOR EACH STATEMENT"
            " INSERT INTO changes (id, was) SELECT n.id, x.amount FROM n JOIN o x ON x.id = n.id",
        ),
        (
            "teradata",
            "CREATE TRIGGER t1 AFTER UPDATE ON orders REFERENCING NEW_TABLE AS n OLD_TABLE AS o FOR EACH STATEMENT"
            " (INSERT INTO changes (id, was) SELECT n.id, o.amount FROM o, n WHERE n.id = o.id;)",
        ),
        (
            "tsql",
            "CREATE TRIGGER t1 ON orders AFTER INSERT AS MERGE INTO changes c USING inserted i ON i.id = c.id"
            " WHEN NOT MATCHED THEN INSERT (id, was) VALUES (i.id, i.amount);",
        ),
    ],
)
def test_all_rows_that_are_written_are_the_table_s(dialect: str, text: str) -> None:
    assert columns(text, dialect) == {("orders.id", "changes.id"), ("orders.amount", "changes.was")}


@pytest.mark.parametrize("around", ["{}", "BEGIN ATOMIC {} END"])
def test_each_statement_in_the_parentheses_of_a_trigger_reads_the_rows_that_it_names(around: str) -> None:
    body = around.format("(INSERT INTO a (id) SELECT id FROM n; INSERT INTO b (id) SELECT id FROM n;)")
    text = (
        f"CREATE TRIGGER t1 AFTER UPDATE ON orders REFERENCING NEW_TABLE AS n FOR EACH STATEMENT {body};"
        " INSERT INTO c (id) SELECT id FROM a"
    )
    assert columns(text, "teradata") == {("orders.id", "a.id"), ("orders.id", "b.id"), ("a.id", "c.id")}


def test_the_parentheses_behind_a_condition_in_parentheses_are_the_body() -> None:
    text = (
        "CREATE TRIGGER t1 AFTER INSERT ON emp REFERENCING NEW AS n FOR EACH ROW WHEN (n.v > 10)"
        " (INSERT INTO aud (id) VALUES (n.id); UPDATE c SET x = (SELECT max(y) FROM z WHERE z.id = n.id););"
    )
    assert {("emp.id", "aud.id"), ("z.y", "c.x")} <= columns(text, "teradata")


TRANSITION_FUNCTION = """CREATE FUNCTION audit.on_rows() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE r record;
BEGIN
  INSERT INTO audit.changes (id, was, n) SELECT n.id, o.amount, u.n FROM web.u, n JOIN o USING (id);
  FOR r IN SELECT id FROM n LOOP
    INSERT INTO audit.seen (id) VALUES (r.id);
  END LOOP;
  INSERT INTO audit.others (id) SELECT id FROM shop.n;
  RETURN NULL;
END $$"""
TRANSITION_TRIGGER = (
    "CREATE TRIGGER c1 AFTER UPDATE ON shop.orders REFERENCING NEW TABLE AS n OLD TABLE AS o"
    " FOR EACH STATEMENT EXECUTE FUNCTION audit.on_rows()"
)


@pytest.mark.parametrize(
    "text", [f"{TRANSITION_FUNCTION};{TRANSITION_TRIGGER}", f"{TRANSITION_TRIGGER};{TRANSITION_FUNCTION}"]
)
def test_the_names_that_a_trigger_gives_all_rows_hold_in_its_function(text: str) -> None:
    assert columns(text, "postgres", "shop.orders") == {
        ("shop.orders.id", "audit.changes.id"),
        ("shop.orders.amount", "audit.changes.was"),
        ("web.u.n", "audit.changes.n"),
        ("shop.orders.id", "audit.seen.id"),
        ("shop.n.id", "audit.others.id"),
    }


def test_a_column_called_like_the_rows_of_a_trigger_is_no_relation() -> None:
    text = (
        "CREATE TRIGGER t1 AFTER INSERT ON orders REFERENCING NEW TABLE AS n FOR EACH STATEMENT"
        " INSERT INTO changes (id, was) SELECT c.id, n FROM (SELECT id, n FROM counts) c WHERE c.id IN (1, n)"
    )
    assert columns(text, "db2") == {("counts.id", "changes.id"), ("counts.n", "changes.was")}


FOR_ALL_ROWS = (
    "CREATE TRIGGER t1 AFTER INSERT ON orders REFERENCING NEW TABLE AS n OLD TABLE AS old"
    " FOR EACH STATEMENT EXECUTE FUNCTION f();"
    "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {} RETURN NULL; END $$"
)


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("WITH n AS (SELECT a FROM q) INSERT INTO log (a) SELECT a FROM n;", {"q.a"}),
        ("INSERT INTO log (a) WITH n AS (SELECT a FROM q) SELECT a FROM n;", {"q.a"}),
        ("WITH m AS (SELECT a FROM n), n AS (SELECT a FROM m) INSERT INTO log (a) SELECT a FROM n;", {"orders.a"}),
        ("WITH m AS (SELECT 1), n AS (SELECT a FROM q) INSERT INTO log (a) SELECT n.a FROM n, m;", {"q.a"}),
        ("WITH RECURSIVE m AS (SELECT a FROM n) INSERT INTO log (a) SELECT a FROM m;", {"orders.a"}),
        ("INSERT INTO log (a) SELECT a FROM (WITH n AS (SELECT a FROM q) SELECT a FROM n) x JOIN n ON true;", {"q.a"}),
        ("INSERT INTO log (a) SELECT extract(epoch FROM n) FROM z;", {"z.n"}),
        ("INSERT INTO log (a) SELECT substring(z.b FROM n) FROM z;", {"z.b", "z.n"}),
        ("INSERT INTO log (a) SELECT trim(both ' ' FROM n) FROM z;", {"z.n"}),
        ("INSERT INTO log (a) SELECT z.b IS NOT DISTINCT FROM n FROM z;", {"z.b", "z.n"}),
        ("INSERT INTO log TABLE n;", {"orders.*"}),
        ("INSERT INTO log (a) SELECT a FROM ONLY n;", {"orders.a"}),
        ("INSERT INTO log (a) SELECT n.a FROM (n JOIN z ON z.k = n.k);", {"orders.a"}),
        ("CREATE TEMP TABLE log AS SELECT a FROM n;", {"orders.a"}),
        ("INSERT INTO log (a) SELECT old.a FROM z, old WHERE old.k = 1;", {"orders.a"}),
        ("EXECUTE 'INSERT INTO log (a) SELECT a FROM n';", {"orders.a"}),
    ],
)
def test_the_rows_of_a_trigger_are_read_where_a_relation_is(statement: str, expected: set[str]) -> None:
    parser = LineageParser(FOR_ALL_ROWS.format(statement), "postgres")
    assert {str(source) for source, _target in parser.column_lineage} == expected
    assert parser.problems == ()
    assert "n" not in {str(name) for name in parser.source_tables}


AUDIT = """CREATE FUNCTION process_emp_audit() RETURNS TRIGGER AS $emp_audit$
BEGIN
  IF (TG_OP = 'DELETE') THEN
    INSERT INTO emp_audit SELECT 'D', now(), current_user, o.* FROM old_table o;
  ELSIF (TG_OP = 'UPDATE') THEN
    INSERT INTO emp_audit SELECT 'U', now(), current_user, n.* FROM new_table n;
  ELSIF (TG_OP = 'INSERT') THEN
    INSERT INTO emp_audit SELECT 'I', now(), current_user, n.* FROM new_table n;
  END IF;
  RETURN NULL;
END;
$emp_audit$ LANGUAGE plpgsql"""
AUDITS = [
    f"CREATE TRIGGER emp_audit_{name} AFTER {event} ON {{}} REFERENCING {rows}"
    " FOR EACH STATEMENT EXECUTE FUNCTION process_emp_audit()"
    for name, event, rows in (
        ("ins", "INSERT", "NEW TABLE AS new_table"),
        ("upd", "UPDATE", "OLD TABLE AS old_table NEW TABLE AS new_table"),
        ("del", "DELETE", "OLD TABLE AS old_table"),
    )
]


def test_a_function_of_several_triggers_reads_no_table_under_the_names_of_any() -> None:
    inserted, _updated, deleted = (text.format("emp") for text in AUDITS)
    parser = LineageParser(";".join((AUDIT, inserted, deleted)), "postgres")
    assert {(str(edge.source), str(edge.target)) for edge in parser.edges} == {("emp.*", "emp_audit.*")}
    assert [str(name) for name in parser.source_tables] == ["emp"]
    for _owner, text, _problem in known(AUDIT, inserted, deleted):
        assert columns(text, "postgres", "public.emp") == {
            ("public.emp.id", "emp_audit.id"),
            ("public.emp.amount", "emp_audit.amount"),
        }


def test_what_reads_the_rows_of_another_table_s_trigger_does_not_run_for_these() -> None:
    inserted, _updated, deleted = AUDITS
    texts = (AUDIT, inserted.format("shop.hired"), deleted.format("shop.fired"))
    parser = LineageParser(";".join(texts), "postgres", {"shop.hired": {"id": "int"}, "shop.fired": {"id": "int"}})
    assert [str(name) for name in parser.source_tables] == ["shop.hired", "shop.fired"]
    found = [text for _owner, text, _problem in known(*texts)]
    assert len(found) == 3
    assert all(("'D'" in text) == ("shop.fired" in text) for text in found)


@pytest.mark.parametrize(
    "asked",
    ["IF UPDATE(a)", "IF (UPDATE(a) OR UPDATE(b))", "IF UPDATE(a) AND NOT UPDATE(b)", "IF @n > 0 AND UPDATE (a)"],
)
def test_whether_a_column_is_set_is_no_change_of_a_table(asked: str) -> None:
    text = f"CREATE TRIGGER g ON w AFTER UPDATE AS {asked} INSERT INTO t (a) SELECT a FROM inserted"
    parser = LineageParser(text, "tsql")
    assert ([str(table) for table in parser.target_tables], parser.failures) == (["t"], ())
    assert columns(text, "tsql") == {("w.a", "t.a")}
