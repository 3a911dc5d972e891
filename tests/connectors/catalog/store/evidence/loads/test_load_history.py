"""The loads of a table, as jobs and logs told of them."""

from __future__ import annotations

from pathlib import Path

from connectors.catalog.contract.bulk_models import StatementLoads
from connectors.catalog.store.entities.entities import find
from connectors.catalog.store.evidence.loads import file_statement_loads, load_history
from tests.support.made_catalog import MadeCatalog

TABLE = "shop.shop.public.t"


def test_a_number_of_rows_that_is_told_later_is_kept(tmp_path: Path) -> None:
    made = MadeCatalog(tmp_path / "catalog.db")
    made.add_tables({TABLE: ("a",)})
    with made.database.write() as connection:
        table = find(connection, "table", TABLE)
        assert table is not None
        entity = {"id": table.id.upper(), "type": "table"}
        load = {"entity": entity, "at": 7, "run": "a" * 16, "status": "complete", "statement": "f", "job": "nightly"}
        failed = {**load, "at": 6, "status": "failed", "error": "22012"}
        for loads in ([load, failed], [{**load, "rows": 5}], [load]):
            file_statement_loads(connection, StatementLoads.model_validate({"loads": loads}).loads)
        found = load_history(connection, [table.id], 7)
        assert [(one.at, one.failed, one.rows, one.error, one.producer, one.job) for one in found] == [
            (6, True, None, "22012", "f", "nightly"),
            (7, False, 5, "", "f", "nightly"),
        ]
        assert len(load_history(connection, [table.id], 6)) == 1
    made.close()
