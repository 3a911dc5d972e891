"""Expressions as plans print them: roles of attributes, masking of literals."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.analysis.roles import MASKING, TRANSFORMATIONS
from ingestion.model.lineage import ColumnRef, Subtype, TableName
from ingestion.plans._expressions import AttributeScope, masked_name, read_expression
from ingestion.plans._relation import Attribute, AttributeLineage, Element, base_column

TABLE = TableName(("c", "s", "t"))
NAMES = {1: "a", 2: "b", 3: "order id", 4: "st#1", 5: "d"}
SCOPE = AttributeScope({i: Attribute(i, name, base_column(ColumnRef(TABLE, name))) for i, name in NAMES.items()})


def direct(text: str) -> dict[str, Subtype]:
    found = read_expression(text, SCOPE).direct
    return {column.column: TRANSFORMATIONS[role].subtype for column, role in found.items()}


def indirect(text: str) -> set[tuple[str, Subtype]]:
    found = read_expression(text, SCOPE).indirect
    return {(column.column, TRANSFORMATIONS[role].subtype) for column, role in found}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a#1", {"a": Subtype.IDENTITY}),
        ("cast(a#1 as decimal(10,2))", {"a": Subtype.IDENTITY}),
        ("knownfloatingpointnormalized(normalizenanandzero(a#1))", {"a": Subtype.IDENTITY}),
        ("(a#1 + b#2)", {"a": Subtype.TRANSFORMATION, "b": Subtype.TRANSFORMATION}),
        ("sum((a#1 * b#2))", {"a": Subtype.AGGREGATION, "b": Subtype.AGGREGATION}),
        ("concat(order id#3, st#1#4)", {"order id": Subtype.TRANSFORMATION, "st#1": Subtype.TRANSFORMATION}),
        ("CASE WHEN (a#1 > 5) THEN b#2 ELSE 0 END", {"b": Subtype.TRANSFORMATION}),
        ("if ((a#1 = x)) b#2 else null", {"b": Subtype.TRANSFORMATION}),
        ("rank(a#1) windowspecdefinition(b#2, a#1 DESC NULLS LAST, x$())", {}),
        ("sum(a#1) FILTER (WHERE (b#2 = done))", {"a": Subtype.AGGREGATION}),
        ("max_by(a#1, b#2, 3, false, 0, 0)", {"a": Subtype.AGGREGATION}),
        ("listagg(distinct a#1, ,, b#2 ASC NULLS FIRST, 0, 0)", {"a": Subtype.AGGREGATION}),
        ("count(1)", {}),
    ],
)
def test_direct_uses(text: str, expected: dict[str, Subtype]) -> None:
    assert direct(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "CASE WHEN (a#1 > 5) THEN b#2 WHEN isnull(d#5) THEN 1 END",
            {("a", Subtype.CONDITIONAL), ("d", Subtype.CONDITIONAL)},
        ),
        ("if ((a#1 = x)) b#2 else null", {("a", Subtype.CONDITIONAL)}),
        ("rank(a#1) windowspecdefinition(b#2, a#1 DESC NULLS LAST)", {("a", Subtype.WINDOW), ("b", Subtype.WINDOW)}),
        ("sum(a#1) FILTER (WHERE (b#2 = done))", {("b", Subtype.FILTER)}),
        ("max_by(a#1, b#2, 3, false, 0, 0)", {("b", Subtype.SORT)}),
        (
            "listagg(a#1, null, b#2 DESC NULLS LAST, d#5 ASC NULLS FIRST, 0, 0)",
            {("b", Subtype.SORT), ("d", Subtype.SORT)},
        ),
    ],
)
def test_indirect_uses(text: str, expected: set[tuple[str, Subtype]]) -> None:
    assert indirect(text) == expected


def test_masking_functions_are_marked() -> None:
    lineage = read_expression("sha2(cast(a#1 as binary), 256)", SCOPE)
    assert all(role & MASKING for role in lineage.direct.values())
    assert not any(role & MASKING for role in read_expression("upper(a#1)", SCOPE).direct.values())


def test_expressions_are_canonical_and_masked() -> None:
    assert read_expression("concat(upper(a#1), my secret, , b#2)", SCOPE).expression == "concat(upper(t.a), ?,, t.b)"
    inner = AttributeLineage(read_expression("(a#1 + 5)", SCOPE).direct, frozenset(), "(t.a + ?)")
    outer = AttributeScope({9: Attribute(9, "x", inner)})
    assert read_expression("abs(x#9)", outer).expression == "abs((t.a + ?))"


def test_the_name_of_a_users_function_is_taken_for_a_literal() -> None:
    assert read_expression("my_secret_udf(a#1)#77", SCOPE).expression.startswith("?(t.a)")


def test_an_id_counts_only_behind_its_own_name() -> None:
    assert direct("concat(room #1, other#2, b#2)") == {"b": Subtype.TRANSFORMATION}


def test_a_word_of_a_literal_that_looks_like_a_case_is_not_trusted() -> None:
    lineage = read_expression("concat(CASE WHEN nothing, a#1)", SCOPE)
    assert {column.column for column in lineage.direct} == {"a"}
    assert lineage.incomplete


LITERALS = st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), max_size=40)


@given(LITERALS, st.sampled_from(["concat(%s, a#1)", "(a#1 = %s)", "CASE WHEN (b#2 = %s) THEN a#1 ELSE %s END"]))
def test_no_word_or_number_of_a_literal_is_repeated(literal: str, pattern: str) -> None:
    from ingestion.plans import vocabulary

    secret = f"s3cr3t{literal}t0k3n"
    lineage = read_expression(pattern.replace("%s", secret), SCOPE)
    known = (
        vocabulary.FUNCTIONS | vocabulary.TYPES | {word.lower() for word in vocabulary.KEYWORDS} | {"t", "a", "b", "d"}
    )
    words = "".join(character if character.isalnum() else " " for character in lineage.expression.lower()).split()
    assert {part for word in words for part in [word]} <= {piece for name in known for piece in name.split("_")} | known


@pytest.mark.parametrize(
    ("expression", "name", "masked"),
    [
        ("concat(a#1, my secret/5)", "concat(a, my secret/5)", "concat(a, ?)"),
        ("(count(1) / sum(a#1))", "(count(1) / sum(a))", "(count(1) / sum(a))"),
        ("count(2)", "count(2)", "count(?)"),
        ("(a#1 = x@y.example)", "(a = x@y.example)", "(a = ?)"),
        ("CASE WHEN (a#1 = x) THEN y END", "CASE WHEN (a = x) THEN y END", "CASE WHEN (a = ?) THEN ? END"),
        ("coalesce(a#1, secret)", "nvl(a, secret)", "nvl(a, ?)"),
        ("concat(a#1, Miller(Berlin))", "concat(a, Miller(Berlin))", "concat(a, ?(?))"),
        ("concat(order id#3, x)", "concat(order id, x)", "concat(order id, ?)"),
        ("18262", "to_date(2020-01-01)", "to_date(?)"),
        ("my secret", "my secret", "?"),
        ("current_date()", "current_date()", "current_date()"),
        ("sum(b#2)", "sum(b)", "sum(b)"),
        ("(a#1 * 2)", "amount(EUR)", ""),
        ("concat(a#1, EUR)", "total (EUR)", ""),
        ("secret", "c", ""),
        ("k", "k", "?"),
        ("a#1[secret]", "a[secret]", "a[?]"),
        ("split(a#1, secret, -1)[0]", "split(a, secret, -1)[0]", "split(a, ?, -?)[?]"),
        ("StartsWith(a#1, secret)", "a LIKE secret%", "a LIKE ?%"),
        ("NOT RLIKE(a#1, secret)", "(NOT a RLIKE secret)", "(NOT a RLIKE ?)"),
        ("upper(a#1)", "a", ""),
        ("a#1", f"a{'[x]' * 40}y", ""),  # whose brackets are looked at once
    ],
)
def test_a_name_made_of_an_expression_has_none_of_its_literals(expression: str, name: str, masked: str) -> None:
    assert masked_name(Element(9, name, expression), SCOPE.attributes) == masked


def test_an_attribute_of_elsewhere_is_no_literal() -> None:
    assert masked_name(Element(9, "lost", "lost", is_bare=True), SCOPE.attributes) == ""
