"""What a policy changes, as people read it."""

from __future__ import annotations

from collections.abc import Iterator

from connectors.catalog.answer.rendering import Renderings
from ingestion.policies.plan import PolicyPlan, TagAction, TagChange
from ingestion.walk import node_name

_MARKS = {TagAction.ADD: "+", TagAction.WITHDRAW: "-", TagAction.MOVE: "~"}


_PLANNED, _DONE = ("to add", "to withdraw"), ("added", "withdrawn")


def _lines(plan: PolicyPlan) -> Iterator[str]:
    yield from _change_lines(plan)
    yield _total(plan, _PLANNED)


def _lines_done(plan: PolicyPlan) -> Iterator[str]:
    yield from _change_lines(plan)
    yield _total(plan, _DONE)


def _change_lines(plan: PolicyPlan) -> Iterator[str]:
    yield from (_change_line(change) for change in plan.changes)
    for one in plan.review:
        yield f"? {one.tag}  {one.column}  <- {' <- '.join(one.path[-2::-1])}: {one.why}"
    for ended in plan.ended:
        yield f"! an exception for {', '.join(ended.columns)} ended on {ended.until.isoformat()}: {ended.reason}"


def _total(plan: PolicyPlan, words: tuple[str, str]) -> str:
    counts = {action: sum(change.action is action for change in plan.changes) for action in TagAction}
    added, withdrawn = words
    return (
        f"{counts[TagAction.ADD]} {added}, {counts[TagAction.WITHDRAW]} {withdrawn}, {counts[TagAction.MOVE]} with "
        f"another path, {plan.kept} stay; {len(plan.review)} for review"
    )


def _change_line(change: TagChange) -> str:
    via = f"  <- {' <- '.join(change.path[-2::-1])}" if len(change.path) > 1 else "  named by the policy"
    return f"{_MARKS[change.action]} {change.tag}  {node_name(change.column)}{via}"


POLICY = Renderings(_lines, PolicyPlan.to_json)
APPLIED = Renderings(_lines_done, PolicyPlan.to_json)
"""The same once it is carried out."""
