"""Which code reads: what decides which statements a log has, and what a parse or a plan gives of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import ingestion
from ingestion.model.digests import digest

READING_CODE = (
    "connectors.platforms.bigquery",
    "connectors.platforms.databricks",
    "connectors.platforms.hive",
    "connectors.platforms.profile",
    "connectors.platforms.snowflake",
    "connectors.private_files",
    "connectors.records",
    "connectors.spark._application_log",
    "connectors.spark._codecs",
    "connectors.spark._event_logs",
    "connectors.spark._events",
    "connectors.spark._history_records",
    "connectors.spark.history",
    "ingestion.analysis",
    "ingestion.arguments",
    "ingestion.binding.external_tables",
    "ingestion.chunks",
    "ingestion.cores",
    "ingestion.dialects.__init__",
    "ingestion.dialects._table",
    "ingestion.dialects.connection_types",
    "ingestion.dialects.cursor",
    "ingestion.dialects.definition",
    "ingestion.dialects.functions",
    "ingestion.dialects.host_languages",
    "ingestion.dialects.inline_rows",
    "ingestion.dialects.keywords",
    "ingestion.dialects.lexing",
    "ingestion.dialects.methods",
    "ingestion.dialects.other_dialects",
    "ingestion.dialects.relations",
    "ingestion.dialects.types",
    "ingestion.dialects.unfilled_templates",
    "ingestion.errors",
    "ingestion.model.digests",
    "ingestion.model.engine_names",
    "ingestion.model.file_marks",
    "ingestion.model.function_parameters",
    "ingestion.model.isolation",
    "ingestion.model.lineage",
    "ingestion.model.namespaces",
    "ingestion.model.outcomes",
    "ingestion.model.pickling",
    "ingestion.model.quick_init",
    "ingestion.model.steps",
    "ingestion.model.storage_paths",
    "ingestion.model.table_commits",
    "ingestion.parsing",
    "ingestion.plans",
    "ingestion.statements.__init__",
    "ingestion.statements._chains",
    "ingestion.statements._literals",
    "ingestion.statements._logged_values",
    "ingestion.statements._metric_views",
    "ingestion.statements._splitting",
    "ingestion.statements._unquoted",
    "ingestion.statements.altered_types",
    "ingestion.statements.classification",
    "ingestion.statements.cleaning",
    "ingestion.statements.emptied_tables",
    "ingestion.statements.fingerprints",
    "ingestion.statements.inner_queries",
    "ingestion.statements.masking",
    "ingestion.statements.script_variables",
    "ingestion.statements.session_changes",
    "ingestion.statements.sessions",
    "ingestion.statements.routines._host_code",
    "ingestion.statements.routines._reader",
    "ingestion.statements.routines._signature",
    "ingestion.statements.routines._variable_items",
    "ingestion.statements.routines.bodies",
    "ingestion.statements.routines.definition",
    "ingestion.statements.routines.executed_texts",
    "ingestion.statements.routines.inline_functions",
    "ingestion.statements.routines.session_variables",
    "ingestion.statements.routines.steps",
    "workflows.run.parse.tasks",
    "workflows.run.read.statements",
    "workflows.state._damage",
    "workflows.state.segments",
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
        path = home.joinpath(*name.split("."))
        if path.is_dir():
            yield from path.rglob("*.py")
        elif path.with_suffix(".py").is_file():
            yield path.with_suffix(".py")
        else:
            raise FileNotFoundError(f"{name} reads, and is no module")


def code_digest(files: Iterable[Path], home: Path) -> str:
    """A digest of code, so that no release can forget to say that it changed."""
    parts: list[str | bytes] = []
    for source in sorted(files):
        parts += [source.relative_to(home).as_posix(), source.read_bytes()]
    return digest(*parts, size=8)


def _release(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"
