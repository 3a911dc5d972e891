"""A plan's fingerprint is of its meaning: it stays when classes move, and tells any two lineages apart."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, make_dataclass, replace
from enum import Enum
from functools import cache
from typing import Any, get_type_hints

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingestion.analysis.symbolic import dumps
from ingestion.model.lineage import (
    Column,
    ColumnRef,
    Flow,
    FunctionBody,
    NameKind,
    Output,
    ParameterUse,
    Problem,
    Reference,
    StarOutput,
    StatementKind,
    StatementLineage,
    Subtype,
    TableChange,
    TableName,
    Target,
    Transformation,
    WriteMode,
)
from ingestion.model.outcomes import ProblemKind
from ingestion.parsing.sqlglot.tier import parse
from ingestion.plans import rendering
from ingestion.plans.cache import canonical
from ingestion.plans.rendering import plan_fingerprint, render
from tests.support.examples import examples

ORDERS, DAILY = TableName(("shop", "orders"), "Shop.Orders"), TableName(("mart", "daily"))
LANDING = TableName(("s3://landing/x",), kind=NameKind.PATH)
AMOUNT, DAY = ColumnRef(ORDERS, "amount"), ColumnRef(ORDERS, "day")
SUM = Reference((AMOUNT,), Transformation(Subtype.AGGREGATION), "SUM(shop.orders.amount)")
UNSURE = Reference((AMOUNT, DAY), Transformation(Subtype.CONDITIONAL, True), opaque=True)
EXAMPLE = StatementLineage(
    StatementKind.INSERT,
    (
        Flow(
            Target(DAILY, WriteMode.APPEND, ("day", "total"), by_name=True),
            (
                Output("day", (Reference((DAY,), Transformation(Subtype.IDENTITY)),), "date"),
                Output("total", (SUM, UNSURE)),
                Output("", star=StarOutput(LANDING, ("a",), (("b", "c"),)), name_assumed=True),
            ),
            (Reference((DAY,), Transformation(Subtype.GROUP_BY)),),
            (ORDERS, LANDING),
        ),
    ),
    (TableChange(StatementKind.RENAME, DAILY, (Column("day", "date"),), ORDERS, True, ("x",), (("y", "z"),)),),
    (("o", "orders"),),
    (Problem(ProblemKind.INCOMPLETE, "more fields"),),
    (AMOUNT,),
    (TableName(("shop", "tax"), kind=NameKind.FUNCTION),),
)
GOLDEN = (
    '{"aliases":[["o","orders"]],'
    '"changes":[{"columns":[["day","date"]],"dropped_columns":["x"],"kind":"rename","name":["mart","daily"],'
    '"other":[["shop","orders"]],"renamed_columns":[["y","z"]],"temporary":true}],'
    '"flows":[{"indirect":[{"sources":[[["shop","orders"],"day"]],"subtype":"GROUP_BY"}],'
    '"outputs":[{"name":"day","references":[{"sources":[[["shop","orders"],"day"]],"subtype":"IDENTITY"}],'
    '"type":"date"},'
    '{"name":"total","references":[{"expression":"SUM(shop.orders.amount)","sources":[[["shop","orders"],"amount"]],'
    '"subtype":"AGGREGATION"},{"masking":true,"opaque":true,"sources":[[["shop","orders"],"amount"],'
    '[["shop","orders"],"day"]],"subtype":"CONDITIONAL"}]},'
    '{"name_assumed":true,"star":[{"excluded":["a"],"renamed":[["b","c"]],"table":{"path":["s3://landing/x"]}}]}],'
    '"sources":[["shop","orders"],{"path":["s3://landing/x"]}],'
    '"target":[{"by_name":true,"columns":[["day","total"]],"mode":"append","name":["mart","daily"]}]}],'
    '"functions":[{"function":["shop","tax"]}],"kind":"insert","problems":[["incomplete","more fields"]],'
    '"unused":[[["shop","orders"],"amount"]]}'
)
FINGERPRINT = "b047b2d89ca92cee3f62c80d6726d317"

SETS = frozenset({"references", "indirect", "problems", "unused", "functions", "sources"})


@st.composite
def lineages(draw: st.DrawFn) -> StatementLineage:
    """Any lineage, with every field that the vocabulary has, and will have."""
    st.register_type_strategy(str, st.sampled_from(("", "a", "b", 'a","b', "ä")))
    return draw(st.from_type(StatementLineage))


def changed(value: Any, draw: st.DrawFn, ordered: bool = True) -> Any:
    """The value with some of its leaves drawn anew, some parts left out, and its sets in another order."""
    if is_dataclass(value):
        one = draw(st.sampled_from(fields(value)))
        anew = changed(getattr(value, one.name), draw, one.name not in SETS)
        return replace(value, **{one.name: anew})  # type: ignore[type-var]
    if isinstance(value, tuple):
        if not ordered and draw(st.booleans()):
            return tuple(draw(st.permutations(value)))
        if not value or draw(st.integers(0, 5)) == 0:
            return value[1:]
        place = draw(st.integers(0, len(value) - 1))
        part = value[place]
        anew = (part[0], changed(part[1], draw)) if isinstance(part, tuple) else changed(part, draw)  # a pair stays one
        return (*value[:place], anew, *value[place + 1 :])
    if isinstance(value, Enum):
        return draw(st.sampled_from(type(value)))
    if isinstance(value, bool):
        return not value
    return draw(st.sampled_from(("", "a", "b"))) if isinstance(value, str) else value


def around(value: Any) -> StatementLineage:
    """A lineage with the value in its place."""
    if isinstance(value, TableChange):
        return StatementLineage(StatementKind.INSERT, changes=(value,))
    if isinstance(value, ParameterUse):
        return around(FunctionBody((), (value,), reads=False))
    if isinstance(value, FunctionBody):
        return around(Output("a", body=value))
    if isinstance(value, StarOutput):
        return around(Output("a", star=value))
    if isinstance(value, Output):
        return around(Flow(None, (value,)))
    if isinstance(value, Target):
        return around(Flow(value, ()))
    return StatementLineage(StatementKind.INSERT, (value,))


def meaning(value: Any, ordered: bool = True) -> Any:
    """What a lineage says: names as they compare, and what is a set in all but its type in one order."""
    if is_dataclass(value):
        compared = [field.name for field in fields(value) if field.compare]
        return tuple((name, meaning(getattr(value, name), name not in SETS)) for name in compared)
    if isinstance(value, tuple):
        parts = tuple(meaning(part) for part in value)
        return parts if ordered else tuple(sorted(parts, key=repr))
    return value


def moved(value: Any) -> Any:
    """The same of classes of another module, whose fields stand the other way round."""
    if isinstance(value, tuple):
        return tuple(map(moved, value))
    if not is_dataclass(value):
        return value
    content = {field.name: moved(getattr(value, field.name)) for field in reversed(fields(value))}
    return reversed_class(type(value))(**content)


@cache
def reversed_class(kind: type) -> Any:
    return make_dataclass(kind.__name__, [field.name for field in reversed(fields(kind))], frozen=True)


def test_the_rendering_is_the_one_that_catalogs_have_their_keys_from() -> None:
    assert render(EXAMPLE) == GOLDEN
    assert plan_fingerprint(dumps(EXAMPLE)) == FINGERPRINT


@given(lineages(), st.data())
@settings(max_examples=examples(20), suppress_health_check=list(HealthCheck))
def test_lineages_render_alike_exactly_where_they_say_the_same(one: StatementLineage, data: st.DataObject) -> None:
    other = changed(one, data.draw)
    assert (render(one) == render(other)) == (meaning(one) == meaning(other))


@given(st.data())
@settings(max_examples=examples(6), suppress_health_check=list(HealthCheck))
@pytest.mark.parametrize("kind", [TableChange, Target, Output, Flow, FunctionBody, ParameterUse, StarOutput])
def test_no_field_is_left_out(kind: type, data: st.DataObject) -> None:
    """Two that differ in one field alone: of those that lineages are rarely made with a chance never tells."""
    for field in (one for one in fields(kind) if one.compare):
        values = st.from_type(get_type_hints(kind)[field.name])
        first = data.draw(st.from_type(kind))
        second = replace(first, **{field.name: data.draw(values)})
        one, other = (around(value) for value in (first, second))
        assert (render(one) == render(other)) == (meaning(one) == meaning(other)), field.name


@given(lineages())
@settings(max_examples=examples(6), suppress_health_check=list(HealthCheck))
def test_equal_lineage_renders_equally_wherever_its_classes_stand(lineage: StatementLineage) -> None:
    assert render(canonical(lineage)) == render(lineage) == render(moved(lineage))


def test_equal_bytes_are_rendered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    monkeypatch.setattr(rendering, "render", lambda lineage: calls.append(lineage) or render(lineage))
    plan_fingerprint.cache_clear()
    assert len({plan_fingerprint(bytes(bytearray(dumps(EXAMPLE)))) for _record in range(50)}) == len(calls) == 1


def test_a_relational_form_has_the_fingerprint_of_its_text() -> None:
    with pytest.raises(TypeError):
        plan_fingerprint(dumps(parse("INSERT INTO t SELECT a FROM s", "spark")))
