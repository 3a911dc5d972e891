"""An independent look at a statement: whether it writes what it reads elsewhere, and which names stand in it.

It knows words and parentheses and no grammar, so that it shares no mistake with what it judges.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ingestion.dialects.definition import keywords
from ingestion.dialects.lexing import NAME, STRING, WORD, Token, tokens

_NOT_RELATIONS = keywords(
    "values unnest lateral select table generate_series dual set where rows flatten explode json_table xmltable"
    " openjson numbers range sequence generate_date_array generate_array generator input seq_range"
)
_FROM_IN_FUNCTIONS = keywords("extract substring trim overlay position date_part substr btrim ltrim rtrim")
_INTRODUCES = keywords("from join using")
_WRITING = keywords("insert ins replace upsert merge update upd")
_SELECT_INTO_MAKES_TABLES = keywords("tsql fabric postgres redshift greenplum vertica ansi")  # else it fills variables
_STORAGE = keywords("copy unload load export import bulk")
_RESERVED = keywords(
    "select from where group order by having join inner outer cross on using as with union except intersect insert into"
    " update delete merge when matched then case else end values lateral unnest distinct limit qualify window create"
    " replace view and or not null is in exists between like over partition"
)
_BEFORE_RELATION = keywords(
    "from join into update table view using only like clone exists overwrite insert delete merge stream on to of"
    " outfile swap exchange , ( . = with append sources ins upd sel copy unload model dictionary tables dynamic shallow"
    " deep ignore low_priority quick transient straight_join undo final lateral replace export temporary unlogged"
    " percent delayed summarize abort fail rollback"
)


@dataclass(frozen=True, slots=True)
class Look:
    """What the words of a statement say of it."""

    words: tuple[str, ...]
    tokens: tuple[Token, ...]
    dialect: str

    @property
    def writes_from_source(self) -> bool:
        """Whether it surely brings data of one relation into another."""
        return bool(self._written()) and self._reads_another()

    def _written(self) -> str:
        words = self.words
        verb = next((word for word in words if word != "("), "")
        if verb in ("with", "from"):
            verb = next((word for _at, word in self._outer() if word in _WRITING), verb)
        if verb == "merge" and not {"insert", "update"} & set(words):
            return ""
        if verb in _WRITING or verb in _STORAGE:
            return verb
        if verb in ("create", "alter", "replace"):
            head = words[1:12]
            objects = {"table", "view"} & set(head)
            routines = {"function", "procedure", "proc", "trigger", "macro", "package", "index", "policy", "event"}
            if not objects or routines & set(head[: min(head.index(word) for word in objects)]):
                return ""
            return verb if self._as_query() else ""
        if verb in ("select", "with") and self.dialect in _SELECT_INTO_MAKES_TABLES:
            places = [at for at, word in self._outer() if word == "into" and self.words[at - 1] != "as"]
            if places and not words[places[0] + 1].startswith((":", "@")):
                return "select into"
        return ""

    def _outer(self) -> Iterator[tuple[int, str]]:
        depth = 0
        for at, word in enumerate(self.words):
            depth += (word == "(") - (word == ")")
            if depth == 0:
                yield at, word

    def _as_query(self) -> bool:
        for at, word in self._outer():
            if word == "as" and at + 1 < len(self.words):
                following = [w for w in self.words[at + 1 : at + 6] if w != "("]
                if following and following[0] in ("select", "with", "from", "table"):
                    return True
        return False

    def _reads_another(self) -> bool:
        if next((word for word in self.words if word != "("), "") in _STORAGE:
            return self._storage_reads()
        return any(True for _name in self.relations_read())

    def _storage_reads(self) -> bool:
        if {"stdin", "stdout", "program", "foreign"} & set(self.words[:40]):  # nothing with a name at one end
            return False
        if self.words[:3] == ("export", "table", "metadata"):
            return False
        if self.words[1:2] == ("(",):
            return any(True for _name in self.relations_read())
        return "from" in self.words or "to" in self.words or self.words[0] == "unload"

    def relations_read(self) -> Iterator[str]:
        """The names that follow FROM, JOIN and USING, but for those of CTEs and functions and the target's own."""
        ctes, target = self.ctes(), self._target()
        functions: list[str] = []
        for at, word in enumerate(self.words):
            before = self.words[at - 1] if at else ""
            if word == "(":
                functions.append(before)
            elif word == ")" and functions:
                functions.pop()
            elif (
                word in _INTRODUCES
                and (word != "using" or self.words[0] in ("merge", "delete", "with"))
                and at + 1 < len(self.words)
            ):
                if word == "from" and (before == "distinct" or (functions and functions[-1] in _FROM_IN_FUNCTIONS)):
                    continue
                name, after = self._name_at(at + 1)
                if name and after != "(" and name not in ctes and name != target and name not in _NOT_RELATIONS:
                    yield name

    def _target(self) -> str:
        for at, word in enumerate(self.words[:12]):
            if word in ("into", "update", "upd", "table", "overwrite"):
                name, _after = self._name_at(at + 1)
                if name and name not in ("table", "if", "into"):
                    return name
        return ""

    def _name_at(self, at: int) -> tuple[str, str]:
        parts = []
        while at < len(self.words) and self._is_name(at):
            parts.append(self.words[at].strip('"`[]'))
            if at + 1 < len(self.words) and self.words[at + 1] == ".":
                at += 2
                continue
            at += 1
            break
        return ".".join(parts), self.words[at] if at < len(self.words) else ""

    def _is_name(self, at: int) -> bool:
        token = self.tokens[at]
        return token.kind == NAME or (token.kind == WORD and not token.text[0].isdigit())

    def ctes(self) -> frozenset[str]:
        """What `x AS (` names, wherever it stands."""
        found = set()
        for at in range(1, len(self.words) - 1):
            if self.words[at] == "as" and self.words[at + 1] in ("(", "materialized", "not"):
                before = at - 1
                if self.words[before] == ")":
                    before = self._opening(before) - 1
                if before >= 0 and self._is_name(before):
                    found.add(self.words[before].strip('"`[]'))
        return frozenset(found)

    def _opening(self, at: int) -> int:
        depth = 0
        while at >= 0:
            depth += (self.words[at] == ")") - (self.words[at] == "(")
            if depth == 0:
                return at
            at -= 1
        return 0

    def names(self) -> frozenset[str]:
        """Every identifier, and what stands in strings, in lower case."""
        found = set()
        if self.dialect == "bigquery":  # my-project.d.t
            found |= set(re.findall(r"[\w-]+", " ".join(self.words).replace(" - ", "-")))
        for token in self.tokens:
            if token.kind in (WORD, NAME):
                bare = token.text.strip('"`[]').lower()
                found |= {bare, bare.lstrip("#@"), f"#{bare}", *re.split(r"[.:]", bare)}
            elif token.kind == STRING or token.text[:1] in "'\"$":
                found |= set(re.split(r"[^\w$#@-]+", token.text.lower())) | {token.text.strip("'\"").lower()}
        return frozenset(found)

    def stands_as_relation(self, name: str) -> bool:
        """Whether a one-part name stands where a relation's name may stand, and is no word of the language."""
        wanted = name.lower()
        for at, word in enumerate(self.words):
            bare = word.strip('"`[]')
            if bare != wanted:
                continue
            quoted = self.tokens[at].kind != WORD
            before = self.words[at - 1] if at else ""
            is_shape = before == "as" and self.dialect == "clickhouse"  # CREATE TABLE a AS b
            if (is_shape or before in _BEFORE_RELATION) and (quoted or bare not in _RESERVED):
                return True
        return not any(word.strip('"`[]') == wanted for word in self.words)  # in a string: names() looks there


def look_at(text: str, dialect: str) -> Look:
    """The look at one statement."""
    found: Sequence[Token] = tuple(tokens(text, dialect))
    return Look(tuple(token.text.lower() for token in found), tuple(found), dialect)
