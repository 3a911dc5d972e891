"""What is wanted of a source, as its settings say it."""

from __future__ import annotations

from connectors.source_settings import FilterPattern, LineageConfig


def test_patterns_match_from_the_start_whatever_the_case_and_excludes_win() -> None:
    pattern = FilterPattern(includes=("sales",), excludes=(".*_tmp",))

    assert pattern.allows("SALES_2026")
    assert not pattern.allows("my_sales")
    assert not pattern.allows("sales_tmp")
    assert FilterPattern().allows("anything")


def test_a_table_is_kept_that_each_of_its_names_lets_be() -> None:
    wanted = LineageConfig.model_validate(
        {"schemaFilterPattern": {"excludes": ["tmp"]}, "storedProcedureFilterPattern": {"includes": ["load_"]}}
    )
    assert wanted.allows("db", "mart", "tmp")
    assert not wanted.allows("db", "tmp_1", "t")
    assert wanted.allows_procedure("db", "mart", "load_all")
    assert not wanted.allows_procedure("db", "mart", "drop_all")


def test_an_empty_pattern_is_none() -> None:
    assert LineageConfig.model_validate({"tableFilterPattern": {}}) == LineageConfig()


def test_other_services_count_where_names_are_looked_up_across_databases() -> None:
    named = {"crossDatabaseServiceNames": ["lake"]}
    assert LineageConfig.model_validate(named).other_services == ()
    assert LineageConfig.model_validate({**named, "processCrossDatabaseLineage": True}).other_services == ("lake",)
