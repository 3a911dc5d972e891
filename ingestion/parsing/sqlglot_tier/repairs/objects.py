"""Objects that sqlglot does not know of a dialect, written as those that it does: the lineage is the same."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot.tokenizer_core import Token

from ingestion.dialects.definition import keywords
from ingestion.parsing.sqlglot_tier.repairs.edits import Edit, at_depth_zero, matching, span, words

_TABLE_KINDS = keywords("HYBRID DYNAMIC ICEBERG EXTERNAL EVENT INTERACTIVE")
_STREAMED = keywords("EXTERNAL DYNAMIC EVENT ICEBERG INTERACTIVE HYBRID")
_CHANGES = "SELECT *, NULL AS METADATA$ACTION, NULL AS METADATA$ISUPDATE, NULL AS METADATA$ROW_ID FROM"


def end_of_name(tokens: list[Token], first: int) -> int:
    """The position of the last token of the dotted name that begins at `first`."""
    last = first
    while last + 2 < len(tokens) and tokens[last + 1].text in (".", "-"):
        last += 2
    return last


def streams(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """Snowflake: CREATE STREAM s ON TABLE t is a view of t's rows, with three columns that say how they changed."""
    place = next((n for n, token in enumerate(tokens[:5]) if token.text.upper() == "STREAM"), None)
    if place is None or not words(tokens, 0, "CREATE"):
        return
    first = place + (4 if words(tokens, place + 1, "IF", "NOT", "EXISTS") else 1)
    last = end_of_name(tokens, first)
    for number in at_depth_zero(tokens, last + 1):
        word = tokens[number].text.upper()
        if word not in ("ON", "CLONE") or number + 1 >= len(tokens):
            continue
        of = number + 1
        stage = words(tokens, of, "STAGE")
        if word == "ON":
            of += 1 + (tokens[of].text.upper() in _STREAMED)
        source = text[tokens[of].start : tokens[end_of_name(tokens, of)].end + 1]
        if words(tokens, of - 1, "DIRECTORY", "("):  # the list of a stage's files
            source = text[tokens[of].end + 1 : tokens[matching(tokens, of)].start]
        what = f"SELECT * FROM {source}" if word == "CLONE" else f"{_CHANGES} {'@' if stage else ''}{source}"
        before = " ".join(token.text for token in tokens[:place])
        name = text[tokens[first].start : tokens[last].end + 1]
        yield 0, tokens[-1].end + 1, f"{before} VIEW {name} AS {what}"
        return


def table_kinds(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """Snowflake: CREATE HYBRID TABLE, ALTER DYNAMIC TABLE: tables as far as lineage cares."""
    if not words(tokens, 0, "CREATE") and not words(tokens, 0, "ALTER"):
        return
    for number in range(1, min(len(tokens) - 1, 5)):
        if tokens[number].text.upper() in _TABLE_KINDS and words(tokens, number + 1, "TABLE"):
            yield span(tokens, number, number)
            return


def linear_clusters(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """Snowflake: CLUSTER BY LINEAR (…)."""
    for number in range(len(tokens) - 3):
        if words(tokens, number, "CLUSTER", "BY", "LINEAR", "("):
            yield span(tokens, number + 2, number + 2)


def file_formats(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """Snowflake: COPY … FILE_FORMAT = schema.name, without the brackets that sqlglot wants."""
    if not words(tokens, 0, "COPY"):
        return
    for number in range(len(tokens) - 2):
        if words(tokens, number, "FILE_FORMAT", "=") and tokens[number + 2].text != "(":
            yield span(tokens, number, end_of_name(tokens, number + 2))


def snapshots(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """BigQuery: CREATE SNAPSHOT TABLE s CLONE t FOR SYSTEM_TIME AS OF … OPTIONS (…), as a clone."""
    place = next((n for n, token in enumerate(tokens[:4]) if token.text.upper() == "SNAPSHOT"), None)
    if place is None or not words(tokens, 0, "CREATE") or not words(tokens, place + 1, "TABLE"):
        return
    yield span(tokens, place, place)
    clone = next((n for n in at_depth_zero(tokens, place) if tokens[n].text.upper() == "CLONE"), None)
    if clone is not None and clone + 1 < len(tokens):
        last = end_of_name(tokens, clone + 1)
        if last + 1 < len(tokens):
            yield span(tokens, last + 1, len(tokens) - 1)


def replicas(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """BigQuery: CREATE MATERIALIZED VIEW v AS REPLICA OF t."""
    if not words(tokens, 0, "CREATE"):
        return
    for number in at_depth_zero(tokens, 1):
        if words(tokens, number, "REPLICA", "OF") and number + 2 < len(tokens):
            yield span(tokens, number, number + 1, "SELECT * FROM")
            return
