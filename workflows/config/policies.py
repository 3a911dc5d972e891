"""A policy from its YAML file."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError

from connectors.fields import Model, Text
from connectors.sql_files.scripts import sql_text
from ingestion.errors import ConfigError
from ingestion.model.fqn import split_fqn
from ingestion.policies import Declassification, Policy, PolicyRule, ValueFlow
from workflows.config.explain import explain
from workflows.config.yaml.document import parse_document

# The YAML of a policy, as pydantic sees it.


def _tag(name: str) -> str:
    try:
        parts = split_fqn(name)
    except ValueError:
        parts = ()
    if len(parts) < len(("classification", "tag")):
        raise ValueError("not the full name of a tag, such as PII.Sensitive")
    return name


def _not_empty(value: Any) -> Any:
    if not value:
        raise ValueError("expected a list of at least one")
    return value


Tag = Annotated[str, AfterValidator(_tag)]
NotEmpty = BeforeValidator(_not_empty)


class _Sources(Model):
    """Where a rule's tag comes from: both lists may be given."""

    columns: tuple[Text, ...] = Field(default=(), description="Patterns over full names of columns, or their ends.")
    tags: tuple[Tag, ...] = Field(default=(), description="Columns that have one of these tags by hand.")


class _Leaves(Model):
    """The tags that a stop leaves on its result, by what stops."""

    aggregated: Tag | None = Field(default=None, description="SUM, AVG and other aggregates that give no value back.")
    masked: Tag | None = Field(default=None, description="Hashes, encryption, COUNT.")
    indirect: Tag | None = Field(default=None, description="Filters, joins, groups, conditions.")


class _RuleModel(Model):
    """One rule."""

    tag: Tag = Field(description="The tag that travels.")
    from_: _Sources = Field(default_factory=_Sources, alias="from", description="Where from; from its own.")
    keeps: tuple[Text, ...] = Field(default=(), description="Functions that let values through.")
    stops: tuple[Text, ...] = Field(default=(), description="Functions that stop them: one's own masking.")
    leaves: _Leaves | Tag = Field(
        default_factory=_Leaves, description="What a stop leaves: a tag, or one for each kind."
    )

    def rule(self) -> PolicyRule:
        kinds = (ValueFlow.AGGREGATED, ValueFlow.MASKED)
        leaves = (
            dict.fromkeys(kinds, self.leaves)
            if isinstance(self.leaves, str)
            else {ValueFlow(kind): tag for kind, tag in self.leaves.model_dump().items() if tag is not None}
        )
        keeps, stops = (frozenset(name.upper() for name in names) for names in (self.keeps, self.stops))
        return PolicyRule(self.tag, self.from_.columns, self.from_.tags, keeps, stops, leaves)


class _DeclassificationModel(Model):
    """An exception, which somebody answers for and which ends."""

    columns: Annotated[tuple[Text, ...], NotEmpty] = Field(description="Patterns, as in a rule.")
    tags: tuple[Tag, ...] = Field(default=(), description="Which tags do not hold there; all, if left out.")
    reason: Text = Field(description="Why.")
    until: date = Field(description="The last day on which it holds.")

    def declassification(self) -> Declassification:
        return Declassification(self.columns, self.reason, self.until, self.tags)


def _leave_other_tags(rules: tuple[_RuleModel, ...]) -> tuple[_RuleModel, ...]:
    if any(rule.tag in rule.rule().leaves.values() for rule in rules):
        raise ValueError("leaves: a stop cannot leave the rule's own tag")
    return rules


class _PolicyModel(Model):
    """The whole file."""

    version: Literal[1] = 1
    rules: Annotated[tuple[_RuleModel, ...], NotEmpty, AfterValidator(_leave_other_tags)]
    declassify: tuple[_DeclassificationModel, ...] = ()
    exclusive: tuple[tuple[Tag, ...], ...] = Field(
        default=(), description="Groups of tags of which a column has one at most, the strongest first."
    )

    def policy(self) -> Policy:
        return Policy(
            tuple(rule.rule() for rule in self.rules),
            tuple(one.declassification() for one in self.declassify),
            self.exclusive,
        )


# What is read of it, as the policy that is applied.


def load_policy(file: Path) -> Policy:
    """The policy in `file`. Raises ConfigError, with the file, line and field of each problem."""
    document = parse_document(sql_text(file), str(file))
    try:
        return _PolicyModel.model_validate(document.content).policy()
    except ValidationError as error:
        problems = explain(error, document, _PolicyModel)
        raise ConfigError("; ".join(map(str, problems))) from None
