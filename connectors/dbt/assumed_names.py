"""Names that are dbt's own rule because the project's rule cannot be carried out: what is said of them, what is not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from connectors.dbt.model_statements import DbtProject, ModelFailure
from connectors.dbt.rendering.sandboxed import NodeConfig


def assumed_names(configs: Mapping[str, NodeConfig]) -> Iterator[str]:
    """A line for each reason why names are assumed, with how many are."""
    counted = Counter(one.assumed for one in configs.values() if one.assumed)
    for reason, count in counted.most_common():
        named = "1 name is" if count == 1 else f"{count} names are"
        yield f"{named} assumed to follow dbt's own rule: {reason}"


def without_ambiguous(project: DbtProject, configs: Mapping[str, NodeConfig]) -> DbtProject:
    """A project without the statements of models that an assumption puts under one name: whose it is nobody knows."""
    nodes = project.nodes
    owners = Counter(node.dotted.casefold() for key, node in nodes.items() if key in configs and not node.ephemeral)
    lost = {
        key
        for key, config in configs.items()
        if config.assumed and key in nodes and owners[nodes[key].dotted.casefold()] > 1
    }
    if not lost:
        return project
    shared = {nodes[key].dotted.casefold() for key in lost}
    unsure = [one for one in project.statements if one.node.dotted.casefold() in shared]
    failures = {
        one.node.unique_id: ModelFailure(
            one.node, one.origin, f"ambiguous: its name {one.node.dotted} is assumed, and another's too"
        )
        for one in unsure
    }
    kept = tuple(one for one in project.statements if one.node.unique_id not in failures)
    return replace(project, statements=kept, failures=(*project.failures, *failures.values()))
