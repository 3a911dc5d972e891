"""A file has one mark, whoever listed it: a run that notes another than the next one sees would read all again."""

from __future__ import annotations

import os
from pathlib import Path

from connectors.query_log.files import are_as_read
from connectors.spark._event_logs import local_files
from ingestion.model.file_marks import local_mark, mark_of, marks_of


def test_a_file_has_the_same_mark_wherever_it_is_looked_at(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("query_text\nselect 1\n")
    os.utime(log, (1_767_225_600.123456, 1_767_225_600.123456))
    mark = local_mark(log.stat())
    (listed,) = local_files(str(tmp_path))
    assert mark == mark_of(listed) == marks_of([listed])[f"file:{log}"]
    assert are_as_read(str(log), {str(log): mark})
    log.write_text("query_text\nselect 1, 2\n")
    assert not are_as_read(str(log), {str(log): mark})
