"""Statements that share a fingerprint have the same lineage: whatever literal is exchanged for another."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingestion.analysis.analyzer import analyze
from ingestion.dialects.lexing import DOLLAR, NUMBER, STRING, lexicon_of
from ingestion.errors import Unparsable
from ingestion.model.lineage import StatementLineage
from ingestion.parsing.sqlglot.tier import parse
from ingestion.statements import split
from ingestion.statements.masking import fingerprint

SHARED = Path(__file__).resolve().parents[5] / "shared"
LITERALS_TRIED = 6

OWN = [
    ("postgres", "create table t (value varchar(9), date char(3) default 'x', n numeric(10, 2))"),
    ("postgres", "insert into t select a, 'x' as b, c->>'k', d['f'], sum(e) over (order by 1) from s group by 1, 2"),
    ("postgres", "create view v as select a from s order by (1), case when b = 1 then 2 end, 3 limit 4"),
    ("spark", "create table t as select array(a, b)[0] as x, split(c, ',')[1] as y, m['k'][2] as z from s"),
    (
        "postgres",
        "create table t as select (array[a, b])[1] as x, array[[a], [b]][1] as y, (array['k', c])[2] z from s",
    ),
    (
        "bigquery",
        "create table d.t as select [a, b][offset(0)] as x, ([a, b])[ordinal(1)] as y, c[offset(1)] z from d.s",
    ),
    ("duckdb", "create table t as select [a, b][1] as x, list_value(a, b)[2] as y, c[3] as z from s"),
    ("mysql", "create table t as select a 'one', count(*) 'two', \"three\", `b` from s where `b` = \"x\" having c > 5"),
    ("tsql", "select top 5 a as 'x', b = 'y', convert(varchar(20), c, 112) into #t from s where d in ('1', '2')"),
    ("snowflake", "create table t as select x:a.b c, get_path(x, 'd') e, $1 from @st/2024/f (pattern => '.*') limit 3"),
    ("snowflake", "insert into t select * from s pivot (sum(a) for b in ('x', 'y')) as p (c, d) where c > 7"),
    ("snowflake", "copy into t (a, b) from (select $1, $2 from @st/x) files = ('a', 'b') file_format = (type = 'CSV')"),
    (
        "bigquery",
        "insert into d.t select a['x'], b[offset(0)], struct(1 as c).c from `p.d.e_*` where f = '1'",
    ),
    ("duckdb", "create table t as select #1, columns('a'), c from read_csv('x.csv'), 'y.csv' where d = 'z'"),
    ("spark", "insert overwrite table t partition (ds = '1') select a['k'], named_struct('x', b).x, 5L from s"),
    ("hive", "insert overwrite directory '/x' select a, 'b' from s lateral view explode(array('c')) l as m"),
    ("clickhouse", "insert into t select dictGet('d', 'a', b), c from s3('u', 'CSV') where e = 'x'"),
    ("clickhouse", "insert into t select a from urlCluster('c', 'http://h/x.csv', 'CSV') where e = 'x'"),
    ("clickhouse", "insert into t select a from hudi('http://h/x', 'k', 's') where e = 'x'"),
    ("starrocks", "insert into t select a from files('path' = 's3://b/x/*', 'format' = 'parquet') where e = 'x'"),
    ("duckdb", "create table t as select a from read_xlsx('x.xlsx') where d = 'z'"),
    ("redshift", "unload ('select a from s') to 's3://b/p' iam_role 'r'"),
    ("sqlite", "insert into t ('a', 'b') select p, q from s where p = 'x'"),
    ("mysql", 'insert into d.t (a, "b") select p, "x" from s'),
    ("spark", 'insert overwrite table t (a, "b") select p, "x" from s'),
    ("teradata", "ins into t ('x', 2)"),
    ("informix", 'select a from s where p = 1 into temp "t" with no log'),
    ("oracle", "insert into t select a, q'[x]' b from s fetch first 5 rows only"),
]


def exchanged(text: str, dialect: str) -> Iterator[str]:
    """The text with one literal, each in turn, replaced by another of its kind."""
    for match in lexicon_of(dialect).literals.finditer(text):
        literal = match.group()
        others = {
            STRING: literal[0] + ("[zq9]" if literal[1:2] == "[" else "zq9") + literal[-1],
            NUMBER: "7341" + ("L" if literal[-1] == "L" else ""),
            DOLLAR: "$$zq9$$",
        }
        other = others.get(match.lastgroup or "")
        if other is not None:
            yield text[: match.start()] + other + text[match.end() :]


def lineage(text: str, dialect: str) -> StatementLineage | None:
    try:
        return analyze(parse(text, dialect), lambda name: None)
    except Unparsable:
        return None


def assert_same_lineage_where_fingerprints_agree(text: str, dialect: str, tried: int) -> None:
    known = fingerprint(text, dialect)
    for count, other in enumerate(exchanged(text, dialect)):
        if count < tried and fingerprint(other, dialect) == known:
            assert lineage(other, dialect) == lineage(text, dialect)


@pytest.mark.parametrize(("dialect", "text"), OWN)
def test_exchanging_a_literal_keeps_the_lineage_or_changes_the_fingerprint(dialect: str, text: str) -> None:
    assert_same_lineage_where_fingerprints_agree(text, dialect, tried=99)


def test_so_it_is_with_real_statements() -> None:
    corpus = SHARED / "corpora" / "statements.jsonl"
    if not corpus.exists():
        pytest.skip("no shared corpora beside the repository")
    for row in map(json.loads, corpus.open(encoding="utf-8")):
        dialect = row["dialect"] or "ansi"
        for statement in split(row["sql"], dialect):
            assert_same_lineage_where_fingerprints_agree(statement.text, dialect, LITERALS_TRIED)
