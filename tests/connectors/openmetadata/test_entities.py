from __future__ import annotations

import pytest

from connectors.openmetadata.entities import column_request
from ingestion.model.lineage import Column


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("integer", {"dataType": "INT"}),
        ("VARCHAR(64)", {"dataType": "VARCHAR", "dataLength": 64}),
        ("character varying ( 10 )", {"dataType": "VARCHAR", "dataLength": 10}),
        ("varchar", {"dataType": "VARCHAR", "dataLength": 1}),
        ("varchar(max)", {"dataType": "VARCHAR", "dataLength": 1}),
        ("numeric(12, 2)", {"dataType": "NUMERIC", "precision": 12, "scale": 2}),
        ("NUMBER(38)", {"dataType": "NUMBER", "precision": 38, "scale": 0}),
        ("decimal", {"dataType": "DECIMAL"}),
        ("double precision", {"dataType": "DOUBLE"}),
        ("timestamp(6) without time zone", {"dataType": "TIMESTAMP"}),
        ("timestamp with time zone", {"dataType": "TIMESTAMPZ"}),
        ("text[]", {"dataType": "ARRAY", "arrayDataType": "TEXT"}),
        ("array<struct<a:int>>", {"dataType": "ARRAY", "arrayDataType": "UNKNOWN"}),
        ("STRUCT<a: int, b: array<int>>", {"dataType": "STRUCT"}),
        ("map<string,int>", {"dataType": "MAP"}),
        ("hstore", {"dataType": "UNKNOWN"}),
    ],
)
def test_a_written_type_has_its_name(written: str, expected: dict[str, object]) -> None:
    assert column_request(Column("c", written)) == {"name": "c", "dataTypeDisplay": written, **expected}


def test_an_unknown_type_stays_unknown() -> None:
    assert column_request(Column("c")) == {"name": "c", "dataType": "UNKNOWN"}
