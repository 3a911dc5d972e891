"""The expressions that plans print: which attributes they use, in which role, and their text over base columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

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
from ingestion.dialects.functions import WITH_USES, ArgumentUse, argument_uses
from ingestion.model.lineage import MOST_EXPRESSION, ColumnRef, NameKind, TableName
from ingestion.plans import vocabulary
from ingestion.plans._relation import (
    ID,
    MISSING,
    SUBQUERY,
    Attribute,
    AttributeLineage,
    IndirectUse,
    PlanRelation,
    arguments,
    attribute_spans,
    influences,
    is_truncated,
    nesting,
)

_BRACKET = re.compile(r"[()\[\]]")

_WRAPPER = re.compile(r"^(\w+)\((.*)\)$", re.DOTALL)
STAGE = re.compile(r"^(?:partial_|merge_|finalmerge_)?(?:gpubasic|gpu)?")
"""What stands before a function's name: the stage of an aggregation, an accelerator."""

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


def _field_behind(value: AttributeLineage, text: str, end: int) -> tuple[AttributeLineage, int]:
    """The field of a struct that the text behind a value names, and where its name ends: `r#5.z`."""
    for name, part in sorted((value.fields or {}).items(), key=lambda item: -len(item[0])):
        if text.startswith(f".{name}", end):
            return part, end + 1 + len(name)
    return value, end


def _text_inside(text: str, opening: int) -> str:
    """What stands in the brackets that open at `opening`."""
    depth = 0
    for bracket in _BRACKET.finditer(text, opening):
        depth += 1 if bracket.group() in "([" else -1
        if depth == 0:
            return text[opening + 1 : bracket.start()]
    return text[opening + 1 :]


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
    inner = _unwrap(text)
    for start, end, attribute in attribute_spans(inner, visible):
        taken, reached = _field_behind(attribute.lineage, inner, end)
        if start == 0 and reached == len(inner):
            return taken
    return _ExpressionReading(text, visible, scope).lineage()


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
    return text


def _canonical(column: ColumnRef) -> str:
    """A base column's name in an expression."""
    table = column.table.table
    if column.table.kind is NameKind.PATH:
        table = table.rstrip("/").rpartition("/")[2]
    return f"{table}.{column.column}"


class _ExpressionReading:
    """One pass over one expression's text."""

    def __init__(self, text: str, visible: Mapping[int, Attribute], scope: AttributeScope) -> None:
        self.text = text
        self.scope = scope
        self.uses: list[_Use] = []
        self.brackets = [_OpenBracket(TRANSFORMATION)]
        self.texts: list[str] = []
        self.words: list[str] = ["", ""]  # the last two tokens that are not space
        self.doubtful = is_truncated(text)
        self.roles_set = False
        self.spans = {start: (end, attribute) for start, end, attribute in attribute_spans(text, visible)}
        self.skip = self._names_of_aliases()

    def lineage(self) -> AttributeLineage:
        position = 0
        while position < len(self.text):
            position = self._step(position)
        self._close_all()
        return self._compose()

    # --- finding things --------------------------------------------------------------------------------------

    def _names_of_aliases(self) -> dict[int, int]:
        """Where an alias inside the expression stands (` AS name#id` of an id that is not in scope): start to end."""
        found: dict[int, int] = {}
        for match in ID.finditer(self.text):
            if any(start <= match.start() < end for start, (end, _) in self._near(match.start())):
                continue
            alias = self.text.rfind(" AS ", 0, match.start())
            between = self.text[alias + 4 : match.start()]
            if alias >= 0 and ", " not in between and " AS " not in between:
                found[alias] = match.end()
            elif int(match.group(1)) in self.scope.known:
                before = self.text[: match.start()]
                self.doubtful |= not before.endswith((")", "=", "subquery", "exists", "list"))
        return found

    def _near(self, position: int) -> list[tuple[int, tuple[int, Attribute]]]:
        return [(s, span) for s, span in self.spans.items() if s <= position < span[0]]

    def _step(self, position: int) -> int:
        if position in self.spans:
            end, attribute = self.spans[position]
            lineage, end = _field_behind(attribute.lineage, self.text, end)
            self._use(lineage, attribute.name)
            return end
        if position in self.skip:
            return self.skip[position]
        if match := SUBQUERY.match(self.text, position):
            return self._subquery(match)
        token = TOKEN.match(self.text, position)
        if token is None:
            return position + 1
        self._token(token.group(), position)
        return token.end()

    # --- roles ------------------------------------------------------------------------------------------------

    def _use(self, lineage: AttributeLineage, name: str = "?") -> None:
        bracket = self.brackets[-1]
        self.uses.append(_Use(lineage, bracket.value, bracket.influence))
        if bracket.influence == IDENTITY and any(outer.tested for outer in self.brackets):
            self.uses.append(_Use(lineage, TRANSFORMATION, CONDITIONAL))
        self.doubtful |= lineage.incomplete
        if lineage.expression:
            bare = " " not in lineage.expression or lineage.expression.startswith("(")
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
        value, end = _field_behind(relation.attributes[0].lineage, self.text, end)
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
        if influence == IDENTITY and word.upper() in WITH_USES:
            uses = argument_uses(word.upper(), len(arguments(_text_inside(self.text, position))))
            self.brackets[-1].arguments = uses
            self.brackets[-1].next_argument()
            self.roles_set = True

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
        opaque = False
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
