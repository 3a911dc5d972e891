"""Every statement that writes and reads, in all that the tests and the corpora beside the repository hold."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from ingestion.dialects import DIALECTS
from ingestion.statements import split
from tests.differential.script_grammar import DUCKDB, MARIADB, POSTGRES, ScriptGrammar
from tests.support.catalog_contents import REPOSITORY
from tests.support.lineage_cases import lineage_cases
from tests.support.query_log_exports import read_file

EXPORTS = REPOSITORY / "tests" / "connectors" / "platforms" / "exports"
CORPORA = REPOSITORY.parent / "shared" / "corpora"
_OF_EXPORTS = {
    "sqlserver": "tsql",
    "synapse": "tsql",
    "cloudtrail": "athena",
    "hana": "saphana",
    **dict.fromkeys(("datahub", "openmetadata", "dbt"), "snowflake"),
}

_INTO_VARIABLES = ("mariadb", "mysql", "oracle", "saphana")  # what SELECT INTO names

# Told from the words alone, and not by what the product takes words for: comments and strings first.
_NOISE = re.compile(r"--[^\n]*|/\*.*?\*/|'(?:[^'\\]|\\.|'')*'|\$\$.*?\$\$", re.DOTALL)
_WRITE = re.compile(
    r"\s*(?:(?:WITH\b.*?\)\s*)?(?:INSERT|MERGE|UPDATE|REPLACE\s+INTO|UPSERT)\b|CREATE\b[^;()]*\b(?:TABLE|VIEW)\b|"
    r"SELECT\b.*?\bINTO\b)",
    re.IGNORECASE | re.DOTALL,
)
_NO_RELATION = re.compile(
    r"\b(?:extract|trim|substring|overlay|translate)\s*\([^()]*\)|\bis\s+(?:not\s+)?distinct\s+from\b|"
    r"\bdelete\s+from\s+\S+|\busing\s+(?:index|parquet|csv|delta|fts5|template|\w+\s+options)\b|\b(?:from|join)\s+unnest\s*\(",
    re.IGNORECASE,
)
_OF_CONSTANTS = re.compile(r"\bWITH\s+\w+\s+AS\s*\(\s*SELECT\s+\d+\s*\)", re.IGNORECASE)
_READ = re.compile(r"\b(?:FROM|JOIN|USING)\s+(?:ONLY\s+|LATERAL\s+)*[\w`\"\[@$#{]", re.IGNORECASE)


@dataclass(frozen=True, order=True)
class Written:
    """A statement that writes what it reads elsewhere, as its words have it, and where it stands."""

    dialect: str
    text: str
    place: str


def written_statements() -> list[Written]:
    """Each of the tests' own once, in order."""
    return _each_once((*_in_tests(), *_cases(), *_exported(), *_scripts()))


def written_in_corpora() -> list[Written]:
    """Each of the corpora beside the repository; none where they are not there."""
    return _each_once(_in_corpora())


def _each_once(found: Iterator[Written] | tuple[Written, ...]) -> list[Written]:
    each: dict[tuple[str, str], Written] = {}
    for script in found:
        for statement in split(script.text, script.dialect):
            if script.dialect in _INTO_VARIABLES and statement.text.lstrip()[:6].lower() == "select":
                continue
            plain = _NO_RELATION.sub(" ", _NOISE.sub(" ", statement.text))
            if _WRITE.match(plain) and _READ.search(plain) and not _OF_CONSTANTS.match(plain):
                one = Written(script.dialect, statement.text, script.place)
                each.setdefault((one.dialect, one.text), one)
    return sorted(each.values())


def _in_tests() -> Iterator[Written]:
    """Texts that stand beside the one name of a dialect, in the tables and the calls of the tests."""
    for file in sorted((REPOSITORY / "tests").glob("**/test_*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            beside = node.elts if isinstance(node, ast.Tuple) else node.args if isinstance(node, ast.Call) else []
            texts = [one.value for one in beside if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            dialects = [text for text in texts if text in DIALECTS]
            if len(dialects) == 1:
                place = f"{file.name}:{node.lineno}"
                yield from (Written(dialects[0], text, place) for text in texts if text not in dialects)


def _cases() -> Iterator[Written]:
    for case in lineage_cases():
        yield from (Written(dialect, case.statement, case.name) for dialect in case.dialects)


def _exported() -> Iterator[Written]:
    for file in sorted(EXPORTS.iterdir()):
        platform = re.split(r"[_.]", file.name)[0]
        dialect = _OF_EXPORTS.get(platform, platform)
        yield from (Written(dialect, row["text"], file.name) for row in read_file(file) if row.get("text"))


def _scripts() -> Iterator[Written]:
    for engine, dialect in ((DUCKDB, "duckdb"), (MARIADB, "mariadb"), (POSTGRES, "postgres")):
        for seed in range(10):
            texts = ScriptGrammar(seed, engine).script(8).statements
            yield from (Written(dialect, text, f"script {seed}") for text in texts)


def _in_corpora() -> Iterator[Written]:
    for file in sorted(CORPORA.glob("*.jsonl")):
        for line in file.read_text("utf-8").splitlines():
            case = json.loads(line)
            yield Written(case["dialect"] or "ansi", case["sql"], case["id"])
