"""A run into Unity Catalog that breaks off goes on, and ends what its list does not say any more."""

from __future__ import annotations

from pathlib import Path

import pytest
from werkzeug import Response

from ingestion.errors import TargetDown
from tests.support.run_in_session import run
from tests.support.unity_service import TOKEN, UnityService
from tests.workflows.run.test_edge_list import SETTINGS

pytestmark = pytest.mark.spark

HEADER = "source,source_column,target,target_column,expression\n"
EDGES = (
    "shop.shopdb.web.orders,total,dbx.main.sales.daily,gmv,SUM(o.total)\n"
    "shop.shopdb.web.orders,day,dbx.main.sales.daily,day,\n"
    "dbx.main.sales.daily,gmv,dbx.main.sales.other,a,\n"
    "dbx.main.sales.daily,gmv,wh.DWH.PUB.REPORT,GMV,\n"
    "shop.shopdb.web.orders,total,dbx.main.sales.gone,gmv,\n"
)


def test_what_stands_in_the_end_is_what_the_list_says(
    tmp_path: Path, spark: object, service: UnityService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WORKSPACE_TOKEN", TOKEN)
    config = f"{{host: '{service.server.url_for('').rstrip('/')}', token: '${{WORKSPACE_TOKEN}}', retry_max_times: 0}}"
    sink = f"{{type: databricks-rest, config: {config}}}"
    written = SETTINGS.replace("{type: metadata-rest, config: {}}", sink)
    written = written.replace("serviceName: shop", "serviceName: dbx").replace("type: Postgres", "type: Databricks")
    (tmp_path / "lineage.yaml").write_text(written)
    (tmp_path / "edges.csv").write_text(HEADER + EDGES)

    # an object is made, and then nothing answers
    service.statuses = [None, None, None, Response("", 503)]
    with pytest.raises(TargetDown):
        run(tmp_path)

    (tmp_path / "edges.csv").write_text(
        HEADER + EDGES.replace("shop.shopdb.web.orders,day,dbx.main.sales.daily,day,\n", "")
    )
    summary = run(tmp_path)
    assert (summary.counts.published, summary.counts.edges.new, summary.counts.edges.rejected) == (3, 2, 1)
    assert list(summary.counts.dead) == [
        "rejected: 404 TABLE_DOES_NOT_EXIST: Table main.sales.gone does not exist; asked with ***"
    ]
    assert [line for line in summary.warnings if "Unity" in line] == [
        "not sent to Unity Catalog: 1 edges within Unity Catalog: it records those itself"
    ]
    assert service.pairs == {
        ("shop:shopdb:web:orders", "main.sales.daily"): {("total", "gmv")},
        ("main.sales.daily", "wh:dwh:pub:report"): {("gmv", "GMV")},
    }

    assert TOKEN not in repr(summary)
    assert not [file for file in tmp_path.iterdir() if file.is_file() and TOKEN.encode() in file.read_bytes()]

    writes = list(service.writes)
    run(tmp_path)
    assert service.writes == [*writes, "POST external-lineage"]  # what was refused is tried again, and nothing else

    (tmp_path / "edges.csv").write_text(HEADER + "shop.shopdb.web.orders,total,dbx.main.sales.daily,gmv,\n")
    run(tmp_path)
    assert service.pairs == {("shop:shopdb:web:orders", "main.sales.daily"): {("total", "gmv")}}
    assert service.objects.keys() == {"shop:shopdb:web:orders"}
