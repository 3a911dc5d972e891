"""Languages that routines are written in besides SQL, as data: how their texts are written, and what runs one as SQL.

A database runs JavaScript, Python, Java, Scala and Perl in its routines. What such a body reads and writes is its
program's to say, but for the texts that it hands over to be run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_C_COMMENTS = r"//[^\n]*+|/\*[\s\S]*?\*/"
_HASH_COMMENTS = r"#[^\n]*+"


@dataclass(frozen=True, slots=True)
class HostLanguage:
    """How a language writes its comments (a pattern) and its texts.

    `quotes`, longer first, may have some of the `prefixes` before them. A text is `filled` with values where that
    pattern matches its prefix and content together. `template` is the quote of texts that `${…}` fills. `patterns`:
    between slashes stands a regular expression. `only_by_text`: its programs reach the database by texts alone.
    """

    comments: str
    quotes: tuple[str, ...] = ('"', "'")
    prefixes: str = ""
    filled: str = r"(?!)"
    template: str = ""
    patterns: bool = False
    only_by_text: bool = False


_JAVASCRIPT = HostLanguage(_C_COMMENTS, template="`", patterns=True, only_by_text=True)
_PYTHON_TEXTS = ('"""', "'''", '"', "'"), "bBrRuUfFtT", r"[rR]?[fFtT][rR]?['\"](?:[^{]|\{\{)*+\{"
_PYTHON = HostLanguage(_HASH_COMMENTS, *_PYTHON_TEXTS)
_PYTHON_IN_SERVER = HostLanguage(_HASH_COMMENTS, *_PYTHON_TEXTS, only_by_text=True)
_JAVA = HostLanguage(_C_COMMENTS, ('"""', '"'))
_SCALA = HostLanguage(_C_COMMENTS, ('"""', '"'), "sfraw", r"[sf]\"[^$]*+\$")
_PERL = HostLanguage(_HASH_COMMENTS, filled=r"\"(?:[^$@\\]|\\.)*+[$@][\w{]", only_by_text=True)

HOST_LANGUAGES: Mapping[str, HostLanguage] = {
    **dict.fromkeys(("javascript", "js", "plv8", "plv8u"), _JAVASCRIPT),
    "python": _PYTHON,
    **dict.fromkeys(("plpythonu", "plpython2u", "plpython3u"), _PYTHON_IN_SERVER),
    **dict.fromkeys(("java", "pljava", "pljavau"), _JAVA),
    "scala": _SCALA,
    **dict.fromkeys(("plperl", "plperlu"), _PERL),
}
"""By the name that LANGUAGE gives them; those that are not here are not read."""

RUNS_TEXT: frozenset[str] = frozenset(
    {
        # JavaScript in Snowflake, MySQL and Oracle; Snowpark and Spark
        *("execute", "executeAsync", "createStatement", "runSql", "sql"),
        # DB-API, and the clients of warehouses
        *("executemany", "execute_async", "execute_string", "query"),
        # JDBC
        *("executeQuery", "executeUpdate", "executeLargeUpdate", "prepareStatement", "addBatch"),
        # plpy and plv8, and PL/Perl
        *("prepare", "cursor"),
        *("spi_exec_query", "spi_query", "spi_prepare"),
    }
)
"""Functions and methods that take a text of SQL as their first argument."""

PREPARES_TEXT: frozenset[str] = frozenset({"createStatement", "prepareStatement", "prepare", "spi_prepare"})
"""Those of them that give something to run, which runs without its text."""

TEXT_KEY = "sqlText"
"""What the text is called where the argument is an object."""

KEEPS_TEXT: frozenset[str] = frozenset(
    {
        *("strip", "lstrip", "rstrip", "trim", "trimStart", "trimEnd", "stripIndent"),
        *("stripMargin", "dedent"),
    }
)
"""Methods and functions of a text that leave its statement as it is."""
