"""SQLMesh in an interpreter of its own, with a stand-in in its place: what it answers, and how it ends."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from connectors.sqlmesh._library import LibraryWork, library_python, rendered_by_library
from connectors.sqlmesh.projects import SqlmeshOptions, open_sqlmesh
from ingestion.errors import ConfigError
from ingestion.parsing.sandbox.process import Limits

STAND_IN = {
    "sqlmesh/__init__.py": "__version__ = '9.1'",
    "sqlmesh/core/__init__.py": "",
    "sqlmesh/core/macros.py": "class macro:\n    get_registry = staticmethod(dict)",
    "sqlmesh/core/dialect.py": """
class Header:
    def __init__(self, text): self.text, self.expressions = text, []
    def set(self, name, value): pass
def parse(text, default_dialect):
    if 'LOOP' in text:
        while True: pass
    return [Header(text)]
""",
    "sqlmesh/core/model/__init__.py": "",
    "sqlmesh/core/model/definition.py": """
class Query:
    def sql(self, dialect): return 'SELECT 1 AS rendered_for_' + dialect
class Model:
    is_sql, dialect, enabled = True, 'duckdb', True
    def __init__(self, name): self.name = name
    def render_query(self, **given): return Query()
def load_sql_based_models(expressions, variables, path, **given):
    print('a macro prints this')
    if 'FAIL' in expressions[0].text: raise ValueError('with a secret in it')
    return [Model("'a'." + path.stem)]
""",
    "sqlmesh/utils/__init__.py": "",
    "sqlmesh/utils/jinja.py": "class JinjaMacroRegistry:\n    def add_macros(self, m): pass\n"
    "class MacroExtractor:\n    def extract(self, t, dialect): return {}",
    "sqlmesh/utils/metaprogramming.py": "def import_python_file(file, root): raise ImportError('numpy')",
}
MODELS = {
    "fine": "MODEL (name a.fine);\nSELECT @mine(x) FROM t",
    "bad": "MODEL (name a.bad);\nSELECT x /* FAIL */ FROM t",
    "loop": "MODEL (name a.loop);\nSELECT @LOOP() FROM t",
}


@pytest.fixture
def python(tmp_path: Path) -> str:
    for name, text in STAND_IN.items():
        (tmp_path / "lib" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "lib" / name).write_text(text)
    (tmp_path / "python").write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path}/lib exec {sys.executable} "$@"\n')
    (tmp_path / "python").chmod(0o755)
    return str(tmp_path / "python")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "macros").mkdir(parents=True)
    (root / "macros/mine.py").write_text("import numpy")
    for name, text in MODELS.items():
        (root / f"{name}.sql").write_text(text)
    return root


def test_what_it_refuses_is_read_by_our_own_rules_and_what_it_renders_is_its(python: str, root: Path) -> None:
    project = open_sqlmesh(root, SqlmeshOptions("duckdb", python, limits=Limits(seconds=1)))
    texts = {model.dotted: model.text for model in project.models}
    assert texts["a.fine"].endswith("SELECT 1 AS rendered_for_duckdb")
    assert texts["a.bad"].endswith("SELECT x /* FAIL */ FROM t")
    assert [failure.reason.partition(" is ")[0] for failure in project.failures] == ["templated: @LOOP"]
    assert "2 models are not rendered by SQLMesh 9.1: rules of our own were tried" in project.notes
    assert any("could not load its macros" in note for note in project.notes)
    assert not any("secret" in text for text in (*project.notes, *map(str, project.failures)))
    assert not list(root.rglob("__pycache__"))


@pytest.mark.parametrize("script", ["echo no", "exit 3", 'echo \'{"version": "1"\''])
def test_an_interpreter_without_it_is_refused_in_one_line(tmp_path: Path, script: str) -> None:
    command = tmp_path / "python"
    command.write_text(f"#!/bin/sh\n{script}\n")
    command.chmod(0o755)
    with pytest.raises(ConfigError, match="has no sqlmesh"):
        rendered_by_library(str(command), LibraryWork(tmp_path, "duckdb", ()), Limits())
    with pytest.raises(ConfigError, match="cannot be run"):
        rendered_by_library(str(tmp_path / "none"), LibraryWork(tmp_path, "duckdb", ()), Limits())


def test_the_command_on_the_path_tells_its_interpreter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert library_python("/given/python") == "/given/python"
    assert library_python(None) is None
    (tmp_path / "sqlmesh").write_text(f"#!{sys.executable}\n")
    (tmp_path / "sqlmesh").chmod(0o755)
    assert library_python(None) == sys.executable
