"""What must not change the lineage of a query: other aliases, a star around it, a WITH item instead of a subquery."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingestion.model.lineage import Flow
from tests.support.lineage_lines import Schemas, analysed

TABLES: Schemas = {"t": "a:int b:text k:int", "u": "a:int c:date k:int", "s.w": "d:int k:int"}
SETTINGS = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])


@dataclass(frozen=True)
class Query:
    """A query's text with `«0»`, `«1»` … for its aliases, and the names of its outputs."""

    text: str
    outputs: tuple[str, ...]


@st.composite
def expressions(draw: st.DrawFn, columns: list[str], depth: int = 2) -> str:
    column = st.sampled_from(columns)
    if depth == 0 or draw(st.booleans()):
        return draw(column)
    inner = expressions(columns, depth - 1)
    shape = draw(
        st.sampled_from(
            [
                "{0} + {1}",
                "({0} - {1}) * 2",
                "coalesce({0}, {1})",
                "upper({0})",
                "case when {0} > 1 then {1} else 0 end",
                "cast({0} as text)",
                "nullif({0}, {1})",
                "{0} = {1}",
                "md5({0})",
            ]
        )
    )
    return shape.format(draw(inner), draw(inner))


@st.composite
def queries(draw: st.DrawFn, depth: int = 2) -> Query:
    return draw(_selects(depth, count()))


@st.composite
def _sources(draw: st.DrawFn, depth: int, numbers: count) -> tuple[str, list[str]]:
    alias = f"«{next(numbers)}»"
    if depth and draw(st.booleans()):
        inner = draw(_selects(depth - 1, numbers))
        return f"({inner.text}) as {alias}", [f"{alias}.{name}" for name in inner.outputs]
    name = draw(st.sampled_from(sorted(TABLES)))
    return f"{name} as {alias}", [f"{alias}.{column.partition(':')[0]}" for column in TABLES[name].split()]


@st.composite
def _selects(draw: st.DrawFn, depth: int, numbers: count) -> Query:
    source, columns = draw(_sources(depth, numbers))
    if draw(st.booleans()):
        other, more = draw(_sources(depth, numbers))
        how = draw(st.sampled_from(["join", "left join", "full join"]))
        source = f"{source} {how} {other} on {draw(st.sampled_from(columns))} = {draw(st.sampled_from(more))}"
        columns = columns + more
    outputs = tuple(f"o{number}" for number in range(draw(st.integers(1, 3))))
    aggregated = draw(st.booleans())
    values = [draw(expressions(columns)) for _ in outputs]
    clauses = ""
    if draw(st.booleans()):
        clauses += f" where {draw(expressions(columns))} is not null"
    if aggregated:
        key = draw(st.sampled_from(columns))
        values = [f"{draw(st.sampled_from(['max', 'count', 'sum']))}({value})" for value in values]
        clauses += f" group by {key}"
    elif draw(st.booleans()):
        values[0] = f"row_number() over (partition by {draw(st.sampled_from(columns))} order by {values[0]})"
    elif draw(st.booleans()):
        inner = draw(_sources(0, numbers))
        where = f"{inner[1][0]} = {draw(st.sampled_from(columns))}"
        values[0] = f"(select max({inner[1][-1]}) from {inner[0]} where {where})"
    selected = ", ".join(f"{value} as {name}" for value, name in zip(values, outputs, strict=True))
    return Query(f"select {selected} from {source}{clauses}", outputs)


def _named(text: str, prefix: str) -> str:
    return text.replace("«", prefix).replace("»", "")


def _flow(text: str) -> Flow:
    (flow,) = analysed(text, schemas=TABLES).flows
    return flow


def _facts(flow: Flow) -> tuple[object, ...]:
    """All that a flow says, apart from the order of what has none."""
    return (
        tuple((o.name, frozenset(o.references), o.type) for o in flow.outputs),
        frozenset(flow.indirect),
        frozenset(flow.sources),
    )


@SETTINGS
@given(queries())
def test_renaming_every_alias_changes_nothing(query: Query) -> None:
    assert _facts(_flow(_named(query.text, "x"))) == _facts(_flow(_named(query.text, "some_other_name_")))


@SETTINGS
@given(queries())
def test_a_star_around_a_query_changes_nothing(query: Query) -> None:
    text = _named(query.text, "x")
    assert _facts(_flow(text)) == _facts(_flow(f"select * from ({text}) as around"))


@SETTINGS
@given(queries())
def test_a_with_item_is_the_subquery_that_it_stands_for(query: Query) -> None:
    text = _named(query.text, "x")
    columns = ", ".join(f"upper(c.{name}) as {name}" for name in query.outputs)
    inlined = f"select {columns} from ({text}) as c where c.{query.outputs[0]} > 1"
    named = f"with c as ({text}) select {columns} from c where c.{query.outputs[0]} > 1"
    assert _facts(_flow(named)) == _facts(_flow(inlined))


@SETTINGS
@given(queries())
def test_without_a_schema_no_prefixed_column_is_lost_or_invented(query: Query) -> None:
    text = _named(query.text, "x")
    bare = analysed(text).flows[0]
    assert _facts(bare)[1:] == _facts(_flow(text))[1:]
    assert [frozenset(o.references) for o in bare.outputs] == [frozenset(o.references) for o in _flow(text).outputs]
