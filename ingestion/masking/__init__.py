"""Statements without their literals: the text that may be stored, and the fingerprint by which equal ones are known."""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import NamedTuple

from ingestion.arguments import DIALECT_NAME, require_text
from ingestion.dialects import Dialect
from ingestion.dialects.definition import Fold, Separator
from ingestion.errors import Unparsable
from ingestion.lexing import Lexicon, lexicon_of, unbalanced_parentheses
from ingestion.masking.literal_roles import NAME_MARK, Role
from ingestion.masking.literals import Scan, is_structure, kept_literals, scan
from ingestion.masking.masked_text import masked_text
from ingestion.statements.cleaning import unwrap_executable_comments

_ITEM = r"(?:- )?(?:[\x02\x03?]|\w+ \x04|\$\d+|% s|null|NULL)"
_IN_LIST = re.compile(rf" ([iI][nN]|array|ARRAY) [(\[] {_ITEM}(?: , {_ITEM})*+ [)\]]")
_ROW_LIST = re.compile(rf" ([iI][nN]) \( (\( {_ITEM}(?: , {_ITEM})*+ \))(?: , \2)*+ \)")
_ROWS = re.compile(r"\b(values) (\( [^()]*+\))(?: , \2)++", re.IGNORECASE)


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
    problem = unbalanced_parentheses(scanned.blanked)
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
    for place, literal, role in kept:
        text = scanned.literals[literal]
        if role is not Role.STRUCTURE or is_structure(text):
            words[place] = NAME_MARK + text
    normal = " ".join(words)
    if scanned.literals:
        normal = _IN_LIST.sub(" \\1 \x05", normal)
        if "( (" in normal:
            normal = _ROW_LIST.sub(" \\1 \x05 \\2", normal)
        if ") , (" in normal:
            normal = _ROWS.sub(r"\1 \2", normal)
    return blake2b(normal.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


class QueryMasker:
    """Masks the literals of one dialect's statements.

    Every string and number becomes `?`, typed and prefixed literals as a whole (`DATE '...'`, `E'...'`), and dollar
    quotes too. What stays is structure: positions in GROUP BY and ORDER BY, the lengths of types, the aliases of
    columns even where they are written as strings. Comments go; hints stay, masked. Lists of literals after IN become
    `(?)`, and of rows of VALUES that are alike one stays. Where a dialect reads double quotes as names or as strings
    by its settings, they are masked where only a value can stand. Passwords go however they are written, and so do
    the user, query and signature of a location in a quoted name.
    """

    def __init__(self, dialect: Dialect | str) -> None:
        """Raises ConfigError when there is no such dialect."""
        if not isinstance(dialect, Dialect):
            require_text(dialect, "dialect", DIALECT_NAME)
        self._lexicon = lexicon_of(dialect)

    def mask(self, query: str) -> str:
        """The query without its literals; masking it again changes nothing.

        Raises Unparsable when a quote or comment never ends: then no part of the text is known to be free of
        literals, and none may be stored.
        """
        require_text(query, "query")
        if self._lexicon.dialect.separator is Separator.DELIMITER:
            query = unwrap_executable_comments(query)
        return masked_text(query, self._lexicon)
