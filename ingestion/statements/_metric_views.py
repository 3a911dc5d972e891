"""Databricks' metric views, which are written in YAML: CREATE VIEW v WITH METRICS LANGUAGE YAML AS $$…$$.

As plain views, before their text is masked: for a lexer the YAML is one string, of which nothing would be left.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from ingestion.dialects import Dialect
from ingestion.dialects.cursor import DEEPEST_DEFINITION, LONGEST_EXPANSION, Code, Edit, with_edits
from ingestion.dialects.keywords import QUERY_STARTS
from ingestion.dialects.lexing import COMMENT, DOLLAR, HINT, ill_formed, lexicon_of
from ingestion.errors import Unparsable

_Read: TypeAlias = "dict[object, object]"
_LONGEST_YAML = 100_000
"""Characters; the reader of YAML takes some seconds for them."""
_DEEPEST_YAML = 40
"""Lists and mappings in each other; twenty joins of joins. For each level the readers of YAML call themselves."""
_NULLS = frozenset(("", "~", "null", "Null", "NULL"))


def as_plain_view(text: str, rules: Dialect) -> str:
    """The text, or the CREATE VIEW … AS SELECT … that the metric view in it comes to.

    It stays as it is where its YAML is none, or more than any view has: then no parser takes it.
    """
    head = _head(text, rules)
    if head is None:
        return text
    end, body = head
    try:
        view = _MetricView(rules, _read_yaml(body))
        return f"{text[:end]}AS {view.query()}"
    except Unparsable:
        return text


def _head(text: str, rules: Dialect) -> tuple[int, str] | None:
    """Where the head of a metric view ends, without what says that it is one; and its YAML."""
    code = Code.of(text, rules)
    last = len(code) - 1
    words = code.words(0, last)
    if "view" not in words or words[-1] != "as" or code.tokens[last].kind != DOLLAR:
        return None
    end = next((number for number in range(last) if code.stands(number, "with", "metrics")), last - 1)
    if words[0] != "alter" and (words[0] != "create" or end == last - 1):
        return None
    return code.start_of(end), code.tokens[last].text[2:-2]


def _read_yaml(body: str) -> _Read:
    """What a YAML says, all scalars as they are written. Raises Unparsable.

    Of an alias, which can make a short text a long one, the engine's reader takes the name alone.
    """
    import yaml  # some twenty milliseconds that only such a view needs

    if len(body) > _LONGEST_YAML:
        raise Unparsable("the YAML is too long")
    depth = 0
    try:
        for event in yaml.parse(body, yaml.BaseLoader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _DEEPEST_YAML or isinstance(event, yaml.AliasEvent):
                raise Unparsable("the YAML has aliases or is nested too deeply")
        read = yaml.load(body, yaml.BaseLoader)
    except yaml.YAMLError as error:
        raise Unparsable("the YAML cannot be read") from error
    if not isinstance(read, dict):
        raise Unparsable("the YAML is no mapping")
    return read


def _entries(read: _Read, *keys: str) -> Iterator[_Read]:
    for key in keys:
        listed = read.get(key)
        yield from (entry for entry in (listed if isinstance(listed, list) else ()) if isinstance(entry, dict))


@dataclass(slots=True)
class _MetricView:
    """What is joined, by the path that its columns have before them, and what measures are made of, by their names."""

    rules: Dialect
    read: _Read
    joined: dict[tuple[str, ...], tuple[str, str]] = field(default_factory=dict)
    measures: dict[str, str] = field(default_factory=dict)
    written: int = 0

    def query(self) -> str:
        """The SELECT that the view comes to. Raises Unparsable."""
        conditions = list(self._joins(self.read, "source", ()))
        self.measures = {
            str(one.get("name")).lower(): self._text(one, "expr") for one in _entries(self.read, "measures")
        }
        items = ", ".join(self._items())
        if row_filter := self._text(self.read, "filter"):
            conditions.append(f"({self._with_joined_columns(row_filter)})")
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        rows = self._rows(self.read)
        if not items:
            raise Unparsable("a metric view without columns")
        return f"SELECT {items} FROM {rows} AS source{where}"

    def _text(self, read: _Read, key: str) -> str:
        """A value that is no list, without comments; "" where there is none.

        A comment would swallow what is written behind the text, and an open quote or parenthesis begin in one text and
        end in another.
        """
        value = read.get(key)
        if not isinstance(value, str) or value in _NULLS:
            return ""
        if problem := ill_formed(value, self.rules):
            raise Unparsable(problem)
        return (
            lexicon_of(self.rules)
            .quoted.sub(lambda found: " " if found.lastgroup in (COMMENT, HINT) else found.group(), value)
            .strip()
            .rstrip(";")
        )

    def _code(self, text: str) -> Code:
        self._count(text)
        return Code.of(text, self.rules)

    def _count(self, text: str) -> None:
        self.written += len(text)
        if self.written > LONGEST_EXPANSION:
            raise Unparsable("the columns of the metric view come to too long a text")

    def _name(self, text: str) -> str:
        """A name that stands in the query as it is written."""
        code = self._code(text)
        parts, end = code.dotted_name(0)
        if len(parts) != 1 or end != len(code):
            raise Unparsable("what is joined has no name")
        return parts[0]

    def _items(self) -> Iterator[str]:
        for one in _entries(self.read, "dimensions", "fields", "measures"):
            expression, name = self._text(one, "expr"), one.get("name")
            if expression and isinstance(name, str) and name not in _NULLS:
                whole = self._with_joined_columns(self._with_measures(expression, ()))
                yield f"{whole} AS `{name.replace('`', '``')}`"

    def _with_measures(self, expression: str, path: tuple[str, ...]) -> str:
        """An expression with what measures are made of in place of MEASURE(name)."""
        code = self._code(expression)
        edits: list[Edit] = []
        for index in range(len(code)):
            if not code.stands(index, "measure", "(") or code.word(index + 3) != ")" or not code.is_name(index + 2):
                continue
            name = code.without_quotes(index + 2).lower()
            if name in path or len(path) == DEEPEST_DEFINITION:
                raise Unparsable("a measure is made of itself, or of too many others")
            if name in self.measures:
                value = self._with_measures(self.measures[name], (*path, name))
                edits.append(code.edit(index, index + 3, f"({value})"))
        return with_edits(code.text, edits)

    def _with_joined_columns(self, expression: str) -> str:
        """An expression with a query for each column of what is joined: `buyer.country.name` is of the inner join."""
        code = self._code(expression)
        edits: list[Edit] = []
        end = 0
        for index in range(len(code)):
            if index < end or not code.is_name(index) or code.word(index - 1) == ".":
                continue
            parts, end = code.dotted_name(index)
            known = next((number for number in range(len(parts) - 1, 0, -1) if parts[:number] in self.joined), 0)
            if known and code.word(end) != "(":
                name, rows = self.joined[parts[:known]]
                column = code.between(index + 2 * known, index + 2 * known + 1)
                query = f"(SELECT {name}.{column} FROM {rows} AS {name})"
                self._count(query)
                edits.append(code.edit(index, index + 2 * known, query))
        return with_edits(code.text, edits)

    def _rows(self, read: _Read) -> str:
        """A table by its name, or the rows of a query."""
        text = self._text(read, "source")
        if not text:
            raise Unparsable("a metric view without a source")
        return f"({text})" if self._code(text).word(0) in QUERY_STARTS else text

    def _joins(self, read: _Read, joined_to: str, path: tuple[str, ...]) -> Iterator[str]:
        """What joins ask for; a column without a name before it is one of the source, whatever is joined."""
        for one in _entries(read, "joins"):
            name, condition, using = self._text(one, "name"), self._text(one, "on"), one.get("using")
            inner, rows = (*path, self._name(name)), self._rows(one)
            self.joined[inner] = name, rows
            shared = [column for column in (using if isinstance(using, list) else ()) if isinstance(column, str)]
            for column in shared:
                self._name(column)
            asked = [f"({condition})"] if condition else [f"{joined_to}.{one} = {name}.{one}" for one in shared]
            where = " AND ".join([*asked, *self._joins(one, name, inner)])
            yield f"EXISTS (SELECT 1 FROM {rows} AS {name}{' WHERE ' if where else ''}{where})"
