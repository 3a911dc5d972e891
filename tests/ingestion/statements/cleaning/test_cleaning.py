from __future__ import annotations

import pytest

from ingestion.statements import clean


@pytest.mark.parametrize(
    ("dialect", "text", "cleaned"),
    [
        ("postgres", "  select 1 ; ;\n", "select 1"),
        ("postgres", "-- a\n/* b /* c */ */\nselect 1 -- d\n/* e */ -- f", "select 1"),
        ("mysql", "# a\nselect 1 # b", "select 1"),
        ("snowflake", "// a\nselect 1 // b", "select 1"),
        ("postgres", "select 1 # 2", "select 1 # 2"),
        ("postgres", "select /* kept */ 1", "select /* kept */ 1"),
        ("postgres", "select '-- x'", "select '-- x'"),
        ("postgres", "/* only */ -- comments", ""),
        ("snowflake", "create or replace view v copy  grants as select 'copy grants'", None),
        ("mysql", "set statement max_time=.1, x='for' for\ninsert into t select 1", "insert into t select 1"),
        ("mysql", "set statement_timeout = 1", "set statement_timeout = 1"),
        ("tsql", "[dbo].sp_rename 't.a', 'b', 'COLUMN';", "EXEC [dbo].sp_rename 't.a', 'b', 'COLUMN'"),
        ("oracle", "select /*+ parallel(4) */ a from t -- x", "select /*+ parallel(4) */ a from t"),
    ],
)
def test_what_surrounds_a_statement_goes(dialect: str, text: str, cleaned: str | None) -> None:
    if cleaned is None:
        cleaned = "create or replace view v  as select 'copy grants'"
    assert clean(text, dialect) == cleaned


def test_a_merge_with_a_leading_comment_keeps_all_its_branches() -> None:
    merge = "merge into t using s on t.a = s.a when matched then update set b = s.b when not matched then insert (s.a)"
    assert clean(f"/* nightly */ {merge};", "snowflake") == merge


def test_escaped_line_ends_inside_strings_stay() -> None:
    assert clean("select 'a\\nb'\\nfrom t", "postgres") == "select 'a\\nb'\nfrom t"


def test_a_text_with_real_lines_keeps_the_escapes_of_its_comments() -> None:
    assert clean("select a -- c:\\new\n from t", "postgres") == "select a -- c:\\new\n from t"
