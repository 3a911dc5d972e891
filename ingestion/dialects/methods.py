"""Methods of values: `column.method()`, as opposed to `schema.function()`, which is written alike."""

from __future__ import annotations

from functools import lru_cache

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect as SqlglotDialect

from ingestion.dialects import Dialect
from ingestion.dialects.definition import keywords

# XML, hierarchyid and spatial values of T-SQL; XMLType of Oracle; JSON and spatial values of Teradata.
METHODS: dict[str, frozenset[str]] = {
    **dict.fromkeys(
        ("tsql", "fabric"),
        keywords(
            "EXIST GETANCESTOR GETDESCENDANT GETLEVEL GETREPARENTEDVALUE ISDESCENDANTOF LAT LONG MAKEVALID MODIFY "
            "NODES QUERY TOSTRING VALUE"
        ),
    ),
    "oracle": keywords("EXISTSNODE EXTRACT GETBLOBVAL GETCLOBVAL GETNUMBERVAL GETROOTELEMENT GETSTRINGVAL TRANSFORM"),
    "teradata": keywords("COMBINE EXISTVALUE JSONEXTRACT JSONEXTRACTLARGEVALUE JSONEXTRACTVALUE KEYCOUNT METADATA"),
}
_SPATIAL = frozenset({"tsql", "fabric", "teradata"})
_CHAINING = frozenset({"duckdb"})
"""Any known function may be written as a method of its first argument."""


def is_method(dialect: Dialect, function: exp.Expr) -> bool:
    """Whether a function after a dot is a method of the value before the dot."""
    name = (str(function.this) if isinstance(function, exp.Anonymous) else str(function.key)).upper()
    if dialect.name in _CHAINING:
        return name in _known_functions(dialect.sqlglot)
    return name in METHODS.get(dialect.name, ()) or (dialect.name in _SPATIAL and name.startswith("ST"))


@lru_cache(maxsize=8)
def _known_functions(grammar: str) -> frozenset[str]:
    return frozenset(SqlglotDialect.get_or_raise(grammar).parser_class.FUNCTIONS)
