"""The files of Power BI projects, put together: the models and the reports that they are."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from connectors.assets import UnreadFile
from connectors.dashboards.files import OUTSIDE, ExportedFile
from connectors.powerbi._model import SemanticModel, json_of_tmdl, model_of
from connectors.powerbi._reports import (
    NotReport,
    PowerBiReport,
    ReportField,
    ReportVisual,
    fields_in,
    older_report_measures,
    older_visuals,
    read_json,
    report_measures,
    visual_of,
)
from connectors.powerbi._tmdl import NotTmdl, TmdlObject, read_tmdl

ENDINGS = (".tmdl", ".bim", ".json", ".pbir")
_PARTS_OF_MODELS = frozenset({"tables", "roles", "cultures", "perspectives", "functions", "datasources"})
_SCRIPTS = "TMDLScripts"
_DEFINITION = "definition"
_REPORT_FILE = "definition.pbir"
_ITEM = re.compile(r"\.(?:semanticmodel|dataset|report)\Z", re.IGNORECASE)
_CATALOG = re.compile(r"initial catalog\s*=\s*\"?([^;\"]+)", re.IGNORECASE)
_NEWEST = 4
"""The version of `definition.pbir` that is known, and all before it."""
_NO_JSON = "it is no JSON, or is cut"
_MOST_TABLES = 20_000


@dataclass(frozen=True, slots=True)
class PowerBiProject:
    """All models and reports of a folder, and what could not be read."""

    models: tuple[SemanticModel, ...] = ()
    reports: tuple[PowerBiReport, ...] = ()
    unread: tuple[UnreadFile, ...] = ()


@dataclass(slots=True)
class _ProjectFiles:
    """The files by what they are: TMDL by the folder of its model, documents by their whole names."""

    name: str
    tmdl: dict[str, list[tuple[str, TmdlObject]]] = field(default_factory=dict)
    documents: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    unread: list[UnreadFile] = field(default_factory=list)

    def name_of(self, folder: str) -> str:
        """What an item in a folder is called."""
        return _ITEM.sub("", posixpath.basename(folder)) if folder not in ("", ".") else self.name


def read_projects(files: Iterable[ExportedFile], name: str) -> PowerBiProject:
    """The projects that these files are; `name` is that of the whole."""
    given = list(files)
    found = _ProjectFiles(_ITEM.sub("", name))
    reports = frozenset(one.folder for one in given if posixpath.basename(one.name).lower() == _REPORT_FILE)
    for file in given:
        if file.name == OUTSIDE or _is_wanted(file.name, reports):
            _read(file, found)
    models = (*_models_of_tmdl(found), *_models_of_json(found))
    made = tuple(one for folder in sorted(reports) for one in _report(folder, found))
    return PowerBiProject(models, made, tuple(found.unread))


def _is_wanted(name: str, reports: frozenset[str]) -> bool:
    """Whether a file is one that tells of models or reports; others beside them are many, and large."""
    lowered = name.lower()
    if lowered.endswith((".tmdl", ".bim", ".pbir")):
        return _SCRIPTS not in name.split("/")
    folder, base = posixpath.split(name)
    begin, pages, _inside = f"/{name}".partition("/definition/pages/")
    if pages:
        return base in ("page.json", "visual.json") and (begin.lstrip("/") or ".") in reports
    if base not in ("report.json", "reportExtensions.json"):
        return False
    above, last = posixpath.split(folder)
    return (folder or ".") in reports or (last == _DEFINITION and (above or ".") in reports)


def _read(file: ExportedFile, found: _ProjectFiles) -> None:
    where = f"{file.name}:1"
    if file.problem:
        found.unread.append(UnreadFile(where, file.problem))
    elif file.name.lower().endswith(".tmdl"):
        try:
            found.tmdl.setdefault(_model_folder(file.folder), []).append((file.name, read_tmdl(file.text)))
        except NotTmdl as refused:
            found.unread.append(UnreadFile(f"{file.name}:{refused.line}", "it is no TMDL, or is cut"))
    else:
        try:
            found.documents[file.name] = read_json(file.text)
        except NotReport:
            found.unread.append(UnreadFile(where, _NO_JSON))


def _model_folder(folder: str) -> str:
    parts = folder.split("/")
    while parts and parts[-1].lower() in _PARTS_OF_MODELS:
        parts.pop()
    if parts and parts[-1].lower() == _DEFINITION:
        parts.pop()
    return "/".join(parts) or "."


def _models_of_tmdl(found: _ProjectFiles) -> Iterator[SemanticModel]:
    for folder, objects in sorted(found.tmdl.items()):
        document = json_of_tmdl(objects)
        if document["tables"]:
            names = [name for name, _object in objects]
            first = next((name for name in names if posixpath.basename(name) == "model.tmdl"), names[0])
            yield model_of(document, found.name_of(folder), folder, f"{first}:1")


def _models_of_json(found: _ProjectFiles) -> Iterator[SemanticModel]:
    for name, document in sorted(found.documents.items()):
        if not name.lower().endswith(".bim"):
            continue
        folder, base = posixpath.split(name)
        model = document.get("model")
        if not isinstance(model, dict):
            found.unread.append(UnreadFile(f"{name}:1", "it has no model, as a model.bim has"))
            continue
        if isinstance(model.get("tables"), list) and len(model["tables"]) > _MOST_TABLES:
            problem = f"it has more than {_MOST_TABLES} tables, which no model has"
            found.unread.append(UnreadFile(f"{name}:1", problem))
            continue
        stem = posixpath.splitext(base)[0]
        called = found.name_of(folder) if stem.lower() == "model" else stem
        yield model_of(model, called, folder or ".", f"{name}:1")


def _report(folder: str, found: _ProjectFiles) -> Iterator[PowerBiReport]:
    """The report of a folder, none where what it is cannot be told."""
    begin = "" if folder == "." else f"{folder}/"
    location = f"{begin}{_REPORT_FILE}:1"
    document = found.documents.get(f"{begin}{_REPORT_FILE}")
    if document is None:
        return
    version = str(document.get("version") or "1.0").partition(".")[0]
    if not version.isdigit() or int(version) > _NEWEST:
        problem = f"a version of Power BI's reports that is not known: up to {_NEWEST}.0 is"
        found.unread.append(UnreadFile(location, problem))
        return
    named = document.get("datasetReference")
    path = named.get("byPath") if isinstance(named, dict) else None
    relative = path.get("path") if isinstance(path, dict) else None
    model = posixpath.normpath(posixpath.join(folder, relative)) if isinstance(relative, str) else ""
    if model.startswith(("../", "/")) or model == ".." or "\\" in model:
        found.unread.append(UnreadFile(location, "its model is outside of the folder"))
        return
    whole = PowerBiReport(found.name_of(folder), folder, location, model, _catalog(named))
    older = found.documents.get(f"{begin}report.json")
    try:
        if older is not None:
            measures = dict(older_report_measures(older))
            visuals = tuple(older_visuals(older, f"{begin}report.json:1"))
        else:
            measures = dict(report_measures(found.documents.get(f"{begin}definition/reportExtensions.json")))
            visuals = tuple(_visuals(f"{begin}{_DEFINITION}/", found))
    except NotReport:
        found.unread.append(UnreadFile(location, "it is no report, or too large"))
        return
    yield replace(whole, visuals=visuals, measures=measures)


def _catalog(named: object) -> str:
    """What the model is called that a report is connected to; of the connection nothing else is kept."""
    connection = named.get("byConnection") if isinstance(named, dict) else None
    text = connection.get("connectionString") if isinstance(connection, dict) else None
    found = _CATALOG.search(text) if isinstance(text, str) else None
    return found[1].strip() if found else ""


def _visuals(begin: str, found: _ProjectFiles) -> Iterator[ReportVisual]:
    of_report = _filters(found.documents.get(f"{begin}report.json"))
    pages = f"{begin}pages/"
    for name, document in sorted(found.documents.items()):
        if not name.startswith(pages) or not name.endswith("/visual.json"):
            continue
        page = found.documents.get(f"{pages}{name.removeprefix(pages).partition('/')[0]}/page.json") or {}
        visual = visual_of(document, str(page.get("displayName") or page.get("name") or ""), f"{name}:1")
        deciding = (*visual.deciding, *_filters(page), *of_report)
        yield replace(visual, deciding=tuple(dict.fromkeys(deciding)))


def _filters(document: Mapping[str, Any] | None) -> tuple[ReportField, ...]:
    return fields_in((document or {}).get("filterConfig"))
