"""Templates that nobody filled in, found in the code of a statement and in the names that it gives."""

from __future__ import annotations

from types import ModuleType

import pytest

from ingestion.analysis.analyzer import analyze
from ingestion.dialects._table import ALL_DIALECTS
from ingestion.dialects.unfilled_templates import Template, is_unfilled, template_in_code, template_in_script
from ingestion.errors import Templated, Unparsable
from ingestion.parser import LineageParser
from ingestion.parsing.fallback import sqlfluff_tier
from ingestion.parsing.fallback import sqlparse_tier as token_tier
from ingestion.parsing.sqlglot import tier as sqlglot_tier

DIALECTS = [dialect.name for dialect in ALL_DIALECTS]


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("insert into t select a from {{ ref('s') }}", "{{ ref(?) }}"),
        ("insert into t select a from s_{{ ds_nodash }}", "{{ ds_nodash }}"),
        ("insert into t select a from s where d = {{ ds }}", "{{ ds }}"),
        ("insert into t select {% for c in cs %}{{ c }},{% endfor %} a from s", "{% for c in cs %}"),
        ("insert into t select {# not yet #} a from s", "{#"),
        ("insert into t select ${TABLE}.a from s", "${TABLE}"),
        ("insert into t select a from ${hiveconf:schema}.s", "${hiveconf:schema}"),
        ("insert into t select a from ${SCHEMA:-secret}.s", "${SCHEMA:-?}"),
        ("insert into t select a from $(env).s", "$(env)"),
        ("insert into t select a from <% ctx.env.db %>.s", "<% ctx.env.db %>"),
        ("insert into t select a from &{db}.s", "&{db}"),
        ("insert into t select a from x.<schema>.s", "<schema>"),
        ("insert into t select a from <database>.<schema>.s", "from <database>"),
        ("insert into t select a from x.s_&env", "from x.s_&env"),
        ("insert into t select a from x.s_%env%", "from x.s_%env"),
        ("insert into t select a from x.s_<env>", "from x.s_<env>"),
        ("insert into t select x.@name from s x", "@name"),
        ("insert into t select x.:name from s x", ":name"),
        ("insert into t select a from s where d > %day%", "> %day%"),
        ("insert into t select a, $[day] from s", "$[day]"),
        ("insert into t select a, [%day] from s", "[%day]"),
        ("insert into t select a, <?php echo $day ?> from s", "<?php"),
        ("insert into t select x.<name> from s x", "<name>"),
        ("insert into t select a from s where b = <day>", "= <day>"),
        ("insert into t select a from s where b in (<day>, 1)", "(<day>"),
        ("insert into t select <column> from s", "select <column>"),
        ("insert into t select a, <the other column> from s", ", <the other column>"),
        ("insert into t select a from <my-project>.x.s", "from <my-project>"),
        ("insert into t select a from <<schema>>.s", "from <<schema>>"),
        ("insert into t select a from `<schema>`.s", "from `<schema>"),
        ('insert into t select s.a from s, "<schema>".u', "?"),
        ("insert into t select a from identifier('<schema>.s')", "identifier(?"),
        ("insert into t select a from &schema..s", "from &schema"),
        ("insert into t select a from &&schema.s", "from &&schema"),
        ("create table t clone x warehouse = &wh", "warehouse = &wh"),
        ("use database <db>", "use database <db>"),
        ("create or replace schema &x", "replace schema &x"),
        ("insert into t select 'x', a from {{ f('a\\'b', \"c\", 4111) }}", "{{ f(?, ?, ?) }}"),
        ("insert into t select a from {{ 'unclosed \n, b", "{{"),
    ],
)
def test_a_template_in_the_code_is_found_in_every_dialect(text: str, expression: str) -> None:
    found = {dialect: template_in_code(f"-- a comment\n{text}", dialect) for dialect in DIALECTS}
    assert found == dict.fromkeys(DIALECTS, Template(2, expression))


@pytest.mark.parametrize("dialect", sorted(set(DIALECTS) - {"informix"}))
def test_a_name_in_single_braces_is_a_template_where_braces_are_no_comments(dialect: str) -> None:
    assert template_in_code("select a from {schema}.s", dialect) == Template(1, "{schema}")
    assert template_in_code("select a from {schema} s", "informix") is None


@pytest.mark.parametrize("dialect", ["tsql", "fabric"])
def test_what_studio_and_sqlcmd_fill_in_is_a_template(dialect: str) -> None:
    assert template_in_code("select a from db_$(env).dbo.s", dialect) == Template(1, "$(env)")
    assert template_in_code("create view <v, sysname, v1> as select a from s", dialect) is not None
    grouped = "select a, b, c from s where x <y group by a, b, c having count(*)> 1"
    assert template_in_code(grouped, dialect) is None


@pytest.mark.parametrize(
    "text",
    [
        "select '{{ ds }}', '${x}', '{% if %}' from s",
        "select a /* {{ x }} ${y} */ from s -- {% z %}",
        'select \'{"a": {"b": {{1}}}}\' from s',
        "select {fn now()}, {d '2020-01-01'} from s",
        "select a from s where b <c and d> e",
        "select a from s where b <c> .5 and d<.5 and e.f<g and h>i.j",
        "select a <b> c, d<e, f> g, case when h then i <j and k> l end from s where m = n <o and p> q",
        "select a from s where schema <b and role> c and table_a <view and warehouse >d and (e) <f> (g)",
        "select '= <a>', x from s where b in ('<c>', '&d') and e = '&f' /* from <g> */",
        "select '<a>.b' from s -- from <c>",
    ],
)
def test_strings_comments_and_escapes_of_odbc_are_no_templates(text: str) -> None:
    assert {dialect: template_in_code(text, dialect) for dialect in DIALECTS} == dict.fromkeys(DIALECTS)


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("ansi", "insert into t select a, $$day$$ from s"),
        ("ansi", "insert into t select a, $day from s"),
        ("ansi", "insert into t select a from x.s_$(env)"),
        ("ansi", "insert into t select a, @each(b, x -> x) from s"),
        ("bigquery", "insert into t select a from s where b > $day"),
        ("databricks", "insert into t select a, @each(b, x -> x) from s"),
        ("oracle", "insert into t select a from $schema.s"),
        ("postgres", "insert into t select a, s.$day from s"),
        ("postgres", "insert into t select a, #day# from s"),
        ("snowflake", "insert into t select a, @each(b, x -> x) from s"),
        ("snowflake", "insert into t select a from s_@env"),
        ("tsql", "select a into @schema@prefix_t from s"),
        ("spark", "insert into t select a from s_@env"),
        ("trino", "insert into t select a from s where b = $day"),
        ("tsql", "insert into t select a from $schema.s"),
    ],
)
def test_a_sign_that_the_dialect_has_no_use_for_is_a_template(dialect: str, text: str) -> None:
    assert template_in_code(text, dialect) is not None


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "redshift"])
def test_what_a_macro_would_be_is_the_absolute_value_of_a_column_in_a_log_alone(dialect: str) -> None:
    text = "insert into t select a, @day, '@x' from s where b <@ c and d @> e -- @y"
    assert template_in_code(text, dialect) is None
    assert template_in_script(text, dialect) == Template(1, "@day")
    assert template_in_script("select @ day, @-5, a @@ b, c <@d, '@x' from s", dialect) is None
    with pytest.raises(Templated, match="line 1: templated: @day"):
        LineageParser(text, dialect)


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("ansi", "select extract(year from s.a%b), substring(c from d&e for 2) from s"),
        ("bigquery", "select @day, @@project_id from s"),
        ("duckdb", "select $day, #1 from s"),
        ("mysql", "select @day, @@version, $a from $s # %x% and #y#"),
        ("oracle", "select a, :day, $$plsql_unit from s@remote.example, v_$x"),
        ("postgres", "select a % b, c % d % e, a::int, $1, $x$ @f(1) $x$ from s"),
        ("snowflake", "select t.$1, $day, trim(both from a:b), c:d.e from @stage/x (file_format => f) t, s"),
        ("snowflake", "copy into t from @stage(file_format => f)"),
        ("teradata", "select a, $b from $s"),
        ("tsql", "insert into @t(a) select @x.value('.', 'int'), $identity, @@rowcount from #s, @u, s@"),
        ("clickhouse", "select a from s where b = {day:Date} and c = {'k': {'v': 1}}['k']"),
        ("postgres", "select '{{1,2},{3,4}}'::int[], $${{ body }}$$, $b$${x}$b$"),
        ("snowflake", 'create function f() returns int language python as $$ return f"{{x}}" $$'),
        ("bigquery", "create table t (a array<int64>, b struct <c int64, d array<string>>) as select a from s"),
        ("bigquery", "select array<int64>[1], struct<a int64>(b), cast(c as array<date>) from s"),
        ("flink", "create table t (a row<b int, c map<string, int>>, d array<int>) with ('x' = '<y>')"),
        ("oracle", "begin if a then <<inner>> for i in 1..2 loop null; end loop inner; end if; end"),
        ("oracle", "select extract(day from &day), trim(both from &name) from s"),
        ("oracle", "select a from s where b = &day and c = :day and f$(a) = 1"),
        ("duckdb", "select map {{'a': 1}: {'b': 2}}, map{{'a': 1}: 2}, {'a': {'b': 1}} from s"),
        ("trino", "select * from s match_recognize (pattern (a{2,3} {- b -} c $) define a as true)"),
        ("databricks", "select :day, struct(a) from s"),
        ("postgres", "select a <% b, c %> d, '{x}' from s where e <% 'f'"),
        ("bigquery", 'select """{{ x }}""", r"${y}", @p from s'),
    ],
)
def test_what_a_dialect_itself_writes_with_braces_is_no_template(dialect: str, text: str) -> None:
    assert template_in_code(text, dialect) is None


@pytest.mark.parametrize(
    ("dialect", "text", "expression"),
    [
        ("bigquery", "insert into t select a from `{{ project }}.d.s`", "{{ project }}"),
        ("postgres", 'insert into t select a from "{{ schema }}".s', "{{ schema }}"),
        ("tsql", "insert into t select a from [$(db)].dbo.s", "$(db)"),
        ("databricks", "insert into t select a from delta.`/mnt/${env}/s`", "${env}"),
        ("snowflake", "insert into t select a from identifier('{{ db }}.s')", "{{ db }}"),
        ("snowflake", "insert into t select a from identifier('&{db}.s')", "&{db}"),
        ("bigquery", "insert into t select a from `region-{region}`.information_schema.jobs", "{region}"),
        ("duckdb", "create view v as select a from read_parquet('/in/{{ ds }}.parquet')", "{{ ds }}"),
        ("postgres", 'create view v as select a as "{{ label }}" from s', "{{ label }}"),
    ],
)
def test_a_template_in_what_names_something_ends_the_statement(dialect: str, text: str, expression: str) -> None:
    with pytest.raises(Templated, match=r"line 1: templated: ") as raised:
        LineageParser(text, dialect)
    assert expression in str(raised.value)


@pytest.mark.parametrize("dialect", ["ansi", "postgres", "bigquery", "spark", "snowflake", "tsql", "mysql"])
def test_a_template_in_a_value_costs_no_lineage(dialect: str) -> None:
    parser = LineageParser("insert into t (b) select a from s where d = '{{ ds }}' and e = '${x}'", dialect)
    assert [str(table).lower() for table in parser.source_tables] == ["s"]
    assert not parser.failures


@pytest.mark.parametrize(
    ("text", "dialect", "expression"),
    [
        ("SELECT f($$secret$$) FROM s", "ansi", "$$?"),
        ("SELECT $$secret is it$$ FROM s", "bigquery", "$$?"),
        ("SELECT a FROM s WHERE b = $$secret's card$$", "spark", "$$?"),
        ("SELECT $$a ${secret$$ FROM s", "tsql", "${"),
    ],
)
def test_a_dollar_quoted_text_that_the_dialect_takes_for_a_template_is_not_told(
    text: str, dialect: str, expression: str
) -> None:
    found = template_in_code(text, dialect)
    assert found is not None and found.expression == expression


def test_the_line_of_the_template_is_told_and_the_other_statements_are_read() -> None:
    parser = LineageParser(
        "insert into t select a from s;\n\ninsert into u\nselect a\nfrom x_{{ ds_nodash }};", "postgres"
    )
    assert parser.failures == ("line 5: templated: {{ ds_nodash }}",)
    assert [str(table) for table in parser.target_tables] == ["t"]


BOUND = (":sch.s", "%(sch)s.s", "?.s", "$1.s", ":s", "?", "$1", "p.:s", "p.?", "identifier(:x)", "identifier(?)")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_relation_that_is_named_when_the_statement_runs_has_no_name_in_any_tier(dialect: str) -> None:
    slow = [sqlfluff_tier] if dialect in ("bigquery", "databricks", "snowflake", "tsql") else []
    for tier in (sqlglot_tier, token_tier, *slow):
        for name in BOUND:
            for text in (f"insert into t (a) select x.a from {name} x", f"insert into {name} (a) select x.a from s x"):
                with pytest.raises((Templated, Unparsable)):
                    tier.parse(text, dialect)


@pytest.mark.parametrize("dialect", ["postgres", "bigquery", "mysql", "spark", "trino", "clickhouse", "redshift"])
def test_a_name_bound_later_is_said_so_wherever_it_stands(dialect: str) -> None:
    for text in (
        "insert into t (a) select s.a from s join :sch.u on s.k = u.k",
        "create table t as select a from (select a from @sch.s) x",
        "create table t as with c as (select a from ?) select a from c",
        "create view :sch.v as select a from s",
        "update :sch.t set a = 1",
        "merge into t using :sch.s x on t.a = x.a when matched then update set b = x.b",
    ):
        with pytest.raises(Templated):
            sqlglot_tier.parse(text, dialect)


@pytest.mark.parametrize("tier", [sqlglot_tier, sqlfluff_tier])
def test_a_table_variable_is_a_temporary_table(tier: ModuleType) -> None:
    (into,) = analyze(tier.parse("insert into @t (a) select x.a from dbo.s x", "tsql"), lambda _: None).flows
    (read,) = analyze(tier.parse("insert into dbo.u (a) select x.a from @t x", "tsql"), lambda _: None).flows
    assert into.target is not None
    assert into.target.name.dotted == read.sources[0].dotted == "#@t"


@pytest.mark.parametrize("head", ["t warehouse = <WAREHOUSE>", "t warehouse = &wh", "<task> schedule = '1 minute'"])
def test_what_runs_by_itself_is_not_made_where_its_head_has_a_template(head: str) -> None:
    made = f"create task {head} as insert into t1 select a from s1"
    parser = LineageParser(f"{made};\ninsert into t2 select a from s2", "snowflake")
    assert [str(table) for table in parser.target_tables] == ["t2"]
    (failure,) = parser.failures
    assert failure.startswith("line 1: templated: ")


def test_of_what_runs_by_itself_the_other_statements_are_read() -> None:
    body = "begin insert into t1 select a from <db>.x.s1; insert into t2 select a from s2; end"
    parser = LineageParser(f"create task t warehouse = w as {body}", "snowflake")
    assert [str(table) for table in parser.target_tables] == ["t2"]
    assert parser.failures == ("line 1: templated: from <db>",)


def test_values_that_are_bound_later_are_no_names() -> None:
    for text in ("select :a, b from s where c = ? and d = $1", "select * from table(f(:a)) x, s", "select 1 from s$1"):
        sqlglot_tier.parse(f"create table t as {text}", "snowflake")
    sqlglot_tier.parse(
        "create table t as select x.y.value('.', 'int') a from s cross apply @d.nodes('/r') x(y)", "tsql"
    )


@pytest.mark.parametrize(
    "value", ["${a}", "s.{{ t }}", "{% if a %}", "<db>", "<your topic>", "x_%(t)s", "$(A)", "#{a}"]
)
def test_a_value_of_a_configuration_has_a_place_to_fill(value: str) -> None:
    assert is_unfilled(value)


@pytest.mark.parametrize("value", ["", "a.b-c_d", "(?<name>a|b)", "$1-$2", "100%", "a < b", "a$b", "s\\.t$", "{a}"])
def test_another_value_has_none(value: str) -> None:
    assert not is_unfilled(value)


@pytest.mark.parametrize("dialect", ["bigquery", "duckdb", "postgres", "snowflake", "spark"])
@pytest.mark.parametrize("place", ["%(db)s", "$(db)"])
def test_a_quoted_name_with_a_place_to_fill_is_no_table(dialect: str, place: str) -> None:
    quote = "`" if dialect in ("bigquery", "spark") else '"'
    script = f"create view v as select a from {quote}{place}{quote}.u;\ncreate view w as select '{place}' b, a from u"
    found = LineageParser(script, dialect)
    assert [failure.partition(": ")[2] for failure in found.failures] == [f"templated: {place}"]
    assert [str(table) for table in (*found.source_tables, *found.target_tables)] == ["u", "w"]
