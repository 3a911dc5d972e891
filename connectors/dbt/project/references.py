"""What `ref` and `source` in a YAML file mean, where no template is rendered."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from connectors.dbt.rendering.scope import TemplateNode, TemplateSource
from connectors.dbt.target.nodes import DbtExposure

_CALL = re.compile(r"\b(ref|source)\s*+\(([^()]*+)\)")
_TEXT = re.compile(r"['\"]([^'\"]++)['\"]")
_VERSION = re.compile(r"\bv(?:ersion)?\s*+=\s*+['\"]?(\w++)")


def with_unique_ids(
    exposures: Iterable[DbtExposure], nodes: Iterable[TemplateNode], sources: Iterable[TemplateSource]
) -> tuple[DbtExposure, ...]:
    """Exposures that depend on unique ids where their files say `ref('model')` and `source('source', 'table')`."""
    by_name: dict[str, list[TemplateNode]] = {}
    for node in nodes:
        by_name.setdefault(node.name, []).append(node)
    tables = {(source.source, source.table): source.unique_id for source in sources}
    return tuple(replace(one, depends_on=tuple(_ids(one.depends_on, by_name, tables))) for one in exposures)


def _ids(
    references: Iterable[str], nodes: dict[str, list[TemplateNode]], tables: dict[tuple[str, str], str]
) -> Iterator[str]:
    for call, given in (match.groups() for text in references for match in _CALL.finditer(text)):
        version = _VERSION.search(given)
        names = _TEXT.findall(given[: version.start()] if version else given)
        if call == "source":
            found = tables.get((names[0], names[1])) if len(names) > 1 else None
        else:
            candidates = nodes.get(names[-1], ()) if names else ()
            wanted = (one for one in candidates if (one.version == version[1] if version else one.latest))
            found = next((one.unique_id for one in wanted), None)
        if found is not None:
            yield found
