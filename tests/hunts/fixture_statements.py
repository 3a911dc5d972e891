"""The statements of sqlfluff's dialect fixtures and of sqlglot's tests, by dialect, read out of their folders."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ingestion.dialects import DIALECTS
from ingestion.dialects.definition import keywords
from ingestion.dialects.lexing import NAME, NUMBER, WORD, tokens
from ingestion.statements import split

WHOLE = 0
"""The number of a statement that is a whole file."""
_SPELLINGS: Mapping[str, str] = {"": "ansi", "sparksql": "spark", "spark2": "spark", "dune": "trino", "flink": "ansi"}
_OPTIMIZER_DIALECT = re.compile(r"(?m)^#\s*dialect:\s*(\w+)")
_HASH_LINE = re.compile(r"(?m)^#.*$")
_OPERATORS = keywords("is like ilike in between and or not div mod rlike regexp over as collate at xor escape")
_FIRST_IS_SQL = frozenset({"validate_identity", "validate_all", "parse_one", "validate_transpile", "transpile"})


@dataclass(frozen=True, slots=True)
class FixtureStatement:
    """A statement, or a whole file (number 0), of a distribution; `file` says in which of its files it stands."""

    dialect: str
    file: str
    number: int
    text: str

    @property
    def place(self) -> str:
        return f"{self.file}#{self.number}"


def fixture_statements(folders: Iterable[Path]) -> dict[str, list[FixtureStatement]]:
    """By dialect, each text once. Raises SystemExit where a folder holds neither distribution."""
    found: dict[tuple[str, str, bool], FixtureStatement] = {}
    for folder in folders:
        before = len(found)
        for statement in (*_sqlfluff(folder), *_sqlglot(folder)):
            if statement.dialect in DIALECTS:
                found.setdefault((statement.dialect, statement.text, statement.number == WHOLE), statement)
        if len(found) == before:
            raise SystemExit(f"{folder} holds neither test/fixtures/dialects nor tests/dialects")
    by_dialect: dict[str, list[FixtureStatement]] = {}
    for statement in found.values():
        by_dialect.setdefault(statement.dialect, []).append(statement)
    return by_dialect


def _sqlfluff(folder: Path) -> Iterator[FixtureStatement]:
    for file in sorted(folder.glob("test/fixtures/dialects/*/*.sql")):
        name = file.parent.name
        yield from _of_file(_SPELLINGS.get(name, name), f"sqlfluff/{name}/{file.name}", file.read_text("utf-8"))


def _of_file(dialect: str, name: str, text: str) -> Iterator[FixtureStatement]:
    if dialect not in DIALECTS:
        return
    yield FixtureStatement(dialect, name, WHOLE, text)
    for number, statement in enumerate(split(text, dialect), 1):
        yield FixtureStatement(dialect, name, number, statement.text)


def _sqlglot(folder: Path) -> Iterator[FixtureStatement]:
    for file in sorted(folder.glob("tests/fixtures/**/*.sql")):
        text = file.read_text("utf-8")
        name = f"sqlglot/{file.name}"
        if file.name == "identity.sql":
            lines = ((number, line) for number, line in enumerate(text.splitlines(), 1) if _is_statement(line, "ansi"))
            yield from (FixtureStatement("ansi", name, number, line) for number, line in lines)
        else:
            dialects = set(_OPTIMIZER_DIALECT.findall(text))
            dialect = dialects.pop() if len(dialects) == 1 else "ansi"
            found = _of_file(_SPELLINGS.get(dialect, dialect), name, _HASH_LINE.sub("", text))
            yield from (one for one in found if one.number != WHOLE and _is_statement(one.text, one.dialect))
    for file in sorted(folder.glob("tests/dialects/test_*.py")):
        yield from _of_module(file)


def _of_module(file: Path) -> Iterator[FixtureStatement]:
    for node in ast.parse(file.read_text("utf-8")).body:
        if isinstance(node, ast.ClassDef):
            yield from _Strings(f"sqlglot/{file.name}", _dialect_of_class(node)).of(node)


def _dialect_of_class(node: ast.ClassDef) -> str:
    for statement in node.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant):
            names = [target.id for target in statement.targets if isinstance(target, ast.Name)]
            if names == ["dialect"]:
                return str(statement.value.value or "")
    return ""


@dataclass(slots=True)
class _Strings:
    """The SQL strings that a class of tests hands to its checks, each with the dialect that it is said to be in."""

    file: str
    dialect: str

    def of(self, node: ast.ClassDef) -> Iterator[FixtureStatement]:
        for function in (child for child in node.body if isinstance(child, ast.FunctionDef)):
            constants: dict[str, str] = {}
            calls = []
            for child in ast.walk(function):
                if isinstance(child, ast.Assign) and (value := _constant(child.value)) is not None:
                    constants |= {target.id: value for target in child.targets if isinstance(target, ast.Name)}
                elif isinstance(child, ast.Call):
                    calls.append(child)
            for call in calls:
                yield from self._of_call(call, constants)

    def _of_call(self, call: ast.Call, constants: Mapping[str, str]) -> Iterator[FixtureStatement]:
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if name not in _FIRST_IS_SQL or not call.args:
            return
        named = {keyword.arg: keyword.value for keyword in call.keywords}
        own = self.dialect
        if name in ("parse_one", "transpile"):
            own = _constant(named.get("read", named.get("dialect"))) or own
        yield from self._statement(own, call.args[0], constants)
        if name == "validate_identity":
            yield from self._statement(own, call.args[1] if len(call.args) > 1 else named.get("write_sql"), constants)
        elif name == "validate_transpile" and len(call.args) > 1:
            yield from self._statement(_constant(named.get("write_dialect")) or "", call.args[1], constants)
        for value in (named.get("read"), named.get("write")):
            if isinstance(value, ast.Dict):
                for key, text in zip(value.keys, value.values, strict=True):
                    yield from self._statement(_constant(key) or "", text, constants)

    def _statement(
        self, dialect: str, node: ast.expr | None, constants: Mapping[str, str]
    ) -> Iterator[FixtureStatement]:
        text = constants.get(node.id) if isinstance(node, ast.Name) else _constant(node)
        dialect = _SPELLINGS.get(dialect, dialect)
        if text and node is not None and dialect in DIALECTS and _is_statement(text, dialect):
            yield FixtureStatement(dialect, self.file, node.lineno, text)


def _constant(node: ast.expr | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _is_statement(text: str, dialect: str) -> bool:
    """Whether a text begins as a statement does: a lone expression is none, and no log has it."""
    first = [token for token, _ in zip((t for t in tokens(text, dialect) if t.text != "("), range(2), strict=False)]
    if len(first) < 2 or first[0].kind != WORD or first[0].text[0].isdigit():
        return False
    if first[0].text.lower() in ("select", "values", "with", "from", "insert", "copy"):
        return True
    return first[1].kind in (WORD, NAME, NUMBER) and first[1].text.lower() not in _OPERATORS
