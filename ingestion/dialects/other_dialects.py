"""Which texts cannot be of the dialect that they are given as, and whose they are then.

A log that is read as another system's gives names that nobody has: of BigQuery's `` FROM `p.d.orders` `` Snowflake's
quotes make nothing, and what a lenient parser makes of it is one table "p.d.orders". What tells it are a few forms
that an engine's lexer or grammar refuses; each is data here, from the manuals, and looked for outside strings and
comments alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from ingestion.dialects import DIALECTS, dialect_of
from ingestion.dialects.connection_types import CONNECTION_TYPES, SPELLINGS
from ingestion.dialects.definition import Dialect, keywords
from ingestion.dialects.lexing import COMMENT, HINT, NAME, OPEN, lexicon_of

_BEHIND = r"\b(?:from|join|into|merge|update|table|view|overwrite)\s+(?:if\s+(?:not\s+)?exists\s+)?"
"""What a relation's name stands behind. USING may be of a format (`org.apache.spark.sql.jdbc`), a script, a value."""
_OF_VALUES = re.compile(
    r"(?:\b(?:extract|trim|substring|substr|overlay|position)\s*\([^()]*"
    r"|\b(?:distinct|array|load|prepare\s+\w+|(?:import|copy)\b[^;()]*)\s+)\Z",
    re.IGNORECASE,
)
"""What stands before a FROM or JOIN that is none of a relation: EXTRACT(DAY FROM a-b.c.d), IS DISTINCT FROM [b],
ARRAY JOIN [b], Hive's IMPORT TABLE t FROM "/path", Databricks' COPY INTO t FROM "/path", MySQL's PREPARE s FROM "SQL".
"""
_SHOWN = 3
_SHARE = 10
"""One in so many: a log of one's own dialect has next to none, one of another in every second or third statement."""
_LOOKED_BACK = 200

_SPARK_LIKE = keywords("spark databricks hive impala")
_MYSQL_LIKE = keywords("mysql mariadb singlestore doris starrocks")
_TRINO_LIKE = keywords("trino presto athena")
_TSQL_LIKE = keywords("tsql fabric")


@dataclass(frozen=True, slots=True)
class _DialectForm:
    """A way to write something that not every dialect has.

    `signs`: one of them, in lower case, is in every text that has it. `of` are the dialects that it is typical of, the
    likeliest first. `refused` cannot read it and nothing that stands where it does: what a parser makes of it is
    nonsense, names included. `strange` have it no more, but what it says of names is plain, or a setting of the session
    may bring it.
    """

    words: str
    pattern: str
    signs: tuple[str, ...]
    of: tuple[str, ...]
    refused: frozenset[str] = frozenset()
    strange: frozenset[str] = frozenset()


def _without(sign: str) -> frozenset[str]:
    return frozenset(
        name for name, dialect in DIALECTS.items() if sign not in dialect.name_quotes + dialect.string_quotes
    )


_STRINGS_IN_DOUBLE_QUOTES = frozenset(name for name, dialect in DIALECTS.items() if dialect.double_quotes_are_strings)
_NO_DASHES = frozenset(name for name, dialect in DIALECTS.items() if not dialect.dashed_names)
# Redshift's temporary tables may be called so; elsewhere the sign may begin a name, or a comment.
_NO_HASH_NAMES = frozenset(
    name
    for name, dialect in DIALECTS.items()
    if "#" not in dialect.name_characters and not dialect.hash_comments and name not in ("ansi", "redshift", "exasol")
) | {"oracle"}

FORMS: Mapping[str, _DialectForm] = {
    "path": _DialectForm(
        "a whole path in one pair of backquotes",
        _BEHIND + r"`[^`\s/.][^`\s/.]*\.[^`\s/.]+\.[^`\s/]+`",
        ("`",),
        ("bigquery",),
        refused=_without("`") | _SPARK_LIKE | {"doris", "starrocks"},  # names there hold no dots
        strange=keywords("mysql mariadb singlestore clickhouse sqlite"),
    ),
    "backquotes": _DialectForm(
        "names in backquotes",
        r"`[^`\n]+`",
        ("`",),
        ("mysql", "bigquery", "databricks", "spark", "hive", "mariadb", "clickhouse"),
        refused=_without("`"),
    ),
    "brackets": _DialectForm(
        "names in brackets",
        rf"(?:{_BEHIND}|\.\s*)\[[A-Za-z_][\w$# ]*\]",
        ("[",),
        ("tsql", "fabric"),
        refused=_without("[") - {"ansi", "redshift"},  # SELECT [a] FROM [t] is taken there
    ),
    "dashes": _DialectForm(
        "a project's name with dashes and without quotes",
        _BEHIND + r"[A-Za-z]\w*(?:-\w+)+\.\w+\.\w",
        ("-",),
        ("bigquery",),
        refused=_NO_DASHES - {"ansi"},
    ),
    "hash": _DialectForm(
        "temporary tables that begin with #",
        rf"(?:{_BEHIND}|\busing\s+)#{{1,2}}[A-Za-z_]",
        ("#",),
        ("tsql", "fabric", "redshift"),
        refused=_NO_HASH_NAMES,
    ),
    "double quotes": _DialectForm(
        "names in double quotes",
        _BEHIND + r'"\?"',
        ('"',),
        ("postgres", "snowflake", "redshift", "trino", "oracle"),
        strange=_STRINGS_IN_DOUBLE_QUOTES,
    ),
    "top": _DialectForm(
        "SELECT TOP",
        r"\bselect\s+(?:distinct\s+|all\s+)?top\s*\(?\s*\d+",
        ("top",),
        ("tsql", "fabric", "teradata", "snowflake", "redshift"),
        strange=keywords("postgres oracle bigquery duckdb sqlite") | _SPARK_LIKE | _MYSQL_LIKE | _TRINO_LIKE,
    ),
    "nolock": _DialectForm(
        "WITH (NOLOCK)",
        r"\bwith\s*\(\s*nolock\b",
        ("nolock",),
        ("tsql", "fabric"),
        strange=keywords("postgres oracle bigquery snowflake redshift duckdb clickhouse teradata")
        | _SPARK_LIKE
        | _MYSQL_LIKE
        | _TRINO_LIKE,
    ),
    "casts": _DialectForm(
        "casts by ::",
        r"[\w)\]'\"]::\s*[A-Za-z]",
        ("::",),
        ("postgres", "snowflake", "redshift", "databricks"),
        strange=keywords("mysql mariadb bigquery oracle hive impala sqlite") | _TRINO_LIKE,
    ),
    "outer": _DialectForm(
        "joins by (+)",
        r"\(\s*\+\s*\)",
        ("+",),
        ("oracle",),
        strange=keywords("bigquery duckdb clickhouse sqlite") | _TSQL_LIKE | _SPARK_LIKE | _MYSQL_LIKE | _TRINO_LIKE,
    ),
    "qualify": _DialectForm(
        "QUALIFY",
        r"\bqualify\s+(?:1\s*=|row_number|rank|dense_rank|count|sum|max|min|lag|lead)\b",
        ("qualify",),
        ("snowflake", "bigquery", "teradata", "databricks"),
        # Oracle 26ai, Hive 4, MySQL HeatWave and Fabric's warehouse have it
        strange=keywords("postgres impala sqlite mariadb singlestore tsql") | _TRINO_LIKE,
    ),
    "duplicate": _DialectForm(
        "ON DUPLICATE KEY UPDATE",
        r"\bon\s+duplicate\s+key\s+update\b",
        ("duplicate",),
        ("mysql", "mariadb", "singlestore"),
        strange=keywords("postgres oracle snowflake bigquery redshift duckdb clickhouse teradata")
        | _TSQL_LIKE
        | _SPARK_LIKE
        | _TRINO_LIKE,
    ),
    "lateral view": _DialectForm(
        "LATERAL VIEW or INSERT OVERWRITE TABLE",
        r"\blateral\s+view\b|\binsert\s+overwrite\s+table\b",
        ("lateral", "overwrite"),
        ("spark", "databricks", "hive"),
        strange=keywords("postgres oracle snowflake bigquery redshift duckdb clickhouse teradata mysql mariadb sqlite")
        | _TSQL_LIKE
        | _TRINO_LIKE,
    ),
    "merge tree": _DialectForm(
        "ENGINE = MergeTree or PREWHERE",
        r"\bengine\s*=\s*\w*mergetree\b|\bprewhere\b",
        ("mergetree", "prewhere"),
        ("clickhouse",),
        strange=frozenset(DIALECTS) - {"ansi", "clickhouse"},
    ),
    "int64": _DialectForm(
        "BigQuery's types and casts",
        r"\bsafe_cast\s*\(|\bas\s+(?:int64|float64|bignumeric)\b",
        ("safe_cast", "int64", "float64", "bignumeric"),
        ("bigquery",),
        strange=keywords("postgres oracle snowflake redshift mysql mariadb teradata sqlite")
        | _TSQL_LIKE
        | _SPARK_LIKE
        | _TRINO_LIKE,
    ),
    "max": _DialectForm(
        "types of length MAX",
        r"\bn?var(?:char|binary)\s*\(\s*max\s*\)",
        ("varchar", "varbinary"),
        ("tsql", "fabric"),
        # Redshift takes VARCHAR(MAX)
        strange=keywords("postgres oracle bigquery mysql mariadb hive impala teradata") | _TRINO_LIKE,
    ),
    "varchar2": _DialectForm(
        "the types VARCHAR2 and NVARCHAR2",
        r"\bn?varchar2\s*\(",
        ("varchar2",),
        ("oracle",),
        strange=keywords("bigquery mysql hive impala") | _TSQL_LIKE | _TRINO_LIKE,
    ),
    "distinct on": _DialectForm(
        "DISTINCT ON",
        r"\bselect\s+distinct\s+on\s*\(",
        ("distinct",),
        ("postgres", "duckdb"),
        strange=keywords(
            "oracle snowflake bigquery mysql mariadb teradata redshift sqlite hive impala spark databricks"
        )
        | _TSQL_LIKE
        | _TRINO_LIKE,
    ),
}
"""Each by its code, in the order in which they are told."""


@dataclass(frozen=True, slots=True)
class OtherDialect:
    """What a text has that its dialect has not, as codes of FORMS; `refused`, where it cannot be read at all."""

    forms: tuple[str, ...]
    refused: bool

    def __str__(self) -> str:
        return _in_words(self.forms)


def _in_words(codes: Iterable[str]) -> str:
    return ", ".join(FORMS[code].words for code in codes)


def other_dialect(text: str, dialect: Dialect | str) -> OtherDialect | None:
    """What shows that a text is of another dialect: of `` FROM `a.b.c` `` under PostgreSQL its quotes; None if nothing.

    None too for a text with a quote that never ends.
    """
    rules = dialect_of(dialect) if isinstance(dialect, str) else dialect
    found = tuple(code for code in _forms_in(text, rules) if rules.name in _foreign_to(code))
    if not found:
        return None
    return OtherDialect(found, any(rules.name in FORMS[code].refused for code in found))


def _foreign_to(code: str) -> frozenset[str]:
    return FORMS[code].refused | FORMS[code].strange


def _forms_in(text: str, rules: Dialect) -> tuple[str, ...]:
    wanted = _possible_forms(text, rules.name)
    if not wanted:
        return ()
    code = _code_alone(text, rules)
    if code is None:
        return ()
    found = {match.lastgroup for match in _pattern(wanted).finditer(code) if not _is_of_values(match)}
    return tuple(name for name, group in _GROUPS.items() if group in found)


def _possible_forms(text: str, dialect: str) -> tuple[str, ...]:
    """The forms that the dialect has not and whose signs the text has: all of them take longer to find than a parse."""
    forms = _foreign_forms(dialect)
    if not text.isascii():  # İ is an I to a pattern that knows no case, and no i when it is lowered
        return tuple(code for code, _signs in forms)
    lowered = text.lower()
    found = []
    for code, signs in forms:  # loops, as every text is asked: generators take longer than what they look for
        for sign in signs:
            if sign in lowered:
                found.append(code)
                break
    return tuple(found)


def _is_of_values(match: re.Match[str]) -> bool:
    """Whether it begins with a FROM or JOIN that no relation stands behind."""
    if match.group()[:4].lower() not in ("from", "join"):
        return False
    return _OF_VALUES.search(match.string, max(0, match.start() - _LOOKED_BACK), match.start()) is not None


_GROUPS: Mapping[str, str] = {code: f"f{number}" for number, code in enumerate(FORMS)}


@cache
def _foreign_forms(dialect: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The forms that a dialect has not, each with its signs."""
    return tuple((code, form.signs) for code, form in FORMS.items() if dialect in _foreign_to(code))


@lru_cache(maxsize=256)
def _pattern(codes: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<{_GROUPS[code]}>{FORMS[code].pattern})" for code in codes), re.IGNORECASE)


def _code_alone(text: str, rules: Dialect) -> str | None:
    """A text without its comments and what stands in its strings; None where a quote in it never ends."""
    unterminated = False

    def replacement(match: re.Match[str]) -> str:
        nonlocal unterminated
        kind, written = match.lastgroup, match.group()
        unterminated = unterminated or kind == OPEN
        if kind in (COMMENT, HINT):
            return " "
        if kind == NAME:
            return written if written[0] == "`" and written.count(".") > 1 else f"{written[0]}n{written[-1]}"
        return '"?"' if written[0] == '"' else "'?'"

    code = lexicon_of(rules).quoted.sub(replacement, text)
    return None if unterminated else code


# Whose the texts are.


def is_share(found: Mapping[tuple[str, ...], int], texts: int) -> bool:
    """Whether so many of `texts` are of another dialect that their type is likelier wrong than they."""
    return sum(found.values()) * _SHARE >= texts > 0


def mismatch_text(found: Mapping[tuple[str, ...], int], texts: int, given: str) -> str:
    """`3 of 4 distinct statements cannot be SQL of Snowflake (names in backquotes 3); they fit BigQuery`.

    `given` is the type or dialect that they were read as.
    """
    by_form: Counter[str] = Counter()
    for codes, count in found.items():
        for code in codes:
            by_form[code] += count
    most = sorted(by_form, key=lambda code: (-by_form[code], list(FORMS).index(code)))[:_SHOWN]
    shown = ", ".join(f"{FORMS[code].words} {by_form[code]:,}" for code in most)
    fitting = fitting_types(found)
    fits = f"; they fit {' or '.join(fitting)}" if fitting else ""
    return f"{sum(found.values()):,} of {texts:,} distinct statements cannot be SQL of {given} ({shown}){fits}"


def fitting_types(found: Mapping[tuple[str, ...], int]) -> tuple[str, ...]:
    """The kinds of database that texts with such `found` forms (and how many have them) fit, the likeliest first.

    Those of which the fewest texts have what they cannot read, and of these those that the most forms are typical of.
    """
    misfits: Counter[str] = Counter()
    typical: Counter[str] = Counter()
    ranks: Counter[str] = Counter()
    for codes, texts in found.items():
        for name in _CANDIDATES:
            misfits[name] += texts * any(name in _foreign_to(code) for code in codes)
            of = [FORMS[code].of.index(name) for code in codes if name in FORMS[code].of]
            typical[name] += texts * len(of)
            ranks[name] += texts * sum(of)
    ranked = sorted(_CANDIDATES, key=lambda name: (misfits[name], -typical[name], ranks[name]))
    best = ranked[0]
    alike = (name for name in ranked if (misfits[name], typical[name]) == (misfits[best], typical[best]))
    return tuple(_TYPE_OF[name] for name in alike)[:_SHOWN] if typical[best] else ()


_CANDIDATES = tuple(dict.fromkeys(name for form in FORMS.values() for name in form.of))
_TYPE_OF: Mapping[str, str] = {
    dialect: kind
    for own_name in (False, True)  # where several kinds speak it, the one that it is called after
    for kind, dialect in reversed(tuple(CONNECTION_TYPES.items()))
    if not own_name or dialect in (kind.lower(), SPELLINGS.get(kind.lower()))
}
