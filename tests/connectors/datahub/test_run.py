"""A run into DataHub that breaks off goes on, and ends what its list does not say any more."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingestion.errors import TargetDown
from tests.support.datahub_service import SOURCE_URN, TARGET_URN, Service
from tests.support.run_in_session import run
from tests.workflows.run.test_edge_list import SETTINGS

pytestmark = pytest.mark.spark

HEADER = "source,source_column,target,target_column,expression\n"
EDGES = (
    "db.s.orders,total,db.s.daily,gmv,SUM(o.total)\n"
    "db.s.orders,day,db.s.daily,day,\n"
    "db.s.daily,gmv,db.s.report,gmv,\n"
    "hub.db.s.t,a,db.s.report,b,\n"
)


def test_what_stands_in_the_end_is_what_the_list_says(
    tmp_path: Path, spark: object, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    url = service.server.url_for("").rstrip("/")
    sink = f"{{type: datahub-rest, config: {{server: '{url}', retry_max_times: 0, bulk_sink_batch_size: 1}}}}"
    (tmp_path / "lineage.yaml").write_text(SETTINGS.replace("{type: metadata-rest, config: {}}", sink))
    (tmp_path / "edges.csv").write_text(HEADER + EDGES)

    # the first call is taken and never answered for
    service.unanswered = 1
    with pytest.raises(TargetDown):
        run(tmp_path)

    edited = EDGES.replace("SUM(o.total)", "SUM(o.total - o.tax)").replace("db.s.orders,day,db.s.daily,day,\n", "")
    (tmp_path / "edges.csv").write_text(HEADER + edited)
    counts = run(tmp_path).counts
    assert (counts.published, counts.edges.rejected) == (2, 1)
    [reason] = counts.dead
    assert reason == "rejected: DataHub's platform of hub is not known: name it in sink.config.services"
    assert service.model.columns == {("SQL: SUM(o.total - o.tax)", "gmv", "total", 1.0)}
    assert service.model.upstreams.keys() == {SOURCE_URN}

    calls = service.calls
    run(tmp_path)
    assert service.calls == calls + 1  # what was rejected is tried again, and nothing else

    (tmp_path / "edges.csv").write_text(HEADER + "db.s.daily,gmv,db.s.report,gmv,\n")
    run(tmp_path)
    assert (service.model.columns, service.model.upstreams) == (set(), {})
    assert TARGET_URN in repr(service.model.aspects)
