"""What must not change lineage: names, a star around, inlining, the order of a log, masking, the hash seed."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ingestion.analysis._columns import SchemaLookup
from ingestion.analysis.analyzer import analyze
from ingestion.binding.binder import bind
from ingestion.binding.timeline import Occurrence, SchemaProvider
from ingestion.errors import Unparsable
from ingestion.model.lineage import Flow, NameKind, Reference, StatementKind, StatementLineage
from ingestion.model.namespaces import Namespace
from ingestion.parsing.sqlglot.tier import parse
from ingestion.statements.masking import QueryMasker, fingerprint
from tests.differential import shop
from tests.differential.choices import Choices
from tests.differential.grammar import statement
from tests.differential.grammar_scope import POSTGRES, SPARK, Flavour, Names
from tests.differential.schemas import Schema, random_schema
from tests.support.examples import random_settings

REPOSITORY = Path(__file__).parents[2]
CORPUS = REPOSITORY.parent / "shared" / "corpora" / "statements.jsonl"
_STRING = re.compile(r"'[^']*'")
_TYPED = re.compile(r"CAST\(\? AS [A-Z]+\)")
_NUMBER = re.compile(r"(?<![\w.'])\d+(?![\w.'])")
needs_corpus = pytest.mark.skipif(not CORPUS.is_file(), reason="the corpus of statements is not on this machine")
SETTINGS = random_settings(50)
FLAVOURS = st.sampled_from([SPARK, POSTGRES])
SCHEMA_BYTES = st.binary(min_size=40, max_size=40)
BYTES = st.binary(min_size=40, max_size=250)


def _flow(text: str, dialect: str, schema_of: SchemaLookup) -> Flow:
    (flow,) = analyze(parse(text, dialect), schema_of).flows
    return flow


def _facts(flow: Flow) -> tuple[object, ...]:
    """All that a flow says, apart from its outputs' names and the order of what has none."""
    outputs = tuple((frozenset(output.references), output.type, output.star) for output in flow.outputs)
    return outputs, frozenset(flow.indirect), frozenset(flow.sources)


def _made(data: bytes, schema: Schema, flavour: Flavour, prefix: str = "", *, inlined: bool = False) -> str:
    text = statement(data, schema, flavour, Names(prefix, colliding=False), inlined=inlined)
    assume(text is not None)
    assert text is not None
    return text


@SETTINGS
@given(flavour=FLAVOURS, tables=SCHEMA_BYTES, data=BYTES)
def test_renaming_every_alias_changes_nothing(flavour: Flavour, tables: bytes, data: bytes) -> None:
    schema = random_schema(Choices(tables), flavour.kinds)
    first = _made(data, schema, flavour)
    second = _made(data, schema, flavour, "another_")
    assert _facts(_flow(first, flavour.name, schema.lookup)) == _facts(_flow(second, flavour.name, schema.lookup)), (
        first
    )


@SETTINGS
@given(flavour=FLAVOURS, tables=SCHEMA_BYTES, data=BYTES)
def test_a_star_around_a_query_changes_nothing(flavour: Flavour, tables: bytes, data: bytes) -> None:
    schema = random_schema(Choices(tables), flavour.kinds)
    text = _made(data, schema, flavour)
    plain = _flow(text, flavour.name, schema.lookup)
    around = _flow(f"select * from ({text}) as around", flavour.name, schema.lookup)
    assert _facts(plain) == _facts(around), text
    assert [output.name for output in plain.outputs] == [output.name for output in around.outputs]


@SETTINGS
@given(flavour=FLAVOURS, tables=SCHEMA_BYTES, data=BYTES)
def test_inlining_with_items_changes_nothing(flavour: Flavour, tables: bytes, data: bytes) -> None:
    schema = random_schema(Choices(tables), flavour.kinds)
    text = _made(data, schema, flavour)
    inlined = _made(data, schema, flavour, inlined=True)
    assert "with " not in inlined
    assert _facts(_flow(text, flavour.name, schema.lookup)) == _facts(_flow(inlined, flavour.name, schema.lookup)), text


@SETTINGS
@given(tables=SCHEMA_BYTES, data=st.lists(BYTES, min_size=2, max_size=5), shuffle=st.integers(0, 1000))
def test_the_order_of_a_log_without_redefinitions_changes_nothing(
    tables: bytes, data: list[bytes], shuffle: int
) -> None:
    known = dict(random_schema(Choices(tables), POSTGRES.kinds).tables)
    log: list[str] = []
    for number, one in enumerate(data):
        query = statement(one, Schema(known), POSTGRES, Names(f"x{number}_", colliding=False))
        assume(query is not None)
        view = f"v{number}"
        try:
            outputs = _flow(str(query), "postgres", Schema(known).lookup).outputs
        except Unparsable:
            assume(False)
        names = [output.name for output in outputs]
        assume(len(set(names)) == len(names))
        log.append(f"create view {view} as {query}")
        known[view] = tuple((name, "int") for name in names)
    base = Schema({name: columns for name, columns in known.items() if not name.startswith("v")})
    in_order = _bound(log, base)
    shuffled = random.Random(shuffle).sample(log, len(log))
    assert _bound(shuffled, base) == in_order


def _bound(log: Sequence[str], base: Schema) -> dict[str, tuple[object, ...]]:
    occurrences = [
        Occurrence(str(number), parse(text, "postgres"), Namespace("db", ("public",)), (float(number), number), "s")
        for number, text in enumerate(log)
    ]
    bound = bind(occurrences, SchemaProvider(lambda key: base.lookup_of(key.table)))
    flows = [flow for one in bound.statements for flow in one.lineage.flows]
    return {flow.target.name.table: (*_facts(flow), [o.name for o in flow.outputs]) for flow in flows if flow.target}


# -- masking


def _without_types(lineage: StatementLineage) -> tuple[object, ...]:
    """A masked literal has no type, neither as an output nor inside an expression (`DATE '…'` becomes `?`)."""
    return tuple(
        (
            flow.target,
            tuple((_untyped(output.references), output.star) for output in flow.outputs),
            _untyped(flow.indirect),
            frozenset(flow.sources),
        )
        for flow in lineage.flows
    )


def _untyped(references: Sequence[Reference]) -> frozenset[Reference]:
    return frozenset(replace(one, expression=_TYPED.sub("?", one.expression)) for one in references)


@SETTINGS
@given(flavour=FLAVOURS, tables=SCHEMA_BYTES, data=BYTES)
def test_a_masked_random_statement_has_the_lineage_of_its_raw_text(
    flavour: Flavour, tables: bytes, data: bytes
) -> None:
    schema = random_schema(Choices(tables), flavour.kinds)
    text = _made(data, schema, flavour)
    masked = QueryMasker(flavour.name).mask(text)
    assert "'x'" not in masked
    raw = analyze(parse(text, flavour.name), schema.lookup)
    assert _without_types(analyze(parse(masked, flavour.name), schema.lookup)) == _without_types(raw), text


def test_masked_fixed_statements_have_the_lineage_of_their_raw_text() -> None:
    for place, text in shop.statements():
        if "stack(" in text:  # a number says how many columns it gives: the fingerprint keeps it, a masked text cannot
            continue
        raw = analyze(parse(text, "spark"), shop.lookup)
        masked = analyze(parse(QueryMasker("spark").mask(text), "spark"), shop.lookup)
        assert _without_types(masked) == _without_types(raw), place


def _corpus() -> Iterator[tuple[str, str, str, StatementLineage]]:
    """(id, dialect, text, lineage) of every statement of the corpus that sqlglot reads."""
    for line in CORPUS.read_text().splitlines():
        case = json.loads(line)
        dialect = case["dialect"] or "ansi"
        try:
            yield case["id"], dialect, case["sql"], analyze(parse(case["sql"], dialect), lambda _name: None)
        except Unparsable:
            continue


def _has_data_names_in_literals(lineage: StatementLineage) -> bool:
    """Paths, and the classes behind functions: masking takes them, which is why templates are parsed from raw text."""
    names = (*lineage.sources, *lineage.targets)
    return lineage.kind is StatementKind.CREATE_ROUTINE or any(name.kind is NameKind.PATH for name in names)


@needs_corpus
def test_masked_statements_of_a_corpus_have_the_lineage_of_their_raw_text() -> None:
    compared, different = 0, []
    for name, dialect, text, raw in _corpus():
        if _has_data_names_in_literals(raw):
            continue
        compared += 1
        masked = parse(QueryMasker(dialect).mask(text), dialect)
        if _without_types(analyze(masked, lambda _name: None)) != _without_types(raw):
            different.append(name)
    assert not different
    assert compared > 200


@needs_corpus
def test_statements_of_a_corpus_with_one_fingerprint_have_one_lineage() -> None:
    """Other literals in the same statement: where the fingerprint takes them for the same, so must the analysis."""
    changed, compared, different = 0, 0, []
    for name, dialect, text, raw in _corpus():
        for pattern, other in ((_STRING, "'zq'"), (_NUMBER, "31")):
            for literal in pattern.finditer(text):
                mutant = text[: literal.start()] + other + text[literal.end() :]
                changed += 1
                if fingerprint(mutant, dialect) != fingerprint(text, dialect):
                    continue
                compared += 1
                if _without_types(analyze(parse(mutant, dialect), lambda _name: None)) != _without_types(raw):
                    different.append((name, mutant))
    assert not different
    assert 100 < compared < changed


# -- hash seeds

_PROGRAM = """
import json, sys
from ingestion.parser import LineageParser
script = sys.stdin.read()
parser = LineageParser(script, "spark", {"sales": {"sale_id": "int", "price": "int"}})
print(json.dumps([
    [str(name) for name in (*parser.source_tables, *parser.target_tables, *parser.intermediate_tables)],
    [repr(edge) for edge in parser.edges],
    [repr(problem) for problem in parser.problems],
    sorted(parser.table_aliases.items()),
]))
"""


def test_results_do_not_depend_on_the_hash_seed() -> None:
    numbered = enumerate(text for _, text in shop.statements())
    script = ";\n".join(f"create table out_{number} as {text}" for number, text in numbered)
    answers = set()
    for seed in ("1", "4242"):
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM],
            input=script,
            capture_output=True,
            text=True,
            cwd=REPOSITORY,
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
        )
        answers.add(done.stdout)
    assert len(answers) == 1
    assert len(json.loads(answers.pop())[1]) > 1000
