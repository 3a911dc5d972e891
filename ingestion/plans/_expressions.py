"""The expressions that plans print: which attributes they use, in which role, and their text over base columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

from ingestion.analysis.roles import (
    AGGREGATION,
    ARGUMENT_ROLES,
    COMPOSED,
    CONDITIONAL,
    FILTER,
    IDENTITY,
    MASKING,
    TRANSFORMATION,
    WINDOW,
    unite_roles,
)
from ingestion.dialects.definition import keywords
from ingestion.dialects.functions import SORTED_WITHIN, WITH_USES, ArgumentUse, argument_uses
from ingestion.model.lineage import MOST_EXPRESSION, ColumnRef, NameKind, TableName
from ingestion.plans import vocabulary
from ingestion.plans._relation import (
    ID,
    MISSING,
    SUBQUERY,
    Attribute,
    AttributeLineage,
    Element,
    IndirectUse,
    PlanRelation,
    ValueParts,
    attribute_spans,
    cut_at_commas,
    influences,
    is_truncated,
    nesting,
    positions_in,
    unite_lineages,
)
from ingestion.plans._values import (
    MAKERS,
    FunctionCall,
    field_of,
    item_of,
    reads_call,
    value_of,
    with_influences,
)

_BRACKET_OR_COMMA = re.compile(r"[()\[\]]|, ")

_WRAPPER = re.compile(r"^(\w+)\((.*)\)$", re.DOTALL)
STAGE = re.compile(r"^(?:partial_|merge_|finalmerge_)?(?:gpubasic|gpu)?")
"""What stands before a function's name: the stage of an aggregation, an accelerator."""

_CALLED = re.compile(r"(\w+)\(")
_CASE = re.compile(r"CASE\b")
_CHOICE_WORD = re.compile(r"\b(?:CASE|WHEN|THEN|ELSE|END|else)\b")
_FIELD = re.compile(r"\.[^\W\d]")
_FIELD_AT_END = re.compile(r"\.(\w+)$")
_WORD = re.compile(r"[^\W\d]\w*")
_CLAUSES = {" FILTER (WHERE ": FILTER, " windowspecdefinition(": WINDOW}
"""What stands behind an aggregate: which rows it is of, and the window that it is over."""
_DEEPEST = 25
"""Values in values that are told apart: a loop over withColumn makes one expression of hundreds of CASE."""
_OF_EXPRESSION = re.compile(r"(?:\w*\(.*\)|[\w.]+)\[.*\]|\w*\(.*\)|CASE .* END|.+ [RI]?LIKE .+", re.DOTALL)
_LITERALS = re.compile(r"\?(?:[^\w(),\[\]?]*+\?)+")
_WORDS_OF_NAMES = {word.upper() for word in vocabulary.KEYWORDS | vocabulary.TYPES} | keywords(
    "BY CURRENT FOLLOWING ORDER OVER PARTITION PRECEDING RANGE ROW ROWS UNBOUNDED"
)
_SPACE_BEFORE = re.compile(r"(?<!\s)\s++([,)])")
TOKEN = re.compile(r"[^\W\d]\w*|\d[\w.]*|[()\[\],]|<=>|<=|>=|<>|!=|\|\||[-+*/%=<>&|^~!.]|\s+|.", re.DOTALL)


# Brackets in a plan's expressions: the role of what stands in one, and the text in and behind it.


@dataclass(slots=True)
class _OpenBracket:
    """A bracket or a CASE that is open: `value` is the role of what flows out of it.

    In `if ((a#1 > 5)) b#2 else 0` nothing flows out of the first bracket: a#1 only has a say, in the role `influence`,
    which is IDENTITY where the value itself flows.
    """

    value: int
    influence: int = IDENTITY
    case: bool = False
    outer_influence: int = IDENTITY
    uses_before: int = 0
    arguments: tuple[ArgumentUse, ...] = ()
    argument: int = -1
    tested: bool = False

    def next_argument(self) -> None:
        """Where a function does not do the same with each of its arguments, what it does with the one that begins."""
        self.argument += 1
        if self.argument < len(self.arguments):
            use = self.arguments[self.argument]
            self.influence = COMPOSED[self.outer_influence][ARGUMENT_ROLES[use]]
            self.tested = use is ArgumentUse.BOTH


def _argument_counts(text: str) -> dict[int, int]:
    """How many arguments stand in each pair of brackets, by where it opens: in one pass, as calls stand in calls."""
    counts: dict[int, int] = {}
    opened: list[int] = []
    for mark in _BRACKET_OR_COMMA.finditer(text):
        if mark.group() in "([":
            opened.append(mark.start())
            counts[mark.start()] = 1
        elif opened and mark.group() == ", ":
            counts[opened[-1]] += 1
        elif opened:
            opened.pop()
    return counts


# An expression as a plan prints it: which attributes it uses in which role, and its masked canonical form.
#
# The reader is tolerant: literals are printed raw, so it never relies on a whole grammar. It finds the attributes in
# scope, then walks the words and brackets between them to learn the role of each bracket: the condition of a CASE or an
# IF, the FILTER of an aggregate, the specification of a window, the inside of an aggregate function.


@dataclass(frozen=True, slots=True)
class AttributeScope:
    """What an expression may refer to: attributes of the inputs, of the query around it, and subqueries.

    `by_id` has the subqueries of a physical plan; `in_order` those of a logical one, which are printed in the order of
    their use. `known` has every id that the plan made so far: an id of it that is not in scope is a reference that
    could not be followed. `read` collects the tables that the subqueries read which an expression has.
    """

    attributes: Mapping[int, Attribute]
    outer: Mapping[int, Attribute] = field(default_factory=dict)
    by_id: Mapping[int, PlanRelation] = field(default_factory=dict)
    in_order: Iterator[PlanRelation] = field(default_factory=lambda: iter(()))
    known: frozenset[int] | set[int] = frozenset()
    read: dict[TableName, None] = field(default_factory=dict)


@dataclass(slots=True)
class _Use:
    lineage: AttributeLineage
    value: int
    influence: int


def read_expression(text: str, scope: AttributeScope) -> AttributeLineage:
    """The lineage of the value of an expression over `scope`."""
    visible = {**scope.outer, **scope.attributes}
    reader = _ExpressionReader(scope)
    found = reader.read(text, visible)
    return _ExpressionReader(scope, too_deep=True).read(text, visible) if reader.too_deep else found


def read_influences(text: str, scope: AttributeScope, role: int) -> frozenset[IndirectUse]:
    """Every column that has a say in an expression, in one role."""
    return frozenset(influences(read_expression(text, scope), role))


def _unwrap(text: str) -> str:
    """The text inside of casts and other wrappers that leave a value what it is."""
    while (match := _WRAPPER.match(text)) and match.group(1).lower() in vocabulary.TRANSPARENT:
        inside = match.group(2)
        if match.group(1).lower().endswith("cast") and " as " in inside:
            inside = inside.rpartition(" as ")[0]
        if nesting(inside, [])[-1] != 0:
            break
        text = inside
    return text.removeprefix("lambda ")


@dataclass(slots=True)
class _ExpressionReader:
    """Reads an expression, and those inside it with what a lambda binds, each once.

    `too_deep`: more values stand in each other than are told apart, so that all are read flat.
    """

    scope: AttributeScope
    known: dict[tuple[int, str], tuple[Mapping[int, Attribute], AttributeLineage]] = field(default_factory=dict)
    depth: int = 0
    too_deep: bool = False

    def read(self, text: str, visible: Mapping[int, Attribute]) -> AttributeLineage:
        """The lineage of an expression over the attributes that are visible to it."""
        key = (id(visible), text)
        if key not in self.known:
            self.depth += 1
            self.too_deep |= self.depth > _DEEPEST
            self.known[key] = visible, self._read(text, visible)
            self.depth -= 1
        return self.known[key][1]

    def _read(self, text: str, visible: Mapping[int, Attribute]) -> AttributeLineage:
        inner = _unwrap(text)
        reading = _ExpressionReading(inner, visible, self, flat=self.too_deep)
        whole = reading.whole()
        if whole is None:
            return reading.lineage()
        return replace(whole, parts=None) if inner != text and "struct<" in text else whole  # a cast names the fields


# The name of a column that its query gave none is its expression's text, ids and casts left out: `concat(a, secret)`.


def masked_name(element: Element, scope: Mapping[int, Attribute]) -> str:
    """Such a name with `?` for its literals, which it has unquoted; "" of a name that somebody chose.

    What it says may differ from the expression, whose constants were computed: so what is no literal is told by the
    names in scope, and a name is known for one of Spark's own by its form and by what it shares with the expression.
    """
    name, expression = element.name, element.expression
    has_form = _OF_EXPRESSION.fullmatch(name) is not None
    attributes = [attribute for _, _, attribute in attribute_spans(expression, scope)]
    if not has_form and attributes:  # a view casts its columns, and calls them as they were called
        return next((one.masked for one in attributes if one.name == name), "")
    if not has_form:  # lit("k").alias("k") and lit("k") are printed alike, and it may be a secret
        return "?" if name == expression and not element.is_bare else ""
    used = {attribute.name.casefold() for attribute in attributes}
    if not _is_shared(name, expression, used):
        return ""
    shown = {attribute.name.casefold(): attribute.masked or attribute.name for attribute in scope.values()}
    lowered = name.casefold()
    odd = sorted((each for each in shown if each in lowered and not _WORD.fullmatch(each)), key=len, reverse=True)
    parts = re.compile("|".join([*map(re.escape, odd), TOKEN.pattern]), re.DOTALL | re.IGNORECASE)
    found = [match.group() for match in parts.finditer(name)]
    kept = [_masked_token(at, found, shown) for at in range(len(found))]
    return _LITERALS.sub("?", "".join(kept))


def _is_shared(name: str, expression: str, used: Set[str]) -> bool:
    """Whether a name that has the form of an expression is made of this one; of a constant any may be."""
    called = _CALLED.match(name)
    if not used or (called is not None and f"{called.group(1).lower()}(" in expression.lower()):
        return True
    return any(word.group().casefold() in used for word in _WORD.finditer(name))


def _masked_token(at: int, tokens: Sequence[str], shown: Mapping[str, str]) -> str:
    token = tokens[at]
    known = shown.get(token.casefold())
    if known is not None:
        return known
    if not token[0].isalnum() and token[0] != "_":
        return token
    if token == "1" and [each.lower() for each in tokens[at - 2 : at]] == ["count", "("]:
        return token  # what Spark calls COUNT(*)
    is_call = tokens[at + 1 : at + 2] == ["("] and (at == 0 or token.lower() in vocabulary.FUNCTIONS)
    return token if is_call or token.upper() in _WORDS_OF_NAMES else "?"


def _canonical(column: ColumnRef) -> str:
    """A base column's name in an expression."""
    table = column.table.table
    if column.table.kind is NameKind.PATH:
        table = table.rstrip("/").rpartition("/")[2]
    return f"{table}.{column.column}"


class _ExpressionReading:
    """One pass over one expression's text."""

    def __init__(
        self, text: str, visible: Mapping[int, Attribute], reader: _ExpressionReader, *, flat: bool = False
    ) -> None:
        self.text = text
        self.visible = visible
        self.reader = reader
        self.scope = reader.scope
        self.uses: list[_Use] = []
        self.brackets = [_OpenBracket(TRANSFORMATION)]
        self.texts: list[str] = []
        self.words: list[str] = ["", ""]  # the last two tokens that are not space
        self.doubtful = is_truncated(text)
        self.roles_set = self.opaque = False
        self.found = attribute_spans(text, visible)
        self.spans = {start: (end, attribute) for start, end, attribute in self.found}
        self.in_names = positions_in(self.found)
        has_parts = any(attribute.lineage.parts is not None for _, _, attribute in self.found)
        composed = not flat and not self.doubtful and (has_parts or MAKERS.search(text) is not None)
        self.composed = composed and SUBQUERY.search(text) is None  # those are taken in their order, each once
        self.skip = self._names_of_aliases()

    @cached_property
    def depth(self) -> Sequence[int]:
        """The bracket depth before each character."""
        return nesting(self.text, self.found)

    @cached_property
    def argument_counts(self) -> Mapping[int, int]:
        return _argument_counts(self.text)

    def whole(self) -> AttributeLineage | None:
        """The value of a text that is nothing but an attribute, a call or a choice with what is taken out of it."""
        if 0 in self.spans:
            end, attribute = self.spans[0]
            lineage, end = self._part_behind(attribute.lineage, end)
            return lineage if end == len(self.text) else None
        found = self._composed_at(0) if self.composed else None
        return found[0] if found is not None and found[1] == len(self.text) else None

    def lineage(self) -> AttributeLineage:
        position = 0
        while position < len(self.text):
            position = self._step(position)
        self._close_all()
        return self._compose()

    # --- values with parts -----------------------------------------------------------------------------------

    def _read(self, text: str, bound: Mapping[int, Attribute]) -> AttributeLineage:
        return self.reader.read(text, {**self.visible, **bound} if bound else self.visible)

    def _composed_at(self, position: int) -> tuple[AttributeLineage, int] | None:
        """The value that begins here, where it has parts or is one of a value's, and where its text ends."""
        if position and (self.text[position - 1].isalnum() or self.text[position - 1] in "_."):
            return None
        found = self._choice_at(position) or self._call_at(position)
        if found is None:
            return None
        value, end = found
        taken, reached = self._part_behind(value, end)
        if set(taken.direct.values()) != {IDENTITY}:
            flat = _ExpressionReading(self.text[position:reached], self.visible, self.reader, flat=True)
            taken = replace(taken, expression=flat.lineage().expression)
        return self._with_clause(taken, reached)

    def _call_at(self, position: int) -> tuple[AttributeLineage, int] | None:
        match = _CALLED.match(self.text, position)
        name = STAGE.sub("", match.group(1).lower()) if match else ""
        end = self._closing(match.end() - 1) if match and reads_call(name) else None
        if match is None or end is None:
            return None
        texts = cut_at_commas(self.text, self.depth, self.in_names, match.end(), end)
        value = value_of(FunctionCall(name, texts, self._read))
        return (value, end + 1) if value is not None else None

    def _with_clause(self, value: AttributeLineage, end: int) -> tuple[AttributeLineage, int]:
        """The value with what is said behind an aggregate: which rows it is of, or over which window."""
        for opening, role in _CLAUSES.items():
            if self.text.startswith(opening, end):
                closing = self._closing(end + opening.index("("))
                if closing is not None:
                    clause = self._read(self.text[end + len(opening) : closing], {})
                    return with_influences(value, influences(clause, role)), closing + 1
        return value, end

    def _choice_at(self, position: int) -> tuple[AttributeLineage, int] | None:
        """A CASE or an IF between values of which one has parts: `if (isnull(s#1)) null else named_struct(x, a#2)`."""
        if self.text.startswith("if (", position):
            return self._if_at(position)
        return self._case_at(position) if _CASE.match(self.text, position) else None

    def _if_at(self, position: int) -> tuple[AttributeLineage, int] | None:
        closing = self._closing(position + 3)
        end = self._end_of_argument(position)
        cuts = [cut for cut in self._words_at(position, end) if cut[1] == "else"] if closing is not None else []
        if closing is None or not cuts or cuts[0][0] < closing:
            return None
        then, other = self.text[closing + 2 : cuts[0][0] - 1], self.text[cuts[0][0] + 5 : end]
        if then.startswith("if ("):
            return None
        one, two = self._read(then, {}), self._read(other, {})
        behind = _FIELD_AT_END.search(other)
        if behind and one.parts is not None and one.parts.fields is not None and two.parts is None:
            whole = unite_lineages((one, self._read(other[: behind.start()], {})))  # `.b` is of what the IF gives
            chosen = field_of(whole, behind.group(1))
        elif one.parts is None and two.parts is None:
            return None
        else:
            chosen = unite_lineages((one, two))
        test = self._read(self.text[position + 4 : closing], {})
        return with_influences(chosen, influences(test, CONDITIONAL)), end

    def _case_at(self, position: int) -> tuple[AttributeLineage, int] | None:
        marks: list[tuple[int, str]] = []
        open_cases = 0
        for at, word in self._words_at(position, self._end_of_argument(position)):
            open_cases += (word == "CASE") - (word == "END")
            if open_cases == 0 or (open_cases == 1 and word != "END"):
                marks.append((at, word))
            if open_cases == 0:
                break
        if not marks or marks[-1][1] != "END":
            return None
        branches = [
            (word, self.text[at + len(word) : following].strip()) for (at, word), (following, _) in pairwise(marks)
        ]
        values = [self._read(text, {}) for word, text in branches if word in ("THEN", "ELSE")]
        tests = [self._read(text, {}) for word, text in branches if word in ("CASE", "WHEN") and text]
        if all(value.parts is None for value in values):
            return None
        uses = {use for test in tests for use in influences(test, CONDITIONAL)}
        return with_influences(unite_lineages(values), uses), marks[-1][0] + len("END")

    def _words_at(self, position: int, end: int) -> list[tuple[int, str]]:
        """The words of choices that stand in no bracket of their own, and where."""
        depth = self.depth[position]
        found = ((match.start(), match.group()) for match in _CHOICE_WORD.finditer(self.text, position, end))
        return [(at, word) for at, word in found if self.depth[at] == depth and at not in self.in_names]

    def _part_behind(self, value: AttributeLineage, end: int) -> tuple[AttributeLineage, int]:
        """What the text behind a value takes out of it (`r#5.z`, `m#3[K].z`), and where that ends."""
        whole = value
        while end < len(self.text) and (taken := self._one_part_behind(value, end)) is not None:
            value, end = taken
        if value is not whole and not value.expression and not value.identity and whole.expression:
            value = replace(value, expression=f"({whole.expression}).?")
        return value, end

    def _one_part_behind(self, value: AttributeLineage, end: int) -> tuple[AttributeLineage, int] | None:
        parts = value.parts
        if self.text[end] == "." and (name := self._field_name(parts, end + 1)):
            if parts is None and len(value.direct) <= 1:
                return None
            return field_of(value, name), end + 1 + len(name)
        closing = self._closing(end) if self.text[end] == "[" and parts is not None else None
        if closing is None or parts is None or parts.element is None:
            return None
        index = self.text[end + 1 : closing]
        return item_of(value, index, self._read(index, {})), closing + 1

    def _field_name(self, parts: ValueParts | None, start: int) -> str:
        struct = parts.element.parts if parts is not None and parts.element is not None else parts
        names = sorted(struct.fields or () if struct is not None else (), key=len, reverse=True)
        known = next((name for name in names if self.text.startswith(name, start)), None)
        word = _WORD.match(self.text, start)
        return known or (word.group() if word else "")

    def _closing(self, opening: int) -> int | None:
        """Where the bracket closes that opens here."""
        depth = self.depth[opening]
        inside = range(opening + 1, len(self.text))
        return next((at for at in inside if self.depth[at + 1] == depth), None)

    def _end_of_argument(self, position: int) -> int:
        """Where the argument, or the bracket's content, ends that this position is in."""
        depth = self.depth[position]
        for at in range(position, len(self.text)):
            if self.depth[at + 1] < depth or (self.depth[at] == depth and self.text.startswith(", ", at)):
                return at
        return len(self.text)

    # --- finding things --------------------------------------------------------------------------------------

    def _names_of_aliases(self) -> dict[int, int]:
        """Where an alias inside the expression stands (` AS name#id` of an id that is not in scope): start to end."""
        found: dict[int, int] = {}
        for match in ID.finditer(self.text):
            if match.start() in self.in_names:
                continue
            alias = self.text.rfind(" AS ", 0, match.start())
            between = self.text[alias + 4 : match.start()]
            if alias >= 0 and ", " not in between and " AS " not in between:
                found[alias] = match.end()
            elif int(match.group(1)) in self.scope.known:
                before = self.text[: match.start()]
                self.doubtful |= not before.endswith((")", "=", "subquery", "exists", "list"))
        return found

    def _step(self, position: int) -> int:
        if position in self.spans:
            end, attribute = self.spans[position]
            lineage, end = self._part_behind(attribute.lineage, end)
            self._use(lineage, attribute.name)
            return end
        if position in self.skip:
            return self.skip[position]
        if match := SUBQUERY.match(self.text, position):
            return self._subquery(match)
        if self.composed and not self.reader.too_deep and (found := self._composed_at(position)) is not None:
            self._use(found[0], ")", bare=True)
            return found[1]
        token = TOKEN.match(self.text, position)
        if token is None:
            return position + 1
        self._token(token.group(), position)
        return token.end()

    # --- roles ------------------------------------------------------------------------------------------------

    def _use(self, lineage: AttributeLineage, name: str = "?", *, bare: bool = False) -> None:
        bracket = self.brackets[-1]
        self.uses.append(_Use(lineage, bracket.value, bracket.influence))
        if bracket.influence == IDENTITY and any(outer.tested for outer in self.brackets):
            self.uses.append(_Use(lineage, TRANSFORMATION, CONDITIONAL))
        self.doubtful |= lineage.incomplete
        if lineage.expression:
            bare = bare or " " not in lineage.expression or lineage.expression.startswith("(")
            self._write(lineage.expression if bare else f"({lineage.expression})")
        elif len(lineage.direct) == 1:
            self._write(_canonical(next(iter(lineage.direct))))
        else:
            self._write("?")
        self.words = [self.words[1], name]

    def _subquery(self, match: re.Match[str]) -> int:
        kind, id, end = match.group(1), int(match.group(2)), match.end()
        relation = self.scope.by_id.get(id) or next(self.scope.in_order, None)
        if relation is None:
            self._use(MISSING)
            return end
        self.scope.read.update(relation.sources)
        rows = AttributeLineage(indirect=relation.indirect)
        if kind == "exists" or not relation.attributes:
            self._use(rows)
            return end
        value, end = self._part_behind(relation.attributes[0].lineage, end)
        self._use(
            AttributeLineage(
                value.direct, value.indirect | rows.indirect, value.expression, value.opaque, value.incomplete
            )
        )
        return end

    def _token(self, token: str, position: int) -> None:
        if token.isspace():
            self._write(" ")
            return
        if token == "(":
            self._open(position)
        elif token == ",":
            self.brackets[-1].next_argument()
        elif token == ")":
            self._part_of_bracket(position + 1)
            self._close()
        elif token == "CASE":
            self._push(self.brackets[-1].influence, case=True)
        elif token in ("WHEN", "THEN", "ELSE", "END") and self.brackets[-1].case:
            self._branch(token)
        self._write(self._token_text(token))
        self.words = [self.words[1], token]

    def _token_text(self, token: str) -> str:
        if token in vocabulary.KEYWORDS or token in ("(", ")", "[", "]", ","):
            return token
        if token.lower() in vocabulary.FUNCTIONS or token.lower() in vocabulary.TYPES:
            return token.lower()
        if STAGE.sub("", token.lower()) in vocabulary.FUNCTIONS:
            return STAGE.sub("", token.lower())
        return "?" if token[0].isalnum() or token[0] == "_" or not token.isascii() else token

    def _open(self, position: int) -> None:
        before = self.words[1]
        word = STAGE.sub("", before.lower())
        bracket = self.brackets[-1]
        influence = bracket.influence
        if word in ("if", "filter") and influence == IDENTITY and (before in ("if", "FILTER")):
            influence = FILTER if word == "filter" else CONDITIONAL
        elif word in vocabulary.ORDER_ONLY or word == "windowspecdefinition":
            influence = COMPOSED[influence][WINDOW]
        function = AGGREGATION if word in vocabulary.AGGREGATES else TRANSFORMATION
        self._push(influence, function | MASKING if word in vocabulary.MASKING else function)
        uses = self._argument_uses(word.upper(), position) if influence == IDENTITY else ()
        if uses:
            self.brackets[-1].arguments = uses
            self.brackets[-1].next_argument()
            self.roles_set = True

    def _argument_uses(self, name: str, position: int) -> tuple[ArgumentUse, ...]:
        """What is done with each argument; behind a separator, which is constant, stands what the values are sorted by.

        `listagg(a#1, ,, b#2 ASC NULLS FIRST, 0, 0)` is what LISTAGG(a, ',') WITHIN GROUP (ORDER BY b) is printed as.
        """
        count = self.argument_counts[position]
        if name in SORTED_WITHIN:
            return (ArgumentUse.VALUE, *(ArgumentUse.ORDER,) * (count - 1))
        return argument_uses(name, count) if name in WITH_USES else ()

    def _push(self, influence: int, function: int = TRANSFORMATION, *, case: bool = False) -> None:
        bracket = self.brackets[-1]
        self.roles_set |= influence != bracket.influence or case
        value = COMPOSED[bracket.value][function]
        self.brackets.append(_OpenBracket(value, influence, case, bracket.influence, len(self.uses)))

    def _branch(self, word: str) -> None:
        bracket = self.brackets[-1]
        if word == "END":
            self.brackets.pop()
        else:
            bracket.influence = COMPOSED[bracket.outer_influence][CONDITIONAL if word == "WHEN" else IDENTITY]

    def _part_of_bracket(self, end: int) -> None:
        """A field of what the bracket that ends here gives, of which the plan does not tell what is in which field."""
        if _FIELD.match(self.text, end):
            inside = self.uses[self.brackets[-1].uses_before :]
            flowing = {column for use in inside if use.influence == IDENTITY for column in use.lineage.direct}
            self.opaque |= len(flowing) > 1

    def _close(self) -> None:
        self._drop_cases()
        if len(self.brackets) > 1:
            self.brackets.pop()
        else:
            self.doubtful |= self.roles_set

    def _drop_cases(self) -> None:
        """A CASE that has no END in its bracket was a literal's word: what it seemed to rule is plain."""
        while len(self.brackets) > 1 and self.brackets[-1].case:
            bracket = self.brackets.pop()
            for use in self.uses[bracket.uses_before :]:
                use.influence = use.influence if use.influence != CONDITIONAL else bracket.outer_influence
            self.doubtful = True

    def _close_all(self) -> None:
        self._drop_cases()
        if len(self.brackets) > 1:
            self.doubtful |= self.roles_set

    # --- the result -------------------------------------------------------------------------------------------

    def _write(self, text: str) -> None:
        last = self.texts[-1] if self.texts else ""
        if text == "?" and (last == "?" or (last == " " and len(self.texts) > 1 and self.texts[-2] == "?")):
            return
        self.texts.append(text)

    def _compose(self) -> AttributeLineage:
        direct: dict[ColumnRef, int] = {}
        indirect: set[IndirectUse] = set()
        opaque = self.opaque
        for use in self.uses:
            opaque |= use.lineage.opaque
            if use.influence != IDENTITY:
                indirect |= influences(use.lineage, use.influence)
                continue
            indirect |= use.lineage.indirect
            for column, inner in use.lineage.direct.items():
                role = COMPOSED[use.value][inner]
                direct[column] = unite_roles(direct.get(column, role), role)
        text = _SPACE_BEFORE.sub(r"\1", "".join(self.texts).strip())
        if len(text) > MOST_EXPRESSION:
            text = text[: text.rfind(" ", 0, MOST_EXPRESSION)] + " …"
        return AttributeLineage(direct, frozenset(indirect), text, opaque, self.doubtful)
