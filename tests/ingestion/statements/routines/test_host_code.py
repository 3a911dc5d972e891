"""Routines in another language than SQL: their whole texts of SQL are statements, and what else they do is told."""

from __future__ import annotations

import pytest

from ingestion.dialects import dialect_of
from ingestion.model.namespaces import Namespace
from ingestion.model.outcomes import Outcome
from ingestion.parser import LineageParser
from ingestion.statements import classify
from ingestion.statements.routines._host_code import host_steps
from ingestion.statements.routines._registry import known_routines
from ingestion.statements.routines.bodies import block_steps, take_apart
from ingestion.statements.routines.definition import Definition, DefinitionKind

DYNAMIC, MORE = f"<{Outcome.DYNAMIC_SQL}>", f"<{Outcome.OTHER_LANGUAGE}>"


def ran(body: str, language: str, dialect: str = "snowflake") -> list[str]:
    """The statements of a body, the names that it calls, and in angles why something of it is not read."""
    steps = host_steps(body, language, dialect_of(dialect))
    return [f"<{step.problem}>" if step.problem else step.text or f"call {'.'.join(step.calls)}" for step in steps]


@pytest.mark.parametrize(
    ("body", "statements"),
    [
        ('snowflake.execute({sqlText: "DELETE FROM t"});', ["DELETE FROM t"]),
        ("snowflake.execute({binds: [1, 2], 'sqlText': `DELETE\nFROM t`})", ["DELETE\nFROM t"]),
        ("var s = snowflake.createStatement('DELETE FROM t'); s.execute(); s.execute([1]);", ["DELETE FROM t"]),
        ('var q = "DELETE " + // all\n  "FROM t"\nvar r = snowflake.execute({sqlText: q})', ["DELETE FROM t"]),
        ('const o = {sqlText: "DELETE FROM t"}; snowflake.execute(o)', ["DELETE FROM t"]),
        ('const sqlText = "DELETE FROM t".trim(); snowflake.execute({sqlText, binds: []})', ["DELETE FROM t"]),
        ('snowflake.execute({sqlText: "call a.b(1)"})', ["call A.B"]),
        ('snowflake.execute({sqlText: "DELETE FROM t; DROP TABLE u"})', ["DELETE FROM t", "DROP TABLE u"]),
        ("snowflake.execute({sqlText: 'SELECT it\\'s FROM t'}); return 'DELETE FROM t'", []),
        ("function f(id, sql) { return snowflake.execute({sqlText: sql}) }\nf(1, 'DELETE FROM t')", ["DELETE FROM t"]),
        ("f = (sql) => { snowflake.execute({sqlText: sql}) }; var sql = 'DELETE FROM t'; f(sql)", ["DELETE FROM t"]),
        ("f = function(x) { plv8.execute(x); }; f(`DELETE FROM ${name(`t`)}`)", [DYNAMIC]),
        ('snowflake.execute({sqlText: "DELETE FROM " + T})', [DYNAMIC]),
        ('snowflake.execute({sqlText: "DELETE FROM t".replace("t", T)})', [DYNAMIC]),
        ("snowflake.execute({sqlText: SQL})", [DYNAMIC]),
        ("var q = 'DELETE FROM t'; q += w; snowflake.execute({sqlText: q})", ["DELETE FROM t", DYNAMIC]),
        ("var q = null; if (A) q = 'DELETE FROM t'; else q = 'DROP TABLE t'; snowflake.execute({sqlText: q})",
         ["DELETE FROM t", "DROP TABLE t"]),
        ("a = ['INSERT INTO t SELECT b FROM s', 'x']; for (q of a) snowflake.execute({sqlText: q})",
         ["INSERT INTO t SELECT b FROM s", DYNAMIC]),
        ("log('Insert into t from s failed'); log('update of t')", []),
        ("x = T.replace(/[/'\"]/g, 'a') / 2; snowflake.execute({sqlText: `DROP TABLE t`}) // it's", ["DROP TABLE t"]),
        ("return 3.14", []),
    ],
)  # fmt: skip
def test_javascript_runs_its_whole_texts(body: str, statements: list[str]) -> None:
    assert ran(body, "javascript") == statements


@pytest.mark.parametrize(
    ("body", "statements"),
    [
        ('session.sql("DELETE FROM t").collect()', ["DELETE FROM t"]),
        ('q = """\nDELETE FROM t\n"""\nif True:\n    session.sql(q)', ["DELETE FROM t"]),
        ('q = ("DELETE "\n     "FROM t")\nsession.sql(q.strip())', ["DELETE FROM t"]),
        ("session.sql(query=textwrap.dedent('''DELETE FROM t'''))", ["DELETE FROM t"]),
        ("q = 'DELETE FROM t'\n'what it does'\nsession.sql(q)", ["DELETE FROM t"]),
        ("session.sql(f'DELETE FROM t')", ["DELETE FROM t"]),
        ("sql: str = r'DELETE FROM t'\ncur.execute(sql, [1])", ["DELETE FROM t"]),
        ("def run(s, q):\n    return s.sql(q)\nrun(session, 'DELETE FROM t')", ["DELETE FROM t"]),
        ("session.sql(f'DELETE FROM {t}')", [DYNAMIC]),
        ("session.sql('DELETE FROM %s' % t)", [DYNAMIC]),
        ("session.sql('DELETE FROM {}'.format(t))", [DYNAMIC]),
        ("session.sql('DELETE FROM t' if a else b)", [DYNAMIC]),
        ("session.table('s').write.save_as_table('t')  # it's", []),
    ],
)
def test_python_may_do_more_than_its_texts_say(body: str, statements: list[str]) -> None:
    assert ran(body, "python") == [*statements, MORE]


@pytest.mark.parametrize(
    ("language", "body", "statements"),
    [
        ("java", 'String q = "DELETE " +\n "FROM t"; stmt.executeUpdate(q); // don\'t', ["DELETE FROM t", MORE]),
        ("scala", 'session.sql("""DELETE FROM t""".stripMargin); session.sql(s"DROP TABLE $t")',
         ["DELETE FROM t", DYNAMIC, MORE]),
        ("plpython3u", 'p = plpy.prepare("DELETE FROM t WHERE a = $1", ["int"])\nplpy.execute(p, [1])',
         ["DELETE FROM t WHERE a = $1"]),
        ("plperl", "my $q = \"DELETE FROM t\"; spi_exec_query($q); spi_exec_query('DROP TABLE ' . $t);",
         ["DELETE FROM t", DYNAMIC]),
        ("plperlu", 'spi_exec_query("DROP TABLE $t");', [DYNAMIC]),
        ("cobol", "EXEC SQL DELETE FROM t END-EXEC", [MORE]),
        ("python", "", [MORE]),
    ],
)  # fmt: skip
def test_each_language_writes_its_texts_in_its_own_way(language: str, body: str, statements: list[str]) -> None:
    assert ran(body, language, "postgres") == statements


@pytest.mark.parametrize(
    ("dialect", "definition"),
    [
        ("snowflake", "CREATE PROCEDURE p() RETURNS INT LANGUAGE JAVASCRIPT AS 'snowflake.execute({sqlText: \"{}\"})'"),
        ("snowflake", "WITH p AS PROCEDURE () RETURNS INT LANGUAGE JAVASCRIPT AS $$ snowflake.execute({sqlText: '{}'})"
                      " $$ CALL p()"),
        ("bigquery", 'CREATE PROCEDURE d.p() OPTIONS (engine="SPARK") LANGUAGE PYTHON AS R"""\nspark.sql("{}")\n"""'),
        ("postgres", "CREATE FUNCTION f() RETURNS void AS $$ plpy.execute('{}') $$ LANGUAGE plpython3u"),
        ("postgres", "DO LANGUAGE 'plpython3u' $$ plpy.execute('{}') $$"),
        ("postgres", "DO $$ BEGIN {}; END $$ LANGUAGE 'plpgsql'"),
        ("mysql", "CREATE PROCEDURE p() LANGUAGE JAVASCRIPT AS $$ session.sql('{}').execute() $$"),
        ("oracle", "CREATE PROCEDURE p AS MLE LANGUAGE JAVASCRIPT q'~ session.execute(\"{}\"); ~'"),
    ],
)  # fmt: skip
def test_a_definition_is_read_whatever_its_dialect_s_way_to_quote_a_body(dialect: str, definition: str) -> None:
    text = definition.replace("{}", "INSERT INTO t (a) SELECT b FROM s")
    parser = LineageParser(text, dialect)
    assert [(str(a).lower(), str(b).lower()) for a, b in parser.column_lineage] == [("s.b", "t.a")]


@pytest.mark.parametrize(
    ("dialect", "definition"),
    [
        ("snowflake", "CREATE PROCEDURE p() RETURNS STRING LANGUAGE JAVA IMPORTS = ('@s/x.jar') HANDLER = 'X.y'"),
        ("tsql", "CREATE PROCEDURE p AS EXTERNAL NAME a.b.c"),
        ("oracle", "CREATE PROCEDURE p (a VARCHAR2) AS LANGUAGE JAVA NAME 'X.y(java.lang.String)'"),
        ("db2", "CREATE PROCEDURE p (IN a INT) LANGUAGE JAVA PARAMETER STYLE JAVA EXTERNAL NAME 'x.y'"),
    ],
)
def test_a_procedure_whose_code_is_elsewhere_says_so(dialect: str, definition: str) -> None:
    routine = take_apart(definition, dialect)
    assert routine is not None
    assert [step.problem for step in routine.steps] == [Outcome.OTHER_LANGUAGE]


def test_a_function_that_runs_no_text_loses_nothing() -> None:
    made = "CREATE FUNCTION f(x STRING) RETURNS STRING LANGUAGE {} AS 'return x'"
    for dialect, language in (("bigquery", "js"), ("snowflake", "python"), ("databricks", "python")):
        routine = take_apart(made.format(language), dialect)
        assert routine is not None
        assert routine.steps == ()


def test_a_body_without_its_head_is_read_in_the_language_that_its_database_says() -> None:
    definition = Definition(
        DefinitionKind.ROUTINE, ("db", "s", "p"), 'plpy.execute("DELETE FROM t")', language="plpython3u"
    )
    known = known_routines("postgres", lambda database, path: Namespace(database, path), [definition], ())
    (routine,) = known.by_key["db.s.p"]
    assert [step.text for step in routine.routine.steps] == ["DELETE FROM t"]


def test_a_procedure_without_a_name_is_a_block() -> None:
    text = "WITH p AS PROCEDURE () RETURNS INT LANGUAGE SQL AS $$ BEGIN DELETE FROM t; END $$ CALL p()"
    assert classify(text, "snowflake").skip_reason is Outcome.ANONYMOUS_BLOCK
    assert [step.text for step in block_steps(text, "snowflake")] == ["DELETE FROM t"]
