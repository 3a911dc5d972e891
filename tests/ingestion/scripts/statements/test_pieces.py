"""The statements of a script, one by one."""

from __future__ import annotations

import pytest

from ingestion.dialects import dialect_of
from ingestion.scripts import statements as module
from ingestion.scripts.statements import ScriptStatement, script_statements


def test_a_statement_that_cannot_be_taken_apart_costs_itself_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_arguments: object) -> None:
        raise IndexError("a literal that must not be told")

    monkeypatch.setattr(module, "routines_in", broken)
    script = "insert into t select a from s;\ncreate procedure p as begin null; end;\n/\ninsert into u select b from v"
    assert list(script_statements(script, dialect_of("oracle"))) == [
        ScriptStatement(1, "insert into t select a from s", column=1),
        ScriptStatement(2, problem="internal_error:IndexError"),
        ScriptStatement(4, "insert into u select b from v", column=1),
    ]


def test_what_a_statement_that_is_run_as_a_text_defines_is_taken_apart_too() -> None:
    script = "begin execute immediate 'create procedure p is begin insert into t (a) select a from s; end;'; end;\n/"
    found = [one.text for one in script_statements(script, dialect_of("oracle"))]
    assert found == ["insert into t (a) select a from s"]
