"""Every entry of the tables of functions and words is reached, in its dialect, through each tier that knows it.

The cases are made from the tables: an entry that a tier does not ask about fails here by its name.
"""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from ingestion import LineageParser
from ingestion.analysis.analyzer import analyze
from ingestion.analysis.form import named_relations
from ingestion.dialects import DIALECTS
from ingestion.dialects import functions as tables
from ingestion.dialects.functions import ArgumentUse, Effect, argument_uses, effect_of, unit_positions
from ingestion.dialects.keywords import NO_COLUMN, reserved_words
from ingestion.dialects.methods import METHODS
from ingestion.errors import Unparsable
from ingestion.parsing.fallback import sqlfluff_tier, sqlparse_tier
from ingestion.parsing.sqlglot import tier as sqlglot_tier
from ingestion.statements.masking import fingerprint

SAYS = {
    Effect.VALUE: ("TRANSFORMATION", False),
    Effect.AGGREGATE: ("AGGREGATION", False),
    Effect.COUNT: ("AGGREGATION", True),
    Effect.HASH: ("TRANSFORMATION", True),
    Effect.GROUPING: ("GROUP_BY", False),
    Effect.ORDER: ("WINDOW", False),
}
EVERYWHERE = tables.AGGREGATES | tables.COUNTS | tables.HASHES | tables.GROUPINGS | tables.ORDERS | tables.MOVING
OTHER_THERE = {("bigquery", "JSON_OBJECTAGG"): "no function of BigQuery's: its grammar reads JSON_OBJECT"}
ARGUMENTS = ("s.a", "s.a, s.b", "s.a, s.b, s.c")
USED_IN = {
    "snowflake": "IFF NVL2 DECODE NVL IFNULL COALESCE ZEROIFNULL NULLIFZERO NULLIF MAX_BY MIN_BY",
    "tsql": "IIF ISNULL",
    "clickhouse": "IF ARGMAX ARGMIN",
    "duckdb": "ARG_MAX ARG_MAX_NULL ARG_MAX_NULLS_LAST ARG_MIN ARG_MIN_NULL ARG_MIN_NULLS_LAST",
    "teradata": "CSUM MAVG MDIFF MSUM",
    "vertica": "ARGMAX_AGG ARGMIN_AGG",
}
"""One system that has each function whose arguments do not all do the same."""
HOW_MANY_LAST = {*["MAX_BY", "MIN_BY", "ARGMAX", "ARGMIN"], *USED_IN["duckdb"].split()}
"""MAX_BY(a, b, 3): a third argument is no column, but how many are wanted."""
ROLES = {
    ArgumentUse.VALUE: {"direct"},
    ArgumentUse.BOTH: {"direct", "CONDITIONAL"},
    ArgumentUse.CONDITION: {"CONDITIONAL"},
    ArgumentUse.ORDER: {"SORT"},
}


def roles(tier: object, statement: str, dialect: str) -> dict[str, set[tuple[str, bool]]]:
    """What each column of the table s is to the outputs, by its name."""
    found: dict[str, set[tuple[str, bool]]] = {}
    lineage = analyze(tier.parse(statement, dialect), lambda _name: None)  # type: ignore[attr-defined]
    for flow in lineage.flows:
        for reference in [r for output in flow.outputs for r in output.references]:
            for source in reference.sources:
                kind = reference.transformation
                found.setdefault(str(source).lower(), set()).add((kind.subtype.value, kind.masking))
    return found


def effect_seen(tier: object, function: str, dialect: str) -> set[tuple[str, bool]]:
    """What a function does to its first argument, called with as many as it takes."""
    for arguments in ARGUMENTS:
        try:
            return roles(tier, f"INSERT INTO t (x) SELECT {function}({arguments}) FROM s", dialect).get("s.a", set())
        except Unparsable:
            continue
    return set()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_sqlglot_asks_for_each_effect_in_each_dialect(dialect: str) -> None:
    names = EVERYWHERE | tables.DIALECT_EFFECTS.get(dialect, {}).keys() | tables.ALONE_AGGREGATES.get(dialect, set())
    wrong = {
        name: seen
        for name in names
        if (seen := effect_seen(sqlglot_tier, name, dialect)) != {SAYS[effect_of(name, dialect)]}
        and (dialect, name) not in OTHER_THERE
    }
    assert wrong == {}


def effects_seen_by_sqlfluff(names: Iterable[str], dialect: str) -> dict[str, set[tuple[str, bool]]]:
    """Of all functions in one statement, which is parsed once: sqlfluff is slow to begin."""
    listed = sorted(names)
    columns = ", ".join(f"{name}(s.c{number})" for number, name in enumerate(listed))
    found = roles(sqlfluff_tier, f"INSERT INTO t SELECT {columns} FROM s", dialect)
    return {name: found.get(f"s.c{number}", set()) for number, name in enumerate(listed)}


@pytest.mark.parametrize("dialect", ["ansi", *tables.DIALECT_EFFECTS])
def test_sqlfluff_asks_for_each_effect(dialect: str) -> None:
    names = tables.DIALECT_EFFECTS.get(dialect, {}).keys() | tables.ALONE_AGGREGATES.get(dialect, set())
    names = (EVERYWHERE if dialect == "ansi" else names) - {"ANY"}
    seen = effects_seen_by_sqlfluff(names, dialect)
    assert seen == {name: {SAYS[effect_of(name, dialect)]} for name in names}


@pytest.mark.parametrize("tier", [sqlglot_tier, sqlfluff_tier], ids=["sqlglot", "sqlfluff"])
@pytest.mark.parametrize(("dialect", "function"), [(d, name) for d, names in USED_IN.items() for name in names.split()])
def test_each_argument_does_what_the_table_says(tier: object, dialect: str, function: str) -> None:
    for count in range(1, 3 if function in HOW_MANY_LAST else 7):
        uses = argument_uses(function, count)
        if not uses:
            continue
        listed = ", ".join(f"s.c{number}" for number in range(count))
        found = roles(tier, f"INSERT INTO t (x) SELECT {function}({listed}) FROM s", dialect)
        said = [
            {subtype if subtype in ("CONDITIONAL", "SORT") else "direct" for subtype, _ in found[f"s.c{number}"]}
            for number in range(count)
        ]
        assert said == [ROLES[use] for use in uses], count


def test_each_function_with_uses_is_tried() -> None:
    """PIVOTFIRST is a word of Spark's plans, and in no grammar."""
    assert {name for names in USED_IN.values() for name in names.split()} == tables.WITH_USES - {"PIVOTFIRST"}


@pytest.mark.parametrize("tier", [sqlglot_tier, sqlfluff_tier], ids=["sqlglot", "sqlfluff"])
@pytest.mark.parametrize(
    ("dialect", "function", "count"),
    sorted(  # two processes that share the tests have to see them in one order
        [
            *(("tsql", name, count) for name, count in tables.UNIT_FIRST.items() if name.startswith("DATE")),
            *(("snowflake", name, count) for name, count in tables.UNIT_FIRST.items() if name.startswith("TIME")),
            *((d, name, count) for d, names in tables.UNIT_FIRST_IN_DIALECT.items() for name, count in names.items()),
            *((d, name, count) for d, names in tables.UNIT_LAST_IN_DIALECT.items() for name, count in names.items()),
        ]
    ),
)
def test_each_date_part_is_no_column(tier: object, dialect: str, function: str, count: int) -> None:
    places = unit_positions(function, count, dialect)
    assert places
    for place in places:
        arguments = ", ".join("month" if number == place else f"s.c{number}" for number in range(count))
        found = roles(tier, f"INSERT INTO t (x) SELECT {function}({arguments}) FROM s", dialect)
        assert found.keys() == {f"s.c{number}" for number in range(count) if number != place}


@pytest.mark.parametrize(("dialect", "method"), [(d, name) for d, names in METHODS.items() for name in sorted(names)])
def test_each_method_reads_the_value_before_its_dot(dialect: str, method: str) -> None:
    found = roles(sqlglot_tier, f"INSERT INTO t (x) SELECT c.{method}(1) FROM s", dialect)
    assert {source.rpartition(".")[2] for source in found} == {"c"}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_reserved_word_is_a_column(dialect: str) -> None:
    taken = {}
    for word in reserved_words(dialect):
        found = roles(sqlglot_tier, f"INSERT INTO t (x, y) SELECT {word}, s.a FROM s", dialect)
        taken[word] = found.keys()
    assert {word: sources for word, sources in taken.items() if sources != {"s.a"}} == {}


@pytest.mark.parametrize("tier", [sqlfluff_tier, sqlparse_tier], ids=["sqlfluff", "sqlparse"])
@pytest.mark.parametrize("word", sorted(NO_COLUMN))
def test_what_looks_like_a_column_to_the_tiers_behind_is_none(tier: object, word: str) -> None:
    assert roles(tier, f"INSERT INTO t (x, y) SELECT {word}, s.a FROM s", "ansi").keys() == {"s.a"}


@pytest.mark.parametrize("function", sorted(tables.GENERATORS))
def test_sqlparse_does_not_count_the_columns_of_a_generator(function: str) -> None:
    parsed = sqlparse_tier.parse(f"INSERT INTO t SELECT {function}(a), b FROM s", "spark")
    assert [problem.subject for problem in parsed.problems] == ["columns"]


def test_an_aggregate_of_one_argument_puts_two_of_a_row_together() -> None:
    for tier in (sqlglot_tier, sqlfluff_tier):
        found = roles(tier, "INSERT INTO t (x) SELECT ST_COLLECT(s.a, s.b) FROM s", "snowflake")
        assert found == {"s.a": {("TRANSFORMATION", False)}, "s.b": {("TRANSFORMATION", False)}}


def read_by(query: str, dialect: str) -> set[str] | None:
    """What a query reads; None where the grammar has no such query."""
    try:
        statement = sqlglot_tier.parse(f"INSERT INTO t {query}", dialect)
    except Unparsable:
        return None
    return {str(name) for write in statement.writes if write.query for name in named_relations(write.query)}


@pytest.mark.parametrize("function", sorted(tables.TABLE_FUNCTIONS - {"XMLTABLE"}))
def test_a_table_function_reads_nothing_but_its_arguments(function: str) -> None:
    seen = [
        read
        for dialect in ("postgres", "snowflake", "spark", "bigquery", "tsql", "duckdb", "clickhouse", "oracle")
        for arguments in ("1", "1, 2", "'a b', ' '")
        if (read := read_by(f"SELECT x.* FROM TABLE({function}({arguments})) x", dialect)) is not None
        or (read := read_by(f"SELECT x.* FROM {function}({arguments}) x", dialect)) is not None
    ]
    assert seen
    assert all(read == set() for read in seen)


@pytest.mark.parametrize("function", sorted(tables.FILE_READERS))
def test_a_reader_reads_the_path_in_its_text(function: str) -> None:
    behind = "'main', " if function.endswith("CLUSTER") else ""
    read = read_by(f"SELECT * FROM {function}({behind}'s3://bucket/data/x.csv') x", "clickhouse")
    assert read == {"s3://bucket/data/x.csv"}


@pytest.mark.parametrize("function", sorted(tables.ON_OTHER_MACHINES))
def test_a_table_on_another_machine_is_read_by_its_name(function: str) -> None:
    assert read_by(f"SELECT * FROM {function}('localhost', db, u)", "clickhouse") == {"db.u"}


@pytest.mark.parametrize("function", sorted(tables.ON_OTHER_SERVERS))
def test_a_table_on_another_server_is_none_of_this_one(function: str) -> None:
    assert read_by(f"SELECT * FROM {function}('far', db, u)", "clickhouse") == {function.lower()}


@pytest.mark.parametrize("function", sorted(tables.REMOTE_QUERIES))
def test_a_text_that_another_server_runs_is_no_table_here(function: str) -> None:
    read = read_by(f"SELECT * FROM {function}(far, 'SELECT a FROM d.dbo.u') x", "tsql")
    assert read == {"far.d.dbo.u" if function == "OPENQUERY" else function.lower()}


@pytest.mark.parametrize("function", sorted(tables.REFERENCES_TO_ROWS))
def test_a_view_whose_rows_are_referred_to_is_no_column(function: str) -> None:
    (edge,) = LineageParser(f"CREATE VIEW v AS SELECT {function}(w, o.id) AS r FROM o", dialect="oracle").edges
    assert edge.source.column == "ID"


@pytest.mark.parametrize(
    ("dialect", "function"), [(one, name) for one, names in tables.TYPE_FIRST_IN_DIALECT.items() for name in names]
)
def test_a_type_among_arguments_is_no_column(dialect: str, function: str) -> None:
    text = f"SELECT {function}(int, 1, 1) AS no, no = {function}(decimal(9, 0)), o.a INTO t FROM o"
    (edge,) = LineageParser(text, dialect=dialect).edges
    assert edge.source.column == "a"


@pytest.mark.parametrize("function", sorted(tables.NAMED_IN_TEXTS | tables.ALSO_WORDS))
def test_texts_that_name_data_tell_statements_apart(function: str) -> None:
    one, other = (fingerprint(f"SELECT {function}('{name}', x) FROM y", "ansi") for name in "ab")
    assert one != other
