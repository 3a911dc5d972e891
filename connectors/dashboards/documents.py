"""What tools of dashboards have in common as they export it: documents of YAML, and the databases that they ask."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from connectors.assets import UnreadFile
from connectors.dashboards.files import ExportedFile
from connectors.dashboards.yaml_texts import read_yaml

Document = Mapping[str, Any]


def documents_in(given: object) -> Iterator[Document]:
    """The documents of a list; none where something else stands in its position."""
    return (one for one in given if isinstance(one, dict)) if isinstance(given, list) else iter(())


@dataclass(frozen=True, slots=True)
class AskedDatabase:
    """A database that a tool asks: its dialect, and where bare names are."""

    name: str
    dialect: str
    database: str = ""
    schema: str = ""


@dataclass(frozen=True, slots=True)
class LocatedDocument:
    """A document, by its key, and where it stands."""

    key: str
    document: Document = field(repr=False)
    location: str


def yaml_documents(files: Iterable[ExportedFile], unread: list[UnreadFile]) -> Iterator[tuple[object, str]]:
    """The documents of an export's files, each with where it stands; `unread` is given what is none."""
    for file in files:
        if file.problem:
            unread.append(UnreadFile(f"{file.name}:1", file.problem))
            continue
        try:
            yield read_yaml(file.text), f"{file.name}:1"
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            line = mark.line + 1 if mark is not None else 1
            unread.append(UnreadFile(f"{file.name}:{line}", "it is no YAML, or is cut"))
