"""What a folder or a file holds that is not SQL: projects that have to be named otherwise, or are read by a run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from connectors.dataform.projects import is_dataform
from ingestion.arguments import files_below
from ingestion.errors import ConfigError

_ENDINGS = {".lkml": "lookml", ".lookml": "lookml", ".tmdl": "powerbi", ".bim": "powerbi", ".pbip": "powerbi"}
_TEXTS = (".json", ".yaml", ".yml", ".properties")
_MARKS = (
    (re.compile(r"\bconnector\.class\b"), "kafka-connect"),
    (re.compile(r"^type: (?:Dashboard|Chart|SqlaTable|Database|assets|Slice)\b", re.MULTILINE), "superset"),
    (re.compile(r"^serdes/meta:", re.MULTILINE), "metabase"),
)
_CONTRACT = re.compile(r"^kind: *[\"']?DataContract\b", re.MULTILINE)
_HEAD = 16 << 10
_MOST_FILES = 500


def refuse_other_forms(path: Path) -> None:
    """Raises ConfigError where a file, or a folder without SQL, is of a form that something else reads, named so."""
    if not path.is_dir():
        form = _form_of(path, named=True)
    elif next(path.rglob("*.sql"), None) is None:
        form = next(filter(None, map(_form_of, _candidates(files_below(path, "*")[0]))), "")
        form = form and f"{path} holds no *.sql file; {form}"
    else:
        return
    if form:
        raise ConfigError(form)


def _candidates(files: list[Path]) -> Iterator[Path]:
    known = (file for file in files if file.suffix.lower() in (*_ENDINGS, *_TEXTS) and file.is_file())
    return islice(known, _MOST_FILES)


def _form_of(file: Path, *, named: bool = False) -> str:
    ending = file.suffix.lower()
    source = _ENDINGS.get(ending, "")
    if not source and not named and (file.name == "manifest.json" or is_dataform(file)):
        return f"name the project's {file}"
    if not source and ending in _TEXTS:
        head = _head(file)
        if _CONTRACT.search(head):
            return f"{file} is a contract: ingest impact and ingest diff take it as --contracts"
        source = next((name for mark, name in _MARKS if mark.search(head)), "")
    return f"{file} is for ingest run, with source.type {source}" if source else ""


def _head(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return opened.read(_HEAD).decode("utf-8", "replace")
    except OSError:
        return ""
