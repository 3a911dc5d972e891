"""Oracle's package bodies: each of their procedures is a routine."""

from __future__ import annotations

from ingestion.model.namespaces import Namespace
from ingestion.statements.routines._registry import KnownRoutines, known_routines
from ingestion.statements.routines.bodies import routines_in

BODY = """CREATE OR REPLACE PACKAGE BODY hr.pay AS
  g_rate NUMBER := 1;
  CURSOR c IS SELECT id, amount FROM staging;
  PROCEDURE later(p NUMBER);
  PROCEDURE load(p_day IN DATE) IS
    total NUMBER;
    FUNCTION inner_one RETURN NUMBER IS BEGIN RETURN 1; END inner_one;
  BEGIN
    IF p_day IS NULL THEN
      FOR r IN (SELECT k, v FROM pairs) LOOP
        INSERT INTO a (x) VALUES (r.v);
      END LOOP;
    END IF;
    INSERT INTO b SELECT CASE WHEN y = 1 THEN 2 ELSE 3 END, p_day FROM s;
    later(1);
    hr.other.thing;
  EXCEPTION
    WHEN OTHERS THEN
      BEGIN INSERT INTO errs SELECT m FROM failed; END;
  END load;
  PROCEDURE later(p NUMBER) IS
  BEGIN
    UPDATE t SET a = p WHERE id = 1;
  END;
  PROCEDURE later(p VARCHAR2) IS BEGIN DELETE FROM t; END later;
BEGIN
  INSERT INTO log_of_loads SELECT 1 FROM dual;
END pay;"""


def known(*texts: str) -> KnownRoutines:
    logged = [(text, "ORCL", ("HR",), float(at)) for at, text in enumerate(texts)]
    return known_routines("oracle", lambda database, path: Namespace(database, path or ("HR",)), (), logged)


def test_each_procedure_has_its_own_statements_and_no_others() -> None:
    found = {
        routine.name: [" ".join(s.text.split()) for s in routine.steps if s.text]
        for routine in routines_in(BODY, "oracle")
    }
    assert found == {
        ("HR", "PAY.LOAD"): [
            "WITH headwater_variable_0 AS (SELECT k, v FROM pairs)"
            " INSERT INTO a (x) VALUES ((SELECT r.v FROM headwater_variable_0 r))",
            "INSERT INTO b SELECT CASE WHEN y = 1 THEN 2 ELSE 3 END, :p_day FROM s",
            "INSERT INTO errs SELECT m FROM failed",
        ],
        ("HR", "PAY.LATER"): ["UPDATE t SET a = :p WHERE id = 1", "DELETE FROM t"],
    }


def test_calls_find_them_by_package_and_inside_by_their_bare_name() -> None:
    routines = known(BODY)
    assert routines.key_of_call(("PAY", "LATER"), "ORCL", ("HR",)) == 'ORCL.HR."PAY.LATER"'
    assert routines.key_of_call(("HR", "PAY", "LOAD"), "ORCL", ()) == 'ORCL.HR."PAY.LOAD"'
    assert routines.key_of_call(("LATER",), "ORCL", ("HR",)) is None
    owners = [owner.key for owner, step in routines.steps(routines.by_key['ORCL.HR."PAY.LOAD"'][0]) if step.text]
    assert owners == ['ORCL.HR."PAY.LOAD"'] * 2 + ['ORCL.HR."PAY.LATER"'] * 2 + ['ORCL.HR."PAY.LOAD"']


def test_a_package_s_head_has_none() -> None:
    assert (
        routines_in("CREATE PACKAGE hr.pay AS PROCEDURE load(p DATE); FUNCTION f RETURN NUMBER; END pay;", "oracle")
        == ()
    )


def test_a_body_that_is_cut_ends_and_gives_what_is_whole() -> None:
    for length in range(0, len(BODY), 7):
        assert len(routines_in(BODY[:length], "oracle")) <= 2


def test_a_package_whose_name_a_client_was_to_fill_in_is_no_routine() -> None:
    text = (
        "create or replace package body &owner..pay as procedure load is begin insert into t select a from s; end; end;"
    )
    assert routines_in(text, "oracle") == ()
