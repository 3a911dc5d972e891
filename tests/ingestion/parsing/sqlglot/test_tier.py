"""The tier's edges: what it refuses, and that no literal is left in what it gives."""

from __future__ import annotations

import pickle

import pytest

from ingestion.analysis.symbolic import dumps, loads
from ingestion.dialects import DIALECTS
from ingestion.errors import ConfigError, Unparsable
from ingestion.parsing.sqlglot.tier import parse
from tests.support.lineage_lines import column_lines


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("postgres", "select from where"),
        ("postgres", "select a from t where b = 'open"),
        ("postgres", "select (a from t"),
        ("postgres", ""),
        ("postgres", "select 1; select 2"),
        ("postgres", "select " + "(" * 5000 + "a" + ")" * 5000),
        ("snowflake", "execute immediate 'insert into t select ' || x"),
        ("snowflake", "create task k as insert into t select a from s"),
        ("ansi", "this is no sql at all"),
        ("bigquery", "select s.a from from t s"),
    ],
)
def test_what_it_cannot_read_is_refused(dialect: str, text: str) -> None:
    with pytest.raises(Unparsable):
        parse(text, dialect)


def test_an_unknown_dialect_is_the_users_mistake() -> None:
    with pytest.raises(ConfigError):
        parse("select 1", "klingon")


@pytest.mark.parametrize("text", ["show tables", "set x = 1", "grant select on t to u", "vacuum t"])
def test_commands_without_lineage_have_none(text: str) -> None:
    statement = parse(text, "postgres")
    assert statement.writes == ()
    assert statement.changes == ()


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
def test_every_dialect_reads_a_plain_insert(dialect: str) -> None:
    lines = {line.lower() for line in column_lines("insert into t (a, b) select x, max(y) from s group by x", dialect)}
    assert lines == {"a = s.x", "b agg s.y", "* group s.x"}


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
def test_every_dialect_reads_a_view_over_with_and_join(dialect: str) -> None:
    text = "create view v as with c as (select a, k from t) select c.a, u.b from c left join u on c.k = u.k"
    lines = {line.lower() for line in column_lines(text, dialect)}
    assert lines == {"a = t.a", "b = u.b", "* join t.k", "* join u.k"}


SECRETS = """insert into t select 'secret-1' || a, case when b = 'secret-2' then 98765 end, coalesce(c, 'secret-3'),
d in ('secret-4', 'secret-5'), e like 'secret-6%', f -> 'secret-7',
json_build_object('secret-9', g, 'secret-0', h) ->> 'secret-9', interval '4321 days' + g from s
where h = 'secret-8' and i between 11111 and 22222 order by j limit 33333"""


def test_the_form_holds_no_literal() -> None:
    stored = dumps(parse(SECRETS, "postgres"))
    assert b"secret" not in stored
    assert not any(number in repr(loads(stored)) for number in ("98765", "4321", "11111", "22222", "33333"))


def test_the_form_survives_storage() -> None:
    statement = parse(SECRETS, "postgres")
    assert loads(dumps(statement)) == statement
    assert pickle.loads(pickle.dumps(statement)) == statement


def test_aliases_of_tables_are_kept() -> None:
    assert parse("select x.a from s.t x join u as y on x.k = y.k", "postgres").aliases == (("x", "s.t"), ("y", "u"))
