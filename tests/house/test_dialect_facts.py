"""What is true of one dialect stands with the dialects, and what a function does in the table of functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sqlglot import exp

from ingestion.dialects import DIALECTS
from ingestion.dialects import functions as table_of_functions
from ingestion.dialects.definition import keywords
from tests.house.source_tree import Module, modules

OF_SYSTEMS = {
    "ingestion.dialects": "the facts themselves",
    "ingestion.parsing.sqlglot.repairs": "texts that one grammar of sqlglot refuses, edited for it",
    "ingestion.model.engine_names": "the sub-protocols of JDBC URLs",
    "ingestion.parsing.sqlglot.queries.table_functions": "grammars of sqlglot, tried on a text of an unknown dialect",
    "connectors.catalog.store.database": "SQLAlchemy's name of a database",
    "connectors.dbt": "dbt's names of its adapters, and how their macros are written",
    "connectors.dataform": "Dataform's names of warehouses",
    "connectors.sqlmesh": "SQLMesh's names of engines",
    "connectors.platforms.connect_classes": "the sub-protocols of JDBC URLs that connectors stand for",
    "connectors.platforms.datahub_platforms": "DataHub's names of its platforms",
    "connectors.postgres": "a connector to one system",
    "connectors.metabase": "Metabase's names of databases",
    "connectors.superset": "SQLAlchemy's names of databases",
    "connectors.spark.catalog": "a connector to one system",
    "connectors.spark": "a connector to one system",
    "workflows.commands.policy": "formats that a plan is written in",
    "workflows.config": "keys and source types of the YAML",
    "connectors.scratch": "names of folders",
    "connectors.sqlite_files": "SQLAlchemy's name of a database",
    "workflows.run.resolve.resolution": "the connection types of services that are registered",
    "ingestion.policies.tag_statements": "the warehouses whose tags a plan is written for",
    "workflows.repair": "SQLAlchemy's name of a database",
    "workflows.runtime.spark": "names of folders",
    "connectors.sql_files.lineage": "the default of a command's option",
    "workflows.state.store": "SQLAlchemy's names of databases",
}
"""Where the name of a dialect is no rule about a dialect."""

OF_FUNCTIONS = {
    "ingestion.dialects": "the facts themselves, and types that functions have the names of",
    "ingestion.parsing.sqlglot.expressions.names": "the names of sqlglot's nodes for the functions",
    "ingestion.parsing.sqlglot.repairs": "texts that one grammar of sqlglot refuses, edited for it",
    "ingestion.metrics.metricflow": "the names that MetricFlow gives aggregations",
    "ingestion.plans.vocabulary": "the words that Spark's plans print",
}
KEYWORDS = keywords(
    "IF NOT EXISTS ONLY LEFT RIGHT FULL BOTH FILTER DECIMAL CHAR VARCHAR ANY SOME ALL TABLE VIEW PIVOT UNPIVOT"
)
"""Words that are functions' names too."""


def _homes(module: Module, rooms: dict[str, str]) -> list[str]:
    return [room for room in rooms if module.name == room or module.name.startswith(f"{room}.")]


def _dialect_names(module: Module) -> Iterator[str]:
    """The strings that name dialects, but for the default of a parameter or a field `dialect`."""
    defaults = {id(default) for default in _defaults(module)}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in defaults:
            words = node.value.split()
            if words and all(word in DIALECTS for word in words):
                yield f"{module.path}:{node.lineno}: {node.value}"


def _defaults(module: Module) -> Iterator[ast.expr]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef):
            named = node.args.args[len(node.args.args) - len(node.args.defaults) :] + node.args.kwonlyargs
            for argument, default in zip(named, [*node.args.defaults, *node.args.kw_defaults], strict=True):
                if argument.arg == "dialect" and default is not None:
                    yield default
        elif isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "dialect" and node.value is not None:
            yield node.value


def test_no_dialect_is_named_but_where_its_facts_are() -> None:
    found = [name for module in modules() if not _homes(module, OF_SYSTEMS) for name in _dialect_names(module)]
    assert found == []


def test_each_place_that_may_name_dialects_does() -> None:
    naming = {home for module in modules() if any(_dialect_names(module)) for home in _homes(module, OF_SYSTEMS)}
    assert naming == OF_SYSTEMS.keys()


def _functions() -> frozenset[str]:
    sets = [value for value in vars(table_of_functions).values() if isinstance(value, frozenset)]
    return frozenset(exp.FUNCTION_BY_NAME).union(*sets) - KEYWORDS


def _words(node: ast.AST) -> list[str]:
    """The words of a collection of strings, of a mapping's keys, or of a string of several words."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.split()
    items = (
        node.elts
        if isinstance(node, ast.Set | ast.Tuple | ast.List)
        else node.keys
        if isinstance(node, ast.Dict)
        else []
    )
    texts = [item.value for item in items if isinstance(item, ast.Constant) and isinstance(item.value, str)]
    return texts if len(texts) == len(items) else []


def test_no_set_of_functions_stands_outside_the_table_of_functions() -> None:
    functions = _functions()
    found = []
    for module in modules():
        if not module.name.startswith("ingestion.") or _homes(module, OF_FUNCTIONS):
            continue
        for node in ast.walk(module.tree):
            words = [word for word in _words(node) if word.upper() not in KEYWORDS]
            if len(words) > 1 and sum(word.upper() in functions for word in words) > 0.8 * len(words):
                found.append(f"{module.path}:{getattr(node, 'lineno', 0)}: {words[:6]}")
    assert found == []
