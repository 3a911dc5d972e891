"""Lists of attributes and expressions, with names and literals that look like the list itself."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ingestion.plans._relation import Attribute, Element, attribute_list, element_list, is_truncated


def scope(**names: int) -> dict[int, Attribute]:
    return {identifier: Attribute(identifier, name) for name, identifier in names.items()}


def test_attributes_may_have_any_name() -> None:
    found = attribute_list("[order id#87L, a,b#88, st#12#89, c]d#91L, ts#5-T10000ms]")
    assert [(item.id, item.name) for item in found] == [
        (87, "order id"),
        (88, "a,b"),
        (89, "st#12"),
        (91, "c]d"),
        (5, "ts"),
    ]


def test_a_cut_list_gives_what_is_left_and_says_so() -> None:
    text = "[a#1, b#2, ... 23 more fields]"
    assert [item.name for item in attribute_list(text)] == ["a", "b"]
    assert is_truncated(text)
    assert not is_truncated("[a#1, b#2]")


def test_expressions_end_where_a_new_attribute_is_named() -> None:
    found = element_list("[a#1, concat(a#1, b#2) AS c#3, named_struct(x, a#1 AS x#9, y, b#2) AS s#4]", scope(a=1, b=2))
    assert [(item.id, item.name) for item in found] == [(1, "a"), (3, "c"), (4, "s")]
    assert found[0].expression == ""
    assert found[1].expression == "concat(a#1, b#2)"


def test_a_subquery_is_part_of_its_expression() -> None:
    text = "[a#1, Subquery subquery#413, [id=#1540].max(x) AS top#434, scalar-subquery#5 [a#1] AS low#6]"
    assert [item.id for item in element_list(text, scope(a=1))] == [1, 434, 6]


def test_a_literal_that_looks_like_elements_is_cut_by_what_the_node_above_reads() -> None:
    text = "[x AS y#99, z#5] AS lit AS lit#895, concat(a#1, , (a#1) [) AS s#896]"
    expected = [Element(895, "lit"), Element(896, "s")]
    assert [item.name for item in element_list(text, scope(a=1), expected)] == ["lit", "s"]
    by_name = [Element(-1, "lit"), Element(-1, "s")]
    assert [item.id for item in element_list(text, scope(a=1), by_name)] == [895, 896]


NAMES = st.text(st.characters(categories=["L", "N", "Zs"], include_characters="_,()[]#.-"), min_size=1, max_size=12)


@given(st.lists(NAMES.filter(lambda name: not name.endswith("#") and name.strip()), min_size=1, max_size=8))
def test_what_is_passed_on_is_found_whatever_its_name(names: list[str]) -> None:
    attributes = {1000 + i: Attribute(1000 + i, name) for i, name in enumerate(names)}
    text = "[" + ", ".join(f"{each.name}#{each.id}L" for each in attributes.values()) + "]"
    assert [item.id for item in element_list(text, attributes)] == list(attributes)
