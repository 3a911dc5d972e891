"""What sqlglot does not know of the databases on servers (Db2, MySQL, Oracle, PostgreSQL, T-SQL), and of the
objects of Snowflake and BigQuery, written so that it does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from ingestion.dialects.cursor import Code, Edit
from ingestion.dialects.definition import keywords
from ingestion.dialects.keywords import BEFORE_RELATIONS, NO_VALUE, QUERIES, TABLE_HINTS
from ingestion.dialects.lexing import WORD
from ingestion.parsing.sqlglot.repairs.edits import Repair

_BEHIND_VALUES = keywords(
    "select from where and or group order having union minus intersect into values set on join left right inner , ) ="
)
_MODEL_BEGINS = keywords("partition dimension measures reference main return unique ignore keep")
_BEHIND_TARGET = keywords("select values with overriding set using where when")
_PARTITIONS = keywords("partition subpartition")
_THROUGH_QUERIES = keywords("update insert merge")
_CHECKS = keywords("check read")
_CHANGED_ROWS = "changed_rows"
_PRIORITIZED = keywords("update delete insert replace")
_PRIORITIES = keywords("low_priority high_priority delayed quick ignore")

_TABLE_KINDS = keywords("hybrid dynamic iceberg external event interactive managed transactional")
_CHANGES = "NULL AS METADATA$ACTION, NULL AS METADATA$ISUPDATE, NULL AS METADATA$ROW_ID FROM"
_LISTED_FILES = "RELATIVE_PATH, SIZE, LAST_MODIFIED, MD5, ETAG, FILE_URL"
"""What the directory of a stage tells of each file."""


def _changed_query(code: Code) -> Iterator[Edit]:
    """Oracle, Db2: UPDATE, INSERT INTO and MERGE INTO (SELECT … WITH CHECK OPTION) x (p, q): what an item x stands for.

    No item where the text reads a table of its name besides, which would be read from the query then.
    """
    opening = 1 + code.stands(1, "into")
    if code.word(0) not in _THROUGH_QUERIES or code.word(opening) != "(":
        return
    closing = code.closing(opening)
    alias = closing + 1 + (code.word(closing + 1) == "as")
    named = code.is_name(alias) and code.word(alias) not in _BEHIND_TARGET
    name = code.between(alias, alias + 1) if named else _CHANGED_ROWS
    last = alias if named else closing
    listed = ""
    if named and code.word(0) != "insert" and code.word(last + 1) == "(":
        last = code.closing(last + 1)
        listed = code.between(alias + 1, last + 1)
    if any(code.name(n).lower() == name.lower() and _names_relation(code, n) for n in range(last + 1, len(code))):
        return
    ends = (n for n in code.outside(opening + 1, closing) if code.word(n) == "with" and code.word(n + 1) in _CHECKS)
    query = code.between(opening + 1, next(ends, closing))
    changed = f"WITH {name} {listed} AS ({query}) {code.between(0, opening)} {name}"
    yield code.edit(0, last, changed)
    if code.word(0) == "insert" and named:
        yield from _bare_columns(code, last + 1, code.name(alias))


def _names_relation(code: Code, number: int) -> bool:
    return code.word(number - 1) in BEFORE_RELATIONS and code.word(number + 1) != "."


def _inserted_columns(code: Code) -> Iterator[Edit]:
    """Oracle: INSERT INTO t PARTITION (p) v (v.a, v.b) is INSERT INTO t (a, b), in INSERT ALL as well."""
    for number in code.outside(1) if code.word(0) == "insert" else ():
        alias = code.dotted_name(number + 1)[1]
        if code.word(number) != "into" or alias == number + 1:
            continue
        if code.word(alias) == "@":
            alias = code.dotted_name(alias + 1)[1]
        if code.word(alias) in _PARTITIONS:
            closing = code.closing(alias + 1 + (code.word(alias + 1) == "for"))
            yield code.edit(alias, closing)
            alias = closing + 1
        if code.is_name(alias) and code.word(alias) not in _BEHIND_TARGET and code.word(alias + 1) == "(":
            yield code.edit(alias, alias)
            yield from _bare_columns(code, alias + 1, code.name(alias))


def _nested_table(code: Code) -> Iterator[Edit]:
    """Oracle: THE (SELECT …) is TABLE(SELECT …), as it was once written."""
    for number in range(1, len(code) - 2):
        if code.stands(number, "the", "(", "select"):
            yield code.edit(number, number, "TABLE")


def _bare_columns(code: Code, opening: int, qualifier: str) -> Iterator[Edit]:
    """The columns of a list in brackets without the name of what they are of."""
    for first, until in code.items(opening + 1, code.closing(opening)):
        if until - first == 3 and code.word(first + 1) == "." and code.name(first).lower() == qualifier.lower():
            yield code.edit(first, first + 1)


def _table_hints(code: Code) -> Iterator[Edit]:
    """T-SQL: without the hints behind a table: INSERT INTO t WITH (TABLOCK) …, UPDATE t WITH (ROWLOCK, INDEX = i) …."""
    filled = code.word(0) in ("insert", "with")
    for number in range(2, len(code) - 2):
        if not code.stands(number, "with", "("):
            continue
        closing = code.closing(number + 1)
        indexed = any(code.stands(n, "index", "=") for n in range(number + 2, closing))
        if indexed or (filled and code.word(number + 2) in TABLE_HINTS):
            yield code.edit(number, closing)


def _xml_namespaces(code: Code) -> Iterator[Edit]:
    """T-SQL: WITH XMLNAMESPACES (…), c AS (…) …: what short names in XML stand for."""
    for number in range(len(code) - 2):
        if code.stands(number, "with", "xmlnamespaces", "("):
            last = code.closing(number + 2)
            others = code.stands(last + 1, ",")
            yield code.edit(number + others, last + others)


def _system_functions(code: Code) -> Iterator[Edit]:
    """T-SQL: FROM ::fn_x(…), as functions of the system were once called."""
    for number in range(1, len(code) - 1):
        if code.stands(number, ":", ":") and code.word(number - 1) in BEFORE_RELATIONS:
            yield code.edit(number, number + 1)


def _top_rows(code: Code) -> Iterator[Edit]:
    """T-SQL: without how many rows are changed: DELETE TOP (n) [PERCENT] …; a query in it stays, as that of a LIMIT."""
    for number in range(len(code) - 4):
        if code.word(number) not in ("update", "delete", "merge", "insert"):
            continue
        if code.stands(number + 1, "top", "("):
            last = code.closing(number + 2)
            percent = last + 1 < len(code) and code.word(last + 1) == "percent"
            yield code.edit(number + 1, last + 1 if percent else last)
            if number == 0 and code.word(0) in ("update", "delete") and "select" in code.words(3, 2):
                end = next((n for n in code.outside(last + 1) if code.word(n) in ("option", ";")), len(code))
                yield code.end_of(end - 1), code.end_of(end - 1), f" LIMIT ({code.between(3, last)})"


def _log_errors(code: Code) -> Iterator[Edit]:
    """Oracle: without where rows go that are refused: LOG ERRORS INTO … REJECT LIMIT … ends a statement."""
    for number in range(2, len(code) - 1):
        if code.stands(number, "log", "errors"):
            yield code.edit(number, len(code) - 1)
            return


def _oracle_merge(code: Code) -> Iterator[Edit]:
    """WHEN MATCHED THEN UPDATE … DELETE WHERE c: of the rows that were changed, those go where c holds then."""
    if code.word(0) not in ("merge", "with"):
        return
    for number in range(3, len(code) - 1):
        if not code.stands(number, "delete", "where"):
            continue
        later = (n for n in range(number, len(code)) if code.word(n) in ("when", ";"))
        last = next(later, len(code)) - 1
        yield code.edit(number, last, f" WHEN MATCHED AND ({code.between(number + 2, last + 1)}) THEN DELETE ")


def _rows_of_files(code: Code) -> Iterator[Edit]:
    """Oracle: FROM INMEMORY EXTERNAL t: what is read is t, where INMEMORY would be a table."""
    for number in range(1, len(code) - 2):
        if code.stands(number, "inmemory", "external") and code.word(number - 1) in BEFORE_RELATIONS:
            yield code.edit(number, number + 1)


def _joined_lines(code: Code) -> Iterator[Edit]:
    """SQL*Plus: `a, -` at a line's end goes on in the next line; where it may be a minus as well, it is one."""
    for number in range(1, len(code) - 1):
        at_end = code.word(number) == "-" and "\n" in code.text[code.end_of(number) : code.start_of(number + 1)]
        if at_end and (code.word(number - 1) in NO_VALUE or code.word(number + 1) in _BEHIND_VALUES):
            yield code.edit(number, number)


def _modelled_rows(code: Code) -> Iterator[Edit]:
    """Oracle: FROM t MODEL PARTITION BY (a x) DIMENSION BY (b y) MEASURES (c z) RULES (…) as a query of x, y and z.

    A rule lets the measures that it reads into the one that it sets: z of `z[1] = w[1]` is made of both.
    """
    for number in range(1, len(code)):
        if code.word(number) != "model" or code.word(number + 1) not in _MODEL_BEGINS:
            continue
        from_ = max((n for n in range(number) if code.word(n) == "from" and number in code.outside(n)), default=None)
        lists = _model_lists(code, number)
        if from_ is None or "measures" not in lists:
            continue
        rules = _end_of_rules(code, lists["measures"][-1][1] + 1)
        columns = [code.between(*item) for key in ("partition", "dimension") for item in lists.get(key, ())]
        columns += _measures(code, lists, range(lists["measures"][-1][1], rules))
        yield code.start_of(from_), code.start_of(from_), f" FROM (SELECT {', '.join(columns)} "
        yield code.edit(number, rules, ")")


_ModelLists: TypeAlias = dict[str, list[tuple[int, int]]]
"""The items of a model's lists: `partition`, `dimension` and `measures`, of its references `referred` to queries."""


def _model_lists(code: Code, model: int) -> _ModelLists:
    found: _ModelLists = {}
    query: tuple[int, int] | None = None
    for number in code.outside(model + 1):
        word = code.word(number)
        opening = number + 1 + (code.word(number + 1) == "by")
        if word == "main":
            query = None
        elif word == "on" and code.word(number + 1) == "(":
            query = (number + 1, code.closing(number + 1) + 1)
        elif word in ("partition", "dimension", "measures") and code.word(opening) == "(":
            items = list(code.items(opening + 1, code.closing(opening)))
            if query is None:
                found[word] = items
            elif word == "measures":
                found.setdefault("referred", []).extend(each for item in items for each in (item, query))
        if "measures" in found:
            break
    return found


def _measures(code: Code, lists: _ModelLists, rules: range) -> Iterator[str]:
    """Each measure with its name, made of itself and of what the rules read for it."""
    own = {
        code.name(last - 1): code.between(first, _end_of_value(code, first, last)) for first, last in lists["measures"]
    }
    made = dict(own)
    referred = lists.get("referred", [])
    for (first, last), query in zip(referred[::2], referred[1::2], strict=True):
        value = code.between(first, _end_of_value(code, first, last))
        made[code.name(last - 1)] = f"(SELECT {value} FROM {code.between(*query)})"
    reads: dict[str, set[str]] = {name: {name} for name in own}
    target = ""
    for number in rules:
        name = code.name(number) if code.word(number + 1) == "[" else ""
        if name in made and code.word(number - 1) in ("(", ",") and name in own and _is_set(code, number + 1):
            target = name
        elif name in made and target:
            reads[target].add(name)
    for _ in own:
        reads = {name: {far for near in found for far in reads.get(near, {near})} for name, found in reads.items()}
    for name, found in reads.items():
        values = [made[each] for each in sorted(found)]
        value = values[0] if len(values) == 1 else f"GREATEST({', '.join(values)})"
        yield f"{value} AS {name}"


def _end_of_value(code: Code, first: int, last: int) -> int:
    """Where the value of `sales AS s`, `sales s` or `s` ends."""
    if last - first < 2 or code.word(last - 2) == ".":
        return last
    return last - 1 - (code.word(last - 2) == "as")


def _is_set(code: Code, opening: int) -> bool:
    """Whether an equals sign stands behind the square brackets of a cell."""
    depth = 0
    for number in range(opening, len(code)):
        depth += (code.word(number) == "[") - (code.word(number) == "]")
        if depth == 0:
            return code.word(number + 1) == "="
    return False


def _end_of_rules(code: Code, number: int) -> int:
    """The last token of a model: the bracket that closes its rules."""
    while number < len(code) and code.word(number) != "(":
        number += 1 + (code.word(number) == "iterate") * (code.closing(number + 1) - number)
    while code.word(number) == "(" and code.word(code.closing(number) + 1) == "(":
        number = code.closing(number) + 1
    return min(code.closing(number), len(code) - 1)


def _translated_charset(code: Code) -> Iterator[Edit]:
    """Oracle: a change of the character set as the call that does the same: TRANSLATE(x USING NCHAR_CS)."""
    for number in range(len(code) - 4):
        if code.stands(number, "translate", "("):
            last = code.closing(number + 1)
            for charset, function in (("nchar_cs", "TO_NCHAR"), ("char_cs", "TO_CHAR")):
                if code.stands(last - 2, "using", charset):
                    yield code.edit(number, number, function)
                    yield code.edit(last - 2, last - 1)


def _bulk_rows(code: Code) -> Iterator[Edit]:
    """T-SQL: OPENROWSET(BULK 'path', …) WITH (columns) reads a file: a function of the path."""
    for number in range(len(code) - 3):
        if code.stands(number, "openrowset", "(", "bulk"):
            yield code.edit(number, number + 2, "BULK_ROWS(")
            last = code.closing(number + 1)
            if code.stands(last + 1, "with", "("):
                yield code.edit(last + 1, code.closing(last + 2))


def _document_rows(code: Code) -> Iterator[Edit]:
    """T-SQL: OPENXML(@document, 'path') WITH (columns), or WITH t, whose columns it has: a function that gives rows."""
    for number in range(len(code) - 3):
        last = code.closing(number + 1)
        if code.stands(number, "openxml", "(") and code.stands(last + 1, "with"):
            listed = code.word(last + 2) == "("
            end = code.closing(last + 2) if listed else code.dotted_name(last + 2)[1] - 1
            yield code.edit(last + 1, end)


def _connection(code: Code) -> Iterator[Edit]:
    """T-SQL: OPENROWSET('provider', 'place'; 'user'; 'password', query): arguments like any other."""
    for number in range(len(code) - 3):
        if code.stands(number, "openrowset", "("):
            inner = range(number + 2, code.closing(number + 1))
            yield from (code.edit(n, n, ",") for n in inner if code.word(n) == ";")


def _unnamed_servers(code: Code) -> Iterator[Edit]:
    """T-SQL: OPENDATASOURCE('provider', 'connection').d.s.t (a), a relation of a server without a name.

    It is the function alone: what its name would begin with nobody knows.
    """
    for number in range(len(code) - 2):
        if not code.stands(number, "opendatasource", "("):
            continue
        first = last = code.closing(number + 1) + 1
        while code.word(last) == "." or (code.word(last - 1) == "." and code.is_name(last)):
            last += 1
        filled = code.word(number - 1) in ("into", "insert")
        if filled and code.word(last) == "(" and code.word(last + 1) not in QUERIES:
            last = code.closing(last) + 1
        if last > first:
            yield code.edit(first, last - 1)


def _incoming_values(code: Code) -> Iterator[Edit]:
    """MariaDB: ON DUPLICATE KEY UPDATE a = VALUE(b): VALUES(b), by its newer name."""
    first = next((n for n in code.outside(1) if code.stands(n, "duplicate", "key", "update")), len(code))
    for number in range(first, len(code) - 3):
        if code.stands(number, "value", "("):
            yield code.edit(number, number, "VALUES")


def _mysql(code: Code) -> Iterator[Edit]:
    """MySQL: without how urgent a change is, the star behind a table, and which part of a period is changed.

    UPDATE LOW_PRIORITY t …, DELETE t.* FROM …, DELETE FROM t FOR PORTION OF p FROM a TO b ….
    """
    if code.word(0) not in _PRIORITIZED:
        return
    first = 1
    while first < len(code) and code.word(first) in _PRIORITIES:
        yield code.edit(first, first)
        first += 1
    if code.word(0) == "delete":
        ends = (n for n in range(first, len(code)) if code.word(n) in ("join", "using", "where"))
        for number in range(first, next(ends, len(code)) - 1):
            if code.word(number) == "." and code.word(number + 1) == "*":
                yield code.edit(number, number + 1)
    for number in range(first, len(code) - 7):
        if code.stands(number, "for", "portion", "of") and code.stands(number + 6, "to"):
            yield code.edit(number, number + 7)


def _transact(code: Code) -> Iterator[Edit]:
    """T-SQL: one FROM where a DELETE has two, and no hints behind it: DELETE FROM t FROM t AS a JOIN … OPTION (…)."""
    if code.word(0) not in ("delete", "update", "insert", "merge", "with"):
        return
    froms = [n for n in code.outside(1) if code.word(n) == "from"]
    if code.stands(0, "delete") and len(froms) > 1:
        yield code.edit(froms[0], froms[0])
    for number in code.outside(1):
        if code.stands(number, "option", "("):
            yield code.edit(number, code.closing(number + 1))


def _returned_into(code: Code) -> Iterator[Edit]:
    """Oracle: RETURNING … INTO variables ends a statement; the rows change all the same."""
    for number in code.outside(1):
        if code.word(number) in ("returning", "return") and code.word(0) != "create":
            yield code.edit(number, len(code) - 1)
            return


def _graph_table(code: Code) -> Iterator[Edit]:
    """T-SQL: without what a graph takes a table for: CREATE TABLE t (…) AS NODE."""
    if not code.stands(0, "create", "table"):
        return
    last = len(code) - 1 - (code.word(len(code) - 1) == ";")
    if code.stands(last - 1, "as", "node") or code.stands(last - 1, "as", "edge"):
        yield code.edit(last - 1, last)


def _numbered_names(code: Code) -> Iterator[Edit]:
    """T-SQL: in brackets the name of a temporary table whose number sqlglot would read for itself: #1, ##2024_load."""
    for number, token in enumerate(code.tokens):
        if token.kind == WORD and token.text[0] == "#" and token.text.lstrip("#")[:1].isdigit():
            yield code.edit(number, number, f"[{token.text}]")


def _static_members(code: Code) -> Iterator[Edit]:
    """T-SQL: d.type::[Null], a static property, as a method: where it is called like a type, d would be a column."""
    for number in range(2, len(code)):
        if code.stands(number - 2, ":", ":") and code.is_name(number) and code.word(number + 1) != "(":
            yield code.edit(number, number, f"[{code.without_quotes(number)}]()")


_TRANSACT = (
    _numbered_names,
    _static_members,
    _xml_namespaces,
    _system_functions,
    _table_hints,
    _top_rows,
    _bulk_rows,
    _document_rows,
    _connection,
    _unnamed_servers,
    _transact,
    _graph_table,
)
SERVER_REPAIRS: dict[str, tuple[Repair, ...]] = {
    "db2": (_changed_query,),
    "fabric": _TRANSACT,
    "mariadb": (_mysql, _incoming_values),
    "mysql": (_mysql,),
    "oracle": (
        _changed_query,
        _inserted_columns,
        _nested_table,
        _rows_of_files,
        _joined_lines,
        _modelled_rows,
        _oracle_merge,
        _log_errors,
        _returned_into,
        _translated_charset,
    ),
    "tsql": _TRANSACT,
}


# Objects that sqlglot does not know of a dialect, written as those that it does: the lineage is the same.


def end_of_name(code: Code, first: int) -> int:
    """The position of the last token of the dotted name that begins at `first`."""
    last = first
    while last + 2 < len(code) and (code.word(last + 1) == "." or _is_dash_of_name(code, last + 1)):
        last += 2
    return last


def _is_dash_of_name(code: Code, number: int) -> bool:
    """BigQuery: whether a dash stands within project-1.dataset.t; with a space at either side it is a minus."""
    touches = code.end_of(number - 1) == code.start_of(number) and code.end_of(number) == code.start_of(number + 1)
    return code.dialect.dashed_names and code.word(number) == "-" and touches


def streams(code: Code) -> Iterator[Edit]:
    """Snowflake: CREATE STREAM s ON TABLE t is a view of t's rows, with three columns that say how they changed."""
    if code.stands(0, "drop", "stream"):
        yield code.edit(1, 1, "VIEW")
        return
    index = next((n for n in range(5) if code.word(n) == "stream"), None)
    if index is None or not code.stands(0, "create"):
        return
    optional = code.stands(index + 1, "if", "not", "exists")
    first = index + (4 if optional else 1)
    last = _end_of_relation(code, first)
    for number in code.outside(last + 1):
        word = code.word(number)
        if word not in ("on", "clone") or number + 1 >= len(code):
            continue
        of = number + 1
        stage = code.stands(of, "stage")
        if word == "on":
            of += 1 + (code.word(of) in _TABLE_KINDS)
        source = code.between(of, _end_of_relation(code, of) + 1)
        source = f"@{source}" if stage else source
        if code.stands(of - 1, "directory", "("):  # the list of a stage's files
            source = code.text[code.end_of(of) : code.start_of(code.closing(of))]
        rows = f"{_LISTED_FILES if source.startswith('@') else '*'}, {_CHANGES} {source}"
        what = f"SELECT * FROM {source}" if word == "clone" else f"SELECT {rows}"
        before = " ".join(token.text for token in code.tokens[:index])
        name = _named_by_text(code, first) or code.between(first, last + 1)
        kind = "VIEW IF NOT EXISTS" if optional else "VIEW"
        yield 0, code.end_of(len(code) - 1), f"{before} {kind} {name} AS {what}"
        return


def _named_by_text(code: Code, first: int) -> str:
    """The name that IDENTIFIER('a.s') has, "" of any other: a text with a template in it is none."""
    text = code.without_quotes(first + 2) if code.stands(first, "identifier", "(") and code.is_string(first + 2) else ""
    return text if text.replace(".", "").replace("$", "").isidentifier() else ""


def _end_of_relation(code: Code, first: int) -> int:
    """The last token of a name, or of IDENTIFIER(…), which stands for one."""
    return code.closing(first + 1) if code.stands(first, "identifier", "(") else end_of_name(code, first)


def table_kinds(code: Code) -> Iterator[Edit]:
    """Snowflake: CREATE HYBRID TABLE, ALTER DYNAMIC TABLE; Hive: MANAGED TABLE: tables as far as lineage cares."""
    if not code.stands(0, "create") and not code.stands(0, "alter"):
        return
    for number in range(1, min(len(code) - 1, 5)):
        if code.word(number) in _TABLE_KINDS and code.stands(number + 1, "table"):
            yield code.edit(number, number)
            return


def linear_clusters(code: Code) -> Iterator[Edit]:
    """Snowflake: clustering keys without the word that sqlglot does not know: CLUSTER BY LINEAR (…)."""
    for number in range(len(code) - 3):
        if code.stands(number, "cluster", "by", "linear", "("):
            yield code.edit(number + 2, number + 2)


def file_formats(code: Code) -> Iterator[Edit]:
    """Snowflake: without a format named outside brackets, which sqlglot wants: COPY … FILE_FORMAT = schema.name."""
    if not code.stands(0, "copy"):
        return
    for number in range(len(code) - 2):
        if code.stands(number, "file_format", "=") and code.word(number + 2) not in ("(", ">"):
            yield code.edit(number, end_of_name(code, number + 2))


_COPYING = keywords("clone copy")


def snapshots(code: Code) -> Iterator[Edit]:
    """BigQuery: CREATE SNAPSHOT TABLE s CLONE t FOR SYSTEM_TIME AS OF … OPTIONS (…), as a clone."""
    index = next((n for n in range(4) if code.word(n) == "snapshot"), None)
    if index is None or not code.stands(0, "create") or not code.stands(index + 1, "table"):
        return
    yield code.edit(index, index)
    clone = next((n for n in code.outside(index) if code.word(n) == "clone"), None)
    if clone is not None and clone + 1 < len(code):
        last = end_of_name(code, clone + 1)
        if last + 1 < len(code):
            yield code.edit(last + 1, len(code) - 1)


def copied_table(code: Code) -> Iterator[Edit]:
    """BigQuery: CREATE TABLE n CLONE t FOR SYSTEM_TIME AS OF … OPTIONS (…), and COPY, with the names alone."""
    kind = next((n for n in range(1, 4) if code.stands(n, "table")), None)
    if kind is None or not code.stands(0, "create"):
        return
    named = kind + 4 if code.stands(kind + 1, "if", "not", "exists") else kind + 1
    copied = end_of_name(code, named) + 1
    if code.word(copied) in _COPYING and copied + 1 < len(code):
        last = end_of_name(code, copied + 1)
        if last + 1 < len(code):
            yield code.edit(last + 1, len(code) - 1)


def replicas(code: Code) -> Iterator[Edit]:
    """BigQuery: a replica as a view of all of its table: CREATE MATERIALIZED VIEW v AS REPLICA OF t."""
    if not code.stands(0, "create"):
        return
    for number in code.outside(1):
        if code.stands(number, "replica", "of") and number + 2 < len(code):
            yield code.edit(number, number + 1, "SELECT * FROM")
            return
