"""Which code reads: what decides which statements a log has, and what a parse or a plan gives of each."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import ingestion

READING_CODE = (
    "connectors.records",
    "connectors.platforms",
    "connectors.platforms.profile",
    "connectors.spark",
    "ingestion.analysis",
    "ingestion.arguments",
    "ingestion.binding.external_tables",
    "ingestion.dialects",
    "ingestion.errors",
    "ingestion.model.isolation",
    "ingestion.dialects.lexing",
    "ingestion.statements.masking",
    "ingestion.model.lineage",
    "ingestion.model.engine_names",
    "ingestion.model.fqn",
    "ingestion.model.engine_names",
    "ingestion.model.namespaces",
    "ingestion.model.storage_paths",
    "ingestion.parsing.parser_pool",
    "ingestion.parsing.sandbox",
    "ingestion.parsing.fallback",
    "ingestion.parsing.sqlglot",
    "ingestion.parsing.fallback",
    "ingestion.parsing._tiers",
    "ingestion.parsing.written_tables",
    "ingestion.model.pickling",
    "ingestion.plans",
    "ingestion.analysis",
    "ingestion.statements.routines.__init__",
    "ingestion.statements.routines._reader",
    "ingestion.statements.routines.bodies",
    "ingestion.statements.routines._reader",
    "ingestion.statements.routines.definition",
    "ingestion.statements.routines.inline_functions",
    "ingestion.statements.routines._registry",
    "ingestion.statements.routines._signature",
    "ingestion.statements.routines.steps",
    "ingestion.statements.routines.bodies",
    "ingestion.statements.routines._reader",
    "ingestion.statements.routines.steps",
    "ingestion.statements",
    "ingestion.analysis.symbolic",
    "workflows.state._damage",
    "workflows.state.segments",
    "workflows.state.segments",
    "workflows.state.segments",
    "workflows.run.read.statements",
    "workflows.run.read.statements",
    "workflows.run.read.statements",
    "workflows.run.read.statements",
    "workflows.run.parse.templates",
    "workflows.run.parse.templates",
)
"""Rooms, with all that is in them, and single modules of others: all that a parse or an evaluation imports."""

_PARSERS = ("sqlglot", "sqlfluff", "sqlparse")
_HOME = Path(ingestion.__file__).parents[1]


@cache
def parsing_version() -> str:
    """Changes whenever a statement may be read or parsed differently: our own code, or a parser's release."""
    return code_version(READING_CODE)


def code_version(names: Iterable[str]) -> str:
    """Changes with the code of these rooms and modules, and with a parser's release. Raises FileNotFoundError."""
    parsers = ", ".join(f"{name} {_release(name)}" for name in _PARSERS)
    return f"headwater {code_digest(source_files(names, _HOME), _HOME)}, {parsers}"


def source_files(names: Iterable[str], home: Path) -> Iterator[Path]:
    """The files of modules, and of rooms with all that is in them, below `home`. Raises FileNotFoundError."""
    for name in names:
        place = home.joinpath(*name.split("."))
        if place.is_dir():
            yield from place.rglob("*.py")
        elif place.with_suffix(".py").is_file():
            yield place.with_suffix(".py")
        else:
            raise FileNotFoundError(f"{name} reads, and is no module")


def code_digest(files: Iterable[Path], home: Path) -> str:
    """A digest of code, so that no release can forget to say that it changed."""
    digest = hashlib.blake2b(digest_size=8)
    for source in sorted(files):
        digest.update(source.relative_to(home).as_posix().encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()


def _release(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"
