"""Values with parts: what an element, a field or an entry is made of, and what is not told of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ingestion.analysis.roles import TRANSFORMATIONS
from ingestion.model.lineage import ColumnRef, LineageType, TableName
from ingestion.plans._evaluation import Evaluation, PlanNodeInput
from ingestion.plans._expressions import AttributeScope, read_expression
from ingestion.plans._logical import generate
from ingestion.plans._operators import operate
from ingestion.plans._relation import Attribute, PlanRelation, base_column
from ingestion.plans._tree import PlanNode
from ingestion.plans.names import NameMapping

TABLE = TableName(("c", "s", "t"))
NAMES = {1: "a", 2: "b", 3: "d", 4: "xs", 5: "ys", 6: "s", 7: "m"}
COLUMNS = [Attribute(i, name, base_column(ColumnRef(TABLE, name))) for i, name in NAMES.items()]
SCOPE = AttributeScope({attribute.id: attribute for attribute in COLUMNS})


def read(text: str) -> tuple[set[str], set[str], bool]:
    """The columns that flow, those that have a say, and whether the former are certain."""
    found = read_expression(text, SCOPE)
    direct = {column.column for column in found.direct}
    return direct, {column.column for column, _ in found.indirect} - direct, not found.opaque


def generated(text: str, outputs: str) -> dict[str, tuple[set[str], bool]]:
    """What each output of a generator is made of, and whether it is certain."""
    node = PlanNode("Generate", f"{text}, false, [{outputs}]")
    step = PlanNodeInput(node, [PlanRelation(COLUMNS)], {}, Evaluation(operate, NameMapping()))
    relation = generate(step)
    known = {attribute.id for attribute in COLUMNS}
    return {
        attribute.name: ({column.column for column in attribute.lineage.direct}, not attribute.lineage.opaque)
        for attribute in relation.attributes
        if attribute.id not in known
    }


@pytest.mark.parametrize(
    ("text", "direct", "indirect"),
    [
        ("named_struct(f, a#1, g, b#2).g", {"b"}, set()),
        ("upper(named_struct(f, a#1, g, concat(b#2, d#3)).g)", {"b", "d"}, set()),
        ("(struct(a, a#1, b, b#2).a + 1)", {"a"}, set()),
        ("struct(a, a#1, n, struct(b, b#2 AS b#9, d, d#3)).n.b", {"b"}, set()),
        ("max(struct(a, a#1, b, b#2)).b", {"b"}, {"a"}),
        ("max(struct(a, a#1, b, b#2)).a", {"a"}, set()),
        ("max(struct(a, a#1, b, b#2)) FILTER (WHERE (d#3 > 5)).b", {"a", "b"}, {"d"}),
        ("first(struct(a, a#1, b, b#2), false).b", {"b"}, set()),
        ("max_by(struct(a, a#1, b, b#2), d#3).b", {"b"}, {"d"}),
        ("element_at(map(K, a#1, L, b#2), L, None, true)", {"b"}, set()),
        ("element_at(array(a#1, b#2), -1, None, true)", {"b"}, set()),
        ("map(K, a#1, L, b#2)[d#3]", {"a", "b"}, {"d"}),
        ("array(a#1, b#2)[0]", {"a"}, set()),
        ("flatten(array(array(a#1), array(b#2)))[0]", {"a", "b"}, set()),
        ("map_values(map(a#1, b#2))", {"b"}, set()),
        ("map_keys(map_from_arrays(xs#4, ys#5))", {"xs"}, {"ys"}),
        ("map_from_entries(arrays_zip(xs#4, ys#5, xs, ys))[K]", {"ys"}, set()),
        ("map_concat(map(K, a#1), map(L, b#2))[K]", {"a", "b"}, set()),
        ("update_fields(s#6, WithField(x, a#1), dropfield(y)).x", {"a"}, {"s"}),
        ("update_fields(s#6, WithField(x, a#1)).z", {"s"}, set()),
        ("if (isnull(s#6)) null else named_struct(x, a#1, y, s#6.y).x", {"a"}, {"s"}),
        ("CASE WHEN (d#3 > 1) THEN struct(a, a#1, b, b#2) ELSE struct(a, b#2, b, a#1) END.b", {"a", "b"}, {"d"}),
        ("CASE d#3 WHEN 1 THEN struct(a, a#1) END.a", {"a"}, {"d"}),
        ("coalesce(struct(a, a#1, b, b#2), struct(a, d#3, b, b#2)).b", {"b"}, {"a", "d"}),
        ("transform(xs#4, lambdafunction(b#2, lambda x#8, false))", {"b"}, {"xs"}),
        ("transform(xs#4, lambdafunction((lambda x#8 * lambda i#9), lambda x#8, lambda i#9, false))", {"xs"}, set()),
        ("filter(xs#4, lambdafunction((lambda x#8 > a#1), lambda x#8, false))", {"xs"}, {"a"}),
        ("map_filter(m#7, lambdafunction((lambda v#9 > a#1), lambda k#8, lambda v#9, false))", {"m"}, {"a"}),
        ("transform_keys(m#7, lambdafunction(a#1, lambda k#8, lambda v#9, false))", {"a", "m"}, set()),
        (
            "aggregate(xs#4, named_struct(n, a#1, t, b#2), lambdafunction(named_struct(n, lambda s#8.n, t,"
            " (lambda s#8.t + lambda x#9)), lambda s#8, lambda x#9, false),"
            " lambdafunction(lambda s#10.n, lambda s#10, false))",
            {"a"},
            {"xs"},
        ),
        ("sort_array(collect_list(struct(a, a#1, b, b#2), 0, 0), false)[0].b", {"b"}, {"a"}),
        ("collect_list(struct(a, a#1, b, b#2), 0, 0).b", {"b"}, set()),
        ("size(filter(xs#4, lambdafunction((lambda x#8 > a#1), lambda x#8, false)))", {"xs"}, {"a"}),
    ],
)
def test_a_part_is_made_of_what_stands_in_its_place(text: str, direct: set[str], indirect: set[str]) -> None:
    assert read(text) == (direct, indirect, True)


def test_a_part_is_taken_out_of_what_a_subquery_gives() -> None:
    rows = PlanRelation([Attribute(9, "made", read_expression("map(K, a#1, L, b#2)", SCOPE))])
    found = read_expression("scalar-subquery#8 [][K]", replace(SCOPE, in_order=iter([rows])))
    assert {column.column for column in found.direct} == {"a"}


def test_values_without_end_in_each_other_are_read_as_one() -> None:
    text = "map(K, a#1)[K]"
    for _ in range(400):
        text = f"coalesce(CASE WHEN (b#2 = 1) THEN d#3 ELSE {text} END, a#1)"
    direct, indirect, _ = read(text)
    assert {"a", "d"} <= direct
    assert direct | indirect == {"a", "b", "d"}


@pytest.mark.parametrize(
    "text",
    [
        "parse(a#1, b#2).f",
        "named_struct(f, x, a#1, g, b#2).g",
        "named_struct(f, a#1, g, b#2).h",
        "cast(struct(a, a#1, b, b#2) as struct<x:int,y:int>).x",
    ],
)
def test_a_part_that_is_not_told_apart_is_never_certain(text: str) -> None:
    direct, _, certain = read(text)
    assert (direct, certain) == ({"a", "b"}, False)


@pytest.mark.parametrize("text", ["named_struct(f, a#1, g, b#2)", "array(a#1, b#2)", "map(K, a#1, L, b#2)"])
def test_the_whole_of_a_value_is_made_of_all_its_parts(text: str) -> None:
    assert read(text) == ({"a", "b"}, set(), True)
    roles = read_expression(text, SCOPE).direct.values()
    assert all(TRANSFORMATIONS[role].type is LineageType.DIRECT for role in roles)


@pytest.mark.parametrize(
    ("text", "outputs", "expected"),
    [
        ("stack(2, K, a#1, L, b#2)", "k#10, v#11", {"k": set(), "v": {"a", "b"}}),
        ("stack(2, a#1, b#2, d#3)", "p#10, q#11", {"p": {"a", "d"}, "q": {"b"}}),
        ("explode(map(a#1, b#2))", "k#10, v#11", {"k": {"a"}, "v": {"b"}}),
        ("posexplode(map(a#1, b#2))", "p#9, k#10, v#11", {"p": set(), "k": {"a"}, "v": {"b"}}),
        ("posexplode_outer(xs#4)", "p#9, v#11", {"p": set(), "v": {"xs"}}),
        ("inline(arrays_zip(xs#4, ys#5, xs, ys))", "p#10, q#11", {"p": {"xs"}, "q": {"ys"}}),
        ("json_tuple(a#1, K, L)", "p#10, q#11", {"p": {"a"}, "q": {"a"}}),
    ],
)
def test_a_generators_columns_are_made_of_their_own_arguments(
    text: str, outputs: str, expected: dict[str, set[str]]
) -> None:
    assert generated(text, outputs) == {name: (columns, True) for name, columns in expected.items()}


@pytest.mark.parametrize(
    ("text", "outputs"),
    [
        ("vendor_split(a#1, b#2)", "p#10, q#11"),
        ("stack(2, K, more, a#1, L, b#2)", "p#10, q#11"),  # a literal with a comma in it
        ("explode(map(x, y, a#1, z, w, b#2))", "k#10, v#11"),  # two of them, printed raw
        ("inline(vendor_rows(a#1, b#2))", "p#10, q#11"),
    ],
)
def test_what_a_generators_text_leaves_open_is_in_each_column_and_certain_in_none(text: str, outputs: str) -> None:
    assert list(generated(text, outputs).values()) == [({"a", "b"}, False)] * 2


def test_a_physical_generator_passes_on_what_it_lists_and_no_more() -> None:
    node = PlanNode("Generate", "stack(1, a#1, b#2), false, [p#10, q#11]", {"Input": "[a#1, b#2]"})
    step = PlanNodeInput(node, [PlanRelation(COLUMNS[:2])], {}, Evaluation(operate, NameMapping()))
    assert [attribute.name for attribute in generate(step).attributes] == ["p", "q"]
    node.args = "stack(1, a#1, b#2), [a#1], false, [p#10, q#11]"
    assert [attribute.name for attribute in generate(step).attributes] == ["a", "p", "q"]
