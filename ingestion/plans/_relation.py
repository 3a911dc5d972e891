"""The relations and attributes of a plan: what an expression id stands for, and how plans print lists of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import accumulate

from ingestion.analysis.roles import IDENTITY, unite_roles
from ingestion.model.lineage import ColumnRef, Problem, TableName

IndirectUse = tuple[ColumnRef, int]
"""A column that had an indirect say, and in which role."""

ID = re.compile(r"#(\d+)L?(?:-T\d+ms)?")
"""An expression id: `L` follows a bigint's, `-T…ms` that of a column with a watermark."""

SUBQUERY = re.compile(
    r"(?:ReusedSubquery )?(?:Subquery )?(?:scalar-|lateral-)?(subquery|exists|list)#(\d+)"
    r"(?:, \[id=#\d+\]| \[[^\[\]]*\])"
)
"""A subquery inside an expression: a physical one names its exchange, a logical one its outer references."""

_MORE_FIELDS = re.compile(r"(?:, ?)?\.\.\. (\d+) more fields?")
"""Where Spark cut a list (spark.sql.debug.maxToStringFields)."""
_CUT_END = re.compile(r"(?:, ?)?\.\.\. \d+ more fields?$")


# What a plan's node gives: columns with their lineage, and what decided the rows.


@dataclass(frozen=True, slots=True)
class ValueParts:
    """What is known of the parts of a value that has some: a struct, an array or a map.

    `fields` are a struct's, and `rest` what any other field of it is made of. `element` is what an array's elements or
    a map's values are made of, `key` what its keys are, and `size` the columns that decide how many there are; `items`
    has those that were listed one by one, by their position or their key as printed.
    """

    fields: Mapping[str, AttributeLineage] | None = None
    rest: AttributeLineage | None = None
    element: AttributeLineage | None = None
    key: AttributeLineage | None = None
    size: frozenset[ColumnRef] = frozenset()
    items: Mapping[str, AttributeLineage] | None = None


@dataclass(frozen=True, slots=True)
class AttributeLineage:
    """Where one value comes from.

    `direct` has the role of each source column whose value flows; `expression` is canonical and masked, "" for a column
    taken as it is. `opaque`: made by code that a plan does not show, or a part of a value whose parts are not told.
    `incomplete`: text was cut, or names an attribute that is not in scope, so sources may be missing.
    """

    direct: Mapping[ColumnRef, int] = field(default_factory=dict)
    indirect: frozenset[IndirectUse] = frozenset()
    expression: str = ""
    opaque: bool = False
    incomplete: bool = False
    parts: ValueParts | None = None

    @property
    def columns(self) -> frozenset[ColumnRef]:
        """Every source column, whatever its role."""
        return frozenset(self.direct) | {column for column, _ in self.indirect}

    @property
    def identity(self) -> bool:
        return tuple(self.direct.values()) == (IDENTITY,)


NOTHING = AttributeLineage()
MISSING = AttributeLineage(incomplete=True)


def base_column(column: ColumnRef) -> AttributeLineage:
    """The lineage of a column that is read from a table or a path."""
    return AttributeLineage({column: IDENTITY})


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column of a plan's output: Spark's expression id, the name as printed, its lineage.

    `masked` is the name without literals where Spark made it of an expression's text; "" of any other name.
    """

    id: int
    name: str
    lineage: AttributeLineage = NOTHING
    masked: str = ""

    def read_as(self, id: int, name: str) -> Attribute:
        """The same column as another node has it, by an id and perhaps a name of its own."""
        return Attribute(id, name, self.lineage, self.masked if name == self.name else "")


@dataclass(slots=True)
class PlanRelation:
    """A node's output in order, with the row-level influences and the tables read below it.

    `grouped` is set while a value is between the stages of one aggregation: the relation below the first stage, whose
    functions are `functions` as printed.
    """

    attributes: list[Attribute]
    indirect: frozenset[IndirectUse] = frozenset()
    sources: dict[TableName, None] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    grouped: PlanRelation | None = None
    functions: str = "[]"

    @property
    def scope(self) -> dict[int, Attribute]:
        return {attribute.id: attribute for attribute in self.attributes}

    def with_attributes(
        self, attributes: list[Attribute], influences: Iterable[IndirectUse] = (), problems: Iterable[Problem] = ()
    ) -> PlanRelation:
        """The same rows with other columns, and more influences on which rows there are."""
        return PlanRelation(
            attributes, self.indirect | frozenset(influences), self.sources, (*self.problems, *problems)
        )


def join_relations(relations: Iterable[PlanRelation]) -> PlanRelation:
    """Columns side by side, influences and sources together; one relation alone is itself."""
    relations = list(relations)
    if len(relations) == 1:
        return relations[0]
    attributes: list[Attribute] = []
    indirect: frozenset[IndirectUse] = frozenset()
    sources: dict[TableName, None] = {}
    problems: tuple[Problem, ...] = ()
    for relation in relations:
        attributes.extend(relation.attributes)
        indirect |= relation.indirect
        sources.update(relation.sources)
        problems += relation.problems
    return PlanRelation(attributes, indirect, sources, problems)


def influences(lineage: AttributeLineage, role: int) -> set[IndirectUse]:
    """An indirect use of a value is an indirect use of all that made it."""
    return {(column, role) for column in lineage.columns}


def unite_lineages(lineages: Iterable[AttributeLineage]) -> AttributeLineage:
    """The lineage of a column of a UNION: either side may have given the value."""
    lineages = list(lineages)
    direct: dict[ColumnRef, int] = {}
    indirect: frozenset[IndirectUse] = frozenset()
    opaque = incomplete = False
    for lineage in lineages:
        for column, role in lineage.direct.items():
            direct[column] = unite_roles(direct.get(column, role), role)
        indirect |= lineage.indirect
        opaque |= lineage.opaque
        incomplete |= lineage.incomplete
    distinct = [text for text in dict.fromkeys(lineage.expression for lineage in lineages) if text]
    expression = distinct[0] if len(distinct) == 1 else ""
    return AttributeLineage(direct, indirect, expression, opaque, incomplete, _unite_parts(lineages))


def _unite_parts(lineages: Sequence[AttributeLineage]) -> ValueParts | None:
    """The parts of a value that one of several gave: those that all are known to have.

    A value without columns and parts is a NULL. Fields with other names are those at the same places.
    """
    known = [lineage.parts for lineage in lineages if lineage.parts is not None]
    if not known or any(lineage.parts is None and lineage.columns for lineage in lineages):
        return None
    if all(parts.fields is not None for parts in known):
        return _unite_fields(known)
    if any(parts.element is None for parts in known) or len({parts.key is None for parts in known}) > 1:
        return None
    keys = [parts.key for parts in known if parts.key is not None]
    return ValueParts(
        element=unite_lineages(parts.element for parts in known if parts.element is not None),
        key=unite_lineages(keys) if keys else None,
        size=frozenset().union(*(parts.size for parts in known)),
    )


def _unite_fields(known: Sequence[ValueParts]) -> ValueParts | None:
    structs = [parts.fields or {} for parts in known]
    if any(parts.rest is not None for parts in known) or len({len(fields) for fields in structs}) > 1:
        return None
    names = list(structs[0])
    by_name = all(set(fields) == set(names) for fields in structs)
    columns = [[fields[name] for name in names] if by_name else list(fields.values()) for fields in structs]
    return ValueParts(fields={name: unite_lineages(parts) for name, *parts in zip(names, *columns, strict=True)})


# Lists of attributes and of named expressions as plans print them.
#
# Nothing is quoted: names and literals may hold commas, brackets, `#` and line breaks. So lists are cut by expression
# ids: an element is an attribute in scope, or ends in ` AS name#id`.


@dataclass(frozen=True, slots=True)
class Element:
    """One named expression of a list: `expression` is "" for an attribute that is passed on.

    `is_bare` where nothing names it: what is an attribute of elsewhere is taken for its own expression.
    """

    id: int
    name: str
    expression: str = ""
    is_bare: bool = False


def inside(text: str) -> str:
    """A list's text without its brackets."""
    text = text.strip()
    return text[1:-1] if text.startswith("[") and text.endswith("]") else text


def is_truncated(text: str) -> bool:
    """Whether Spark cut this text."""
    return _MORE_FIELDS.search(text) is not None


def attribute_list(text: str, separator: str = ", ") -> list[Element]:
    """The attributes of a printed output list. A list that was cut gives the attributes that are left."""
    body = _CUT_END.sub("", inside(text))
    found: list[Element] = []
    start = 0
    for match in ID.finditer(body):
        if match.end() < len(body) and not body.startswith(separator, match.end()):
            continue
        found.append(Element(int(match.group(1)), body[start : match.start()]))
        start = match.end() + len(separator)
    return found


def attribute_spans(text: str, scope: Mapping[int, Attribute]) -> list[tuple[int, int, Attribute]]:
    """Where attributes in scope stand in a text: an id counts only behind its own name (literals are raw)."""
    spans: list[tuple[int, int, Attribute]] = []
    for match in ID.finditer(text):
        attribute = scope.get(int(match.group(1)))
        if attribute is None:
            continue
        start = match.start() - len(attribute.name)
        if start < 0 or text[start : match.start()].casefold() != attribute.name.casefold():
            continue
        if start and attribute.name[:1].isalnum() and (text[start - 1].isalnum() or text[start - 1] == "_"):
            continue
        while spans and spans[-1][1] > start:
            spans.pop()
        spans.append((start, match.end(), attribute))
    return spans


def element_list(
    text: str, scope: Mapping[int, Attribute], expected: Sequence[Element] = (), count: int | None = None
) -> list[Element]:
    """The named expressions of a list over the attributes of `scope`.

    `count` is the length that Spark printed and `expected` the attributes that the node above reads; where the list,
    cut by the ids alone, does not have that length, the expected attributes (id -1: only the name is known) mark its
    elements' ends.
    """
    body = _CUT_END.sub("", inside(text))
    found = _by_scope(body, scope)
    if count in (None, len(found)) and _same_names(found, expected):
        return found
    by_names = _by_expected(body, expected)
    return by_names if by_names and count in (None, len(by_names)) else found


def _same_names(found: Sequence[Element], expected: Sequence[Element]) -> bool:
    return not expected or [item.name for item in found] == [item.name for item in expected]


def _by_scope(body: str, scope: Mapping[int, Attribute]) -> list[Element]:
    """The elements of a list whose attributes are in scope: a known name with its id is one whatever is in the name."""
    spans = attribute_spans(body, scope)
    passed = {start: (end, attribute) for start, end, attribute in spans}
    depth = nesting(body, spans)
    ended = {position for start, end, _ in spans for position in range(start + 1, end)}  # a name may have ids in it
    for subquery in SUBQUERY.finditer(body):
        ended.update(range(subquery.start(), subquery.end() + 1))
    ends = [match for match in ID.finditer(body) if _at_end(body, match.end()) and match.end() not in ended]
    found: list[Element] = []
    start = position = 0
    while start < len(body):
        if start in passed and _at_end(body, passed[start][0]):
            end, attribute = passed[start]
            found.append(Element(attribute.id, body[start : start + len(attribute.name)]))
        else:
            while position < len(ends) and ends[position].start() < start:
                position += 1
            match = _element_end(body, start, ends[position:], depth)
            if match is None:
                break
            end = match.end()
            found.append(_named_element(body[start : match.start()], int(match.group(1))))
        start = end + 2
    return found


def _element_end(body: str, start: int, ends: Sequence[re.Match[str]], depth: Sequence[int]) -> re.Match[str] | None:
    """The id that closes the element begun at `start`: the first behind a balanced expression, else the first alias."""
    fallback: re.Match[str] | None = None
    for match in ends:
        alias = body.rfind(" AS ", start, match.start())
        stop = alias if alias >= 0 else match.start()
        if depth[stop] == depth[start]:
            return match
        if fallback is None and alias >= 0:
            fallback = match
    return fallback or (ends[-1] if ends else None)


def _named_element(text: str, id: int) -> Element:
    """An element's name, which may have the text of an expression: a cast in its brackets begins no name."""
    start = end = text.rfind(" AS ")
    while start >= 0 and text.count("(", start) != text.count(")", start):
        start = text.rfind(" AS ", 0, start)
    start = start if start >= 0 else end
    return (
        Element(id, text[start + len(" AS ") :], text[:start]) if start >= 0 else Element(id, text, text, is_bare=True)
    )


def _by_expected(body: str, expected: Sequence[Element]) -> list[Element]:
    """Cut a list at the attributes that the node above reads from it, in their order."""
    found: list[Element] = []
    start = 0
    for element in expected:
        identifier = str(element.id) if element.id >= 0 else r"\d+"
        ending = re.escape(element.name) + "#(" + identifier + r")L?(?:-T\d+ms)?(?=, |$)"
        passed = re.compile(ending).match(body, start)
        match = passed or re.compile(" AS " + ending).search(body, start)
        if match is None:
            return []
        expression = "" if passed else body[start : match.start()]
        found.append(Element(int(match.group(1)), element.name, expression))
        start = match.end() + 2
    return found if start >= len(body) else []


def _at_end(body: str, end: int) -> bool:
    return end == len(body) or body.startswith(", ", end)


def nesting(body: str, spans: Sequence[tuple[int, int, Attribute]]) -> list[int]:
    """The bracket depth before each character, names of attributes left out."""
    steps = [0] * (len(body) + 1)
    for index, character in enumerate(body):
        if character in "([":
            steps[index + 1] = 1
        elif character in ")]":
            steps[index + 1] = -1
    for start, end, _ in spans:
        steps[start + 1 : end + 1] = [0] * (end - start)
    return list(accumulate(steps))


def arguments(text: str) -> list[str]:
    """An argument text cut at the commas that stand outside of all brackets."""
    found: list[str] = []
    depth = start = 0
    for index, character in enumerate(text):
        if character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif character == "," and depth <= 0 and text.startswith(", ", index):
            found.append(text[start:index])
            start = index + 2
    found.append(text[start:])
    return found


def unnamed_list(text: str, scope: Mapping[int, Attribute]) -> list[str]:
    """Expressions without names, cut at the commas outside of brackets."""
    body = inside(text)
    spans = attribute_spans(body, scope)
    return cut_at_commas(body, nesting(body, spans), positions_in(spans), 0, len(body))


def positions_in(spans: Iterable[tuple[int, int, Attribute]]) -> set[int]:
    """The places of all characters that stand in a name with its id, where a comma or a bracket is part of that."""
    return {position for start, end, _ in spans for position in range(start, end)}


def cut_at_commas(text: str, depth: Sequence[int], in_names: Set[int], start: int, end: int) -> list[str]:
    """The expressions from `start` to `end`, cut at the commas in no bracket between; none of an empty text."""
    found: list[str] = []
    begun = start
    for index in range(start, end):
        if depth[index] == depth[start] and index not in in_names and text.startswith(", ", index):
            found.append(text[begun:index])
            begun = index + 2
    return [*found, text[begun:end]] if end > start else []
