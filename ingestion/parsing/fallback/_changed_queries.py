"""What is refused of a statement that changes a table through a query: its name would be taken for a table."""

from __future__ import annotations

from ingestion.dialects.cursor import Code
from ingestion.dialects.keywords import BEFORE_RELATIONS
from ingestion.errors import FinalRefusal
from ingestion.model.lineage import StatementKind, Target

_CHANGES = (StatementKind.UPDATE, StatementKind.DELETE)


def refuse_changed_query(code: Code, kind: StatementKind, target: Target | None) -> None:
    """Raises FinalRefusal where the target is an item of WITH, or UPDATE's is a query or a function under FROM."""
    if target is None or not code.dialect.writes_through_with or len(target.name.parts) > 1:
        return
    name = target.name.parts[0].lower()
    for number in range(len(code)):
        if code.name(number).lower() != name:
            continue
        if _is_item(code, number) or (kind in _CHANGES and _is_relation(code, number)):
            raise FinalRefusal("the statement changes a table through a query")


def _is_item(code: Code, number: int) -> bool:
    """WITH c AS (…), and c (a, b) AS (…) behind another."""
    behind = code.closing(number + 1) + 1 if code.word(number + 1) == "(" else number + 1
    return code.word(number - 1) in ("with", ",") and code.stands(behind, "as", "(")


def _is_relation(code: Code, number: int) -> bool:
    """FROM (SELECT …) x, CROSS APPLY f(a) AS x."""
    closing = number - 1 - (code.word(number - 1) == "as")
    if code.word(closing) != ")":
        return False
    opening = code.opening(closing)
    first = opening - 1
    while first > 0 and (code.is_name(first) or code.word(first) == ".") and code.word(first) not in BEFORE_RELATIONS:
        first -= 1
    return code.word(first) in BEFORE_RELATIONS
