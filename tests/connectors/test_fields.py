"""The kinds of field: what a text in YAML becomes, and what is told of one that will not do."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import Field, ValidationError

from connectors.fields import (
    ExistingFile,
    FieldContext,
    FilePath,
    InputLocation,
    KeptFile,
    KeptLocation,
    MisfitCollector,
    Misfits,
    Model,
    Moment,
    Positive,
    from_text,
    http_url,
)


class Inner(Model):
    number: Positive = 1


class Outer(Model):
    inner: Inner = Inner()
    upper: Annotated[str, from_text(lambda text, _info: text.upper())] = "A"
    file: ExistingFile | None = None
    log: InputLocation | None = None
    out: FilePath = Field(default=Path("x"))
    kept: KeptFile | None = None
    state: KeptLocation | None = None
    at: Moment | None = None


def read(folder: Path, **content: Any) -> Outer:
    return Outer.model_validate(content, context=FieldContext("w.yaml", folder))


def test_a_text_becomes_the_value_that_is_used(tmp_path: Path) -> None:
    (tmp_path / "a.sql").touch()
    found = read(tmp_path, upper="b", file="a.sql", log="a.sql", out="~/dead", at="2026-11-20")
    assert (found.upper, found.file, found.log) == ("B", tmp_path / "a.sql", str(tmp_path / "a.sql"))
    assert found.out == Path("~/dead").expanduser()
    assert found.at is not None
    assert found.at.isoformat() == "2026-11-20T00:00:00+00:00"


def test_a_path_may_be_given_as_one() -> None:
    assert Outer(out=Path("y")).out == Path("y")
    assert Outer.model_json_schema()["properties"]["out"]["type"] == "string"


@pytest.mark.parametrize("content", [{"file": "none.sql"}, {"log": "none/*.csv"}, {"at": "soon"}, {"upper": ""}])
def test_what_will_not_do_is_told_of_its_field_alone(tmp_path: Path, content: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as caught:
        read(tmp_path, **content)
    assert [error["loc"] for error in caught.value.errors()] == [tuple(content)]


def test_a_location_that_spark_alone_can_see_is_not_looked_for(tmp_path: Path) -> None:
    assert read(tmp_path, log="s3a://bucket/log").log == "s3a://bucket/log"
    with_gone = Outer.model_validate({"log": "gone.csv"}, context=FieldContext("w.yaml", tmp_path, may_lack_log=True))
    assert with_gone.log == "gone.csv"


def test_all_misfits_of_a_mapping_are_told() -> None:
    misfits = MisfitCollector()
    with misfits.at("url"):
        http_url("ftp://a", "http://spark:18080")
    misfits.add("one too many", "names", 1)
    with pytest.raises(Misfits) as caught:
        misfits.check()
    assert [path for path, _message in caught.value.found] == [("url",), ("names", 1)]


def test_a_copy_with_another_value_leaves_the_first_as_it_is() -> None:
    first = Outer()
    second = first.with_value("inner.number", 7)
    assert (first.inner.number, second.inner.number, second.upper) == (1, 7, "A")
    with pytest.raises(ValidationError, match="frozen"):
        first.upper = "B"  # type: ignore[misc]


def test_what_a_run_left_is_found_from_another_folder_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here, then beside the configuration; what is nowhere yet is made here."""
    here, beside = tmp_path / "here", tmp_path / "beside"
    here.mkdir()
    beside.mkdir()
    monkeypatch.chdir(here)
    assert read(beside, kept="c.db", state="s.db").kept == Path("c.db")
    for name in ("c.db", "s.db"):
        (beside / name).touch()
    found = read(beside, kept="c.db", state="s.db")
    assert (found.kept, found.state) == (beside / "c.db", str(beside / "s.db"))
    (here / "c.db").touch()
    assert read(beside, kept="c.db").kept == Path("c.db")
    assert read(beside, state="postgresql://u@h/d").state == "postgresql://u@h/d"
    assert read(beside, kept=str(here / "none.db")).kept == here / "none.db"
