"""What JDBC URLs tell of a place, and that nothing else of them is kept."""

from __future__ import annotations

import pytest

from ingestion.model.engine_names import JdbcUrl, jdbc_url


@pytest.mark.parametrize(
    ("written", "place"),
    [
        ("jdbc:postgresql://db.internal:5432/shop?user=a", JdbcUrl("postgresql", "db.internal", 5432, "shop")),
        ("postgresql://db/shop", JdbcUrl("postgresql", "db", None, "shop")),
        ("db.internal:5432/shop", JdbcUrl("", "db.internal", 5432, "shop")),
        ("db.internal", JdbcUrl("", "db.internal")),
        ("jdbc:sqlserver://h\\inst:1433;databaseName=x;encrypt=true", JdbcUrl("sqlserver", "h", 1433, "x")),
        ("jdbc:oracle:thin:@//h:1521/svc", JdbcUrl("oracle", "h", 1521, "svc")),
        ("jdbc:oracle:thin:@h:1521:sid", JdbcUrl("oracle", "h", 1521, "sid")),
        ("jdbc:hive2://h1:1,h2:2/db", JdbcUrl("hive2", "h1", 1, "db")),
        ("jdbc:redshift://[::1]:5439/dev", JdbcUrl("redshift", "[::1]", 5439, "dev")),
        ("jdbc:derby:memory:x;create=true", JdbcUrl("derby", "", None, "memory:x")),
        ("jdbc:", None),
        ("", None),
    ],
)
def test_a_url_names_a_place(written: str, place: JdbcUrl | None) -> None:
    assert jdbc_url(written) == place


@pytest.mark.parametrize("start", ["jdbc:mysql://", "jdbc:oracle:thin:", "mysql://"])
@pytest.mark.parametrize("secret", ["s3cret", "s3@cret", "s3/cret", "s3;cret", "s3?cret", "s3:cret", "s3&cret"])
def test_no_user_and_no_password_is_kept(start: str, secret: str) -> None:
    assert "cret" not in repr(jdbc_url(f"{start}admin:{secret}@h:3306/shop"))
    assert "admin" not in repr(jdbc_url(f"{start}admin:{secret}@h:3306/shop"))
    assert "cret" not in repr(jdbc_url(f"{start}h/shop?user=admin&password={secret}"))


def test_a_rule_may_leave_out_kind_port_and_database() -> None:
    seen = JdbcUrl("postgresql", "DB", 5432, "shop")
    for written in ("db", "db:5432", "postgresql://db", "jdbc:postgresql://db:5432/Shop"):
        rule = jdbc_url(written)
        assert rule is not None
        assert rule.leads_to(seen)
    for written in ("db2", "db:5433", "mysql://db", "db/crm"):
        rule = jdbc_url(written)
        assert rule is not None
        assert not rule.leads_to(seen)
