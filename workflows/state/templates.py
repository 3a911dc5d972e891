"""Templates that earlier runs have parsed: a known one costs a look-up."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, Row, and_, bindparam, delete, select

from ingestion.analysis.symbolic import is_whole
from ingestion.parsing.sandbox.process import Limits
from ingestion.parsing.templates import ParsedTemplate, TemplateKey
from ingestion.parsing.tiers import Parser
from workflows.runtime.spill import SpillMapping
from workflows.state.store import put_rows, templates

_TEMPLATES_AT_ONCE = 200
_KEY = ("workflow", "fingerprint", "dialect")
_COLUMNS = (*_KEY, "version", "tier", "symbolic", "masked", "dead", "timed_out", "limits")
_FORGET = delete(templates).where(*(templates.c[name] == bindparam(f"of_{name}") for name in _KEY))


@dataclass(frozen=True, slots=True)
class ParserSettings:
    """What a template was parsed with: lineage of another `version` is not read, it is made again."""

    version: str
    limits: Limits
    parser: Parser

    def to_json(self) -> str:
        limits = self.limits
        return json.dumps([str(self.parser), limits.seconds, limits.memory_mb, limits.max_bytes])


def remember_templates(
    connection: Connection, workflow: str, found: Iterable[ParsedTemplate], settings: ParserSettings
) -> None:
    """Keeps templates as `settings` gave them, in place of what was kept of them before."""
    by_key = {(template.fingerprint, template.dialect): template for template in found}
    keys, limits = sorted(by_key), settings.to_json()
    for start in range(0, len(keys), _TEMPLATES_AT_ONCE):
        some = keys[start : start + _TEMPLATES_AT_ONCE]
        put_rows(
            connection, templates, _COLUMNS, [_values(workflow, by_key[key], limits, settings.version) for key in some]
        )


def remembered_templates(
    connection: Connection, workflow: str, settings: ParserSettings, held: int
) -> Mapping[TemplateKey, ParsedTemplate]:
    """The templates whose lineage these settings would give again; of more than are to be `held`, only the keys are."""
    where = and_(templates.c.workflow == workflow, templates.c.version == settings.version)
    found: SpillMapping[TemplateKey, ParsedTemplate] = SpillMapping(held)
    some_at_a_time = select(templates).where(where).execution_options(stream_results=True, yield_per=_TEMPLATES_AT_ONCE)
    for row in connection.execute(some_at_a_time):
        template = _template(row, settings)
        if template is not None:
            found.put((row.fingerprint, row.dialect), template)
    return found


def forget_templates(connection: Connection, workflow: str, kept: Iterable[TemplateKey]) -> int:
    """Drops the templates that are not among those to be kept; how many went."""
    every = connection.execute(
        select(templates.c.fingerprint, templates.c.dialect).where(templates.c.workflow == workflow)
    )
    gone = sorted({tuple(row) for row in every} - set(kept))
    if gone:
        connection.execute(_FORGET, [{"of_workflow": workflow, "of_fingerprint": f, "of_dialect": d} for f, d in gone])
    return len(gone)


def _values(workflow: str, template: ParsedTemplate, limits: str, version: str) -> tuple[object, ...]:
    """Those of _COLUMNS."""
    return (
        workflow,
        template.fingerprint,
        template.dialect,
        version,
        template.tier,
        template.symbolic,
        template.masked,
        template.dead,
        int(template.timed_out),
        limits,
    )


def _template(row: Row[tuple[object, ...]], settings: ParserSettings) -> ParsedTemplate | None:
    values = row._mapping
    same_limits = values["limits"] == settings.to_json()
    same_parser = json.loads(values["limits"])[0] == str(settings.parser)
    bound_by_limits = values["symbolic"] is None or values["timed_out"]
    if not same_parser or (bound_by_limits and not same_limits):
        return None
    symbolic = None if values["symbolic"] is None else bytes(values["symbolic"])
    if symbolic is not None and not is_whole(symbolic):
        return None
    return ParsedTemplate(
        values["fingerprint"],
        values["dialect"],
        values["tier"],
        symbolic,
        values["masked"],
        values["dead"],
        bool(values["timed_out"]),
    )
