"""Records of every kind of application: text, user, session, defaults, outcome, and one record a statement."""

from __future__ import annotations

from pathlib import Path

from connectors.spark._codecs import decode_stream
from connectors.spark._history_records import Row
from ingestion.analysis.symbolic import loads
from ingestion.model.lineage import StatementKind, StatementLineage
from ingestion.model.outcomes import ProblemKind
from tests.connectors.spark.conftest import History, read_directory
from tests.support.spark_jobs.comparison import by_target, direct_edges, lineages


def texts(rows: list[Row]) -> list[str]:
    return [row["text"] for row in rows if row["text"]]


def row_of(rows: list[Row], start: str) -> Row:
    found = [row for row in rows if (row["text"] or "").startswith(start)]
    assert len(found) == 1, start
    return found[0]


def test_every_statement_of_the_command_line_is_one_record_with_its_text(history: History) -> None:
    rows = read_directory(history.logs("cli"))
    assert len(rows) == len(texts(rows)) == 12
    assert all(row["problem"] is None for row in rows)
    view = row_of(rows, "CREATE VIEW open_orders")
    assert (view["database"], view["schema"]) == ("spark_catalog", "sales")
    assert view["status"] is None
    assert view["duration"] is not None
    assert view["duration"] > 0


def test_a_use_statement_changes_the_default_schema_of_what_follows_it(history: History) -> None:
    rows = read_directory(history.logs("cli"))
    assert row_of(rows, "USE sales")["schema"] == "default"
    assert row_of(rows, "SHOW TABLES")["schema"] == "sales"


def test_the_text_names_the_view_that_a_physical_plan_looks_through(history: History) -> None:
    row = row_of(read_directory(history.logs("cli")), "INSERT INTO mart.c1 SELECT id + 1")
    lineage = loads(row["symbolic"])
    assert isinstance(lineage, StatementLineage)
    view = "spark_catalog.sales.open_orders"
    assert direct_edges(lineage.flows[0]) == {("id", view, "id"), ("twice", view, "amount")}
    assert view in [name.dotted for name in lineage.sources]


def test_text_and_plan_agree_on_every_statement_that_has_both(history: History) -> None:
    for kind in ("cli", "thrift", "connect"):
        for row in read_directory(history.logs(kind)):
            lineage = loads(row["symbolic"]) if row["symbolic"] and row["text"] else None
            if isinstance(lineage, StatementLineage):
                assert ProblemKind.DISAGREEMENT not in {problem.kind for problem in lineage.problems}, row["text"]


def test_failures_have_their_status_and_no_lineage(history: History) -> None:
    for kind, start in (
        ("cli", "INSERT INTO mart.c1 SELECT order_id, raise"),
        ("connect", "INSERT INTO sales.daily SELECT no"),
    ):
        row = row_of(read_directory(history.logs(kind)), start)
        assert row["status"] == "failed"
        assert row["symbolic"] is None


def test_text_of_connect_is_unescaped_and_text_that_was_cut_is_left_out(history: History) -> None:
    rows = read_directory(history.logs("connect"))
    first = row_of(rows, "INSERT INTO sales.daily\nSELECT upper(status)")
    assert first["text"].endswith('-- "żółw" it\'s\nGROUP BY status')
    assert not any("truncated" in text or "xxxx" in text for text in texts(rows))
    lineages = [loads(row["symbolic"]) for row in rows if row["symbolic"] and not row["text"]]
    written = {str(t) for lineage in lineages if isinstance(lineage, StatementLineage) for t in lineage.targets}
    assert written == {"sales.most", "spark_catalog.sales.daily"}


def test_micro_batches_write_to_the_sink_of_their_query(history: History) -> None:
    rows = read_directory(history.logs("streaming"))
    found = by_target(rows)
    source = (history.root / "streaming" / "in").as_uri().replace("file:///", "file:/")
    out = (history.root / "streaming" / "out").as_uri().replace("file:///", "file:/")
    assert direct_edges(found[out][1]) == {("event_id", source, "event_id"), ("key", source, "key")}
    assert direct_edges(found["spark_catalog.mart.streamed"][1]) == {("key", source, "key"), ("next", source, "value")}
    assert direct_edges(found["spark_catalog.mart.by_batch"][1]) == {("key", source, "key"), ("total", source, "value")}


def test_a_script_gives_its_statements_and_a_set_description_no_text(history: History) -> None:
    rows = read_directory(history.logs("streaming"))
    assert "spark_catalog.mart.scripted" in by_target(rows)
    assert texts(rows) == []


def described(history: History, folder: Path, *descriptions: tuple[bytes, bytes]) -> list[Row]:
    """The command line's log as if a user had set each statement's description, with some of them replaced."""
    (log,) = history.logs("cli").iterdir()
    with log.open("rb") as stream:
        content = b"".join(decode_stream(stream, "snappy")).replace(b"SparkSQLCLIDriver", b"Job")
    for before, after in descriptions:
        assert before in content
        content = content.replace(before, after)
    (folder / "local-1").write_bytes(content)
    return read_directory(folder)


def test_a_description_that_is_the_statement_is_its_text(history: History, tmp_path: Path) -> None:
    rows = described(history, tmp_path)
    lineage = loads(row_of(rows, "INSERT INTO mart.c1 SELECT id + 1")["symbolic"])
    assert isinstance(lineage, StatementLineage)
    assert "spark_catalog.sales.open_orders" in [name.dotted for name in lineage.sources]
    assert {text.split()[0] for text in texts(rows)} == {"INSERT", "CREATE"}


def test_any_other_description_is_left_out_and_changes_nothing(history: History, tmp_path: Path) -> None:
    statement, query = b"INSERT INTO mart.c1 SELECT order_id, sum(amount)", b"FROM orders GROUP BY order_id"
    words = (
        (
            b"INSERT INTO mart.c1 SELECT id + 1, amount FROM open_orders",
            b"INSERT INTO mart.c1 for jane.doe@example.com",
        ),
        (statement + b" " + query, b"INSERT INTO mart.c1 SELECT a, b FROM elsewhere"),
    )
    (tmp_path / "as_said").mkdir()
    (tmp_path / "other").mkdir()
    before, after = described(history, tmp_path / "as_said"), described(history, tmp_path / "other", *words)
    assert len(texts(after)) == len(texts(before)) - 2
    assert not any(word in str(row["text"]) for row in after for word in ("jane", "elsewhere"))
    plans = [[name.dotted for name in lineage.targets] for lineage in lineages(before)]
    assert [[name.dotted for name in lineage.targets] for lineage in lineages(after)] == plans
    assert not any("elsewhere" in str(lineage) for lineage in lineages(after))


def test_a_statement_whose_result_is_looked_at_is_counted_once(history: History) -> None:
    found = lineages(read_directory(history.logs("sql")))
    into = [lineage for lineage in found if "spark_catalog.mart.s01" in [name.dotted for name in lineage.targets]]
    assert [lineage.kind for lineage in into] == [StatementKind.INSERT] * 2  # the job, and one that is looked at


def test_a_killed_application_gives_what_it_did(history: History) -> None:
    assert any(path.name.endswith(".inprogress") for path in history.logs("dataframe").iterdir())
    rows = read_directory(history.logs("dataframe"))
    assert {row["problem"] for row in rows} <= {
        None,
        "the last event is cut short",
        "the lz4 stream ends in the middle of a block",
    }
    assert len(by_target(rows)) > 40


def test_source_ids_are_unique_and_the_same_in_every_reading(history: History) -> None:
    for kind in ("sql", "cli", "thrift", "connect", "streaming"):
        once, again = read_directory(history.logs(kind)), read_directory(history.logs(kind))
        identifiers = [row["source_id"] for row in once]
        assert len(set(identifiers)) == len(identifiers)
        assert once == again
