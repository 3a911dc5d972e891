"""What stands behind FROM and JOIN in a list of tokens."""

from __future__ import annotations

import pytest

from ingestion.dialects import dialect_of
from ingestion.dialects.cursor import Code
from ingestion.dialects.relations import relation_at


@pytest.mark.parametrize(
    ("text", "name", "behind"),
    [
        ("d.s as x where a", "x", "where"),
        ("d.s x, t", "x", ","),
        ("s where a", "s", "where"),
        ("s", "s", ""),
        ('s "where" join t', "where", "join"),
        ("f(a, (b)) as x join t", "x", "join"),
        ("(select a from t where b) x on c", "x", "on"),
        ("(select a from t where b) order by c", "", "order"),
        ("s for system_time as of o.at as x (a, b), t", "x", ","),
        ("s for system_time as of proctime() join t", "s", "join"),
        ("s for system_time as of timestamp '2024-01-01' as x where a", "x", "where"),
        ("s for system_time as of timestamp_sub(now(), interval 1 hour) x where a", "x", "where"),
        ("s for system_time as of now() - interval '1' day x where a", "x", "where"),
        ("s version as of 3 as x, t", "x", ","),
        ("s timestamp as of '2024-01-01' x join t", "x", "join"),
        ("s for version as of 3 where a", "s", "where"),
        ("s version where a", "version", "where"),
        ("s as x (a, b) where c", "x", "where"),
        ("s left join t", "s", "left"),
        ("s tablesample (1)", "s", "tablesample"),
        ("'path'", "", ""),
    ],
)
def test_the_name_of_a_relation_is_its_alias_or_its_last_part(text: str, name: str, behind: str) -> None:
    code = Code.of(text, dialect_of("postgres"))
    found = relation_at(code, 0)
    assert (found.name(code), code.word(found.behind)) == (name, behind)
