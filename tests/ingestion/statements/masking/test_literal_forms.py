"""Secrets and values in every form that the dialects have: none is in what is stored or said of a statement."""

from __future__ import annotations

import json
from collections import defaultdict

import pytest

from ingestion.dialects import dialect_of
from ingestion.errors import RecordError
from ingestion.parser import LineageParser
from ingestion.scripts.statements import parse_script_statements, script_statements
from ingestion.statements import split
from ingestion.statements.masking import QueryMasker
from tests.support.literal_forms import Filled, filled


def found_in(shown: str, form: Filled) -> list[str]:
    """Types and names may have been written in another case."""
    return [canary for canary in form.canaries if canary in shown.lower()]


def by_dialect() -> dict[str, list[Filled]]:
    forms = defaultdict(list)
    for form in filled():
        forms[form.dialect].append(form)
    return forms


def masked(text: str, dialect: str) -> str:
    try:
        return QueryMasker(dialect).mask(text)
    except RecordError as refusal:
        return str(refusal)


def test_the_forms_reach_the_dialects_and_carry_canaries() -> None:
    forms = by_dialect()
    assert len(forms) >= 20
    assert sum(len(form.canaries) for one in forms.values() for form in one) >= 600


def test_no_form_leaves_a_canary_in_a_masked_text() -> None:
    wrong = [
        (form.dialect, form.text, shown)
        for form in filled()
        for shown in (
            masked(form.text, form.dialect),
            *(masked(one.text, form.dialect) for one in split(form.text, form.dialect)),
        )
        if found_in(shown, form)
    ]
    assert not wrong


@pytest.mark.parametrize("dialect", sorted(by_dialect()))
def test_no_form_leaves_a_canary_in_lineage_problems_or_what_is_stored_of_them(dialect: str) -> None:
    forms = by_dialect()[dialect]
    for form, parser in zip(forms, LineageParser.of_each([form.text for form in forms], dialect), strict=True):
        shown = str(parser) if isinstance(parser, RecordError) else f"{parser!r} {json.dumps(parser.to_dict())}"
        assert not found_in(shown, form), (form.text, shown)
    rules = dialect_of(dialect)
    scripts = [(form, tuple(script_statements(form.text, rules))) for form in forms]
    owners = [form for form, statements in scripts for _ in statements]
    statements = [one for _, found in scripts for one in found]
    for form, outcome in zip(owners, parse_script_statements(statements, rules, 30), strict=True):
        stored = (outcome.symbolic or b"").decode("latin1")
        assert not found_in(f"{stored} {outcome.dead_reason} {outcome.attempts}", form), (form.text, stored)
