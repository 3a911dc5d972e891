"""The second stage of a run: each distinct statement parsed once, and its runs grouped, on Spark."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pyspark.sql import DataFrame

from ingestion.isolation import Failure, Isolation, Probe
from ingestion.names.namespaces import NamespaceDefaults
from workflows.templates.grouping import OccurrenceGroup, groups, small_groups, with_namespace, with_namespaces
from workflows.templates.names import names_of
from workflows.templates.parsing import ParsedTemplate, Parsing, TemplateKey, given_up, parse_templates

_TEMPLATES_AT_ONCE = 500
"""Kept together: what a run that is killed parses again."""
_FEW = 20_000
"""Statements that are grouped without a shuffle."""


@dataclass(frozen=True, slots=True)
class Templates:
    """Distinct statements by fingerprint; `parsed` are those that this run parsed.

    `failures` (by fingerprint): why some were given up on after they had been parsed.
    """

    by_fingerprint: Mapping[str, ParsedTemplate] = field(default_factory=dict)
    parsed: frozenset[str] = frozenset()
    failures: Mapping[str, Failure] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TemplateParsing:
    """Takes statements, gives their templates: those that are `known`, and the others parsed.

    `keep` is told of what was parsed, some at a time, so that no later run need parse it again.
    """

    parsing: Parsing
    known: Mapping[TemplateKey, ParsedTemplate]
    keep: Callable[[Sequence[ParsedTemplate]], None]

    def parse(
        self,
        statements: DataFrame,
        expected: int,
        texts: Mapping[TemplateKey, str],
        advance: Callable[[], None],
        *,
        known_too: bool = False,
    ) -> Templates:
        """The templates of all statements, of which about so many are `expected`, and of `texts`.

        `known_too` parses those that are known as well. `advance` is called for each.
        Raises what `keep` raises, and SparkLost.
        """
        parsed: dict[str, ParsedTemplate] = {}
        waiting: list[ParsedTemplate] = []
        known = () if known_too else self.known.keys()
        for template in parse_templates(statements, self.parsing, expected, known, texts):
            parsed[template.fingerprint] = template
            waiting.append(template)
            if len(waiting) == _TEMPLATES_AT_ONCE:
                self.keep(waiting)
                waiting = []
            advance()
        if waiting:
            self.keep(waiting)
        before = {template.fingerprint: template for template in self.known.values()}
        return Templates({**before, **parsed}, frozenset(parsed))


@dataclass(frozen=True, slots=True)
class Sessions:
    """What the runs of a log have in common: what sessions begin with, whether any changes that, and how many they are.

    There may be less `statements` than it says.
    """

    defaults: NamespaceDefaults
    change: bool
    statements: int


def occurrences(
    statements: DataFrame, templates: Templates, probe: Probe, sessions: Sessions
) -> tuple[Templates, tuple[OccurrenceGroup, ...]]:
    """The runs of all statements, grouped, and the templates without those whose names could not be read off."""
    isolation = Isolation[str](probe)
    names = names_of(templates.by_fingerprint.values(), isolation)
    few = sessions.statements <= _FEW
    if few or not sessions.change:
        # In one partition nothing is to be shuffled.
        placed = with_namespace(statements.coalesce(1) if few else statements, session_changes=sessions.change)
    else:
        placed = with_namespaces(statements)
    grouped = (small_groups if few else groups)(placed, names, sessions.defaults)
    found = tuple(group for group in grouped if group.template in templates.by_fingerprint)
    left = given_up(templates.by_fingerprint, isolation.failures)
    return replace(templates, by_fingerprint=left, failures=isolation.failures), found
