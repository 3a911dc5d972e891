"""The first tier: sqlglot's tree of a statement to relational form, and what it says of a text that it refuses."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from sqlglot import exp
from sqlglot.errors import ParseError
from sqlglot.tokens import Tokenizer

from ingestion.analysis.form import COLUMNS_NOT_FOLLOWED, RelationalStatement, WriteForm, named_relations
from ingestion.dialects import Dialect, dialect_of
from ingestion.dialects.cursor import Code
from ingestion.dialects.definition import keywords
from ingestion.dialects.keywords import QUERY_STARTS, TRANSFERS
from ingestion.errors import FinalRefusal, Unparsable
from ingestion.model.lineage import StatementKind, TableChange, TableName, Target, WriteMode
from ingestion.model.storage_paths import location
from ingestion.parsing.sqlglot.expressions.names import Names
from ingestion.parsing.sqlglot.queries.table_functions import is_function
from ingestion.parsing.sqlglot.repairs.arrows import trees_with_accesses
from ingestion.parsing.sqlglot.repairs.by_dialect import needs_repair, repair_text
from ingestion.parsing.sqlglot.repairs.edits import REFUSALS
from ingestion.parsing.sqlglot.statements.commands import Words, read_command, without_lineage
from ingestion.parsing.sqlglot.statements.definitions import (
    altered_table,
    defined_table,
    lists_more_than_columns,
    renames_column,
    with_generated_columns,
    with_hidden_columns,
    with_nested_columns,
    with_types,
)
from ingestion.parsing.sqlglot.statements.dispatch import translate_statement
from ingestion.parsing.sqlglot.statements.writes import (
    has_rows_beside,
    inserted_execution,
    nested_change,
    star_from,
    with_changed_rows,
    with_execution,
    with_output,
    without_file,
    without_output,
)
from ingestion.parsing.token_names import relation_name
from ingestion.statements import split
from ingestion.statements.cleaning import plainly_spelled
from ingestion.statements.emptied_tables import EMPTYING, emptied_table
from ingestion.statements.routines.steps import runs_elsewhere

# sqlglot's warnings of unsupported syntax quote the statement, literals and all.
logging.getLogger("sqlglot").setLevel(logging.ERROR)

COLLECT_SELDOM = True
"""For a parser process: a tree is all that a parse leaves in circles, and to search one that is in use is in vain."""

_EXPECTATION = re.compile(r"(Expect(?:ed|ing) [A-Za-z_() ,]{1,60}?)(?: but got .*)?", re.DOTALL)
_MISSING = re.compile(r"Required keyword: '(\w+)' missing for <class '(?:\w+\.)*(\w+)'>")
_KEYWORDS = frozenset(word for keyword in Tokenizer.KEYWORDS for word in keyword.split())
_SIGN = re.compile(r"[^\w\s'\"`]{1,3}")

# A text that runs a text is parsed again at each level; deeper ones are made to be deep.
_DYNAMIC_DEPTH = 3
# Looked for in lower case, and from a letter on: the engine skips to such a word, and not to one in any case or behind
# the end of another, which takes as long as a tenth of the parse. The tokens tell whether it is one.
_INTO_FILE = re.compile(r"into\s++(?:outfile|dumpfile)\b")
_REFRESHED_BY = re.compile(r"refresh\s++using\s*+\(")
_TWICE = re.compile(r"from\s++from\b")
_BEFORE_SELF = keywords("into from join update")
_BEHIND_RELATION = keywords("using on where set when join left right full inner cross group qualify union ) ,") | {""}
_UNREAD_METRIC_VIEW = (
    "the YAML of the metric view is not read: it has no source or no columns, aliases, an open quote or parenthesis,"
    " a join without a name or a measure made of itself, or comes to too long or too deep a text"
)
_BODY = frozenset({"as"})
_VIEW_OR_BODY = _BODY | {"view"}
_REPAIRED_COMMANDS = frozenset({"alter", "copy", "create", "declare", "drop"})

_STATEMENT_WORDS = keywords(
    "ALTER COPY CREATE DELETE DROP EXEC EXECUTE FROM INSERT MERGE RENAME REPLACE SELECT TRUNCATE UPDATE WITH"
)


# What sqlglot says of a text that it cannot read: its own words and the place, and of the text keywords alone.


def _explanation(error: Unparsable, text: str) -> Unparsable:
    """The refusal with what the parser expected and where in `text`, as far as it tells; without a word of the text.

    A place is given only where it is one of `text` itself, and not of a rewritten or nested part of it.
    """
    cause = error.__cause__
    found = cause.errors[0] if isinstance(cause, ParseError) and cause.errors else None
    if found is None:
        return Unparsable(str(error), str(error))
    before, word = str(found["start_context"] or ""), str(found["highlight"] or "")
    words = f"{_words_of(str(found['description']))}{_word_at(word)}"
    return Unparsable(str(error), words, *_position(text, (int(found["line"]), int(found["col"])), before + word, word))


def _words_of(description: str) -> str:
    expectation = _EXPECTATION.fullmatch(description)
    if expectation is not None:
        return expectation[1][0].lower() + expectation[1][1:]
    missing = _MISSING.fullmatch(description)
    if missing is not None:
        return f"{missing[1].replace('_', ' ')} missing for {missing[2]}"
    return "unexpected token"


def _word_at(highlight: str) -> str:
    """A keyword or a sign as it stands there; a name may be a literal whose quotes were read wrongly, and stays."""
    word = highlight.upper()
    if word in _KEYWORDS or _SIGN.fullmatch(word):
        return f" at {word}"
    return ""


def _position(text: str, end: tuple[int, int], context: str, word: str) -> tuple[int, int]:
    """The line and column where `word` begins, which ends at `end`; zeros where `context` does not end there.

    Nor is it known of a word of several lines, as a text in quotes may be.
    """
    line, column = end
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    if not word or "\n" in word or not 0 < line <= len(starts):
        return 0, 0
    if not text[: starts[line - 1] + column].endswith(context):
        return 0, 0
    return line, column - len(word) + 1


def parse(text: str, dialect: str) -> RelationalStatement:
    """The relational form of one statement.

    Raises:
        Unparsable: sqlglot refuses the text, understands it only as an opaque command, or finds no source where the
            text has one.
        ConfigError: there is no such dialect.
    """
    rules = dialect_of(dialect)
    try:
        emptied = _change_by_emptying(text, rules)
        if emptied and Code.of(text, rules).word(0) == "truncate":
            return RelationalStatement(StatementKind.TRUNCATE, rules.name, (), emptied)
        statement = _parse(plainly_spelled(text, rules), rules, 0)
        statement = with_hidden_columns(with_types(statement, text, rules), text, rules)
        statement = with_nested_columns(statement, text, rules)
        statement = with_generated_columns(statement, text, rules)
        return replace(statement, changes=(*statement.changes, *emptied))
    except FinalRefusal:
        raise
    except Unparsable as error:
        raise _explanation(error, text) from error.__cause__


def _change_by_emptying(text: str, rules: Dialect) -> tuple[TableChange, ...]:
    """What TRUNCATE TABLE t, and DELETE FROM t without a condition, do: nothing flows, and what t held is gone.

    Of a part of a statement it is not asked: the rows that T-SQL's `DELETE t OUTPUT deleted.a INTO u` takes go into u.
    """
    lowered = text.lower()
    name = emptied_table(text, rules) if any(word in lowered for word in EMPTYING) else ()
    return (TableChange(StatementKind.TRUNCATE, TableName(name)),) if name else ()


def _parse(text: str, rules: Dialect, depth: int) -> RelationalStatement:
    if rules.metric_views and _is_metric_view(text, rules):
        raise FinalRefusal(_UNREAD_METRIC_VIEW)
    if depth < _DYNAMIC_DEPTH and has_rows_beside(text, rules):
        statement = _rows_beside(text, rules, depth)
        if statement is not None:
            return statement
    lowered = text.lower()
    refreshed = _refreshed_table(text, rules, depth) if _REFRESHED_BY.search(lowered) else None
    if refreshed is not None:
        return refreshed
    filled = _filled_file(text, rules, depth) if _INTO_FILE.search(lowered) else None
    if filled is not None:
        return filled
    try:
        node = syntax_tree(text, rules)
    except Unparsable:
        definition = _definition(Code.of(text, rules))
        if definition is None:
            raise
        return definition
    try:
        if type(node) is exp.Command or (type(node) is exp.LoadData and node.args.get("inpath") is None):
            return _command(text, node, rules, depth)
        definition = _definition(Code.of(text, rules)) if _is_misread(node, text, rules) else None
        if definition is not None:
            return definition
        if type(node) is exp.Copy and type(node.this) is exp.Select:  # DuckDB: a query would stand in brackets
            raise Unparsable("COPY FROM DATABASE names no table")
        if isinstance(node, exp.Execute):
            return _execute(Code.of(text, rules), depth)
        statement = translate_statement(node, rules)
        _refuse_lost_sources(statement, node)
    except RecursionError as error:
        raise Unparsable("the statement is nested too deeply") from error
    return statement


def _rows_beside(text: str, rules: Dialect, depth: int) -> RelationalStatement | None:
    """T-SQL's statements with OUTPUT, and INSERT … EXEC."""
    code = Code.of(text, rules)
    nested = nested_change(code)
    if nested is not None:
        outer, change = nested
        return with_changed_rows(_parse(outer, rules, depth + 1), _parse(change, rules, depth + 1))
    taken = without_output(code)
    if taken is not None:
        plain, into = taken
        statement = _parse(plain, rules, depth + 1)
        return with_output(statement, _parse(into, rules, _DYNAMIC_DEPTH)) if into else statement
    split = inserted_execution(code)
    if split is None:
        return None
    insert, run = split
    return with_execution(_parse(insert, rules, _DYNAMIC_DEPTH), _executed_queries(Code.of(run, rules), depth))


def syntax_tree(text: str, rules: Dialect) -> exp.Expr:
    """The tree of one statement, repaired where that helps. Raises Unparsable."""
    if _TWICE.search(text.lower()) is not None:
        code = Code.of(text, rules)
        if any(code.stands(number, "from", "from") for number in range(len(code))):
            raise Unparsable("FROM stands twice")  # sqlglot would take the second for a query's, and lose its alias
    if needs_repair(text, rules):
        text = repair_text(text, rules) or text
    try:
        nodes = trees_with_accesses(text, rules)
    except REFUSALS as error:
        nodes = _repaired_trees(text, rules, error)
    found = [node for node in nodes if node is not None and type(node) is not exp.Semicolon]
    if len(found) != 1:
        msg = "no statement in the text" if not found else "more than one statement in the text"
        raise Unparsable(msg)
    return found[0]


def _repaired_trees(text: str, rules: Dialect, error: Exception) -> list[exp.Expr | None]:
    msg = "sqlglot cannot read the statement"
    mended = repair_text(text, rules)
    if mended is None:
        word = text.split(None, 1)[0].upper() if text.split(None, 1) else ""
        if word.lower() in TRANSFERS:
            return [exp.Command(this=word, expression="")]
        raise Unparsable(msg) from error
    try:
        return trees_with_accesses(mended, rules)
    except REFUSALS as again:
        raise Unparsable(msg) from again


def _command(text: str, node: exp.Expr, rules: Dialect, depth: int) -> RelationalStatement:
    """A statement that sqlglot does not look into."""
    code = Code.of(text, rules)
    word = code.word(0)
    if word == "unload" or code.stands(0, "export", "("):
        return _unload(code, depth)
    if rules.command_procedure and code.stands(0, "export", "to"):
        return _export(code, depth)
    if word in ("load", "import") and code.word(1 + code.stands(1, "client")) == "from":
        return _load(code, depth)
    if word == "replace" and depth < _DYNAMIC_DEPTH:  # MySQL: what an INSERT does, replacing rows of the same key
        return _parse(f"{text[: code.start_of(0)]}INSERT{text[code.end_of(0) :]}", rules, depth + 1)
    if word in ("execute", "exec", "call", "prepare"):
        return _execute(code, depth)
    copy = _piped_copy(code) if word == "create" and depth < _DYNAMIC_DEPTH else None
    if copy is not None:
        return _parse(copy, rules, depth + 1)
    command = read_command(code)
    if command is not None:
        return RelationalStatement(command.kind, rules.name, command.writes, command.changes)
    if word in _REPAIRED_COMMANDS and depth < _DYNAMIC_DEPTH:
        plain = repair_text(text, rules)
        if plain is not None:
            return _parse(plain, rules, _DYNAMIC_DEPTH)
    definition = _definition(code)
    if definition is not None:
        return definition
    if without_lineage(word):
        return RelationalStatement(StatementKind.OTHER, rules.name)
    msg = f"sqlglot takes {str(node.this).upper()} for an opaque command"
    raise Unparsable(msg)


def _is_metric_view(text: str, rules: Dialect) -> bool:
    """CREATE VIEW v … AS $$…$$: had its YAML been read, a query would stand there."""
    if text[-1:] not in ("$", "?") or text[:6].lower() != "create":
        return False
    code = Code.of(text, rules)
    last = len(code) - 1
    body = code.is_string(last) or code.word(last) == "?"
    return body and code.find(1, _VIEW_OR_BODY) < code.find(1, _BODY) == last - 1


def _is_misread(node: exp.Expr, text: str, rules: Dialect) -> bool:
    """Whether sqlglot took what an ALTER does for a command that it does not look into, or a column for a table.

    Or an index in the list of a CREATE TABLE for a column.

    Of ALTER TABLE t RENAME a TO b it has a new name of the table, and nothing of the rest.
    """
    kinds = [type(action) for action in node.args.get("actions") or ()] if type(node) is exp.Alter else []
    renamed = exp.AlterRename in kinds and renames_column(Code.of(text, rules))
    return renamed or exp.Command in kinds or lists_more_than_columns(node)


def _definition(code: Code) -> RelationalStatement | None:
    """What a CREATE TABLE or ALTER TABLE that sqlglot cannot read says of the table's columns and of its name."""
    if code.word(0) not in ("create", "alter"):
        return None
    name = code.dialect.name
    command = read_command(code) if code.word(0) == "alter" else None
    if command is not None:
        return RelationalStatement(command.kind, name, command.writes, command.changes)
    change = defined_table(code) or altered_table(code)
    return None if change is None else RelationalStatement(change.kind, name, (), (change,))


def _piped_copy(code: Code) -> str | None:
    """Snowflake: CREATE PIPE name … AS COPY INTO …, which runs whenever files come."""
    if "pipe" not in code.words(0, 4):
        return None
    start = next((n + 1 for n in range(len(code)) if code.stands(n, "as", "copy")), None)
    return None if start is None else code.text[code.start_of(start) :]


def _unload(code: Code, depth: int) -> RelationalStatement:
    """Redshift and Athena: UNLOAD ('query') TO 'location'; Exasol: EXPORT (query) INTO CSV … FILE 'location'."""
    words = Words(code)
    query = words.string() if code.is_string(2) else words.brackets()
    index = words.string() if code.word(0) == "unload" or words.find("file") else None
    if query is None or index is None or depth >= _DYNAMIC_DEPTH:
        raise Unparsable("UNLOAD without a query or a location")
    return _written_to(index, _parse(query, code.dialect, depth + 1))


def _export(code: Code, depth: int) -> RelationalStatement:
    """Db2: EXPORT TO path OF DEL MODIFIED BY … MESSAGES path SELECT …."""
    words = Words(code)
    words.take("export", "to")
    path = words.path()
    start = next((n for n in code.outside(3) if code.word(n) in QUERY_STARTS), None)
    if path is None or start is None or depth >= _DYNAMIC_DEPTH:
        raise Unparsable("EXPORT without a query or a path")
    return _written_to(path, _parse(code.text[code.start_of(start) :], code.dialect, depth + 1))


def _load(code: Code, depth: int) -> RelationalStatement:
    """Db2: LOAD FROM (query) OF CURSOR INSERT INTO t (a, b), IMPORT FROM path OF DEL REPLACE INTO t.

    Informix: LOAD FROM 'path' INSERT INTO t; SAP HANA: IMPORT FROM CSV FILE 'path' INTO t.
    """
    words = Words(code)
    words.take(code.word(0))
    words.take("client")
    words.take("from")
    into = next((n for n in code.outside(2) if code.word(n) == "into"), None)
    table, end = relation_name(code, into + 1) if into is not None else (None, 0)
    if into is None or table is None:
        raise Unparsable("LOAD without a table")
    if code.word(into - 1) == "terminate":
        return RelationalStatement(StatementKind.OTHER, code.dialect.name)
    replaces = {"replace", "replace_create"} & {code.word(n) for n in range(into)}
    target = Target(table, WriteMode.OVERWRITE if replaces else WriteMode.APPEND)
    if words.word == "(":
        into_columns = code.between(into + 1, code.after(end) if code.word(end) == "(" else end)
        query = _parse(f"INSERT INTO {into_columns} {_query_loaded(code)}", code.dialect, depth + 1)
        writes = tuple(replace(w, target=replace(w.target or target, mode=target.mode)) for w in query.writes)
        return replace(query, kind=StatementKind.COPY, writes=writes)
    if any(code.stands(n, "of", "cursor") for n in range(into)):  # what it reads is not in the text
        writes = (WriteForm(target, None),)
        return RelationalStatement(StatementKind.COPY, code.dialect.name, writes, problems=(COLUMNS_NOT_FOLLOWED,))
    paths = _loaded_paths(words) if code.dialect.command_procedure else _texts(code, into)
    writes = tuple(WriteForm(target, star_from(location(path))) for path in paths)
    if not writes:
        raise Unparsable("LOAD without a path")
    return RelationalStatement(StatementKind.COPY, code.dialect.name, writes)


def _loaded_paths(words: Words) -> Iterator[str]:
    """Db2's paths, up to OF: they may stand without quotes."""
    while not words.is_at_end and not words.take("of"):
        path = (words.path() or "").strip('," ')
        if path:
            yield path


def _texts(code: Code, last: int) -> list[str]:
    """The first text, which is a file's: Informix's `FROM a.unl DELIMITER '|'` has another."""
    found = (n for n in range(2, last) if code.is_string(n) and code.word(n - 1) != "delimiter")
    return [code.without_quotes(number) for number in found][:1]


def _query_loaded(code: Code) -> str:
    """The query whose rows LOAD takes: all of its columns, or those that METHOD N names; not of another database."""
    opening = 2 + code.stands(1, "client")
    query = code.between(opening + 1, code.closing(opening))
    method = next((n for n in code.outside(code.closing(opening) + 1) if code.word(n) == "method"), None)
    named = method is not None and code.stands(method + 1, "n", "(")
    if code.word(opening + 1) == "database" or (method is not None and not named):
        raise Unparsable("LOAD by positions, or from another database")
    if method is None:
        return query
    return f"SELECT {code.between(method + 3, code.closing(method + 2))} FROM ({query}) AS loaded"


def _written_to(index: str, query: RelationalStatement) -> RelationalStatement:
    target = Target(location(index), WriteMode.OVERWRITE)
    return replace(query, kind=StatementKind.COPY, writes=tuple(replace(w, target=target) for w in query.writes))


def _refreshed_table(text: str, rules: Dialect, depth: int) -> RelationalStatement | None:
    """Snowflake: CREATE DYNAMIC TABLE t (…) … REFRESH USING (MERGE INTO SELF …), which writes t at each refresh.

    None where it is no such statement.
    """
    code = Code.of(text, rules)
    start = next((n for n in code.outside(1) if code.stands(n, "refresh", "using", "(")), None)
    table = next((n for n in range(1, min(len(code), 8)) if code.word(n) == "table"), None)
    if start is None or table is None or depth >= _DYNAMIC_DEPTH:
        return None
    first = table + 4 if code.stands(table + 1, "if", "not", "exists") else table + 1
    name = code.between(first, relation_name(code, first)[1])
    closing = code.closing(start + 2)
    change = _with_own_name(Code.of(code.between(start + 3, closing), rules), name)
    plain = f"{text[: code.start_of(start)]}{text[code.end_of(closing) :]}"
    definition = _parse(plain, rules, depth + 1)
    writes = (_with_columns(write, definition.changes) for write in _parse(change, rules, depth + 1).writes)
    return replace(definition, writes=(*definition.writes, *writes))


def _with_columns(write: WriteForm, changes: tuple[TableChange, ...]) -> WriteForm:
    """An INSERT without a list into the table that the statement itself defines, whose columns are thereby known."""
    names = tuple(column.name for column in changes[0].columns or ()) if changes else ()
    target = write.target
    if not names or target is None or target.mode is not WriteMode.APPEND or target.by_name or target.columns:
        return write
    return replace(write, target=replace(target, columns=names))


def _with_own_name(code: Code, name: str) -> str:
    """A change of SELF as one of the table of that name; SELF goes on as its alias where it has no other."""
    text = code.text
    for number in reversed(range(1, len(code))):
        if code.word(number) != "self" or code.word(number - 1) not in _BEFORE_SELF:
            continue
        filled = code.stands(number - 2, "insert", "into")
        alias = " AS SELF" if code.word(number + 1) in _BEHIND_RELATION and not filled else ""
        text = f"{text[: code.start_of(number)]}{name}{alias}{text[code.end_of(number) :]}"
    return text


def _filled_file(text: str, rules: Dialect, depth: int) -> RelationalStatement | None:
    """MySQL and its kin, ClickHouse: SELECT … INTO OUTFILE 'path' options FROM …; None where it is no such query."""
    taken = without_file(Code.of(text, rules)) if depth < _DYNAMIC_DEPTH else None
    return None if taken is None else _written_to(taken[1], _parse(taken[0], rules, depth + 1))


def _execute(code: Code, depth: int) -> RelationalStatement:
    """EXECUTE IMMEDIATE 'text', EXEC('text'), sp_executesql N'text': the text, where it is constant; else a call."""
    rules = code.dialect
    words = Words(code)
    constant = words.string()
    if constant is not None and any(token.text.lower().strip('[]"') == "sp_rename" for token in code.tokens):
        return _sp_rename(_arguments(code), rules)
    is_whole = not any(token.text in ("+", "|", "&") for token in code.tokens)
    if constant is not None and is_whole and depth < _DYNAMIC_DEPTH and _is_statement(constant):
        run = _remote_query(code, constant) if runs_elsewhere(code, 0, len(code)) else constant
        return _parse(run, rules, depth + 1) if run else RelationalStatement(StatementKind.CALL, rules.name)
    if code.stands(0, "execute", "immediate"):
        raise Unparsable("the text that EXECUTE IMMEDIATE runs is not constant")
    return RelationalStatement(StatementKind.CALL, rules.name)


def _executed_queries(code: Code, depth: int) -> list[RelationalStatement]:
    """What an EXEC whose rows are inserted runs: of a text with several queries the rows of each.

    What else stands in such a text is done beside, and would be lost.
    """
    constant = Words(code).string() or ""
    parts = split(constant, code.dialect) if depth < _DYNAMIC_DEPTH and _is_statement(constant) else ()
    if len(parts) < 2 or runs_elsewhere(code, 0, len(code)):
        return [_execute(code, depth)]
    found = [_parse(part.text, code.dialect, depth + 1) for part in parts]
    if any(one.kind is not StatementKind.SELECT for one in found):
        raise Unparsable("more than one statement in the text")
    return found


def _remote_query(code: Code, text: str) -> str | None:
    """EXEC('query') AT server as one of OPENQUERY's; None for what that server changes of its own."""
    server = code.find(0, frozenset({"at"})) + 1
    server += code.word(server) == "data_source"
    if (
        server >= len(code)
        or text.split(None, 1)[0].lower() not in ("select", "with")
        or len(split(text, code.dialect)) > 1
    ):
        return None
    quoted = text.replace("'", "''")
    return f"SELECT * FROM OPENQUERY({code.tokens[server].text}, '{quoted}')"


def _is_statement(text: str) -> bool:
    words = text.split(None, 1)
    return len(words) == 2 and words[0].upper() in _STATEMENT_WORDS


def _arguments(code: Code) -> dict[str, str]:
    """The texts that a procedure is given, by the names of its parameters, or by their position."""
    found: dict[str, str] = {}
    for index in (number for number in range(len(code)) if code.is_string(number)):
        before = next((n for n in range(index - 1, 0, -1) if code.word(n) in ("=", ",")), 0)
        named = code.word(before) == "="
        found[code.name(before - 1).lstrip("@").lower() if named else str(len(found))] = code.without_quotes(index)
    return found


def _sp_rename(given: Mapping[str, str], rules: Dialect) -> RelationalStatement:
    """T-SQL: sp_rename 'schema.old', 'new'; sp_rename 'schema.t.a', 'b', 'COLUMN'; of indexes and types nothing."""
    old, new, what = (given.get(name) or given.get(str(n)) for n, name in enumerate(("objname", "newname", "objtype")))
    kind = (what or "object").lower()
    if not old or not new or kind not in ("object", "column"):
        return RelationalStatement(StatementKind.CALL if not old or not new else StatementKind.OTHER, rules.name)
    names = Names(rules)
    identifier = exp.to_identifier(new)
    if kind == "column":
        *path, column = exp.to_table(old, dialect=rules.sqlglot).parts
        renamed = ((names.column(column), names.column(identifier)),)
        altered = names.table(exp.Table(**dict(zip(("this", "db", "catalog"), reversed(path), strict=False))))
        change = TableChange(StatementKind.ALTER_TABLE, altered, renamed_columns=renamed)
    else:
        altered = names.table(exp.to_table(old, dialect=rules.sqlglot))
        schema = str(altered).rpartition(".")[0]
        parts = (*altered.parts[:-1], names.relation(identifier))
        other = TableName(parts, f"{schema}.{new}" if schema else new)
        change = TableChange(StatementKind.RENAME, altered, other=other)
    return RelationalStatement(change.kind, rules.name, (), (change,))


def _refuse_lost_sources(statement: RelationalStatement, node: exp.Expr) -> None:
    """No target without a source where the text has a table under FROM: something was not understood."""
    targets = [write.target for write in statement.writes if write.target is not None]
    if not targets:
        return
    if any(not target.name.parts[0] for target in targets):
        raise Unparsable("the target of the statement has no name")
    if any(_has_source(write) for write in statement.writes):
        return
    if any(isinstance(from_.this, exp.Table) and not is_function(from_.this) for from_ in node.find_all(exp.From)):
        msg = "the statement reads from somewhere, and no source was found in it"
        raise Unparsable(msg)


def _has_source(write: WriteForm) -> bool:
    if write.query is None:
        return bool(write.sources)
    return next(named_relations(write.query), None) is not None or bool(write.sources)
