"""Plans of jobs that run again: evaluated once, with the lineage that each would have alone."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from ingestion.analysis.symbolic import loads
from ingestion.model.lineage import StatementLineage
from ingestion.plans import cache
from ingestion.plans.cache import PlanCache
from ingestion.plans.lineage import Application, statement_lineage
from ingestion.plans.names import NameMapping
from tests.connectors.spark.conftest import History, read_directory

PLAN = """== Physical Plan ==
Execute InsertIntoHadoopFsRelationCommand (3)
+- WriteFiles (2)
   +- Scan parquet spark_catalog.sales.orders (1)


(1) Scan parquet spark_catalog.sales.orders
Output [2]: [order_id#%(a)d, %(name)s#%(b)d]
Location: InMemoryFileIndex [file:/w/orders]

(2) WriteFiles
Input [2]: [order_id#%(a)d, %(name)s#%(b)d]

(3) Execute InsertIntoHadoopFsRelationCommand
Input: []
Arguments: file:/w/t, false, Parquet, [path=file:/w/t], Append, `spark_catalog`.`mart`.`t`, x, [order_id, state]
"""


@pytest.mark.parametrize("name", ["status", "st#12"])
def test_a_plan_with_other_ids_gives_its_own_lineage(name: str) -> None:
    plans, application = PlanCache(), Application()
    for first in (10, 87, 4000):
        text = PLAN % {"a": first, "b": first + 1, "name": name}
        lineage, content = plans.lineage([text], application)
        assert lineage == statement_lineage([text], Application())
        assert lineage is not None
        assert content is not None
        assert loads(content) == lineage
        assert application.remembered[first].name == "order_id"
        assert application.remembered[first].id == first


def test_a_number_in_a_name_is_no_id() -> None:
    plans, application = PlanCache(), Application()
    for number in (12, 13):
        text = PLAN % {"a": 90, "b": 91, "name": f"st#{number}"}
        lineage, _ = plans.lineage([text], application)
        assert lineage is not None
        assert [r.sources[0].column for r in lineage.flows[0].outputs[1].references] == [f"st#{number}"]


def test_a_plan_whose_functions_have_variables_is_evaluated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def counted(descriptions: Sequence[str], application: Application) -> StatementLineage | None:
        asked.extend(descriptions)
        return statement_lineage(descriptions, application)

    monkeypatch.setattr(cache, "statement_lineage", counted)
    plans, application = PlanCache(), Application()
    made = "transform(tags#%(b)d, lambdafunction(concat(lambda x#%(c)d, ?), lambda x#%(c)d, false)) AS state#%(d)d"
    plan = PLAN.replace("+- WriteFiles (2)", "+- Project (2)").replace(
        "(2) WriteFiles\n", f"(2) Project\nOutput [2]: [order_id#%(a)d, {made}]\n"
    )
    for first in (10, 87, 4000):
        numbers = {name: first + index for index, name in enumerate("abcd")}
        lineage, _ = plans.lineage([plan % {**numbers, "name": "tags"}], application)
        assert lineage == statement_lineage([plan % {**numbers, "name": "tags"}], Application())
        assert lineage is not None
        assert "#?" in repr(lineage)
    assert len(asked) == 1


def test_the_same_plan_means_other_tables_to_an_application_with_another_warehouse() -> None:
    plans = PlanCache()
    text = (PLAN % {"a": 1, "b": 2, "name": "status"}).replace("spark_catalog.sales.orders", "").replace("`spark", "`s")
    sources = set()
    for warehouse in ("/w", "/elsewhere"):
        lineage, _ = plans.lineage([text], Application(NameMapping(warehouse=warehouse)))
        assert lineage is not None
        sources |= {name.dotted for name in lineage.sources}
    assert sources == {"spark_catalog.default.orders", "file:/w/orders"}


@pytest.mark.parametrize("kind", ["sql", "dataframe"])
def test_all_jobs_of_an_application_give_the_same_when_they_run_again(kind: str, history: History) -> None:
    alone = read_directory(history.logs(kind))
    kept = PlanCache()
    for _ in range(2):
        rows = read_directory(history.logs(kind), plans=kept)
        assert [row["symbolic"] for row in rows] == [row["symbolic"] for row in alone]


def test_ids_are_renumbered_in_their_order() -> None:
    from ingestion.plans.cache import number_ids

    text = PLAN % {"a": 10, "b": 11, "name": "status"} + "Exchange, [plan_id=7]"
    other = re.sub(r"#1(\d)", r"#92\1", text).replace("plan_id=7", "plan_id=9012")
    (key, ids), (other_key, other_ids) = number_ids([text], Application()), number_ids([other], Application())
    assert key == other_key
    assert (ids, other_ids) == ([10, 11], [920, 921])
