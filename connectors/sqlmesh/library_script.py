"""What SQLMesh itself makes of a project's SQL models: a script for the interpreter that has it, and need not have us.

It is given a request as JSON on its standard input, and answers with a JSON line for each file. The project's macros
are Python, and are run; its models in Python, its configuration and its connections are not. It writes nothing: the
cache that SQLMesh would make in the project is of its loader, which is not called.
"""

from __future__ import annotations

import json
import logging
import os
import resource
import signal
import sys
import warnings
from pathlib import Path
from typing import Any

_MOMENT = "2020-01-01"
_NOT_LOADED = ("audits", "signals")
_ANSWERS = os.fdopen(os.dup(1), "w", encoding="utf-8")


class _Overrun(Exception):
    """A file took longer than it may; not an OSError, which a macro may well catch."""


def _overrun(_signal: int, _frame: Any) -> None:
    raise _Overrun


def main() -> None:
    os.dup2(2, 1)  # what macros print is no answer
    request = json.load(sys.stdin)
    memory = request["memory_mb"] << 20
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    signal.signal(signal.SIGALRM, _overrun)
    renderer = _Renderer(request)
    _say({"version": renderer.version, "unread_macros": renderer.unread_macros})
    for file in request["files"]:
        signal.alarm(request["seconds"])
        try:
            answer: dict[str, Any] = {"models": renderer.models(file)}
        except _Overrun:
            answer = {"reason": "overruns its time"}
        except MemoryError:
            answer = {"reason": "overruns its memory"}
        except Exception as error:  # noqa: BLE001 a macro may raise whatever it likes: it costs its own file
            answer = {"reason": f"SQLMesh refuses it ({type(error).__name__})"}
        finally:
            signal.alarm(0)
        _say({"file": file, **answer})


def _say(answer: dict[str, Any]) -> None:
    _ANSWERS.write(json.dumps(answer) + "\n")
    _ANSWERS.flush()


class _Renderer:
    def __init__(self, request: dict[str, Any]) -> None:
        import sqlmesh
        from sqlmesh.core.macros import macro
        from sqlmesh.utils.jinja import JinjaMacroRegistry, MacroExtractor

        self.version = str(getattr(sqlmesh, "__version__", ""))
        self._root, self._dialect = Path(request["root"]), request["dialect"]
        self._variables = request["variables"]
        self.unread_macros: list[str] = []
        sys.path.insert(0, str(self._root))
        for file in request["python_macros"]:
            self._load(Path(file), request["seconds"])
        self._macros = macro.get_registry()
        self._jinja = JinjaMacroRegistry()
        for file in request["jinja_macros"]:
            try:
                text = Path(file).read_text("utf-8")
                self._jinja.add_macros(MacroExtractor().extract(text, dialect=self._dialect))
            except Exception:  # noqa: BLE001 as of the others
                self.unread_macros.append(file)

    def _load(self, file: Path, seconds: int) -> None:
        from sqlmesh.utils.metaprogramming import import_python_file

        signal.alarm(seconds)
        try:
            import_python_file(file, self._root)
        except (Exception, _Overrun):  # noqa: BLE001 a module that needs what is not installed costs its own macros
            self.unread_macros.append(str(file))
        finally:
            signal.alarm(0)

    def models(self, file: str) -> list[dict[str, Any]]:
        """The models of a file, each with its query in the project's dialect."""
        from sqlmesh.core.dialect import parse
        from sqlmesh.core.model.definition import load_sql_based_models

        expressions = parse(Path(file).read_text("utf-8"), default_dialect=self._dialect)
        header = expressions[0]  # audits and signals are in files that are not loaded, and are no lineage
        header.set("expressions", [one for one in header.expressions if one.name.lower() not in _NOT_LOADED])
        found = load_sql_based_models(
            expressions,
            lambda _gateway: self._variables,
            path=Path(file),
            module_path=self._root,
            dialect=self._dialect,
            defaults={"dialect": self._dialect},
            macros=self._macros,
            jinja_macros=self._jinja,
            infer_names=True,
        )
        return [self._model(model) for model in found]

    def _model(self, model: Any) -> dict[str, Any]:
        query = None
        if model.is_sql:
            rendered = model.render_query(start=_MOMENT, end=_MOMENT, execution_time=_MOMENT, needs_optimization=False)
            query = None if rendered is None else rendered.sql(dialect=self._dialect)
        return {"name": model.name, "query": query, "dialect": model.dialect, "enabled": model.enabled}


if __name__ == "__main__":
    main()
