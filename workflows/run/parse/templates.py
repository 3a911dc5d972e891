"""Templates of a run: those that earlier runs have parsed, and the others, parsed and remembered some at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pyspark.sql import DataFrame

from ingestion.model.isolation import Failure
from ingestion.parsing.templates import ParsedTemplate, TemplateKey
from workflows.counts import RunCounts
from workflows.run.parse.tasks import Parsing, parse_templates
from workflows.runtime.spill import SpillMapping

_TEMPLATES_AT_ONCE = 500
"""Kept together: what a run that is killed parses again."""


class TemplatesByFingerprint(Mapping[str, ParsedTemplate]):
    """The templates of several mappings, the last of which counts, as one by fingerprint.

    Those that `failures` (by fingerprint) names are dead; `others` stand for those of their fingerprints.
    """

    def __init__(
        self,
        found: Sequence[Mapping[TemplateKey, ParsedTemplate]],
        failures: Mapping[str, Failure] | None = None,
        others: Mapping[str, ParsedTemplate] | None = None,
    ) -> None:
        self._found = found
        self._failures = failures or {}
        self._others = others or {}
        self._keys = {key[0]: (number, key) for number, templates in enumerate(found) for key in templates}

    def __getitem__(self, fingerprint: str) -> ParsedTemplate:
        number, key = self._keys[fingerprint]
        template = self._others.get(fingerprint) or self._found[number][key]
        failure = self._failures.get(fingerprint)
        return template if failure is None else replace(template, symbolic=None, dead=failure.reason)

    def __contains__(self, fingerprint: object) -> bool:
        return fingerprint in self._keys

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def without(self, failures: Mapping[str, Failure]) -> TemplatesByFingerprint:
        """The same templates, with those that `failures` names dead."""
        return TemplatesByFingerprint(self._found, {**self._failures, **failures}, self._others)

    def with_others(self, others: Mapping[str, ParsedTemplate]) -> TemplatesByFingerprint:
        """The same templates, with `others` (by fingerprint) in the place of some."""
        return TemplatesByFingerprint(self._found, self._failures, {**self._others, **others})


@dataclass(frozen=True, slots=True)
class Templates:
    """Distinct statements by fingerprint; `parsed` are those that this run parsed, with what it counted of them.

    `failures` (by fingerprint): why some were given up on after they had been parsed. `others`: how many of those that
    were parsed look as if they were of another dialect, by what shows it (`ingestion.dialects.other_dialects`).
    """

    by_fingerprint: TemplatesByFingerprint
    parsed: frozenset[str] = frozenset()
    counts: RunCounts = field(default_factory=RunCounts)
    failures: Mapping[str, Failure] = field(default_factory=dict)
    others: Mapping[tuple[str, ...], int] = field(default_factory=dict)


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
        parsed: SpillMapping[TemplateKey, ParsedTemplate] = SpillMapping(self.held)
        tiers: Counter[str] = Counter()
        others: Counter[tuple[str, ...]] = Counter()
        timed_out = 0
        waiting: list[ParsedTemplate] = []
        known = () if known_too else self.known.keys()
        for template in parse_templates(statements, self.parsing, expected, known, texts):
            parsed.put((template.fingerprint, template.dialect), template)
            if template.symbolic is not None:
                tiers[template.tier] += 1
            timed_out += template.timed_out
            if template.other:
                others[template.other] += 1
            waiting.append(template)
            if len(waiting) == _TEMPLATES_AT_ONCE:
                self.keep(waiting)
                waiting = []
            advance()
        if waiting:
            self.keep(waiting)
        counts = RunCounts(parsed_by_tier=dict(tiers), timed_out=timed_out)
        fingerprints = frozenset(fingerprint for fingerprint, _dialect in parsed)
        return Templates(TemplatesByFingerprint((self.known, parsed)), fingerprints, counts, others=others)
