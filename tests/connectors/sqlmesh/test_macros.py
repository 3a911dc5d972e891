"""SQLMesh's macros by rules of our own."""

from __future__ import annotations

import pytest

from connectors.sqlmesh._macros import MacroScope, NotExpandable, expand

SCOPE = MacroScope({"city": "'Rome'", "kinds": "['a', 'b']", "on": "TRUE"}, {"half": "x -> @x / 2"}, "duckdb")


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("d BETWEEN @start_ds AND @end_ts", "d BETWEEN '2020-01-01' AND '2020-01-01 00:00:00'"),
        ("'@start_ds' -- @nothing", "'@start_ds' -- @nothing"),
        ("c = @city, @{city}.t, t_@city", "c = 'Rome', Rome.t, t_Rome"),
        ('@city.t, a.@city, "@city"."x@{city}"', 'Rome.t, a.Rome, "Rome"."xRome"'),
        ('"a@b.com", `@city`, @city.5', "\"a@b.com\", `@city`, 'Rome'.5"),
        ("@EACH([x, y], c -> MAX(c) AS max_@c)", "MAX(x) AS max_x, MAX(y) AS max_y"),
        ("@EACH(@kinds, k -> SUM(@k))", "SUM('a'), SUM('b')"),
        ("@EACH([(a, b), (c, d)], (x, y) -> @x + @y)", "a + b, c + d"),
        ("@REDUCE([a, b, c], (x, y) -> @x + @y)", "a + b + c"),
        ("@EACH(@FILTER([1, 2, 3], x -> @x > 1), x -> c@x)", "c2, c3"),
        ("@IF(1 > 2, a, b) @IF(@on, c)", "b c"),
        ("@AND(a = 1, b) @OR(c, d)", "(a = 1) AND (b) (c) OR (d)"),
        ("@SQL('a + @{city}')", "a + Rome"),
        ("@VAR('city') @VAR('none', 3)", "'Rome' 3"),
        ("@half(b)", "b / 2"),
        ("@SAFE_DIV(a, b) @SAFE_ADD(a, b)", "(a / NULLIF(b, 0)) (COALESCE(a, 0) + COALESCE(b, 0))"),
        ("@WHERE(TRUE) a = 1", "WHERE a = 1"),
    ],
)
def test_a_macro_becomes_text(text: str, made: str) -> None:
    assert expand(text, SCOPE) == made


@pytest.mark.parametrize(
    "text",
    [
        "@unknown",
        "@star(t)",
        "@IF(a > 1, b, c)",
        "@WHERE(FALSE) a",
        "@EACH([a], b)",
        "@VAR('x')",
        "@f(",
        "@REDUCE([], (x, y) -> x)",
    ],
)
def test_what_is_not_known_ends_the_model(text: str) -> None:
    with pytest.raises(NotExpandable):
        expand(text, SCOPE)


def test_a_macro_that_calls_itself_or_grows_without_end_is_ended() -> None:
    with pytest.raises(NotExpandable, match="too deep"):
        expand("@again(a)", MacroScope({}, {"again": "x -> @again(@x)"}))
    doubled = (
        "@EACH([" + ", ".join(map(str, range(900))) + "], x -> @EACH([" + "b, " * 900 + "b], y -> 'aaaaaaaaaaaaaaaa'))"
    )
    with pytest.raises(NotExpandable, match="more than"):
        expand(doubled, MacroScope())
