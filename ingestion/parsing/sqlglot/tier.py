"""The first tier: sqlglot's tree of a statement to relational form, and what it says of a text that it refuses."""

from __future__ import annotations

import logging
import re
from dataclasses import replace
from functools import cache

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect as SqlglotDialect
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.tokenizer_core import Token, TokenType
from sqlglot.tokens import Tokenizer

from ingestion.analysis.form import RelationalStatement, WriteForm, named_relations
from ingestion.dialects import Dialect, dialect_of
from ingestion.dialects.definition import keywords
from ingestion.errors import Unparsable
from ingestion.model.lineage import StatementKind, TableChange, TableName, Target, WriteMode
from ingestion.model.storage_paths import location
from ingestion.parsing.sqlglot.expressions.names import Names
from ingestion.parsing.sqlglot.queries.table_functions import is_function
from ingestion.parsing.sqlglot.repairs.by_dialect import needs_repair, repair_text
from ingestion.parsing.sqlglot.repairs.edits import REFUSALS
from ingestion.parsing.sqlglot.statements.commands import Words, read_command, without_lineage
from ingestion.parsing.sqlglot.statements.definitions import altered_table, defined_table, with_types
from ingestion.parsing.sqlglot.statements.dispatch import translate_statement
from ingestion.parsing.sqlglot.statements.writes import (
    has_rows_beside,
    inserted_execution,
    nested_change,
    with_changed_rows,
    with_execution,
    with_output,
    without_file,
    without_output,
)
from ingestion.statements.cleaning import plainly_spelled

# What sqlglot says of a text that it cannot read: its own words and the place, and of the text keywords alone.

_EXPECTATION = re.compile(r"(Expect(?:ed|ing) [A-Za-z_() ,]{1,60}?)(?: but got .*)?", re.DOTALL)
_MISSING = re.compile(r"Required keyword: '(\w+)' missing for <class '(?:\w+\.)*(\w+)'>")
_KEYWORDS = frozenset(word for keyword in Tokenizer.KEYWORDS for word in keyword.split())
_SIGN = re.compile(r"[^\w\s'\"`]{1,3}")


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
    return Unparsable(str(error), words, *_place(text, (int(found["line"]), int(found["col"])), before + word, word))


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


def _place(text: str, end: tuple[int, int], context: str, word: str) -> tuple[int, int]:
    """The line and column where `word` begins, which ends at `end`; zeros where `context` does not end there."""
    line, column = end
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    if not word or not 0 < line <= len(starts):
        return 0, 0
    if not text[: starts[line - 1] + column].endswith(context):
        return 0, 0
    return line, column - len(word) + 1


# The first tier: sqlglot parses, and its tree is translated to the relational form.

logging.getLogger("sqlglot").setLevel(logging.ERROR)

_DYNAMIC_DEPTH = 3
_INTO_FILE = re.compile(r"\binto\s++(?:outfile|dumpfile)\b", re.IGNORECASE)
_OWN_COMMANDS = frozenset({"BULK", "LOAD", "UNLOAD", "IMPORT", "EXPORT", "COPY"})
_REPAIRED_COMMANDS = frozenset({"ALTER", "COPY", "CREATE"})


def parse(text: str, dialect: str) -> RelationalStatement:
    """The relational form of one statement.

    Raises:
        Unparsable: sqlglot refuses the text, understands it only as an opaque command, or finds no source where the
            text has one.
        ConfigError: there is no such dialect.
    """
    rules = dialect_of(dialect)
    try:
        return with_types(_parse(plainly_spelled(text, rules), rules, 0), text, rules)
    except Unparsable as error:
        raise _explanation(error, text) from error.__cause__


@cache
def _grammar(name: str) -> SqlglotDialect:
    return SqlglotDialect.get_or_raise(name)


def _parse(text: str, rules: Dialect, depth: int) -> RelationalStatement:
    if depth < _DYNAMIC_DEPTH and has_rows_beside(text, rules):
        statement = _rows_beside(text, rules, depth)
        if statement is not None:
            return statement
    filled = _filled_file(text, rules, depth) if _INTO_FILE.search(text) else None
    if filled is not None:
        return filled
    try:
        node = syntax_tree(text, rules)
    except Unparsable:
        definition = _definition(text, rules)
        if definition is None:
            raise
        return definition
    try:
        if type(node) is exp.Command or (type(node) is exp.LoadData and node.args.get("inpath") is None):
            return _command(text, node, rules, depth)
        definition = _definition(text, rules) if type(node) is exp.Alter and _is_opaque(node) else None
        if definition is not None:
            return definition
        if isinstance(node, exp.Execute):
            return _execute(text, rules, depth)
        statement = translate_statement(node, rules)
        _refuse_lost_sources(statement, node)
    except RecursionError as error:
        raise Unparsable("the statement is nested too deeply") from error
    return statement


def _rows_beside(text: str, rules: Dialect, depth: int) -> RelationalStatement | None:
    """T-SQL's statements with OUTPUT, and INSERT … EXEC."""
    tokens = _tokens(text, rules)
    nested = nested_change(text, tokens)
    if nested is not None:
        outer, change = nested
        return with_changed_rows(_parse(outer, rules, depth + 1), _parse(change, rules, depth + 1))
    taken = without_output(text, tokens)
    if taken is not None:
        plain, into = taken
        statement = _parse(plain, rules, depth + 1)
        return with_output(statement, _parse(into, rules, _DYNAMIC_DEPTH)) if into else statement
    split = inserted_execution(text, tokens)
    if split is None:
        return None
    insert, run = split
    return with_execution(_parse(insert, rules, _DYNAMIC_DEPTH), _execute(run, rules, depth))


def syntax_tree(text: str, rules: Dialect) -> exp.Expr:
    """The tree of one statement, repaired where that helps. Raises Unparsable."""
    grammar = _grammar(rules.sqlglot)
    if needs_repair(text, rules.name):
        text = repair_text(text, rules.name, grammar) or text
    try:
        nodes = grammar.parse(text)
    except REFUSALS as error:
        nodes = _repaired_trees(text, rules, grammar, error)
    found = [node for node in nodes if node is not None and type(node) is not exp.Semicolon]
    if len(found) != 1:
        msg = "no statement in the text" if not found else "more than one statement in the text"
        raise Unparsable(msg)
    return found[0]


def _repaired_trees(text: str, rules: Dialect, grammar: SqlglotDialect, error: Exception) -> list[exp.Expr | None]:
    msg = "sqlglot cannot read the statement"
    mended = repair_text(text, rules.name, grammar)
    if mended is None:
        word = text.split(None, 1)[0].upper() if text.split(None, 1) else ""
        if word in _OWN_COMMANDS:
            return [exp.Command(this=word, expression="")]
        raise Unparsable(msg) from error
    try:
        return list(grammar.parse(mended))
    except REFUSALS as again:
        raise Unparsable(msg) from again


def _tokens(text: str, rules: Dialect) -> list[Token]:
    grammar = _grammar(rules.sqlglot)
    try:
        tokens = [token for token in grammar.tokenize(text) if token.token_type is not TokenType.HIVE_TOKEN_STREAM]
        if len(tokens) == 2 and tokens[1].token_type is TokenType.STRING:  # the rest was taken for one text
            start = tokens[0].end + 1
            tokens[1:] = grammar.tokenize(" " * start + text[start:])
        return tokens
    except SqlglotError as error:
        msg = "sqlglot cannot read the statement"
        raise Unparsable(msg) from error


def _command(text: str, node: exp.Expr, rules: Dialect, depth: int) -> RelationalStatement:
    """A statement that sqlglot does not look into."""
    tokens = _tokens(text, rules)
    word = tokens[0].text.upper() if tokens else ""
    if word == "UNLOAD" or (word == "EXPORT" and tokens[1:2] and tokens[1].token_type is TokenType.L_PAREN):
        return _unload(text, tokens, rules, depth)
    if word == "REPLACE" and depth < _DYNAMIC_DEPTH:  # MySQL: what an INSERT does, replacing rows of the same key
        start = tokens[0].start
        return _parse(f"{text[:start]}INSERT{text[tokens[0].end + 1 :]}", rules, depth + 1)
    if word in ("EXECUTE", "EXEC", "CALL", "PREPARE"):
        return _execute(text, rules, depth)
    copy = _piped_copy(text, tokens) if word == "CREATE" and depth < _DYNAMIC_DEPTH else None
    if copy is not None:
        return _parse(copy, rules, depth + 1)
    command = read_command(tokens, Names(rules))
    if command is not None:
        return RelationalStatement(command.kind, rules.name, command.writes, command.changes)
    if word in _REPAIRED_COMMANDS and depth < _DYNAMIC_DEPTH:
        plain = repair_text(text, rules.name, _grammar(rules.sqlglot))
        if plain is not None:
            return _parse(plain, rules, _DYNAMIC_DEPTH)
    definition = _definition(text, rules)
    if definition is not None:
        return definition
    if without_lineage(word):
        return RelationalStatement(StatementKind.OTHER, rules.name)
    msg = f"sqlglot takes {str(node.this).upper()} for an opaque command"
    raise Unparsable(msg)


def _is_opaque(node: exp.Expr) -> bool:
    """Whether sqlglot took what an ALTER does for a command that it does not look into."""
    return any(type(action) is exp.Command for action in node.args.get("actions") or ())


def _definition(text: str, rules: Dialect) -> RelationalStatement | None:
    """What a CREATE TABLE or ALTER TABLE that sqlglot cannot read says of the table's columns and of its name."""
    word = text.split(None, 1)[0].upper() if text[:6].strip() else ""
    if word not in ("CREATE", "ALTER"):
        return None
    tokens, names = _tokens(text, rules), Names(rules)
    command = read_command(tokens, names) if word == "ALTER" else None
    if command is not None:
        return RelationalStatement(command.kind, rules.name, command.writes, command.changes)
    change = defined_table(tokens, names) or altered_table(tokens, names)
    return None if change is None else RelationalStatement(change.kind, rules.name, (), (change,))


def _piped_copy(text: str, tokens: list[Token]) -> str | None:
    """Snowflake: CREATE PIPE name … AS COPY INTO …, which runs whenever files come."""
    head = [token.text.upper() for token in tokens[:4]]
    if "PIPE" not in head:
        return None
    copies = (n for n in range(1, len(tokens) - 1) if tokens[n].text.upper() == "COPY")
    start = next((tokens[n].start for n in copies if tokens[n - 1].text.upper() == "AS"), None)
    return None if start is None else text[start:]


def _unload(text: str, tokens: list[Token], rules: Dialect, depth: int) -> RelationalStatement:
    """Redshift and Athena: UNLOAD ('query') TO 'location'; Exasol: EXPORT (query) INTO CSV … FILE 'location'."""
    words = Words(tokens, Names(rules))
    literal = len(tokens) > 2 and tokens[2].token_type in (TokenType.STRING, TokenType.HEREDOC_STRING)
    query = words.string() if literal else words.brackets(text)
    place = words.string() if tokens[0].text.upper() == "UNLOAD" or words.find("FILE") else None
    if query is None or place is None or depth >= _DYNAMIC_DEPTH:
        raise Unparsable("UNLOAD without a query or a location")
    return _written_to(place, _parse(query, rules, depth + 1))


def _written_to(place: str, query: RelationalStatement) -> RelationalStatement:
    target = Target(location(place), WriteMode.OVERWRITE)
    return replace(query, kind=StatementKind.COPY, writes=tuple(replace(w, target=target) for w in query.writes))


def _filled_file(text: str, rules: Dialect, depth: int) -> RelationalStatement | None:
    """MySQL and its kin, ClickHouse: SELECT … INTO OUTFILE 'path' options FROM …; None where it is no such query."""
    taken = without_file(text, _tokens(text, rules)) if depth < _DYNAMIC_DEPTH else None
    return None if taken is None else _written_to(taken[1], _parse(taken[0], rules, depth + 1))


def _execute(text: str, rules: Dialect, depth: int) -> RelationalStatement:
    """EXECUTE IMMEDIATE 'text', EXEC('text'), sp_executesql N'text': the text, where it is constant; else a call."""
    tokens = _tokens(text, rules)
    words = Words(tokens, Names(rules))
    constant = words.string()
    if constant is not None and any(token.text.upper() == "SP_RENAME" for token in tokens):
        return _sp_rename(constant, words.string(), rules)
    is_whole = not any(token.text in ("+", "||", "&") for token in tokens)
    if constant is not None and is_whole and depth < _DYNAMIC_DEPTH and _is_statement(constant):
        return _parse(constant, rules, depth + 1)
    if tokens[0].text.upper() == "EXECUTE" and len(tokens) > 1 and tokens[1].text.upper() == "IMMEDIATE":
        raise Unparsable("the text that EXECUTE IMMEDIATE runs is not constant")
    return RelationalStatement(StatementKind.CALL, rules.name)


def _is_statement(text: str) -> bool:
    words = text.split(None, 1)
    return len(words) == 2 and words[0].upper() in _STATEMENT_WORDS


_STATEMENT_WORDS = keywords(
    "ALTER COPY CREATE DELETE DROP EXEC EXECUTE FROM INSERT MERGE RENAME REPLACE SELECT TRUNCATE UPDATE WITH"
)


def _sp_rename(old: str, new: str | None, rules: Dialect) -> RelationalStatement:
    """T-SQL: sp_rename 'schema.old', 'new'."""
    if not new:
        return RelationalStatement(StatementKind.CALL, rules.name)
    names = Names(rules)
    table = names.table(exp.to_table(old, dialect=rules.sqlglot))
    schema = str(table).rpartition(".")[0]
    renamed = TableName(
        (*table.parts[:-1], names.relation(exp.to_identifier(new))), f"{schema}.{new}" if schema else new
    )
    change = TableChange(StatementKind.RENAME, table, other=renamed)
    return RelationalStatement(StatementKind.RENAME, rules.name, (), (change,))


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
