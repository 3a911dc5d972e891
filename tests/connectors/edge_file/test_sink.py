"""A file of edges is what it says it is, or is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from connectors.edge_file.settings import EdgeFileSettings
from connectors.edge_file.sink import open_sink
from connectors.edge_rows import HEADER, entity_text
from connectors.sink import SinkRun, TargetBatch
from ingestion.errors import ConfigError
from ingestion.model.contributions import ColumnEvidence, Contribution, Producer, ProducerKind
from ingestion.model.entities import EntityReference
from ingestion.model.lineage import Subtype, Transformation
from ingestion.model.requests import EdgeSource, request_of

RUN = SinkRun("run", 1, object())
SOURCE = EntityReference("1", "table", "a", "shop.db.s.a")
TARGET = EntityReference("2", "table", "b", "shop.db.s.b")


def batch(expression: str) -> TargetBatch:
    column = ColumnEvidence(("shop.db.s.a.x",), "shop.db.s.b.y", Transformation(Subtype.TRANSFORMATION), expression)
    said = Contribution(Producer(ProducerKind.QUERY, "12ab"), EdgeSource.QUERY, "INSERT", (column,))
    return TargetBatch(TARGET, (request_of(SOURCE, TARGET, [said]),))


def test_it_holds_what_is_written_until_it_is_ended(tmp_path: Path) -> None:
    settings = EdgeFileSettings(path=tmp_path / "out" / "edges.csv")
    with open_sink(settings, RUN) as sink:
        first = batch("upper(x)").requests[0]
        written = frozenset(sink.keys(first, first.contributions[0]))
        assert sink.missing_keys(written) == written
        sink.write([batch("upper(x)")])
        assert not sink.missing_keys(written)
    with open_sink(settings, RUN) as sink:
        before = batch("upper(x)").requests[0]
        ended = frozenset(sink.keys(before, before.contributions[0]))
        assert sink.write([batch("upper(x)")]).counts.unchanged == 1
        report = sink.write([TargetBatch(TARGET, batch("-x").requests, ended=ended)])
    assert (report.counts.new, report.counts.replaced) == (1, 1)
    assert settings.path.read_text().splitlines() == [
        ",".join(HEADER),
        "shop.db.s.a,x,shop.db.s.b,y,direct,transformation,,'-x,certain,query 12ab",
    ]
    assert [file.name for file in settings.path.parent.iterdir()] == ["edges.csv"]


@pytest.mark.parametrize("content", ["name,price\nx,1\n", ",".join(HEADER) + "\nshort\n", ""])
def test_a_file_of_something_else_is_not_written_over(tmp_path: Path, content: str) -> None:
    file = tmp_path / "prices.csv"
    file.write_text(content)
    with pytest.raises(ConfigError, match="is no list of edges"), open_sink(EdgeFileSettings(path=file), RUN):
        pass
    assert file.read_text() == content


def test_a_path_is_told_by_its_service() -> None:
    def text(fqn: str) -> str:
        return entity_text(EntityReference("1", "container", None, fqn))

    assert text('files."/srv/in.csv"') == "/srv/in.csv"
    assert text('s3."bucket/in.csv"') == "s3://bucket/in.csv"
    assert text('landing."bucket/in.csv"') == 'landing."bucket/in.csv"'


def test_two_that_have_it_open_lose_nothing_of_each_other(tmp_path: Path) -> None:
    settings = EdgeFileSettings(path=tmp_path / "edges.csv")
    with open_sink(settings, RUN) as one, open_sink(settings, RUN) as other:
        one.write([batch("upper(x)")])
        other.write([batch("lower(x)")])
        one.write([batch("trim(x)")])
    said = [line for line in settings.path.read_text().splitlines() if "(x)" in line]
    assert [line.split(",")[7] for line in said] == ["lower(x)", "trim(x)", "upper(x)"]
