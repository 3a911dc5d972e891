"""The columns of models, told by the SQL that makes them: what some templates ask the warehouse for."""

from __future__ import annotations

from collections.abc import Iterable

from connectors.dbt.model_statements import DbtProject
from ingestion.errors import RecordError
from ingestion.scripts.lineage_parser import LineageParser


def known_columns(relations: Iterable[str], project: DbtProject) -> dict[str, tuple[str, ...]]:
    """The columns of those of the relations (as templates print them) of which all are known.

    Only what the relations are made of is parsed.
    """
    nodes, columns = project.nodes, project.columns
    ids = {node.relation: node.unique_id for node in nodes.values() if node.relation}
    wanted = {relation: ids[relation] for relation in relations if relation in ids}
    needed: dict[str, None] = dict.fromkeys(wanted.values())
    waiting = list(needed)
    for unique_id in waiting:
        new = [one for one in nodes[unique_id].depends_on if one in nodes and one not in needed]
        needed.update(dict.fromkeys(new))
        waiting += new
    text = "\n;\n".join(one.text for one in project.statements if one.node.unique_id in needed)
    needed_names = {nodes[unique_id].dotted for unique_id in needed}
    schema = {
        name: {column.name: column.type for column in known} for name, known in columns.items() if name in needed_names
    }
    made: dict[str, tuple[str, ...]] = {name.lower(): tuple(known) for name, known in schema.items()}
    if text:
        try:
            parser = LineageParser(text, project.dialect, schema)
        except RecordError:
            return {}
        made |= {str(table).lower(): names for table, names in parser.whole_columns.items()}
    found = {relation: made.get(nodes[unique_id].dotted.lower()) for relation, unique_id in wanted.items()}
    return {relation: names for relation, names in found.items() if names}
