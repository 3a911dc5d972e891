"""What there is to say about a dialect: quotes, comments, separators, case; the vocabulary of the table."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Fold(StrEnum):
    """What becomes of an identifier's case; a system that ignores case has lower case as its normal form."""

    LOWER = "lower"
    UPPER = "upper"
    KEEP = "keep"


class DollarQuotes(StrEnum):
    """Whether `$$text$$` is a string, and whether the dollars may carry a tag (`$body$text$body$`)."""

    NONE = "none"
    PLAIN = "plain"
    TAGGED = "tagged"


class Separator(StrEnum):
    """What ends a statement beside the semicolon."""

    NONE = "none"
    GO = "GO"  # a line of its own, T-SQL
    SLASH = "/"  # a line of its own, Oracle
    AT = "@"  # at the end of a line, as Db2's scripts with routines have it
    CELL = "-- COMMAND"  # a line of its own, between the cells of a Databricks notebook
    DELIMITER = "DELIMITER"  # the mysql client's command that changes the semicolon itself


class Arrow(StrEnum):
    """What `d -> x` is among the arguments of a function: elsewhere it can only be an access."""

    LAMBDA = "lambda"  # d is a parameter
    ACCESS = "access"  # d is a column of JSON, and x says which part of it
    BY_FUNCTION = "by function"  # a lambda where the function takes one, as DuckDB's binder decides
    BY_OPERAND = "by operand"  # so too, and in functions that are not known an access where x is constant


class LaterItems(StrEnum):
    """Whether an item of WITH reads the ones behind it; where not, their names are tables' to it."""

    UNSEEN = "unseen"
    RECURSIVE = "recursive"  # behind the word RECURSIVE
    SEEN = "seen"


class MergedColumns(StrEnum):
    """Where in `*` the columns stand that USING and NATURAL make one."""

    FIRST = "first"  # in the order of USING, of the left side in a NATURAL join: the standard
    AMONG_LEFT = "among left"  # where the left side has them
    AS_KEPT_SIDE = "as kept side"  # first, in the order of the side whose rows are kept, which comes before the other


@dataclass(frozen=True, slots=True)
class CaseRule:
    """How names fold, bare and in quotes."""

    bare: Fold
    quoted: Fold


DUAL = (("dual", "dummy"), ("sys.dual", "dummy"))

POSTGRES_CASE = CaseRule(Fold.LOWER, Fold.KEEP)
ORACLE_CASE = CaseRule(Fold.UPPER, Fold.KEEP)
IGNORED_CASE = CaseRule(Fold.LOWER, Fold.LOWER)
KEPT_CASE = CaseRule(Fold.KEEP, Fold.KEEP)


@dataclass(frozen=True, slots=True)
class Dialect:
    """One SQL dialect. `sqlglot` is "" for its default dialect; `sqlfluff` is None where it has nothing near.

    `name_quotes` and `string_quotes` hold the opening characters; "[" closes with "]". `relations` folds the
    names of databases, schemas and tables, `columns` those of columns. `default_schema` is "" where a session
    has none until it picks one.
    """

    name: str
    sqlglot: str
    sqlfluff: str | None
    relations: CaseRule
    columns: CaseRule
    name_quotes: str = '"'
    string_quotes: str = "'"
    backslash_escapes: bool = False
    prefixed_escapes: bool = False  # E'...' takes backslashes where '...' does not
    raw_strings: bool = False  # r'...', whose backslashes are plain text
    raw_keeps_quotes: bool = False  # ... although \' still does not end it
    triple_quotes: bool = False
    q_quotes: bool = False  # q'[...]'
    dollar_quotes: DollarQuotes = DollarQuotes.NONE
    hash_comments: bool = False
    slash_comments: bool = False
    nested_comments: bool = False
    brace_comments: bool = False  # {comment}
    dashes_need_space: bool = False  # a--b is a minus minus b
    name_characters: str = "$"  # beside letters, digits and the underscore
    dollar_names: bool = False  # $x may be a name
    dollar_values: bool = False  # $x is a variable, a bound value or a column that the engine adds
    remote_names: bool = False  # t@server is a table of another server
    databases_before_colons: bool = False  # d:own.t is a table of another database
    at_operator: bool = False  # @ x is the absolute value of x
    stage_names: bool = False  # @stage/path
    identifier_clause: bool = False  # IDENTIFIER(:x) is a name
    table_variables: bool = False  # @t is a table of one batch
    number_suffixes: str = ""  # 10L, 1.5BD: a pattern of what may end a number
    radix_prefixes: str = "xX"  # of 0xFF; 0b101 is a name where names may begin with digits
    dollar_amounts: bool = False  # $12.50 is a number
    loose_double_quotes: bool = False  # "text" is a name, or a string where a setting or a missing name makes it one
    compared_quotes: bool = False  # ... and a string behind an = or in a list, where names of columns are qualified
    separator: Separator = Separator.NONE
    sqlplus_commands: bool = False  # scripts hold lines for the client: SET ECHO ON, PROMPT x, @file
    dashed_names: bool = False  # project-1.dataset.t, without quotes
    names_with_braces: bool = True  # "a{b}" may be a name
    dotted_quotes: bool = False  # `project.dataset.t` in one pair of quotes is three names

    # Literals
    bare_arguments: bool = False  # EXEC p word: a string without quotes
    unquoted_settings: bool = False  # SET name=anything up to the end
    inline_data: bool = False  # INSERT INTO t FORMAT csv, followed by the data
    strings_in_from: bool = False  # FROM 'a.csv', 'b.csv'
    explains_by_running: bool = False  # EXPLAIN ANALYZE INSERT …, MariaDB's ANALYZE INSERT … write

    # Sessions
    default_schema: str = ""
    two_level: bool = False  # no schemas below databases: a session's database is OpenMetadata's schema
    use_names_database: bool = False  # USE x is a database, not a schema
    creating_picks: bool = False  # CREATE SCHEMA s, or CREATE DATABASE d, is a USE of it too
    set_makes_variables: bool = False  # SET database = 1 is a variable of the user's
    session_variables: str = ""  # what tells a variable of the session: @v, $v, getvariable('v')
    search_path_in_string: bool = False  # SET search_path = 'a,b'

    # Scripts and routines
    client_commands: frozenset[str] = frozenset()  # what a line for the client begins with
    client_variables: bool = False  # $(name) and <name, type, default>, filled in by the client
    declare_opens_block: bool = False
    declare_opens_script: bool = False  # DECLARE begins a script, to whose end its variables may stand for columns
    control_opens_block: bool = False  # IF, WHILE, LOOP, FOR, REPEAT outside a routine
    declarations_after_is: bool = False  # PROCEDURE p IS a INT; BEGIN ...
    declare_section: bool = False  # DECLARE a INT; b INT; BEGIN: one word for all of them
    index_shift: int = 0  # of what sqlglot takes for the number, from 0, of a[1]: less than it in this dialect
    command_procedure: str = ""  # the procedure that runs a command of the client's: CALL admin_cmd('LOAD …')
    execute_runs_text: bool = False  # EXECUTE x runs the text in x, and never a routine x
    text_has_own_session: bool = False  # what a text that is run picks by USE is over with that text
    bare_calls: bool = False  # p(1); calls p
    goes_on_after_errors: bool = False  # most errors end their statement, and not those behind it in the text
    untyped_parameters: bool = False  # CREATE FUNCTION f(a) AS a + 1
    expression_macros: bool = False  # CREATE TEMPORARY MACRO f (a INT) a + 1
    parameter_mark: str = ":"  # before a value that is given later: SELECT :a; `a: 1` is an alias in some
    marked_variables: bool = False  # SELECT :x in a body; without the colon the name is a column's

    # Definitions
    connector_tables: bool = False  # CREATE TABLE t (...) WITH ('connector' = 'kafka', ...) names what is elsewhere
    table_streams: bool = False  # CREATE STREAM s ON TABLE t
    dictionaries: bool = False  # CREATE DICTIONARY d (...) SOURCE(...)
    sinks: bool = False  # CREATE SINK s FROM v
    create_as_copies: bool = False  # CREATE TABLE n AS s takes the columns of s
    defaults_read_columns: bool = False  # CREATE TABLE t (a INT, b INT DEFAULT (a + 1))
    create_as_by_name: bool = False  # CREATE TABLE t (a INT) SELECT b, a FROM s: a meets a, and b comes after
    views_by_name: bool = False  # CREATE VIEW v (a, b) AS SELECT y AS b, x AS a: a meets a
    select_into_creates: bool = False  # SELECT ... INTO t makes a table; elsewhere it fills variables
    listed_keys: bool = False  # CREATE TABLE t (a INT, KEY k (a))
    listed_indexes: bool = False  # CREATE TABLE t (a INT, INDEX i (a))
    renames_at_once: bool = False  # RENAME COLUMN a TO b, RENAME COLUMN b TO a exchanges them
    drop_needs_column: bool = False  # ALTER TABLE t DROP x is a constraint
    change_keeps_names: bool = False  # ALTER TABLE t CHANGE a COMMENT 'x'
    modify_names_columns: bool = False  # ALTER TABLE t MODIFY a mood: the word COLUMN cannot stand there
    alter_moves_partitions: bool = False  # ALTER TABLE t REPLACE PARTITION p FROM s
    exchange_swaps: bool = False  # EXCHANGE PARTITION p WITH TABLE s: the rows of s come, those of p go
    fewer_values: bool = False  # INSERT INTO t SELECT a: the columns behind the first have their defaults
    metric_views: bool = False  # CREATE VIEW v WITH METRICS LANGUAGE YAML AS $$…$$
    views_follow_names: bool = False  # a view goes on reading what was renamed under it
    named_partitions: bool = False  # INSERT INTO t PARTITION (p, q) names parts of t, and no columns

    # Writes
    output_clause: bool = False  # DELETE FROM t OUTPUT deleted.a INTO u
    set_names_relations: bool = False  # UPDATE t JOIN u … SET u.a = t.b; elsewhere SET names columns of the one target
    assigns_in_order: bool = False  # UPDATE t SET a = b, c = a: c has what a has by then
    writes_through_with: bool = False  # WITH c AS (SELECT a FROM t) UPDATE c, DELETE FROM c: c stands for t
    merge_star_by_position: bool = False  # WHEN NOT MATCHED THEN INSERT *: by position, not by name
    copy_by_name: bool = False  # COPY INTO t FROM (SELECT b, a ...): a meets a unless BY POSITION says otherwise
    linked_servers: bool = False  # OPENQUERY(server, 'SELECT ...'), OPENROWSET(...)

    # Queries
    later_items: LaterItems = LaterItems.UNSEEN
    recursion_without_keyword: bool = False  # WITH c AS (... FROM c) reads itself, not a table c
    recurring_items: bool = False  # WITH RECURSIVE c AS (... FROM recurring.c)
    aliases_everywhere: bool = False  # SELECT f(a AS b), b: an alias goes before a column, wherever it stands
    bare_variables: bool = False  # SELECT v: without a relation it is a variable of the session
    left_side_first: bool = False  # SELECT a FROM t JOIN u: where both have an a it is t's, and no error
    lateral_aliases: bool = False  # SELECT a AS b, b + 1
    outputs_named_alias: bool = False  # SELECT a AS b, alias.b + 1 ... WHERE alias.b > 1
    whole_rows: bool = False  # SELECT t FROM t
    rows_before_columns: bool = False  # the same where t has a column t
    versions_in_names: bool = False  # FROM t@v5, FROM t@20240101000000000
    joins_before_commas: bool = False  # FROM a, b JOIN c USING (k): k is one of b and c alone
    lateral_unsaid: bool = False  # FROM t, (SELECT t.a + 1 AS b): a query sees what stands before it
    arrays_in_from: bool = False  # FROM t, t.xs AS x: a row for each element of the array t.xs
    dotted_columns: bool = False  # a column may be called n.x, as one of Nested is, or u.a of SELECT t.a, u.a
    struct_access: bool = True  # a.b is the field b of a column a where no relation is a
    columns_skip_schema: bool = False  # SELECT db1.t.a FROM db1.main.t
    fields_unnested: bool = False  # UNNEST(a): the fields of an array's structs are columns
    merged_columns: MergedColumns = MergedColumns.FIRST
    own_star_merged_first: bool = False  # SELECT t.* FROM t JOIN u USING (k): k comes first, wherever t has it
    own_star_without_merged: bool = False  # ... and t.* is without k, which is of neither
    first_merged: bool = False  # FROM t, u JOIN v USING (k): of several k on the left side it is the first
    matched_rows_first: bool = False  # MATCH_RECOGNIZE (… ALL ROWS PER MATCH …): all columns, and then the measures
    semi_joins_give_both: bool = False  # SELECT * FROM s SEMI JOIN u ON s.k = u.k: u's columns as well
    semi_joins_merge: bool = False  # s LEFT SEMI JOIN u USING (k): k comes first though u gives nothing
    output_names_in_where: bool = False  # SELECT a AS b ... WHERE b
    output_names_in_group_by: bool = True
    output_names_in_order_by: bool = False  # SELECT -a AS b, b AS c … ORDER BY b + 1: an output before a column
    output_names_in_having: bool = True
    automatic_grouping: bool = False  # GROUP BY AUTO
    pivot_names_are_bare: bool = False  # PIVOT (SUM(a) FOR b IN (1, -2)): _1, minus_2; elsewhere 1, -2
    unpivot_value_first: bool = False  # UNPIVOT (v FOR k IN (a, b)): v, k; elsewhere k, v
    described_relations: bool = False  # FROM (DESCRIBE t)
    columns_function: bool = False  # COLUMNS('a.*')
    patterns_in_quotes: bool = False  # SELECT `a.*`: the columns whose names the pattern finds
    unnested_by_type: bool = False  # UNNEST(a): so many columns as an array's rows have fields, two of a map
    structs_unnested: bool = False  # SELECT UNNEST(s): a column for each field of a struct s
    windows_over_relations: bool = False  # FROM TUMBLE(t, ts, ...): the rows of t, with window_start and window_end
    row_generators: bool = False  # SELECT EXPLODE(m): columns that the function names
    range_column: str = ""  # the column of the table function RANGE
    collection_column: str = ""  # the column of a collection of plain values
    values_column: str = "col{}"  # the columns of VALUES (1, 2) AS v
    values_column_first: int = 1
    values_of_rows: bool = False  # VALUES ROW(1, 2): two columns

    # Expressions
    named_as_written: bool = False  # SELECT argMax(v, ts): a column "argMax(v, ts)"
    operators_in_parentheses: bool = False  # SELECT a+b: a column "(a + b)"
    repeated_names_numbered: bool = False  # CREATE TABLE o AS SELECT a, b AS a: columns a and a_1
    named_by_function: bool = False  # SELECT upper(a): a column "upper"
    casts_keep_names: bool = False  # SELECT CAST(a AS STRING): a column "a"
    numbered_item: str = ""  # SELECT *, a + 1: its name by its place in the list, from 0, which other queries know
    numbered_output: str = ""  # SELECT a + 1: its name by its position, from 0
    unnamed_numbered_alone: bool = False  # ... among those that have none
    fields_of_values_unnamed: bool = False  # SELECT f(a).b, ROW(a).*: columns without names, where a.b has one
    list_aggregate: str = "string_agg"  # what GROUP_CONCAT is called
    assigned_names: bool = False  # SELECT 'x' = a: a column "x"
    text_addition: bool = False  # a + b joins texts, so that its sides have an order
    statement_chains: bool = False  # SELECT … ->> INSERT … FROM $1
    keyed_braces: bool = False  # {'k': a} is an object
    bare_date_parts: bool = False  # DATE_TRUNC(a, MONTH); elsewhere the part is a string
    sequence_values: bool = False  # seq.NEXTVAL
    one_row_tables: tuple[tuple[str, str], ...] = ()  # FROM dual: tables of one row and no data, with their column
    parameters_by_equals: bool = False  # FROM f(x = 1): x is a parameter of f
    views_with_parameters: bool = False  # FROM v(x = 1)
    extremes_pick_rows: bool = False  # SELECT a, MAX(b) FROM t: a is that of the row with the most b
    relations_behind_in: bool = False  # a IN t: what t holds
    arrays_behind_in: bool = False  # ... unless t is a column or an alias
    relations_in_functions: bool = False  # dictGet('d', ...), cluster('c', db, t)
    arrow: Arrow = Arrow.LAMBDA

    @property
    def keeps_case(self) -> bool:
        """Whether names that differ in their letters' case are different names, without quotes too."""
        return self.relations.bare is Fold.KEEP

    @property
    def quotes_keep_case(self) -> bool:
        """Whether quotes keep a case that names without quotes lose: elsewhere there is one spelling, or all count."""
        return self.relations.quoted is Fold.KEEP and not self.keeps_case

    @property
    def double_quotes_are_strings(self) -> bool:
        return '"' in self.string_quotes


def keywords(spaced: str) -> frozenset[str]:
    """The lower-case words of a text as a set."""
    return frozenset(spaced.split())
