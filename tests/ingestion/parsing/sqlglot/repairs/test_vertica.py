"""Vertica's loads and exports: which words of theirs are places, and which say how rows are read or written."""

from __future__ import annotations

import pytest

from ingestion.errors import Unparsable
from tests.support.lineage_lines import lines_of_flows


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "COPY o FROM LOCAL './a.csv.gz', 'b.csv' GZIP DELIMITER ','",
            [{"into o", "from ./a.csv.gz", "* = ./a.csv.gz"}, {"into o", "from b.csv", "* = b.csv"}],
        ),
        (
            "COPY lib.o (a, f FILLER INT, b AS f * 2) FROM '/a.csv' ON ANY NODE SKIP 1",
            [{"into lib.o", "from /a.csv", "* = /a.csv"}],
        ),
        ("COPY o FROM LOCAL STDIN DELIMITER ','", []),
        *(
            (f"COPY o FROM '/a.csv' {one}", [{"into o", "from /a.csv", "* = /a.csv"}])
            for one in ("COLLECTIONOPEN '['", "TRIM '_'", "HEADER 'x'")
        ),
        ("COPY o SOURCE KafkaSource(stream = 'x') DIRECT", []),
        ("COPY o FROM :path DELIMITER ','", []),
        (
            "COPY o (a, b) FROM VERTICA far.lib.s (x, y)",
            [{"into o", "from far.lib.s", "a = far.lib.s.x", "b = far.lib.s.y"}],
        ),
        (
            "EXPORT TO PARQUET(directory = 's3://b/d', rowGroupSizeMB = 64) OVER (PARTITION BY k) AS SELECT a FROM s",
            [{"into s3://b/d", "from s", "a = s.a"}],
        ),
        (
            "EXPORT TO VERTICA far.lib.o (a, b) AS SELECT x, y FROM s",
            [{"into far.lib.o", "from s", "a = s.x", "b = s.y"}],
        ),
        ("EXPORT TO VERTICA far.lib.o FROM s", [{"into far.lib.o", "from s", "* = s"}]),
    ],
)
def test_the_words_of_a_load_and_an_export_are_no_tables_and_no_files(text: str, expected: list[set[str]]) -> None:
    assert [lines for lines in lines_of_flows(text, "vertica") if len(lines) > 1] == expected


@pytest.mark.parametrize(
    "text", ["EXPORT TO PARQUET (compression = 'gzip') AS SELECT a FROM s", "EXPORT TO DELIMITED SELECT a FROM s"]
)
def test_an_export_without_a_directory_goes_to_no_place(text: str) -> None:
    with pytest.raises(Unparsable):
        lines_of_flows(text, "vertica")
