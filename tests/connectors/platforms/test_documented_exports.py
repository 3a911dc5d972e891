"""What docs/query_logs.md says of each exporter is what its profile knows, and what its export has."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from connectors.platforms.index import PROFILES, SERVER_LOGS, TEXT_LOGS
from connectors.platforms.profile import ExportProfile
from connectors.query_log._columns import ReadingHints, column_reading, plain_name
from tests.connectors.platforms.test_exports import HERE, sections
from tests.support.query_log_exports import Record, layout_of, read_export, read_file

PAGE = (Path(__file__).parents[3] / "docs" / "query_logs.md").read_text("utf-8")
BY_NAME = {profile.name: profile for profile in PROFILES if "text" in profile.columns}
"""Those that have a text; the others are engines' own lineage, which has another page."""

NO_PROFILE = {"PostgreSQL jsonlog", "query log"} | {log.name for log in (*SERVER_LOGS, *TEXT_LOGS)}
WITH_FEWER_FIELDS = {
    "SAP HANA statements": {"status"},
    "BigQuery INFORMATION_SCHEMA.JOBS": {"schema"},
    "Trino trino_queries": {"database", "schema", "query_type", "duration"},
}
"""What an export's statement cannot tell: its page says that `headwater.defaults` does."""

FILES = {name: lines[0].rpartition(", ")[0] for name, lines in sections().items()}
TABLE = {
    name: (kind, what) for name, kind, what in re.findall(r"^\| `([^`]+)` \| (\w+) \| (.+) \|$", PAGE, re.MULTILINE)
}
SELECT = re.compile(r"\bSELECT\s(.*?)\sFROM\s", re.DOTALL)


def exports() -> dict[str, list[list[str]]]:
    """By the exporter in a heading: the columns of each SELECT in the blocks below it."""
    found: dict[str, list[list[str]]] = {}
    for section in re.split(r"^#{2,3} ", PAGE, flags=re.MULTILINE)[1:]:
        name, _, body = section.partition("\n")
        if name in BY_NAME:
            blocks = re.findall(r"```(?!sh\n)\w+\n(.*?)```", body, re.DOTALL)
            inline = re.findall(r"`(SELECT [^`]+)`", body)
            written = [SELECT.search(block + " FROM ") for block in (*blocks, *(f"{one} FROM " for one in inline))]
            found[name] = [columns_of(match[1]) for match in written if match is not None]
    return found


def columns_of(select_list: str) -> list[str]:
    """The names that the columns of a SELECT have in its result."""
    within = re.compile(r"\([^()]*\)")
    while within.search(select_list):
        select_list = within.sub("", select_list)
    return [plain_name(re.split(r"[\s.]", column.strip())[-1].strip('"[]')) for column in select_list.split(",")]


def result_columns(profile: ExportProfile, columns: list[str]) -> list[str]:
    """Those columns that the profile does not know left out, and those with fields in them with their fields."""
    known = set(profile.names).union(*profile.marks, *profile.own_marks)
    exported = [name for file in files_of(profile.name) for name in names_in(file) if name in known]
    found = []
    for column in columns:
        found += [name for name in exported if name.startswith(f"{column}_")]
        found += [column] if column in known else []
    return found


def names_in(file: Path) -> tuple[str, ...]:
    reading = layout_of(file.read_bytes(), file.name).reading
    return reading.names if reading is not None else ()


def files_of(name: str) -> list[Path]:
    return [HERE / "exports" / file for file, exporter in FILES.items() if exporter == name]


EXPORTS = [(name, columns) for name, selects in exports().items() for columns in selects]


def test_the_page_names_every_exporter() -> None:
    assert TABLE.keys() == BY_NAME.keys() | NO_PROFILE


def test_what_the_table_announces_is_below() -> None:
    announced = {name for name, (_kind, what) in TABLE.items() if what.startswith("an export, below")}
    shown_below = {name for name, selects in exports().items() if selects}
    assert announced - shown_below == {"Athena query executions"}  # a command without a SELECT
    assert shown_below <= announced


@pytest.mark.parametrize("name", BY_NAME)
def test_an_export_is_known_under_the_type_that_the_page_gives(name: str) -> None:
    kind = TABLE[name][0]
    files = files_of(name)
    assert files
    for file in files:
        for hints in (ReadingHints(), ReadingHints(connection_type=None if kind == "any" else kind)):
            reading = layout_of(file.read_bytes(), file.name, hints).reading
            assert reading is not None
            assert reading.profile.name == name
    assert kind in BY_NAME[name].services or (kind == "any" and not BY_NAME[name].services)


@pytest.mark.parametrize(("name", "columns"), EXPORTS, ids=[name for name, _columns in EXPORTS])
def test_the_columns_of_an_export_statement_are_those_of_its_exporter(name: str, columns: list[str]) -> None:
    profile = BY_NAME[name]
    assert [column for column in columns if not result_columns(profile, [column])] == []
    reading = column_reading(columns, (), ReadingHints(connection_type=TABLE[name][0]))
    unasked = column_reading(columns, (), ReadingHints())
    assert reading is not None
    assert unasked is not None
    assert (reading.profile.name, unasked.profile.name) == (name, name)
    assert "text" in reading.fields


@pytest.mark.parametrize("name", exports())
def test_an_export_statement_tells_all_that_the_export_in_the_tests_does(name: str) -> None:
    profile = BY_NAME[name]
    for columns in exports()[name][:1]:
        reading = column_reading(result_columns(profile, columns), (), ReadingHints())
        whole = [column_reading(names_in(file), (), ReadingHints()) for file in files_of(name)]
        assert reading is not None
        known = {field for one in whole if one is not None for field in one.fields} & profile.columns.keys()
        assert known - reading.fields.keys() <= WITH_FEWER_FIELDS.get(name, set())
        assert profile.split_text is None or {profile.split_text.order} <= set(columns)


WAYS: dict[str, dict[str, Any]] = {
    "Export-Csv": {"quoting": csv.QUOTE_ALL, "lineterminator": "\r\n"},
    "FIELD_OPTIONALLY_ENCLOSED_BY": {"quoting": csv.QUOTE_ALL, "lineterminator": "\n"},
    "sqlformat csv": {"quoting": csv.QUOTE_NONNUMERIC, "lineterminator": "\n"},
}
"""How the tools of the page write CSV, by what stands in the block; the others as `psql --csv` does."""


def block_of(name: str) -> str:
    return PAGE.partition(f"### {name}\n")[2].partition("\n#")[0]


def rows_of(file: Path) -> list[dict[str, Any]]:
    if file.suffix == ".csv":
        with file.open(encoding="utf-8", newline="") as lines:
            return [{plain_name(key): value for key, value in row.items()} for row in csv.DictReader(lines)]
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def with_line_end(value: Any) -> Any:
    """A line end in each text, which not every way of writing a file survives."""
    return re.sub(r" (?=select )", "\n", value, flags=re.IGNORECASE) if isinstance(value, str) else value


def rewritten(name: str, columns: list[str], file: Path) -> bytes:
    """The rows of an export as the statement on the page writes them, in its tool's form."""
    rows = [[row.get(column, "") for column in columns] for row in rows_of(file)]
    if BY_NAME[name].split_text is None:
        rows = [[with_line_end(value) for value in row] for row in rows]
    if file.suffix != ".csv":
        objects = [json.dumps(dict(zip(columns, row, strict=True))) for row in rows]
        return (f"[{','.join(objects)}]" if "--format=json" in block_of(name) else "\n".join(objects)).encode()
    if "mysql --batch" in block_of(name):
        escapes = str.maketrans({"\\": "\\\\", "\n": "\\n", "\t": "\\t"})
        return "".join("\t".join(str(v).translate(escapes) for v in row) + "\n" for row in (columns, *rows)).encode()
    way = next((way for mark, way in WAYS.items() if mark in block_of(name)), {"lineterminator": "\n"})
    written = io.StringIO()
    csv.writer(written, **way).writerows([columns, *rows])
    return written.getvalue().encode("utf-8-sig" if "Export-Csv" in block_of(name) else "utf-8")


def shown(record: Record, left_out: set[str]) -> dict[str, Any]:
    fields = {*FIELDS} - left_out
    text = " ".join((record["text"] or "").split())
    return {"text": text} | {field: record[field] for field in fields}


FIELDS = ("start_time", "end_time", "duration", "user", "session", "database", "schema", "status", "problem", "job")
OTHER_FORMS = {
    "mysql_general_file.csv", "clickhouse_tabbed.tsv", "clickhouse.json", "clickhouse_compact.json",
    "sqlserver_events_shown.csv", "hana_audit_log.csv",
}  # fmt: skip
"""Exports in another form than that of the statement on the page."""

WRITTEN = [
    (name, selects[0], file)
    for name, selects in exports().items()
    for file in files_of(name)
    if selects and file.name not in OTHER_FORMS and name != "Trino trino_queries"  # read over JDBC, as it is
]


@pytest.mark.parametrize(("name", "columns", "file"), WRITTEN, ids=[file.name for _name, _columns, file in WRITTEN])
def test_an_export_in_the_form_of_its_statement_gives_the_same_records(
    name: str, columns: list[str], file: Path
) -> None:
    content = rewritten(name, columns, file)
    layout = layout_of(content, "export")
    assert layout.reading is not None
    assert layout.reading.profile.name == name
    less = WITH_FEWER_FIELDS.get(name, set())
    expected = [shown(record, less) for record in read_file(file)]
    assert [shown(record, less) for record in read_export(content, "export")] == expected
    assert any(record["text"] for record in expected)
