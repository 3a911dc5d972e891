"""One chunk of statements through the tiers: sqlglot, then sqlfluff, then sqlparse, until one gives lineage.

The tiers are separate steps, so that the next one is asked outside the process in which the last one was killed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from ingestion.dialects.lexing import deeper_than
from ingestion.dialects.other_dialects import OtherDialect, other_dialect
from ingestion.errors import ParseCrash, ParseMemory, ParseTimeout, Templated, TooLarge, Unparsable
from ingestion.model.outcomes import Outcome
from ingestion.parsing.sandbox.process import Limits, Sandbox
from ingestion.parsing.sandbox.protocol import ILL_FORMED, ParseReply

_MAX_NESTING = 10_000
"""Beyond this depth a parser that builds a tree is not asked: the process has stack for about twice that."""

_TOO_DEEP = "too_deep"

# What is most worth telling of a statement that every tier gave up: a limit may be raised, bad SQL stays bad.
_TELLING = (ParseTimeout.code, ParseMemory.code, ParseCrash.code)


class Tier(StrEnum):
    """One parser of the cascade."""

    SQLGLOT = "sqlglot"
    SQLFLUFF = "sqlfluff"
    SQLPARSE = "sqlparse"


class Parser(StrEnum):
    """Which tiers are asked, by OpenMetadata's names (`queryParserConfig.type`)."""

    AUTO = "Auto"
    SQLGLOT = "SqlGlot"
    SQLFLUFF = "SqlFluff"


TIERS: Mapping[Parser, tuple[Tier, ...]] = {
    Parser.AUTO: (Tier.SQLGLOT, Tier.SQLFLUFF, Tier.SQLPARSE),
    Parser.SQLGLOT: (Tier.SQLGLOT, Tier.SQLPARSE),
    Parser.SQLFLUFF: (Tier.SQLFLUFF, Tier.SQLPARSE),
}

MODULES: Mapping[Tier, str] = {
    Tier.SQLGLOT: "ingestion.parsing.sqlglot.tier",
    Tier.SQLFLUFF: "ingestion.parsing.fallback.sqlfluff_tier",
    Tier.SQLPARSE: "ingestion.parsing.fallback.sqlparse_tier",
}


@dataclass(frozen=True, slots=True)
class ParseRequest:
    """One statement to parse; `key` comes back with what became of it."""

    key: str
    text: str
    dialect: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """One tier that gave no lineage: why (an error's code or "too_deep"), after how many seconds.

    `detail` places an unexpected error in the code, or is what the parser says of the text (without a literal);
    `line` and `column` (from 1, 0 if unknown) are where in the text it stopped.
    """

    tier: Tier
    reason: str
    seconds: float
    detail: str = ""
    line: int = 0
    column: int = 0


@dataclass(frozen=True, slots=True)
class ParseOutcome:
    """What became of one request: `symbolic` lineage (`ingestion.analysis.symbolic`) by `tier`, or a `dead_reason`.

    `dead_reason` is "timeout", "memory", "crash", "unparsable", "too_large", "templated", "ill_formed:<what>" or
    "other_dialect:<by what it shows>"; `other` is what shows that of a text, of one too that was read for all that.
    """

    key: str
    tier: Tier | None
    symbolic: bytes | None
    attempts: tuple[Attempt, ...] = ()
    dead_reason: str | None = None
    other: OtherDialect | None = None


def parse_chunk(requests: Sequence[ParseRequest], sandbox: Sandbox, parser: Parser = Parser.AUTO) -> list[ParseOutcome]:
    """One outcome for each request, in order, within the sandbox's limits for every tier.

    Raises ParserUnavailable when no parser process can be started.
    """
    outcomes: dict[int, ParseOutcome] = {}
    attempts: dict[int, tuple[Attempt, ...]] = {}
    others: dict[int, OtherDialect | None] = {}
    for index, request in enumerate(requests):
        if _too_large(request.text, sandbox.limits):
            outcomes[index] = ParseOutcome(request.key, None, None, dead_reason=TooLarge.code)
            continue
        others[index] = other = other_dialect(request.text, request.dialect)
        if other is not None and other.refused:
            outcomes[index] = ParseOutcome(request.key, None, None, dead_reason=f"{Outcome.OTHER_DIALECT}:{other}")
    for tier in TIERS[parser]:
        waiting = [index for index in range(len(requests)) if index not in outcomes]
        if not waiting:
            break
        answers = _ask(tier, [requests[index] for index in waiting], sandbox)
        for index, answer in zip(waiting, answers, strict=True):
            key = requests[index].key
            tried = attempts.get(index, ())
            if answer.symbolic is not None:
                outcomes[index] = ParseOutcome(key, tier, answer.symbolic, tried)
            elif answer.reason == Templated.code or answer.reason.startswith(ILL_FORMED):
                outcomes[index] = ParseOutcome(key, None, None, tried, answer.reason)
            else:
                failed = Attempt(tier, answer.reason, answer.seconds, answer.detail, answer.line, answer.column)
                attempts[index] = (*tried, failed)
                if answer.final:
                    outcomes[index] = _dead(requests[index], attempts[index])
    found = [outcomes.get(index) or _dead(request, attempts[index]) for index, request in enumerate(requests)]
    return [replace(one, other=others[index]) if others.get(index) else one for index, one in enumerate(found)]


def _too_large(text: str, limits: Limits) -> bool:
    # A character has four bytes at most: nearly all texts are known to be small without being encoded.
    if len(text) * 4 <= limits.max_bytes:
        return False
    return len(text) > limits.max_bytes or len(text.encode("utf-8", "surrogatepass")) > limits.max_bytes


def _ask(tier: Tier, requests: Sequence[ParseRequest], sandbox: Sandbox) -> list[ParseReply]:
    deep = {
        index
        for index, request in enumerate(requests)
        # sqlparse's lexer builds no tree: depth costs it nothing.
        if tier is not Tier.SQLPARSE and deeper_than(_MAX_NESTING, request.text)
    }
    asked = [(request.text, request.dialect) for index, request in enumerate(requests) if index not in deep]
    answers = iter(sandbox.parse(MODULES[tier], asked))
    refused = ParseReply(None, _TOO_DEEP, 0.0)
    return [refused if index in deep else next(answers) for index in range(len(requests))]


def _dead(request: ParseRequest, attempts: Iterable[Attempt]) -> ParseOutcome:
    tried = tuple(attempts)
    reasons = {attempt.reason for attempt in tried}
    telling = next((reason for reason in _TELLING if reason in reasons), Unparsable.code)
    return ParseOutcome(request.key, None, None, tried, telling)
