"""DDL: what happens to names and columns."""

from __future__ import annotations

import pytest

from ingestion import LineageParser
from ingestion.errors import Unparsable
from ingestion.model.lineage import StatementKind
from tests.support.lineage_lines import analysed


def test_create_table_has_columns_with_standard_types() -> None:
    text = """create table s.t (a int not null, b varchar(10) default 'x', c numeric(10,2), d timestamptz, e text[],
              f jsonb, primary key (a))"""
    (change,) = analysed(text).changes
    assert change.kind is StatementKind.CREATE_TABLE
    assert change.name.parts == ("s", "t")
    assert [(column.name, column.type) for column in change.columns] == [
        ("a", "INT"),
        ("b", "VARCHAR(10)"),
        ("c", "DECIMAL(10, 2)"),
        ("d", "TIMESTAMPTZ"),
        ("e", "ARRAY<STRING>"),
        ("f", "JSON"),
    ]


def test_partition_columns_are_columns() -> None:
    (change,) = analysed("create external table t (x int) partitioned by (d string) location 's3://b'", "hive").changes
    assert [column.name for column in change.columns] == ["x", "d"]


@pytest.mark.parametrize("options", ["row format serde 'org.x.AvroSerDe'", "clustered by (x) into 4 buckets odd"])
def test_a_table_that_names_its_partitions_alone_has_columns_that_stand_elsewhere(options: str) -> None:
    script = f"create table t partitioned by (d string) {options}; insert into t partition (d) select a, b, c from s"
    assert {str(edge.target) for edge in LineageParser(script, dialect="hive").edges} == {"t.a", "t.b", "t.d"}


def test_the_types_of_a_union_are_no_columns() -> None:
    (change,) = analysed("create table t (x uniontype<int, array<string>, double>, y int)", "hive").changes
    assert [column.name for column in change.columns] == ["x", "y"]


def test_a_virtual_generated_column_is_a_column() -> None:
    for stored in ("virtual", "stored", ""):
        (change,) = analysed(f"create table t (a int, b int generated always as (a * 2) {stored}, c text)").changes
        assert [(column.name, column.type) for column in change.columns] == [
            ("a", "INT"),
            ("b", "INT"),
            ("c", "STRING"),
        ]


def test_the_properties_of_an_external_table_are_no_query() -> None:
    text = "create external table s.t (x int, y date) stored as textfile location 's3://b' table properties ('n' = '1')"
    lineage = analysed(text, "redshift")
    assert lineage.flows == ()
    assert [[column.name for column in change.columns] for change in lineage.changes] == [["x", "y"]]


@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [
        ("postgres", "alter table s.a rename to b", [("s.a", "s.b")]),
        ("mysql", "rename table a to b, d.c to e", [("a", "b"), ("d.c", "d.e")]),
        ("teradata", "rename table a as b", [("a", "b")]),
        ("clickhouse", "rename table a to b", [("a", "b")]),
        ("tsql", "exec sp_rename 's.a', 'b'", [("s.a", "s.b")]),
        ("snowflake", "alter table a rename to d.b", [("A", "D.B")]),
        ("mysql", "alter table a rename as b", [("a", "b")]),
        ("vertica", "alter table s.a, s.b rename to c, a", [("s.a", "s.c"), ("s.b", "s.a")]),
        ("postgres", "alter materialized view s.a rename to b", [("s.a", "s.b")]),
        ("postgres", "alter foreign table if exists a rename to b", [("a", "b")]),
        ("snowflake", "alter dynamic table a rename to b", [("A", "B")]),
        ("postgres", "alter table s.a set schema t", [("s.a", "t.a")]),
        ("postgres", "alter view if exists a set schema t", [("a", "t.a")]),
        ("duckdb", "alter table c.s.a set schema t", [("c.s.a", "c.t.a")]),
        ("tsql", "alter schema s transfer object::t.a", [("t.a", "s.a")]),
    ],
)
def test_renames(dialect: str, text: str, expected: list[tuple[str, str]]) -> None:
    changes = analysed(text, dialect).changes
    assert all(change.kind is StatementKind.RENAME for change in changes)
    assert [(change.name.dotted, change.other.dotted if change.other else "") for change in changes] == expected


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("snowflake", "alter table a swap with b"),
        ("snowflake", "alter dynamic table a swap with b"),
        ("clickhouse", "exchange tables a and b"),
    ],
)
def test_swaps(dialect: str, text: str) -> None:
    (change,) = analysed(text, dialect).changes
    assert change.kind is StatementKind.SWAP
    assert change.other is not None
    assert (change.name.table.lower(), change.other.table.lower()) == ("a", "b")


def test_drops_name_every_relation() -> None:
    changes = analysed("drop table if exists a, s.b cascade").changes
    assert [change.name.dotted for change in changes] == ["a", "s.b"]
    assert all(change.kind is StatementKind.DROP for change in changes)


def test_alter_table_adds_drops_and_renames_columns() -> None:
    (added,) = analysed("alter table t add column a int, drop column b").changes
    assert [column.name for column in added.columns] == ["a"]
    assert added.dropped_columns == ("b",)
    (renamed,) = analysed("alter table t rename column a to b").changes
    assert renamed.renamed_columns == (("a", "b"),)


COLUMN_NAMES = """
postgres   | alter table s.t rename a to b                                     | s.t: a is b
postgres   | alter table if exists only t rename "A b" to c;                   | t: A b is c
postgres   | alter view v rename a to b                                        | v: a is b
postgres   | alter materialized view v rename column a to b                    | v: a is b
duckdb     | alter table t rename a to b                                       | t: a is b
duckdb     | alter table t rename a.f to b                                     | t:
redshift   | alter table t rename a to b                                       | t: a is b
sqlite     | alter table "t" rename "a" to "b"                                 | t: a is b
teradata   | alter table t rename a as b                                       | t: a is b
teradata   | alter table t rename a to b, add c integer                        | t: a is b, + c
mysql      | alter table t rename column a to b, rename column b to a          | t: a is b, b is a
mysql      | alter table t change a b int, change column c a text, drop d      | t: a is b, c is a, - d
mysql      | alter table t rename column a to b, rename to u                   | t: a is b
bigquery   | alter table t rename column a to x, rename column b to a, rename column x to b | t: a is b, b is a
clickhouse | alter table t rename column a to b, rename column c to a          | t: a is b, c is a
doris      | alter table t rename column a b                                   | t: a is b
informix   | rename column s.t.a to b                                          | s.t: a is b
synapse    | rename object s.t column a to b                                   | s.t: a is b
synapse    | rename object::t column a to b                                    | t: a is b
tsql       | exec sp_rename 't.a', 'b', 'COLUMN'                               | t: a is b
tsql       | execute sys.sp_rename N'[s].[t].[a b]', N'c', N'column'           | s.t: a b is c
tsql       | exec sp_rename @objtype = 'COLUMN', @newname = 'b', @objname = 's.t.a' | s.t: a is b
databricks | alter table t rename column a.f to b                              |
databricks | alter table t drop column a.f                                     |
hive       | alter table t change a b int                                      | t: a is b
hive       | alter table t replace columns (a int, b int)                      | t: only, + a, + b
athena     | alter table s.t replace columns (a int)                           | s.t: only, + a
oracle     | alter table t set unused (a, b)                                   | T: - A, - B
oracle     | alter table t set unused column a                                 | T: - A
"""


@pytest.mark.parametrize("case", [line for line in COLUMN_NAMES.splitlines() if line])
def test_what_an_alter_does_to_the_names_of_columns(case: str) -> None:
    dialect, text, expected = (part.strip() for part in case.split("|"))
    found = [change for change in analysed(text, dialect).changes if change.kind is StatementKind.ALTER_TABLE]
    changes = []
    for change in found:
        names = [*(["only"] if change.whole else []), *(f"{old} is {new}" for old, new in change.renamed_columns)]
        names += [f"- {name}" for name in change.dropped_columns]
        names += [f"+ {column.name}" for column in change.columns]
        changes.append(f"{change.name.dotted}: {', '.join(names)}".strip())
    assert changes == ([expected] if expected else [])


def test_a_table_that_is_renamed_with_its_columns_has_its_old_name_until_then() -> None:
    columns, table = analysed("alter table t rename column a to b, rename to u", "mysql").changes
    assert (columns.name.dotted, table.name.dotted, table.other and table.other.dotted) == ("t", "t", "u")


@pytest.mark.parametrize("kind", ["DATABASE", "INDEX", "STATISTICS", "USERDATATYPE"])
def test_what_sp_rename_calls_neither_a_table_nor_a_column_changes_no_name(kind: str) -> None:
    assert analysed(f"exec sp_rename 't.a', 'b', '{kind}'", "tsql").changes == ()


@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [
        (
            "tsql",
            "create table t (a int, b nvarchar(max)) on [primary] textimage_on [primary]",
            "a INT, b VARCHAR(MAX)",
        ),
        (
            "tsql",
            "create table t ([a b] [varchar](9), c decimal(9, 2)) with (heap, distribution = hash([a b]))",
            "a b VARCHAR(9), c DECIMAL(9, 2)",
        ),
        (
            "tsql",
            """create table t (a int not null primary key clustered, b xml (document s.x), c datetime2 generated always
               as row start, index i unique (a) where (a > 1), period for system_time (c, d))
               with (system_versioning = on (history_table = dbo.h))""",
            "a INT, b XML, c TIMESTAMP",
        ),
        ("fabric", "create table t (a int masked with (function = 'f')) with (cluster by (a))", "a INT"),
        (
            "oracle",
            "create table t (a number(9) enable, constraint p primary key (a) using index pctfree 9) tablespace x",
            "A DECIMAL(9, 0)",
        ),
        (
            "oracle",
            "create global temporary table t (a timestamp with local time zone) segment creation deferred",
            "A TIMESTAMPTZ",
        ),
        (
            "mysql",
            "create table t (a int unsigned zerofill, g point srid 0, `key` int invisible, key k (a)) x y",
            "a BIGINT, g POINT, key INT",
        ),
        ("mariadb", "create table t (a int, period for p (b, c)) with system versioning", "a INT"),
        ("postgres", "create table t (a int, b int[] generated always as (f(a)) virtual)", "a INT, b ARRAY<INT>"),
        ("snowflake", "create hybrid table t (a int, index i (a)) cluster by linear (a)", "A INT"),
        (
            "hive",
            "create table t (a struct<b:int,c:int> frozen) partitioned by (d date)",
            "a STRUCT<b INT, c INT>, d DATE",
        ),
        ("tsql", "create table t (a int, b varchar(9)) as node", "a INT, b VARCHAR(9)"),
        ("tsql", "create table t (a int) as edge;", "a INT"),
        ("singlestore", "create table t (a vector(4, f32) not null)", "a VECTOR"),
    ],
)
def test_a_table_has_its_columns_whatever_else_is_said_of_it(dialect: str, text: str, expected: str) -> None:
    (change,) = analysed(text, dialect).changes
    assert change.kind is StatementKind.CREATE_TABLE
    assert ", ".join(f"{column.name} {column.type}".strip() for column in change.columns) == expected


@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [
        ("tsql", "alter table t drop column if exists a, column b", ("", "a b", "")),
        ("tsql", "alter table t drop constraint c, column b", ("", "b", "")),
        ("tsql", "alter table t drop c, d", ("", "", "")),
        ("tsql", "alter table t add a datetime2, period for system_time (a, b)", ("a", "", "")),
        ("oracle", "alter table t modify (a not null enable)", ("", "", "")),
        ("oracle", "alter table t drop (a, b) cascade constraints", ("", "A B", "")),
        ("mysql", "alter table t add column g geometry srid 0, add index i (g)", ("g", "", "")),
        ("mariadb", "alter table t change column if exists a b int, modify c int", ("", "", "a>b")),
        ("mariadb", "alter table t add system versioning", ("", "", "")),
        ("postgres", "alter materialized view t rename column a to b", ("", "", "a>b")),
        ("postgres", "alter materialized view t alter column a set statistics 1", ("", "", "")),
        ("postgres", "alter foreign table t add column a text", ("a", "", "")),
        ("snowflake", "alter dynamic table t alter column a set masking policy p", ("", "", "")),
        ("athena", "alter table t change a b string first", ("", "", "a>b")),
        ("clickhouse", "alter table t on cluster 'c' modify column a int codec(x), drop column b", ("", "b", "")),
        ("db2", "alter table t add column a int not null with default activate row access control", ("A", "", "")),
    ],
)
def test_altered_columns_are_told_whatever_else_changes(
    dialect: str, text: str, expected: tuple[str, str, str]
) -> None:
    (change,) = analysed(text, dialect).changes
    renamed = " ".join(f"{old}>{new}" for old, new in change.renamed_columns)
    assert (" ".join(column.name for column in change.columns), " ".join(change.dropped_columns), renamed) == expected


@pytest.mark.parametrize("text", ["alter table t rename to", "alter table t frobnicate a"])
def test_what_a_statement_does_to_its_table_is_not_guessed(text: str) -> None:
    with pytest.raises(Unparsable):
        analysed(text, "tsql")


@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [("tsql", "drop external table s.a", "s.a"), ("tsql", "rename object s.a to b", "s.a")],
)
def test_the_kind_of_table_does_not_matter(dialect: str, text: str, expected: str) -> None:
    (change,) = analysed(text, dialect).changes
    assert change.name.dotted == expected


def test_a_clone_is_a_change_and_a_flow() -> None:
    lineage = analysed("create table n clone s", "snowflake")
    (change,) = lineage.changes
    assert change.kind is StatementKind.CREATE_TABLE_LIKE
    assert change.other is not None
    assert lineage.flows[0].outputs[0].star is not None


@pytest.mark.parametrize(
    "text",
    ["create index i on t (a)", "create sequence s", "create schema s", "drop index i", "grant select on t to u"],
)
def test_what_is_no_relation_changes_nothing(text: str) -> None:
    lineage = analysed(text)
    assert lineage.changes == ()
    assert lineage.flows == ()


@pytest.mark.parametrize("kind", ["table", "foreign table"])
def test_of_a_table_that_inherits_only_the_name_is_known(kind: str) -> None:
    server = " server s" if kind.startswith("foreign") else ""
    (change,) = analysed(f"create {kind} t (a int) inherits (p){server}").changes
    assert (change.kind, change.columns) == (StatementKind.CREATE_TABLE, ())


def test_a_foreign_partition_is_like_its_table() -> None:
    (change,) = analysed("create foreign table t partition of p for values in ('a') server s options (k 'v')").changes
    assert (change.kind, str(change.other)) == (StatementKind.CREATE_TABLE_LIKE, "p")


@pytest.mark.parametrize("what", ["comment 'x'", "drop not null", "type bigint", "after b"])
def test_a_changed_column_keeps_its_name_unless_it_gets_another(what: str) -> None:
    renamed = [change.renamed_columns for change in analysed(f"alter table t change column a {what}", "spark").changes]
    assert renamed in ([()], [])
    (change,) = analysed("alter table t change column a b string comment 'x' first", "spark").changes
    assert change.renamed_columns == (("a", "b"),)


def test_an_option_of_a_virtual_table_is_no_column() -> None:
    (change,) = analysed("create virtual table t using fts5(a, b, content='hidden')", "sqlite").changes
    assert [column.name for column in change.columns] == ["a", "b"]


def test_a_live_table_without_a_query_is_a_table() -> None:
    (change,) = analysed("create or refresh streaming live table t", "databricks").changes
    assert (change.kind, change.name.dotted) == (StatementKind.CREATE_TABLE, "t")


def test_a_graph_s_edges_may_have_no_columns() -> None:
    lineage = analysed("create table t as edge", "tsql")
    assert lineage.flows == ()


@pytest.mark.parametrize(
    ("dialect", "columns"),
    [
        ("clickhouse", "b Int32 ALIAS a + 1, c Int32 MATERIALIZED a * 2, e Int32 EPHEMERAL"),
        ("mysql", "b INT INVISIBLE, c INT GENERATED ALWAYS AS (a * 2) INVISIBLE"),
        ("db2", "b INT IMPLICITLY HIDDEN"),
        ("tsql", "b datetime2 GENERATED ALWAYS AS ROW START HIDDEN NOT NULL"),
    ],
)
def test_a_hidden_column_is_in_no_star_and_has_no_place(dialect: str, columns: str) -> None:
    script = (
        f"create table t (a int, {columns}, hidden int);"
        "insert into t select x, y from s; insert into w select * from t; insert into v select b from t"
    )
    edges = {
        f"{edge.source} {edge.target}".lower()
        for edge in LineageParser(script, dialect=dialect).edges
        if edge.source != edge.target
    }
    assert edges - {"t.a t.c", "t.a t.b"} == {"s.x t.a", "s.y t.hidden", "t.a w.a", "t.hidden w.hidden", "t.b v.b"}


@pytest.mark.parametrize(
    ("dialect", "definition"),
    [
        ("postgres", "b int references hidden (id)"),
        ("postgres", "b int constraint invisible not null"),
        ("mysql", "b int references invisible (id)"),
        ("mysql", "b int comment 'invisible'"),
        ("db2", "b int not hidden"),
        ("clickhouse", "b int default alias + 1"),
        ("clickhouse", "b int default a + alias"),
    ],
)
def test_a_column_is_hidden_by_the_words_of_its_dialect_alone(dialect: str, definition: str) -> None:
    (change,) = analysed(f"create table t (a int, {definition})", dialect).changes
    assert [column.hidden for column in change.columns] == [False, False]


def test_nested_columns_are_arrays_side_by_side() -> None:
    script = (
        "create table t (a Int32, n Nested(x Int32, y Map(String, Int32))) engine = Memory;"
        "insert into t select b, c, d from s; insert into w select n.y as y, a from t; insert into v select * from t"
    )
    edges = {f"{edge.source} {edge.target}" for edge in LineageParser(script, dialect="clickhouse").edges}
    of_star = {"t.a v.a", "t.n.x v.n.x", "t.n.y v.n.y"}
    assert edges == {"s.b t.a", "s.c t.n.x", "s.d t.n.y", "t.n.y w.y", "t.a w.a"} | of_star
