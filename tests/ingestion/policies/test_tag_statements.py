"""A plan as SQL: for PostgreSQL on a server that really runs, with names and comments that are hard to quote."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from psycopg import sql

from ingestion.policies.plan import PolicyPlan, TagAction, TagChange
from ingestion.policies.tag_statements import TagWarehouse, plan_statements
from tests.support import live_postgres
from tests.support.live_postgres import Session

TABLE = """s.db.S x.t%'q"""
COLUMN = "a%'b"
COMMENT = "what people say, it's theirs"


def statement(action: TagAction, tag: str, warehouse: TagWarehouse, table_type: str = "Regular") -> str:
    plan = PolicyPlan((TagChange(action, (TABLE, COLUMN), tag, ()),), 0, (), ())
    return list(plan_statements(plan, {TABLE: table_type}, warehouse))[-1]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    directory = tmp_path_factory.mktemp("postgres")
    with live_postgres.server(directory) as (_, uri), psycopg.connect(uri, autocommit=True) as session:
        session.execute('CREATE SCHEMA "S x"')
        session.execute('CREATE TABLE "S x"."t%\'q" ("a%\'b" int, z int)')
        session.execute(sql.SQL('COMMENT ON COLUMN "S x"."t%\'q"."a%\'b" IS {}').format(COMMENT))
        yield session


def comment(session: Session) -> str:
    query = "SELECT col_description(attrelid, attnum) FROM pg_attribute WHERE attname = 'a%''b'"
    row = session.execute(query).fetchone()
    assert row is not None
    return str(row[0])


def test_tags_stand_in_a_comment_beside_what_people_wrote(session: Session) -> None:
    steps = (
        (TagAction.ADD, "PII.Sensitive", " [tags: PII.Sensitive]"),
        (TagAction.ADD, "PII.Sensitive", " [tags: PII.Sensitive]"),
        (TagAction.ADD, "Tier.X", " [tags: PII.Sensitive, Tier.X]"),
        (TagAction.WITHDRAW, "PII.Sensitive", " [tags: Tier.X]"),
        (TagAction.WITHDRAW, "Other.Y", " [tags: Tier.X]"),
        (TagAction.WITHDRAW, "Tier.X", ""),
    )
    for action, tag, expected in steps:
        session.execute(statement(action, tag, TagWarehouse.POSTGRES).encode())
        assert comment(session) == COMMENT + expected


def test_a_view_is_altered_as_one() -> None:
    snowflake = statement(TagAction.WITHDRAW, "PII.Sensitive", TagWarehouse.SNOWFLAKE, "SecureView")
    assert snowflake == """ALTER VIEW "db"."S x"."t%'q" MODIFY COLUMN "a%'b" UNSET TAG "PII";"""
    databricks = statement(TagAction.ADD, "PII.It's", TagWarehouse.DATABRICKS, "View")
    assert databricks == "SET TAG ON COLUMN `db`.`S x`.`t%'q`.`a%'b` `PII` = 'It\\'s';"
