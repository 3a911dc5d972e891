"""What logs, clients and templates leave in a statement that is not SQL of its dialect, and what parsers misread in
it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import islice

from ingestion.dialects import Dialect, dialect_of
from ingestion.dialects.definition import Separator, keywords
from ingestion.dialects.inline_rows import row_format
from ingestion.dialects.lexing import COMMENT, HINT, NUMBER, STRING, WORD, Lexicon, lexicon_of, tokens
from ingestion.errors import Templated
from ingestion.statements._literals import with_plain_quotes
from ingestion.statements._logged_values import without_logged_values
from ingestion.statements._metric_views import as_plain_view
from ingestion.statements._unquoted import quoted_or, without_unquoted

_COPIED_RIGHTS = re.compile(r"\b[cC][oO][pP][yY]\s+(?:[gG][rR][aA][nN][tT]|[tT][aA][gG])[sS]\b")
_ESCAPE = re.compile(r"\\(?:r\\n|[nrt])")
_COMMENT_TO_ESCAPE = r"--(?:[^\\\r\n]|\\(?![nr]))*+"
_ESCAPED = {"\\n": "\n", "\\r": "\n", "\\t": "\t", "\\r\\n": "\n"}
_META_COMMAND = re.compile(
    r"(?m)^[ \t]*+\\(?:a|c|cd|connect|conninfo|copy|crosstabview|d|echo|elif|else|encoding|endif|errverbose|f"
    r"|g|gdesc|gexec|gset|h|i|if|ir|l|o|p|password|prompt|pset|q|qecho|restrict|s|set|setenv|sf|sv|timing|unrestrict|unset|w|warn|watch"
    r"|x|z|!)(?!\w)[^\r\n]*+"
)
# What sends the statement that it stands behind, and says where its rows go: SELECT 1 \g |less
_SENDING = re.compile(r"\\(?:g(?:x|set|exec|desc)?|watch|crosstabview)(?!\w)[^\r\n]*+")
_SNOWSQL_COMMAND = re.compile(
    r"(?m)^[ \t]*+!(?i:abort|connect|define|edit|exit|help|history|load|options|pause|print|queries|quit|rehash"
    r"|result|set|source|spool|system|variables)\b(?!\()[^\r\n]*+"
)
# CREATE JAVA SOURCE NAMED "S" AS class S { … }: it ends with the script, or before the line that runs it.
_JAVA_HEAD = re.compile(
    r"create\s+(?:(?:or\s+replace|if\s+not\s+exists|and\s+resolve|and\s+compile|noforce)\s+)*java\s+source\b"
    r"(?:(?!\bcreate\b)[^;'\"]|\"[^\"]*+\")*?\bas\b",
    re.IGNORECASE,
)
_JAVA_SOURCE = rf"(?i:\b{_JAVA_HEAD.pattern})(?:(?!^[ \t]*/[ \t\r]*$)[\s\S])*+"
_DIRECTIVE = re.compile(r"(?i:\$(?:if|then|elsif|else|end|error)\b)")
_LINES = re.compile(r"[^\n]++")
_FROM_CLIENT = re.compile(r"\bfrom\s+(?:local\s+)?stdin\b", re.IGNORECASE)
# A script that was cut off ends in its rows, without the backslash and dot that end them.
_COPIED_ROWS = re.compile(
    rf"(?ims)^[ \t]*+copy\s[^;]*?{_FROM_CLIENT.pattern}[^;]*+;[^\n]*+\n(?:.*?^\\\.[ \t\r]*+$|.*\Z)"
)
_MAGIC = re.compile(r"\A%sql\b\s*+")  # how a cell of a notebook says that it is SQL
_SET_STATEMENT = re.compile(r"set\s++statement\s++[\w.]++\s*+=", re.IGNORECASE)
"""How MariaDB writes settings that hold for one statement, which follows."""
_RUN_TO_EXPLAIN = re.compile(
    r"(?:explain\s++(?:analy[sz]e\b|\((?=[^)]*\banaly[sz]e\b(?!\s*+(?:false|off|0)\b))[^)]*\))|analyze\b)"
    r"(?:\s*+\([^)]*\)|\s++verbose\b|\s++format\s*+=\s*+\w++)*+\s++"
    r"(?=(?:insert|update|delete|merge|replace|create|with)\s++[\w`\"(])",  # ANALYZE update is of a table
    re.IGNORECASE,
)
"""What stands before a statement that is run so that the plan can tell what it took: EXPLAIN (ANALYZE, BUFFERS)."""
_BARE_RENAME = re.compile(r"(?:\[?\w+\]?\s*+\.\s*+)*+\[?sp_rename\b", re.IGNORECASE)
"""How T-SQL's own renaming begins where it stands first in its batch, which needs no EXEC."""
_EXECUTABLE_COMMENT = re.compile(r"/\*M?!\d*+((?:[^*]|\*(?!/))*+)(\*/|\Z)")
EDGE = "".join(filter(str.isspace, map(chr, range(0x3001)))) + ";\ufeff\u200b\x00"
"""What surrounds a statement without belonging to it: white space of every kind, semicolons, byte-order marks."""

_REDEFINES = re.compile(r"\s*+alter\b", re.IGNORECASE)
_AS_QUERY = re.compile(r"\bas\b[\s(]*+(?:select|with|sel|values|table|from)\b", re.IGNORECASE)
_AS_STRING = re.compile(r"\bas(?:\s++|\s*+\?)\Z", re.IGNORECASE)
"""How the redefinition of a metric view ends whose YAML was not read, and is blanked or masked."""
_ALTER_VIEW_HEAD = 16
"""As many tokens may stand before the VIEW of ALTER ALGORITHM = … DEFINER = … SQL SECURITY … VIEW."""

_IDENTIFIER = re.compile(r"\bidentifier\s*+\(", re.IGNORECASE)
_NAME_IN_STRING = re.compile(r"""'((?:[\w$]++|"[^"'\\]++"|`[^`'\\]++`)(?:\.(?:[\w$]++|"[^"'\\]++"|`[^`'\\]++`))*+)'""")
_BEFORE_RELATION = re.compile(
    "clone|exists|from|into|join|like|only|overwrite|table|to|update|using|view|with", re.IGNORECASE
)

_SQL_WORDS = keywords(
    "select sel insert ins update upd delete del merge create alter drop truncate table view values from into grant"
    " revoke exec execute"
)


def clean(text: str, dialect: Dialect | str) -> str:
    """One statement without what surrounds it (comments, semicolons) and what its parser would choke on.

    `COPY GRANTS` and `COPY TAGS` go, and settings that are the statement's own (`SET STATEMENT … FOR`); so does the
    EXPLAIN ANALYZE of what writes, where a dialect runs that. Escape sequences that a log wrote for line ends become
    line ends, outside strings. A metric view becomes a plain one. The rows behind ClickHouse's `INSERT … FORMAT …` go.
    Nothing else is ever cut.
    """
    cleaned = text.strip(EDGE)
    if "\\" in cleaned:
        cleaned = unescape_line_ends(cleaned, dialect)
    if "--" in cleaned or "/*" in cleaned or "//" in cleaned or "#" in cleaned:
        cleaned = _without_outer_comments(cleaned, lexicon_of(dialect))
    if cleaned[:1] == "%":
        cleaned = _MAGIC.sub("", cleaned)
    if _BARE_RENAME.match(cleaned):
        cleaned = f"EXEC {cleaned}"
    if _RUN_TO_EXPLAIN.match(cleaned) and lexicon_of(dialect).dialect.explains_by_running:
        cleaned = _RUN_TO_EXPLAIN.sub("", cleaned, count=1)
    lowered = cleaned.lower()
    # The word alone is found fifty times as fast.
    if ("grants" in lowered or "tags" in lowered) and _COPIED_RIGHTS.search(cleaned):
        cleaned = without_unquoted(_COPIED_RIGHTS.pattern, cleaned, lexicon_of(dialect))
    if "format" in lowered and "insert" in lowered:
        cleaned = without_inline_rows(cleaned, lexicon_of(dialect).dialect)
    if "$$" in cleaned and "source" in lowered and "view" in lowered and lexicon_of(dialect).dialect.metric_views:
        cleaned = as_plain_view(cleaned, lexicon_of(dialect).dialect)
    return _without_own_settings(cleaned, dialect) if _SET_STATEMENT.match(cleaned) else cleaned


def without_values_beside(text: str, dialect: Dialect) -> str:
    """A script without what is no SQL and may hold any value; lines stay where they were.

    That is what a client logged behind a statement, `WHERE b = ? [params: x]`, and the text in Java of Oracle's `CREATE
    JAVA SOURCE … AS`.
    """
    if dialect.separator is Separator.SLASH and "java" in text.lower():
        text = quoted_or(_JAVA_SOURCE, lexicon_of(dialect)).sub(_without_java, text)
    return without_logged_values(text, lexicon_of(dialect))


def _without_java(match: re.Match[str]) -> str:
    head = None if match.lastgroup else _JAVA_HEAD.match(match.group())
    return match.group() if head is None else head.group() + "\n" * match.group().count("\n", head.end())


def without_inline_rows(text: str, dialect: Dialect) -> str:
    """ClickHouse's INSERT INTO t FORMAT CSV, and INSERT … SELECT … FROM input('a String') FORMAT CSV, up to the rows.

    Of those a field was a table, or a query of its own.
    """
    if not dialect.inline_data:
        return text
    found = row_format(tokens(text, dialect))
    return text if found is None else text[: found.token.start + len(found.token.text)]


def _without_own_settings(text: str, dialect: Dialect | str) -> str:
    end = next((token.start + len(token.text) for token in tokens(text, dialect) if token.text.lower() == "for"), 0)
    return text[end:].lstrip()


def unescape_line_ends(text: str, dialect: Dialect | str) -> str:
    """`text` with the two characters backslash and n (r, t) as the white space they stand for, outside strings.

    In a text of one line a log has escaped every line end, so that there they also end line comments.
    """
    if not _ESCAPE.search(text):
        return text
    lexicon = lexicon_of(dialect)
    if "\n" in text:
        return quoted_or(_ESCAPE.pattern, lexicon).sub(_unescape, text)
    return quoted_or(_ESCAPE.pattern, lexicon, _COMMENT_TO_ESCAPE).sub(_unescape, text)


def _unescape(match: re.Match[str]) -> str:
    return match.group() if match.lastgroup else _ESCAPED[match.group()]


def without_client_commands(text: str, dialect: Dialect) -> str:
    """A psql script without its backslash commands and the rows that follow `COPY ... FROM stdin;`; SnowSQL's too.

    Lines stay where they were. Other dialects' texts come back as they are.
    """
    if dialect.stage_names and _SNOWSQL_COMMAND.search(text):
        return without_unquoted(_SNOWSQL_COMMAND.pattern, text, lexicon_of(dialect))
    if not dialect.prefixed_escapes:
        return text
    if "stdin" in text.lower() and _FROM_CLIENT.search(text):
        text = _COPIED_ROWS.sub(lambda match: "\n" * match.group().count("\n"), text)
    if "\\" not in text:
        return text
    if _SENDING.search(text):
        text = without_unquoted(_SENDING.pattern, text, lexicon_of(dialect), ";")
    return without_unquoted(_META_COMMAND.pattern, text, lexicon_of(dialect)) if _META_COMMAND.search(text) else text


def with_compiled_branches(text: str, dialect: Dialect) -> str:
    """A PL/SQL text without the directives that choose what is compiled: `$IF a $THEN x $ELSE y $END` is x.

    Who compiles chooses; of branches that hold whole statements each may be meant, as of an IF. Lines stay.
    """
    if _DIRECTIVE.search(text) is None:
        return text
    level = _ConditionalPart()
    around: list[_ConditionalPart] = []
    done = 0
    for found in quoted_or(_DIRECTIVE.pattern, lexicon_of(dialect)).finditer(text):
        if found.lastgroup:
            continue
        level.add(text[done : found.start()])
        done = found.end()
        word = found.group().lower()
        if word in ("$if", "$error"):
            around.append(level)
            level = _ConditionalPart(counts=word == "$if", condition=True)
        elif word == "$end" and around:
            inner, level = level, around.pop()
            level.add(inner.compiled_text())
        else:
            level.next(condition=word == "$elsif")
    level.add(text[done:])
    for outer in reversed(around):  # what never ends
        outer.add(level.compiled_text())
        level = outer
    return level.compiled_text()


@dataclass(slots=True)
class _ConditionalPart:
    """The branches of one $IF, or the text itself; what a condition has is replaced by its line ends."""

    counts: bool = True
    condition: bool = False
    branches: list[str] = field(default_factory=lambda: [""])

    def add(self, text: str) -> None:
        self.branches[-1] += _LINES.sub("", text) if self.condition else text

    def next(self, *, condition: bool) -> None:
        if not condition:
            self.branches.append("")
        self.condition = condition

    def compiled_text(self) -> str:
        head, *branches = self.branches
        if not branches or not self.counts:
            return head
        if any(";" in branch for branch in branches):
            return head + "".join(branches)
        return head + branches[0] + "".join(_LINES.sub("", branch) for branch in branches[1:])


def unwrap_executable_comments(text: str) -> str:
    """MySQL runs what stands in `/*!50001 ... */`: so it is text, not comment."""
    return (
        _EXECUTABLE_COMMENT.sub(lambda found: f" {found[1]} " if found[2] else found[0], text)
        if "/*!" in text or "/*M!" in text
        else text
    )


def _without_outer_comments(text: str, lexicon: Lexicon) -> str:
    first = next((token for token in tokens(text, lexicon.dialect) if token.text.strip(EDGE)), None)
    if first is None:
        return ""
    text = text[first.start :]
    last_line = text[text.rfind("\n") + 1 :]
    if not (text.endswith("*/") or "--" in last_line or "//" in last_line or "#" in last_line):
        return text
    end = len(text)
    comments = [m.span() for m in lexicon.quoted.finditer(text) if m.lastgroup in (COMMENT, HINT)]
    for comment_start, comment_end in reversed(comments):
        if text[comment_end:end].strip(EDGE):
            break
        end = comment_start
    return text[:end].strip(EDGE)


# A statement as every tier takes it: what one of the parsers misreads is spelled as all of them read it.


def plainly_spelled(text: str, dialect: Dialect) -> str:
    """The text with a new definition of a view as a CREATE, and amounts of money as the numbers that they are.

    IDENTIFIER('s.t') is s.t, and "x" a string where no name can stand.

    Raises Templated where a relation has no other name than IDENTIFIER(:x).
    """
    if _REDEFINES.match(text):
        text = _redefinition(text, dialect)
    if dialect.identifier_clause and "identifier" in text.lower() and _IDENTIFIER.search(text):
        text = _replace_names(text, dialect)
    if dialect.loose_double_quotes and '"' in text:
        text = with_plain_quotes(text, lexicon_of(dialect))
    return _without_currency(text, dialect) if dialect.dollar_amounts else text


def redefined_view(text: str, dialect: Dialect) -> int | None:
    """Where the ALTER of ALTER [MATERIALIZED] VIEW v … AS query ends; None where the text is something else."""
    end = 0
    for token in islice(tokens(text, dialect), _ALTER_VIEW_HEAD):
        word = token.text.lower() if token.kind == WORD else token.text
        if not end:
            if word != "alter":
                return None
            end = token.start + len(word)
        elif word == "view":
            blanked = lexicon_of(dialect).quoted.sub(" ", text[end:])
            defined = _AS_QUERY.search(blanked) or (dialect.metric_views and _AS_STRING.search(blanked))
            return end if defined else None
        elif word in ("table", "as", "("):
            return None
    return None


def _replace_names(text: str, dialect: Dialect) -> str:
    """The text with the names that IDENTIFIER(…) has as constants, where relations stand."""
    texts: list[str] = []
    done = 0
    found = list(tokens(text, dialect))
    words = [token.text.upper() if token.kind == WORD else "" for token in found]
    for index, word in enumerate(words):
        opens = word == "IDENTIFIER" and index > 0 and [token.text for token in found[index + 1 : index + 2]] == ["("]
        before = words[index - 1] if opens else ""
        if _BEFORE_RELATION.fullmatch(before) is None:
            continue
        inside = found[index + 2 : index + 4]
        name = _NAME_IN_STRING.fullmatch(inside[0].text) if len(inside) == 2 and inside[1].text == ")" else None
        if name is not None:
            texts += (text[done : found[index].start], name[1])
            done = inside[1].start + 1
        elif before != "LIKE" and (not inside or inside[0].kind != STRING):
            raise Templated(Templated.code)
    return "".join(texts) + text[done:]


def _redefinition(text: str, dialect: Dialect) -> str:
    end = redefined_view(text, dialect)
    return text if end is None else f"CREATE{text[end:]}"


def _without_currency(text: str, dialect: Dialect) -> str:
    if text.isascii() and "$" not in text:
        return text
    return lexicon_of(dialect).literals.sub(_amount, text)


def _amount(match: re.Match[str]) -> str:
    found = match.group()
    if match.lastgroup != NUMBER or found[0] in ".0123456789":
        return found
    return f" {found[1:].strip() or '0'}"


# Whether a text is SQL at all, or a number, a name or a sentence that stood where a statement was looked for.


def holds_sql(text: str, dialect: Dialect | str) -> bool:
    """Whether one of SQL's own words stands in the text. Raises Unparsable where a quote or comment never ends."""
    dialect = dialect_of(dialect) if isinstance(dialect, str) else dialect
    return any(token.kind == WORD and token.text.lower() in _SQL_WORDS for token in tokens(text, dialect))
