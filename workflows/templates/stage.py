"""The second stage of a run: each distinct statement parsed once, and its runs grouped, on Spark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pyspark.sql import DataFrame

from ingestion.isolation import Failure, Isolation, Probe
from ingestion.model import TableUsageNames
from ingestion.names.namespaces import NamespaceDefaults
from ingestion.symbolic import is_resolved
from workflows.control.shelf import ShelvedMapping
from workflows.report.counts import RunCounts
from workflows.templates.grouping import FEW, groups, small_groups, with_namespace, with_namespaces
from workflows.templates.names import changing_names, names_by_template
from workflows.templates.occurrences import GroupedRuns
from workflows.templates.parsing import ParsedTemplate, Parsing, TemplateKey, parse_templates

_TEMPLATES_AT_ONCE = 500
"""Kept together: what a run that is killed parses again."""


class TemplatesByFingerprint(Mapping[str, ParsedTemplate]):
    """The templates of several mappings, the last of which counts, as one by fingerprint.

    Those that `failures` (by fingerprint) names are dead.
    """

    def __init__(
        self, found: Sequence[Mapping[TemplateKey, ParsedTemplate]], failures: Mapping[str, Failure] | None = None
    ) -> None:
        self._found = found
        self._failures = failures or {}
        self._places = {key[0]: (number, key) for number, templates in enumerate(found) for key in templates}

    def __getitem__(self, fingerprint: str) -> ParsedTemplate:
        number, key = self._places[fingerprint]
        template = self._found[number][key]
        failure = self._failures.get(fingerprint)
        return template if failure is None else replace(template, symbolic=None, dead=failure.reason)

    def __contains__(self, fingerprint: object) -> bool:
        return fingerprint in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def without(self, failures: Mapping[str, Failure]) -> TemplatesByFingerprint:
        """The same templates, with those that `failures` names dead."""
        return TemplatesByFingerprint(self._found, {**self._failures, **failures})


@dataclass(frozen=True, slots=True)
class Templates:
    """Distinct statements by fingerprint; `parsed` are those that this run parsed, with what it counted of them.

    `failures` (by fingerprint): why some were given up on after they had been parsed.
    """

    by_fingerprint: TemplatesByFingerprint
    parsed: frozenset[str] = frozenset()
    counts: RunCounts = field(default_factory=RunCounts)
    failures: Mapping[str, Failure] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TemplateParsing:
    """Takes statements, gives their templates: those that are `known`, and the others parsed.

    `keep` is told of what was parsed, some at a time, so that no later run need parse it again. Of more than are to be
    `held`, the others are in a file.
    """

    parsing: Parsing
    known: Mapping[TemplateKey, ParsedTemplate]
    keep: Callable[[Sequence[ParsedTemplate]], None]
    held: int

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
        parsed: ShelvedMapping[TemplateKey, ParsedTemplate] = ShelvedMapping(self.held)
        tiers: Counter[str] = Counter()
        timed_out = 0
        waiting: list[ParsedTemplate] = []
        known = () if known_too else self.known.keys()
        for template in parse_templates(statements, self.parsing, expected, known, texts):
            parsed.put((template.fingerprint, template.dialect), template)
            if template.symbolic is not None:
                tiers[template.tier] += 1
            timed_out += template.timed_out
            waiting.append(template)
            if len(waiting) == _TEMPLATES_AT_ONCE:
                self.keep(waiting)
                waiting = []
            advance()
        if waiting:
            self.keep(waiting)
        counts = RunCounts(parsed_by_tier=dict(tiers), timed_out=timed_out)
        fingerprints = frozenset(fingerprint for fingerprint, _dialect in parsed)
        return Templates(TemplatesByFingerprint((self.known, parsed)), fingerprints, counts)


@dataclass(frozen=True, slots=True)
class Sessions:
    """What the runs of a log have in common: what sessions begin with, whether any changes that, and how many they are.

    There may be less `statements` than it says.
    """

    defaults: NamespaceDefaults
    change: bool
    statements: int


@dataclass(frozen=True, slots=True)
class Occurrences:
    """The `runs` of templates, and the `names` of each template (by fingerprint) that was parsed.

    `plans`: the templates that show columns that a table has once it is written.
    """

    templates: Templates
    runs: GroupedRuns
    names: Mapping[str, TableUsageNames]
    plans: frozenset[str]


def occurrences(
    statements: DataFrame, templates: Templates, probe: Probe, sessions: Sessions, held: int
) -> Occurrences:
    """The runs of all statements, grouped, and the templates without those whose names could not be read off.

    Of more than are to be `held`, the others are in a file.
    """
    isolation = Isolation[str](probe)
    known = templates.by_fingerprint
    plans = set[str]()

    def note_plans() -> Iterator[ParsedTemplate]:
        for template in known.values():
            if template.symbolic is not None and is_resolved(template.symbolic):
                plans.add(template.fingerprint)
            yield template

    mentioned = names_by_template(note_plans(), isolation, held)
    names = changing_names(mentioned)
    few = sessions.statements <= FEW
    if few or not sessions.change:
        # In one partition nothing is to be shuffled.
        placed = with_namespace(statements.coalesce(1) if few else statements, session_changes=sessions.change)
    else:
        placed = with_namespaces(statements)
    tallies = (small_groups if few else groups)(placed, names, sessions.defaults)
    runs = GroupedRuns((tally for tally in tallies if tally.runs.fingerprint in known), held)
    left = replace(templates, by_fingerprint=known.without(isolation.failures), failures=isolation.failures)
    return Occurrences(left, runs, mentioned, frozenset(plans))
