"""Statements without their literals: the text that may be stored, and the fingerprint by which equal ones are known."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ingestion.arguments import DIALECT_NAME, require_text
from ingestion.dialects import Dialect
from ingestion.dialects.definition import Fold, Separator
from ingestion.dialects.lexing import (
    COMMENT,
    HINT,
    NAME,
    NUMBER,
    Lexicon,
    lexicon_of,
    problem_of_shape,
    typographic_quote,
)
from ingestion.dialects.unfilled_templates import without_template_comments
from ingestion.errors import Unparsable
from ingestion.model.digests import digest
from ingestion.statements._literals import (
    NAME_MARK,
    Role,
    Scan,
    is_structure,
    kept_literals,
    only_a_value_stands,
    prefix_before,
    scan,
)
from ingestion.statements._splitting import is_single, split
from ingestion.statements.cleaning import unwrap_executable_comments, without_inline_rows, without_values_beside


class _KeptText(NamedTuple):
    """What of a statement's text stays where something of it is stored or shown, and why."""

    what: str
    why: str


KEPT = (
    _KeptText("names in quotes", "they are names; the user, password, query and signature of a URL in one go"),
    _KeptText("strings behind AS in a SELECT's list", "they name columns; behind any other AS they are masked"),
    _KeptText("lengths of types, positions in GROUP BY and ORDER BY", "with others a statement does something else"),
    _KeptText("which element of a list that is written there is picked", "another number is another column"),
    _KeptText("true or false of REPLACE WITH TABLE's property swap", "it says whether two tables are exchanged"),
    _KeptText("hints, without their literals", "they change how a statement runs; comments go"),
    _KeptText("what SET search_path, schema, catalog, role and database name", "later names mean what they say"),
    _KeptText("paths and URLs read or written", "nothing else names a file; user, password, query and signature go"),
    _KeptText("values of a PIVOT that no alias names", "the engine names the new columns by them: in lineage alone"),
    _KeptText("names of fields, as in {'k': a}", "a later step picks a field by its name: in the state"),
    _KeptText("patterns of names, as in COLUMNS(c -> c LIKE 'a%')", "they say which columns are read: in the state"),
)
"""All of it. Any other literal is `?`, and in the state as in the catalog there is none."""

# A statement written anew without its literals, comments and passwords.

_TYPE_BEFORE = re.compile(
    r"(?<![\w$.])(?:date|time|timestamp|timestamptz|datetime|json|jsonb|bignumeric|timestamp_ntz|timestamp_ltz|timestamp_tz"
    r"|time(?:stamp)?\s+with(?:out)?\s+time\s+zone)\s*\Z",
    re.IGNORECASE,
)
_UNICODE_PREFIX = re.compile(r"(?<![\w$])[uU]&\Z")
_LABEL = re.compile(r"['\"][^'\"\\\r\n]{1,64}['\"]")
# Without a comment or a literal the rest may read differently, as where a quote stood in it: then it is masked again.
_READINGS = 6
# https://user:password@host/path
_USER_INFO = re.compile(r"(?<=://)[^/@\s`\"\]]*@")
# {{ var("secret") }}: in a template double quotes are a string's, whatever they are in SQL.
_TEMPLATE = re.compile(r"\{\{[\s\S]*?(?:\}\}|\Z)|\{%[\s\S]*?(?:%\}|\Z)")
_TEMPLATE_STRING = re.compile(r"\"[^\"]*+\"")
# '{{ f('secret') }}': whoever fills the template in ends no string at its inner quotes, a reader of the SQL does.
_CALL_IN_TEMPLATE = re.compile(r"\{\{(?=[^{}'\"]*[(\[|,=]\s*+['\"])[^{}]*+\}\}")
_QUOTED_IN_TEMPLATE = re.compile(r"'[^']*+'|\"[^\"]*+\"")
# Storage keeps the signature that opens a file behind the question mark of its URL.
_QUERY_STRING = re.compile(r"[?#][^`\"\]]*")
_HINT_LITERAL = re.compile(r"'[^']*'?|(?<![\w$])[0-9]+(?:\.[0-9]+)?(?![\w$])")
# A hint that holds anything else may be a comment that only looks like one, and goes.
_HINT_TEXT = re.compile(r"/\*\+[\w\s(),.@?\"`$#*=:%-]*\*/")
_BLANK_LINES = re.compile(r"(?<![ \t])[ \t]*+\n(?:[ \t\r]*+\n)++")
_ITEM = r"(?:-\s*)?(?:\?|null|\$\d+)"
_IN_LIST = re.compile(rf"\b(in)\s*\(\s*{_ITEM}(?:\s*,\s*{_ITEM})++\s*\)", re.IGNORECASE)
_ROWS = re.compile(r"\b(values\s*)(\((?:[^()]|\([^()]*\))*+\))(?:\s*,\s*\2)++", re.IGNORECASE)
_SECRET = r"(?:\"[^\"]*+\"?|`[^`]*+`?|[^\s;,()]++)"
# Oracle and Teradata take passwords without quotes: ALTER USER u IDENTIFIED BY secret REPLACE old_one.
_PASSWORDS = re.compile(
    rf"\b(identified\s+(?:by|with\s+\S+\s+(?:as|by))\s+(?:values\s+|password\s+)?|replace\s+|password\s*+(?:=\s*+)?){_SECRET}"
    rf"(?:\s*,\s*{_SECRET}(?=\s*(?:,|\Z)))*+",  # GRANT … TO u, v IDENTIFIED BY one, other
    re.IGNORECASE,
)
# COPY … ACCESS_KEY_ID word: without its quotes it is refused at the source, and logged all the same.
_BARE_KEYS = re.compile(
    rf"\b((?:access_key_id|secret_access_key|session_token|master_symmetric_key)\s+(?:as\s+)?)(?![?]){_SECRET}",
    re.IGNORECASE,
)
_ACCOUNTS = frozenset(("user", "role", "login", "group", "profile", "database", "link", "server", "connection"))
# Lines for a client: CONNECT scott/tiger, .logon host/user,password, :setvar x secret, !curl, dfs -put: no statement
# begins like that.
_CLIENT_LINE = re.compile(r"\s*(?:(?:\\?connect|conn|\.?logon|dfs)\b|[.:]\s*[a-z]\w*|!+)", re.IGNORECASE)
_SETTING = re.compile(r"\s*set\b[^=]*=\s*(?![(\s])", re.IGNORECASE)
# SET app.key TO secret, ALTER ROLE u SET app.key = secret: what says which names mean what stays.
_BARE_SETTING = re.compile(
    r"(?:\s*|\s*alter\s+(?:role|user|database|system|session)\b.*?\s)set\s+(?:(?:session|local|global|persist|persist_only)\s+)?"
    r"(?!(?:search_path|(?:current_)?schema|catalog|role|database)\b)[\w.]+(?:\s+to\s+|\s*=\s*)(?=[^\s?(@:$][^()]*+\Z)",
    re.IGNORECASE | re.DOTALL,
)
# EXEC dbo.p word, @x = word: T-SQL takes words for texts. Variables, OUTPUT and WITH RECOMPILE are none.
_CALLING = frozenset(("exec", "execute"))
_CALLED = re.compile(
    r"(?:\A\s*|\(\s*|\A\s*insert\b[^;]*?[\s)])exec(?:ute)?\s+(?:@[\w$#@]+\s*=\s*)?[^\s,;(]+\s"
    r"(?P<arguments>[^;()]*)(?=\)|\Z)",
    re.IGNORECASE,
)
_BARE_ARGUMENT = re.compile(
    r"(?<![\w@$#.\"\]])(?!(?:output|out|default|null|with|recompile|result|sets|none|undefined|at)\b)[A-Za-z_#][\w$#@.]*"
    r"(?!\s*=)(?![\w$#@.])",
    re.IGNORECASE,
)
# What stands in these is for whom a statement calls: CREATE TABLE t USING jdbc OPTIONS (user me, password secret).
_OPTIONS = re.compile(
    r"\b(?:access\s++parameters|(?:tbl|serde|db|catalog|table\s++|server)?properties|options|credentials?|authorization"
    r"|connection_options|format_options|copy_options|source)\s*+(?:=\s*+)?\(",
    re.IGNORECASE,
)
_OPTION_WORDS = ("options", "properties", "parameters", "credential", "authorization", "source")
"""One of them is in whatever the pattern finds; to find nothing it takes a quarter of a statement's masking."""
_NAMED_OPTIONS = re.compile(r"(?:\b(?:table|view|into|exists|join|from|update)\s+|[.\w])\Z", re.IGNORECASE)
_BRACKET = re.compile(r"[()]")
_OPAQUE = re.compile(r"access\s+parameters\b", re.IGNORECASE)
_SECRET_OPTION = re.compile(
    r"(?<![\w.])([\w.]*(?:user|username|password|passwd|pwd|secret|token|[._]key|keyid|access_?key|credentials?)"
    r"(?:\s*=\s*|\s+))(?![(?=,\s])[^\s,()]+",
    re.IGNORECASE,
)
_FORM_ITEM = r"(?:- )?(?:[\x02\x03?]|\w+ \x04|\$\d+|% s|null|NULL)"
_FORM_IN_LIST = re.compile(rf" ([iI][nN]|array|ARRAY) [(\[] {_FORM_ITEM}(?: , {_FORM_ITEM})*+ [)\]]")
_ROW_LIST = re.compile(rf" ([iI][nN]) \( (\( {_FORM_ITEM}(?: , {_FORM_ITEM})*+ \))(?: , \2)*+ \)")
_FORM_ROWS = re.compile(r"\b(values) (\( [^()]*+\))(?: , \2)++", re.IGNORECASE)


def _masked_text(query: str, lexicon: Lexicon) -> str:
    """`query` with `?` for its literals, such that masking it again changes nothing.

    Raises Unparsable when a quote or comment never ends, or when the text reads differently each time.
    """
    if "{{" in query:
        query = _CALL_IN_TEMPLATE.sub(lambda found: _QUOTED_IN_TEMPLATE.sub("?", found.group()), query)
    statement = without_inline_rows(query, lexicon.dialect) if "format" in query.lower() else query
    rows = " ?" if query[len(statement) :].strip() else ""
    query = statement
    for _ in range(_READINGS):
        masked = _masked_once(query, lexicon)
        if masked == query:
            return f"{masked}{rows}"
        query = masked
    raise Unparsable("the text without its literals reads differently than with them")


def _masked_once(query: str, lexicon: Lexicon) -> str:
    scanned = scan(query, lexicon)
    problem = typographic_quote(scanned.blanked)
    if problem is not None:
        raise Unparsable(problem)
    words = lexicon.words.findall(scanned.blanked.lower())
    writer = _Writer(query, lexicon, words)
    for match in lexicon.literals.finditer(query):
        writer.take(match)
    masked = writer.text()
    if "in" in words:
        masked = _IN_LIST.sub(r"\1 (?)", masked)
    if "values" in words:
        masked = _ROWS.sub(r"\1\2", masked)
    if "://" in masked:
        masked = _USER_INFO.sub("", masked)
    if "{{" in masked or "{%" in masked:
        masked = _TEMPLATE.sub(lambda found: _TEMPLATE_STRING.sub("?", found.group()), masked)
    return _without_passwords(_without_bare_values(masked, words, lexicon.dialect), words)


def _without_bare_values(masked: str, words: Sequence[str], dialect: Dialect) -> str:
    """The text without what stands in it for a value and is no literal.

    The value of a setting, the arguments of T-SQL's EXEC, the values of options.
    """
    kept = None
    if words[:1] == ["set"] and dialect.unquoted_settings:
        kept = _SETTING.match(masked)
    elif words[:1] in (["set"], ["alter"]):
        kept = _BARE_SETTING.match(masked)
        if kept is None and words[0] == "alter":
            return _without_options(masked)
    elif dialect.bare_arguments and not _CALLING.isdisjoint(words) and (call := _CALLED.search(masked)) is not None:
        before, after = masked[: call.start("arguments")], masked[call.end() :]
        return f"{before}{_BARE_ARGUMENT.sub('?', call['arguments'])}{after}"
    elif words[:1] in (["create"], ["insert"], ["copy"]):
        return _without_options(masked)
    return masked if kept is None else f"{masked[: kept.end()].rstrip()} ?"


def _without_options(masked: str) -> str:
    """The text without the bare words that are values of options, and with nothing of a driver's own language."""
    if masked.isascii():  # other letters are the same as some of these to a pattern, and not in lower case
        lowered = masked.lower()
        if not any(word in lowered for word in _OPTION_WORDS):
            return masked
    texts, written = list[str](), 0
    for match in _OPTIONS.finditer(masked):
        if match.start() < written or _NAMED_OPTIONS.search(masked, max(match.start() - 20, 0), match.start()):
            continue
        end = _closing(masked, match.end())
        inside = masked[match.end() : end]
        opaque = _OPAQUE.match(match.group()) is not None
        texts += [masked[written : match.end()], "?" if opaque else _SECRET_OPTION.sub(r"\1?", inside)]
        written = end
    return "".join([*texts, masked[written:]])


def _closing(text: str, start: int) -> int:
    """Where the parenthesis closes that was opened before `start`."""
    depth = 1
    for match in _BRACKET.finditer(text, start):
        depth += 1 if match.group() == "(" else -1
        if not depth:
            return match.start()
    return len(text)


@dataclass(slots=True)
class _Writer:
    """The masked text as far as it is written; `take` is told each comment, literal and quoted name in order."""

    query: str
    lexicon: Lexicon
    words: Sequence[str]
    roles: dict[int, tuple[int, Role]] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    written: int = 0
    literal: int = -1
    after_string: bool = False
    uncommented: bool = False

    def __post_init__(self) -> None:
        kept = kept_literals(self.words, self.lexicon.dialect)
        self.roles = {literal: (index, role) for index, literal, role in kept}

    def take(self, match: re.Match[str]) -> None:
        between = self.query[self.written : match.start()]
        self.written = match.end()
        kind, text = match.lastgroup, match.group()
        if kind in (COMMENT, HINT):
            self.texts += [between, self._comment(text, match)]
            return
        self.literal += 1
        index, role = self.roles.get(self.literal, (-1, None))
        if kind == NAME:
            self.texts += [between, self._name(text, index)]
        elif (role is Role.STRUCTURE and is_structure(text)) or (role is Role.ALIAS and _LABEL.fullmatch(text)):
            self.texts += [between, text]
        else:
            self._mask(between, match)
            return
        self.after_string = False

    def _mask(self, between: str, match: re.Match[str]) -> None:
        """Writes `?` for a string or number with its prefix and type: one of `DATE '2024-01-01'`, `E'a'`, `1e3`."""
        is_string = match.lastgroup != NUMBER
        if is_string and self.after_string and not between.strip():
            return  # strings side by side are one literal
        if is_string:
            prefix = prefix_before(match.string, match.start())
            if prefix is None and between.endswith("&"):
                prefix = _UNICODE_PREFIX.search(between)
            if prefix is not None and between:
                between = between[: len(between) - len(prefix.group())]
            if between.rstrip()[-1:].isalpha():
                between = _TYPE_BEFORE.sub("", between)
        before = between[-1:] or (self.texts[-1][-1:] if self.texts else "")
        following = match.string[match.end() : match.end() + 1]
        space_before = " " if before.isalnum() or before in ("_", "?") else ""
        space_after = " " if following.isalnum() or (following and following in "_:|&?'\"") else ""
        self.texts += [between, f"{space_before}?{space_after}"]
        self.after_string = is_string

    def _comment(self, text: str, match: re.Match[str]) -> str:
        """Nothing, or a hint that holds no value: `/*+ BROADCAST(a) */` changes how a statement runs, and stays."""
        if match.lastgroup == HINT:
            hint = _HINT_LITERAL.sub("?", text)
            if _HINT_TEXT.fullmatch(hint):
                return hint
        self.uncommented = True
        neighbours = self.query[match.start() - 1 : match.start()], self.query[match.end() : match.end() + 1]
        # a/**/b are two words, and stay two.
        return " " if all(character and not character.isspace() for character in neighbours) else ""

    def _name(self, text: str, index: int) -> str:
        """A quoted name, without the user and the query of a URL in it: `https://u:p@host/x?sig=…`."""
        if text[0] == '"' and self.lexicon.dialect.loose_double_quotes and only_a_value_stands(self.words, index):
            return "?"
        if "://" not in text:
            return text
        scheme, location = text.split("://", 1)
        return _USER_INFO.sub("", f"{scheme}://{_QUERY_STRING.sub('', location)}")

    def text(self) -> str:
        """The whole, once every match was taken."""
        masked = "".join([*self.texts, self.query[self.written :]])
        return _BLANK_LINES.sub("\n", masked).strip() if self.uncommented else masked.strip()


def _without_passwords(masked: str, words: Sequence[str]) -> str:
    """IDENTIFIED BY secret, PASSWORD = secret, CONNECT user/secret: without quotes they are no literals."""
    line = _CLIENT_LINE.match(masked)
    if line is not None:
        return masked[: line.end()] + " ?"
    if words[:1] == ["copy"]:
        return _BARE_KEYS.sub(r"\1?", masked)
    if "identified" in words or ("password" in words[:40] and _ACCOUNTS.intersection(words[1:4])):
        return _PASSWORDS.sub(r"\1?", masked)
    return masked


class MaskedTemplate(NamedTuple):
    """What statements that differ only in their literals have in common."""

    fingerprint: str
    masked: str


def fingerprint(text: str, dialect: Dialect | str) -> str:
    """32 hexadecimal digits, equal for statements that differ only in literals, comments and white space.

    Literals that name data (paths, fields, SQL in strings, PIVOT's columns) and type lengths count, as does the case
    of quoted names and, where the dialect tells case apart, of bare ones. Lists of literals after IN count as one,
    and so do rows of VALUES that are alike. Raises Unparsable when a quote, comment or parenthesis never closes.
    """
    lexicon = lexicon_of(dialect)
    return _fingerprint(scan(text, lexicon), lexicon)


def template(text: str, dialect: Dialect | str) -> MaskedTemplate:
    """A statement's fingerprint and its masked text; raises Unparsable as `fingerprint` does."""
    return MaskedTemplate(fingerprint(text, dialect), QueryMasker(dialect).mask(text))


def _fingerprint(scanned: Scan, lexicon: Lexicon) -> str:
    problem = problem_of_shape(scanned.blanked)
    if problem is not None:
        raise Unparsable(problem)
    lowered = lexicon.words.findall(scanned.blanked.lower())
    words = lowered
    if lexicon.dialect.relations.bare is Fold.KEEP:
        words = lexicon.words.findall(scanned.blanked)
        if len(words) != len(lowered):  # a letter whose lower case is two characters
            words = lowered
    kept = kept_literals(lowered, lexicon.dialect)
    if kept and words is lowered:
        words = lowered.copy()
    for index, literal, role in kept:
        text = scanned.literals[literal]
        if role is not Role.STRUCTURE or is_structure(text):
            words[index] = NAME_MARK + text
    normal = " ".join(words)
    if scanned.literals:
        normal = _FORM_IN_LIST.sub(" \\1 \x05", normal)
        if "( (" in normal:
            normal = _ROW_LIST.sub(" \\1 \x05 \\2", normal)
        if ") , (" in normal:
            normal = _FORM_ROWS.sub(r"\1 \2", normal)
    return digest(normal)


class QueryMasker:
    """Masks the literals of one dialect's statements.

    Every string and number becomes `?`, typed and prefixed literals as a whole (`DATE '...'`, `E'...'`), and dollar
    quotes too. What stays is structure: positions in GROUP BY and ORDER BY and in lists that are written there, the
    lengths of types, the aliases of columns even where they are written as strings. Comments go; hints stay, masked.
    Lists of literals after IN become `(?)`, and of rows of VALUES that are alike one stays. Where a dialect reads
    double quotes as names or as strings by its settings, they are masked where only a value can stand. Passwords go
    however they are written, and so do the user, query and signature of a location in a quoted name.
    """

    def __init__(self, dialect: Dialect | str) -> None:
        """Raises ConfigError when there is no such dialect."""
        if not isinstance(dialect, Dialect):
            require_text(dialect, "dialect", DIALECT_NAME)
        self._lexicon = lexicon_of(dialect)

    def mask(self, query: str) -> str:
        """The query without its literals; masking it again changes nothing.

        Of a script each statement is masked by itself, and what stands between them goes: what a string is for is
        told by the statement that it stands in, and lines for a client, or rows behind a COPY, are no SQL.

        Raises Unparsable when a quote or comment never ends: then no part of the text is known to be free of
        literals, and none may be stored.
        """
        require_text(query, "query")
        dialect = self._lexicon.dialect
        query = without_values_beside(without_template_comments(query, dialect), dialect)
        if dialect.separator is Separator.DELIMITER:
            query = unwrap_executable_comments(query)
        if is_single(query, dialect):
            return _masked_text(query, self._lexicon)
        return ";\n".join(_masked_text(statement.text, self._lexicon) for statement in split(query, dialect))
