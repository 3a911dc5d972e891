"""What T-SQL, MySQL, Oracle and Teradata write in ways of their own: money, redefined views, remote queries."""

from __future__ import annotations

import pytest

from ingestion.analysis.analyzer import analyze
from ingestion.errors import Unparsable
from ingestion.model.lineage import StatementKind, StatementLineage
from ingestion.parser import LineageParser
from ingestion.parsing.fallback import sqlfluff_tier
from ingestion.parsing.fallback import sqlparse_tier as token_tier
from ingestion.parsing.sqlglot import tier as sqlglot_tier
from ingestion.statements import Classification, classify, split
from ingestion.statements.masking import QueryMasker, fingerprint
from tests.support.lineage_lines import analysed, column_lines, expression_of, lines_of_flows, problems

TIERS = (sqlglot_tier, sqlfluff_tier, token_tier)
CARD = "4111111111111111"


def answers(text: str, dialect: str) -> list[StatementLineage]:
    """What each tier that takes the text makes of it."""
    found = []
    for tier in TIERS:
        try:
            found.append(analyze(tier.parse(text, dialect), lambda _name: None))
        except Unparsable:
            continue
    return found


@pytest.mark.parametrize("dialect", ["tsql", "fabric"])
@pytest.mark.parametrize("form", ["$#", "$-#", "-$#", "$.#", "\u20ac#", "\u00a3#.5"])
def test_money_is_a_literal_in_every_tier(dialect: str, form: str) -> None:
    amount = form.replace("#", CARD)
    text = f"insert into t (a, b) select isnull(v, {amount}), {amount} from s where w > {amount}"
    found = answers(text, dialect)
    assert found
    assert CARD not in repr(found)
    assert CARD not in QueryMasker(dialect).mask(text)
    assert fingerprint(text, dialect) == fingerprint(text.replace(CARD, "1"), dialect)


def test_money_is_a_value_and_no_column() -> None:
    text = "select isnull(v, $0) as a, $12.5 as b, $ as c, v - $-1 as d from s"
    assert column_lines(text, "tsql") == {"a f s.v", "a if s.v", "b is constant", "c is constant", "d f s.v"}
    assert expression_of(text, "a", "tsql") == {"COALESCE(s.v, ?)"}
    assert QueryMasker("tsql").mask(text) == "select isnull(v, ?) as a, ? as b, ? as c, v - ? as d from s"


def test_what_only_looks_like_money_is_none() -> None:
    text = "select $action, a$1, @$x, $(variable), [$5] from t"
    assert QueryMasker("tsql").mask(text) == text
    assert QueryMasker("postgres").mask("select $1 from t") == "select $1 from t"


@pytest.mark.parametrize(
    ("dialect", "head"),
    [
        ("tsql", "alter view n as"),
        ("tsql", "alter view n with schemabinding, view_metadata as"),
        ("tsql", "create or alter view n with schemabinding as"),
        ("mysql", "alter view n as"),
        ("mysql", "alter algorithm = merge definer = `a`@`h` sql security invoker view n as"),
        ("mariadb", "alter view n as"),
        ("spark", "alter view n as"),
        ("databricks", "alter view n as"),
        ("hive", "alter view n as"),
        ("athena", "alter view n as"),
        ("doris", "alter view n as"),
    ],
)
def test_a_view_defined_anew_has_the_lineage_of_its_new_query(dialect: str, head: str) -> None:
    text = f"{head} select x as a from s"
    (write,) = lines_of_flows(text, dialect)
    assert write == {"into n", "from s", "a = s.x"}
    assert {found.kind for found in answers(text, dialect)} == {StatementKind.CREATE_VIEW}
    assert classify(text, dialect) == Classification(StatementKind.CREATE_VIEW)


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("mysql", "alter view n (a) as (select x from s)"),
        ("mysql", "alter view n (a) as select x from s with cascaded check option"),
        ("tsql", "alter view n (a) as with c as (select x from s) select x from c"),
    ],
)
def test_a_new_definition_may_name_columns_and_check_rows(dialect: str, text: str) -> None:
    assert column_lines(text, dialect) == {"a = s.x"}


def test_a_new_definition_takes_the_place_of_the_old_one() -> None:
    script = "create view v as select a from s; alter view v as select b from r; insert into t select * from v;"
    filled = [
        str(source) for source, target in LineageParser(script, "tsql").column_lineage if str(target.table) == "t"
    ]
    assert filled == ["v.b"]


@pytest.mark.parametrize("dialect", ["tsql", "postgres", "redshift"])
def test_the_first_branch_of_a_set_operation_names_the_table_that_all_fill(dialect: str) -> None:
    (write,) = lines_of_flows("with c as (select x from s) select x into n from c except select y from r", dialect)
    assert write == {"into n", "from s", "from r", "x = s.x", "* join s.x", "* join r.y"}
    (write,) = lines_of_flows("select x into n from s union all select y from r union all select z from q", dialect)
    assert write == {"into n", "from s", "from r", "from q", "x = s.x", "x = r.y", "x = q.z"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "insert into t (a) select x.a from (delete from d output deleted.a where d.k > 1) x",
            [{"into d", "* filter d.k"}, {"into t", "from d", "a = d.a", "* filter d.k"}],
        ),
        (
            """insert into t (a, b) select a, b from (merge into d using s on d.k = s.k
               when matched then update set d.b = s.b output $action, s.k, inserted.b) as x (act, a, b)
               where act = 'U'""",
            [
                {"into d", "from s", "b = s.b", "* join d.k", "* join s.k"},
                {"into t", "from d", "from s", "a = s.k", "b = d.b", "* filter d.k", "* filter s.k"},
            ],
        ),
        (
            "insert into t select z.* from (update u set u.p = s.q output deleted.* from u join s on s.k = u.k) z",
            [
                {"into u", "from s", "p = s.q", "* join u.k", "* join s.k"},
                {"into t", "from u", "from s", "* = u", "* filter u.k", "* filter s.k"},
            ],
        ),
        (
            "insert into t select x.n from (insert into u (n) output inserted.n select m from v) x",
            [{"into u", "from v", "n = v.m"}, {"into t", "from u", "n = u.n"}],
        ),
        ("delete t output deleted.a into u", [{"into t"}, {"into u", "from t", "a = t.a"}]),
        ("delete t where k in (select k from s)", [{"into t", "from s", "* filter t.k", "* filter s.k"}]),
        (
            "delete from d.t from d.t as x join s on s.k = x.k option (hash join)",
            [{"into d.t", "from s", "* join d.t.k", "* join s.k"}],
        ),
        ("bulk insert d.t from 'in/f.csv' with (format = 'CSV')", [{"into d.t", "from in/f.csv", "* = in/f.csv"}]),
    ],
)
def test_changed_rows_come_from_the_table_that_changes(text: str, expected: list[set[str]]) -> None:
    assert lines_of_flows(text, "tsql") == expected


def test_no_tier_takes_a_verb_for_a_table() -> None:
    with pytest.raises(Unparsable):
        token_tier.parse("insert into t (a) select x.a from (delete from d output deleted.a) x", "tsql")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            """insert into t select q.a from openquery(Ora,
               'with c as (select a, b from x.y where k = ''1'') select c.a from c join z on z.b = c.b') q""",
            {"into t", "from ora..x.y", "from ora...z", "a = ora..x.y.a"}
            | {"* filter ora..x.y.k", "* join ora..x.y.b", "* join ora...z.b"},
        ),
        (
            "insert openquery(s, 'select a, b from d.e') select x, y from r",
            {"into s..d.e", "from r", "a = r.x", "b = r.y"},
        ),
        (
            "update openquery(s, 'select a from d.e') set a = x from r",
            {"into s..d.e", "from r", "a = r.x"},
        ),
        (
            "insert into t select x.a from opendatasource('P', 'secret').d.e.f x",
            {"into t", "from opendatasource", "a = opendatasource.a"},
        ),
    ],
)
def test_what_another_server_answers_is_read_there(text: str, expected: set[str]) -> None:
    (write,) = lines_of_flows(text, "tsql")
    assert {line for line in write if "is constant" not in line} == expected
    assert "secret" not in repr(analysed(text, "tsql"))


@pytest.mark.parametrize("remote", ["exec p", "select from where", "select 1; select 2"])
def test_a_remote_text_that_is_no_plain_query_is_said_to_be_opaque(remote: str) -> None:
    text = f"insert into t select a from openquery(s, '{remote}')"
    assert problems(text, "tsql") == [("unsupported", "openquery: what its text reads")]
    assert lines_of_flows(text, "tsql") == [{"into t", "from openquery", "a = openquery.a"}]


@pytest.mark.parametrize("source", ["'P', 'secret'; 'user'; 'word', 'select a from d.e.f'", "'P', 'secret', d.e.f"])
def test_a_connection_is_no_name_of_a_server(source: str) -> None:
    text = f"select o.a into t from openrowset({source}) as o"
    assert problems(text, "tsql") == [("unsupported", "openrowset: what its text reads")]
    assert lines_of_flows(text, "tsql") == [{"into t", "from openrowset", "a = openrowset.a"}]
    assert "secret" not in repr(analysed(text, "tsql"))


def test_semicolons_part_the_arguments_of_a_remote_query_and_end_nothing() -> None:
    text = "select a from openrowset('P', 'c';'u';\n 'p', 'select a from t') as r"
    assert [piece.text for piece in split(f"{text}; select 'x'", "tsql")] == [text, "select 'x'"]


@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [
        ("mysql", "update low_priority ignore t set a = (select max(x) from s)", [{"into t", "from s", "a agg s.x"}]),
        (
            "mariadb",
            "update low_priority t join s on s.y = t.b set t.a = s.x",
            [{"into t", "from s", "a = s.x", "* join s.y", "* join t.b"}],
        ),
        (
            "mysql",
            "delete quick from t where b in (select y from s)",
            [{"into t", "from s", "* filter t.b", "* filter s.y"}],
        ),
        ("mysql", "delete quick t from t join s on s.y = t.b", [{"into t", "from s", "* join s.y", "* join t.b"}]),
        ("mysql", "replace delayed t table s", [{"into t", "from s", "* = s"}]),
        (
            "mysql",
            "delete low_priority quick ignore t.* from t join s on s.y = t.b",
            [{"into t", "from s", "* join s.y", "* join t.b"}],
        ),
        (
            "mariadb",
            "delete from t for portion of p from '1' to '2' where b in (select y from s)",
            [{"into t", "from s", "* filter t.b", "* filter s.y"}],
        ),
        (
            "mysql",
            "select x into outfile '/o.csv' fields terminated by ',' from s",
            [{"into /o.csv", "from s", "x = s.x"}],
        ),
        ("mariadb", "select x from s into dumpfile '/o'", [{"into /o", "from s", "x = s.x"}]),
        ("doris", 'select x from s into outfile "s3://b/o" format as csv', [{"into s3://b/o", "from s", "x = s.x"}]),
        ("oracle", "delete T where K in (select K from S)", [{"into T", "from S", "* filter T.K", "* filter S.K"}]),
        (
            "oracle",
            "create view V as select translate(a using nchar_cs) p, upper(translate(b using char_cs)) q from S",
            [{"into V", "from S", "P f S.A", "Q f S.B"}],
        ),
        (
            "oracle",
            "update T set A = (select max(X) from S) returning A, B into :c, :d",
            [{"into T", "from S", "A agg S.X"}],
        ),
        (
            "teradata",
            "create volatile table n as (select x from s) with data and no stats",
            [{"into n", "from s", "x = s.x"}],
        ),
    ],
)
def test_a_clause_that_a_parser_does_not_know_costs_no_lineage(
    dialect: str, text: str, expected: list[set[str]]
) -> None:
    assert lines_of_flows(text, dialect) == expected


@pytest.mark.parametrize("dialect", ["tsql", "fabric"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "with xmlnamespaces ('http://x.org/p' as p, default 'http://x.org/q') insert #t with (tablock) (a)"
            " select s.b from #s as s",
            {"into #t", "from #s", "a = #s.b"},
        ),
        (
            "with xmlnamespaces ('http://x.org/p' as p), c as (select s.b from s) insert into t (a) select c.b from c",
            {"into t", "from s", "a = s.b"},
        ),
        (
            "insert into t (a) select s.b from ::fn_trace_gettable(@f, default) g cross join s",
            {"into t", "from s", "from fn_trace_gettable", "a = s.b"},
        ),
    ],
)
def test_a_phrase_of_t_sql_that_sqlglot_does_not_know_costs_no_column(
    dialect: str, text: str, expected: set[str]
) -> None:
    assert lines_of_flows(text, dialect) == [expected]


@pytest.mark.parametrize("arguments", ["", "()", "(3)"])
@pytest.mark.parametrize("function", ["pkg.f", "hr.pkg.f"])
def test_a_function_of_rows_is_called_with_and_without_brackets(function: str, arguments: str) -> None:
    text = f"insert into t (a, b) select s.a, r.b from s, table({function}{arguments}) r"
    (lines,) = lines_of_flows(text, "oracle")
    assert {"into T", "from S", f"from {function}", "A = S.A"} <= lines


@pytest.mark.parametrize("relations", ["s, table(s.xs) r", "hr.s, table(s.xs) r", "u s, table(s.xs) r"])
def test_a_collection_of_a_row_is_a_column_of_its_relation(relations: str) -> None:
    (lines,) = lines_of_flows(f"insert into t (b) select r.b from {relations}", "oracle")
    assert any(line.endswith(".XS") for line in lines)
    assert len([line for line in lines if line.startswith("from ")]) == 1
