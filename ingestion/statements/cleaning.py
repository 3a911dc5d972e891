"""What logs, clients and templates leave in a statement that is not SQL of its dialect."""

from __future__ import annotations

import re
from functools import lru_cache

from ingestion.dialects import Dialect
from ingestion.lexing import COMMENT, HINT, Lexicon, lexicon_of, tokens

_COPY_GRANTS = re.compile(r"\b[cC][oO][pP][yY]\s+[gG][rR][aA][nN][tT][sS]\b")
_ESCAPE = re.compile(r"\\(?:r\\n|[nrt])")
_COMMENT_TO_ESCAPE = r"--(?:[^\\\r\n]|\\(?![nr]))*+"
_ESCAPED = {"\\n": "\n", "\\r": "\n", "\\t": "\t", "\\r\\n": "\n"}
_META_COMMAND = re.compile(
    r"(?m)^[ \t]*+\\(?:a|c|cd|connect|conninfo|copy|crosstabview|d|echo|elif|else|encoding|endif|errverbose|f"
    r"|g|gdesc|gexec|gset|h|i|if|ir|l|o|p|password|prompt|pset|q|qecho|restrict|s|set|setenv|sf|sv|timing|unrestrict|unset|w|warn|watch"
    r"|x|z|!)(?!\w)[^\r\n]*+"
)
_SNOWSQL_COMMAND = re.compile(
    r"(?m)^[ \t]*+!(?i:abort|connect|define|edit|exit|help|history|load|options|pause|print|queries|quit|rehash"
    r"|result|set|source|spool|system|variables)\b(?!\()[^\r\n]*+"
)
_COPIED_ROWS = re.compile(r"(?ims)^[ \t]*+copy\s[^;]*?\bfrom\s+stdin\b[^;]*+;[^\n]*+\n.*?^\\\.[ \t\r]*+$")
_MAGIC = re.compile(r"\A%sql\b\s*+")  # how a cell of a notebook says that it is SQL
_SET_STATEMENT = re.compile(r"set\s++statement\s++[\w.]++\s*+=", re.IGNORECASE)
"""How MariaDB writes settings that hold for one statement, which follows."""
_EXECUTABLE_COMMENT = re.compile(r"/\*M?!\d*+((?:[^*]|\*(?!/))*+)(\*/|\Z)")
EDGE = "".join(filter(str.isspace, map(chr, range(0x3001)))) + ";\ufeff\u200b\x00"
"""What surrounds a statement without belonging to it: white space of every kind, semicolons, byte-order marks."""


def clean(text: str, dialect: Dialect | str) -> str:
    """One statement without what surrounds it (comments, semicolons) and what its parser would choke on.

    `COPY GRANTS` goes, and settings that are the statement's own (`SET STATEMENT … FOR`); escape sequences that a log
    wrote for line ends become line ends, outside strings. Nothing else is ever cut.
    """
    cleaned = text.strip(EDGE)
    if "\\" in cleaned:
        cleaned = unescape_line_ends(cleaned, dialect)
    if "--" in cleaned or "/*" in cleaned or "//" in cleaned or "#" in cleaned:
        cleaned = _without_outer_comments(cleaned, lexicon_of(dialect))
    if cleaned[:1] == "%":
        cleaned = _MAGIC.sub("", cleaned)
    if _COPY_GRANTS.search(cleaned):
        cleaned = _outside_quotes(_COPY_GRANTS.pattern, cleaned, lexicon_of(dialect))
    return _without_own_settings(cleaned, dialect) if _SET_STATEMENT.match(cleaned) else cleaned


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
        return _quoted_or(_ESCAPE.pattern, lexicon).sub(_unescape, text)
    return _quoted_or(_ESCAPE.pattern, lexicon, _COMMENT_TO_ESCAPE).sub(_unescape, text)


def _unescape(match: re.Match[str]) -> str:
    return match.group() if match.lastgroup else _ESCAPED[match.group()]


def without_client_commands(text: str, dialect: Dialect) -> str:
    """A psql script without its backslash commands and the rows that follow `COPY ... FROM stdin;`; SnowSQL's too.

    Lines stay where they were. Other dialects' texts come back as they are.
    """
    if dialect.stage_names and _SNOWSQL_COMMAND.search(text):
        return _outside_quotes(_SNOWSQL_COMMAND.pattern, text, lexicon_of(dialect))
    if "\\" not in text or not dialect.prefixed_escapes:
        return text
    if "\n\\." in text:
        text = _COPIED_ROWS.sub(lambda match: "\n" * match.group().count("\n"), text)
    if not _META_COMMAND.search(text):
        return text
    return _outside_quotes(_META_COMMAND.pattern, text, lexicon_of(dialect))


def unwrap_executable_comments(text: str) -> str:
    """MySQL runs what stands in `/*!50001 ... */`: so it is text, not comment."""
    return (
        _EXECUTABLE_COMMENT.sub(lambda found: f" {found[1]} " if found[2] else found[0], text)
        if "/*!" in text or "/*M!" in text
        else text
    )


def _outside_quotes(pattern: str, text: str, lexicon: Lexicon) -> str:
    """`text` without what `pattern` matches outside strings, names and comments."""
    return _quoted_or(pattern, lexicon).sub(lambda match: match.group() if match.lastgroup else "", text)


@lru_cache(maxsize=256)
def _quoted_or(pattern: str, lexicon: Lexicon, first: str = "(?!)") -> re.Pattern[str]:
    """Matches `first` and what is quoted as named groups, and `pattern` outside them as none."""
    return re.compile(f"(?P<first>{first})|{lexicon.quoted.pattern}|(?m:{pattern.removeprefix('(?m)')})")


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
