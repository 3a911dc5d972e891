"""Exports as they come: of a folder, of a ZIP, and such as would do harm."""

from __future__ import annotations

import io
import stat
import zipfile
from pathlib import Path

import pytest

from connectors.dashboards.files import LARGEST_MARKUP, exported_files
from ingestion.errors import ConfigError

ENDINGS = (".yaml",)


def zipped(folder: Path, *members: tuple[str | zipfile.ZipInfo, bytes]) -> Path:
    file = folder / "export.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return file


def test_a_folder_is_read_in_order_and_links_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "secret.yaml"
    outside.write_text("password: x")
    project = tmp_path / "project"
    (project / "b").mkdir(parents=True)
    (project / ".git").mkdir()
    (project / ".git" / "x.yaml").write_text("a: 1")
    (project / "b" / "two.yaml").write_bytes("\ufeffb: 2".encode())
    (project / "one.YAML").write_bytes("a: é".encode("utf-16"))
    (project / "bad.yaml").write_bytes(b"\xff\xfa\xfa")
    (project / "link.yaml").symlink_to(outside)
    (project / "up").symlink_to(tmp_path, target_is_directory=True)
    (project / "other.txt").write_text("c")

    found = [(one.name, one.text, one.problem) for one in exported_files(project, ENDINGS)]

    assert found == [
        ("bad.yaml", "", "it is not UTF-8 text"),
        ("link.yaml", "", "a symbolic link, which is not followed"),
        ("one.YAML", "a: é", ""),
        ("b/two.yaml", "b: 2", ""),
    ]


def test_what_would_do_harm_in_a_zip_is_told_and_the_rest_is_read(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("a/link.yaml")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    file = zipped(
        tmp_path,
        ("../../etc/climbs.yaml", b"a: 1"),
        ("/abs.yaml", b"a: 1"),
        (link, b"/etc/passwd"),
        ("a/bomb.yaml", b"a" * (LARGEST_MARKUP - 1)),
        ("a/huge.yaml", b"a" * (LARGEST_MARKUP + 1)),
        ("a/good.yaml", b"a: 1"),
        ("a/other.png", b"\x00"),
    )
    found = {one.name: one.problem or one.text for one in exported_files(file, ENDINGS)}
    assert found == {
        "a file outside of the export": "its path leads out of the export",
        "a/link.yaml": "a symbolic link, which is not followed",
        "a/bomb.yaml": "it is packed as no text is",
        "a/huge.yaml": "it is larger than 8 MB",
        "a/good.yaml": "a: 1",
    }


def test_a_member_that_is_damaged_costs_itself_alone(tmp_path: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("a.yaml", b"x" * 50)
        archive.writestr("b.yaml", b"b: 1")
    content = bytearray(out.getvalue())
    content[content.index(b"x" * 50) + 3] = ord("y")
    (tmp_path / "export.zip").write_bytes(content)
    found = {one.name: one.problem or one.text for one in exported_files(tmp_path / "export.zip", ENDINGS)}
    assert found == {"a.yaml": "it is cut, or packed in a way that is not known", "b.yaml": "b: 1"}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("export.zip", b"PK\x03\x04 cut", "is no ZIP, or is cut: export it again"),
        ("notes.txt", b"hello", "expected a folder, a ZIP, or a file that ends in .yaml"),
    ],
)
def test_what_is_no_export_is_refused_in_one_line(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ConfigError, match=message):
        list(exported_files(tmp_path / name, ENDINGS))
    with pytest.raises(ConfigError, match="is not there"):
        list(exported_files(tmp_path / "nothing", ENDINGS))


def test_json_may_be_larger_than_what_takes_more_memory_to_read(tmp_path: Path) -> None:
    for name in ("model.bim", "model.yaml"):
        (tmp_path / name).write_bytes(b" " * (LARGEST_MARKUP + 1))
    found = [(one.name, one.problem) for one in exported_files(tmp_path, (".bim", ".yaml"))]
    assert found == [("model.bim", ""), ("model.yaml", "it is larger than 8 MB")]
