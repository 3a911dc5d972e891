"""Statements and frames over Delta Lake and Apache Iceberg tables; each writes a target of its own.

`{c}` is the catalog and `{f}` the format. The truth of a query comes from the analyzer, and so does that of a MERGE or
UPDATE whose new values are said as queries; that of others, which are no queries, is written down: column of the
target, source table, source column.
"""

from __future__ import annotations

from dataclasses import dataclass, field

WIDE = ", ".join(f"id + {i} AS c{i}" for i in range(30))
"""More columns than Spark prints of a list when nothing is set."""

SETUP = [
    "CREATE DATABASE IF NOT EXISTS {c}.sales",
    "CREATE DATABASE IF NOT EXISTS {c}.mart",
    "CREATE TABLE {c}.sales.orders (order_id BIGINT, customer_id INT, status STRING, amount DOUBLE, day DATE)"
    " USING {f}",
    "CREATE TABLE {c}.sales.changes (order_id BIGINT, status STRING, amount DOUBLE, gone BOOLEAN) USING {f}",
    "INSERT INTO {c}.sales.orders VALUES (1, 1, 'open', 1, DATE'2026-01-01'), (2, 1, 'x', 2, DATE'2026-01-02')",
    "INSERT INTO {c}.sales.changes VALUES (1, 'done', 11, false), (3, 'open', 5, false), (2, 'x', 0, true)",
    f"CREATE TABLE {{c}}.sales.wide USING {{f}} AS SELECT {WIDE} FROM range(3)",
]

COLUMNS = "order_id BIGINT, status STRING, amount DOUBLE"


@dataclass(frozen=True)
class FormatJob:
    """`before` prepares, `statement` is what counts; `direct` and `indirect` are the truth where it is no query.

    `queries` are those of the values that each branch of a row operation sets.
    """

    name: str
    before: tuple[str, ...]
    statement: str
    direct: tuple[tuple[str, str, str], ...] | None = None
    indirect: tuple[tuple[str, str, str], ...] = field(default=())
    only: str = ""
    queries: tuple[str, ...] = ()


def table(name: str, columns: str = COLUMNS, partition: str = "") -> str:
    return f"CREATE TABLE {{c}}.mart.{name} ({columns}) USING {{f}}" + (
        f" PARTITIONED BY ({partition})" if partition else ""
    )


def filled(name: str) -> tuple[str, ...]:
    return (table(name), f"INSERT INTO {{c}}.mart.{name} SELECT order_id, status, amount FROM {{c}}.sales.orders")


def merge_on_read(name: str) -> tuple[str, ...]:
    """A filled table of Iceberg's whose row operations write what they delete beside the rows."""
    how = ", ".join(f"'write.{each}.mode' = 'merge-on-read'" for each in ("merge", "update", "delete"))
    empty, *rest = filled(name)
    return (f"{empty} TBLPROPERTIES ('format-version' = '2', {how})", *rest)


ORDERS, C = "{c}.sales.orders", "{c}.sales.changes"
GONE = (("*", C, "order_id"), ("*", C, "gone"))

JOBS = [
    FormatJob(
        "f01", (table("f01"),), f"INSERT INTO {{c}}.mart.f01 SELECT order_id, upper(status), amount * 2 FROM {ORDERS}"
    ),
    FormatJob(
        "f02",
        (table("f02"),),
        f"INSERT INTO {{c}}.mart.f02 SELECT o.order_id, max(c.status), sum(o.amount) FROM {ORDERS} o JOIN {C} c"
        " ON o.order_id = c.order_id WHERE o.customer_id > 0 GROUP BY o.order_id",
    ),
    FormatJob("f03", (table("f03"),), f"INSERT OVERWRITE {{c}}.mart.f03 SELECT order_id, status, amount FROM {C}"),
    FormatJob(
        "f04",
        (table("f04", "order_id BIGINT, amount DOUBLE, day DATE", "day"),),
        f"INSERT OVERWRITE {{c}}.mart.f04 PARTITION (day = DATE'2026-05-05') SELECT order_id, amount FROM {ORDERS}",
    ),
    FormatJob(
        "f05",
        (
            table("f05", "order_id BIGINT, amount DOUBLE, day DATE", "day"),
            "SET spark.sql.sources.partitionOverwriteMode=dynamic",
        ),
        f"INSERT OVERWRITE {{c}}.mart.f05 SELECT order_id, amount, day FROM {ORDERS}",
    ),
    FormatJob(
        "f06",
        ("SET spark.sql.sources.partitionOverwriteMode=static", table("f06")),
        f"INSERT INTO {{c}}.mart.f06 REPLACE WHERE order_id > 0 SELECT order_id, status, amount FROM {C}"
        " WHERE order_id > 0",
    ),
    FormatJob(
        "f07",
        (),
        f"CREATE TABLE {{c}}.mart.f07 USING {{f}} AS SELECT status, count(*) AS n FROM {ORDERS} GROUP BY status",
    ),
    FormatJob(
        "f08",
        (table("f08"),),
        f"CREATE OR REPLACE TABLE {{c}}.mart.f08 USING {{f}} AS SELECT order_id, amount / 2 AS half FROM {ORDERS}"
        " WHERE status = 'open'",
    ),
    FormatJob(
        "f09",
        filled("f09"),
        f"MERGE INTO {{c}}.mart.f09 t USING {C} s ON t.order_id = s.order_id"
        " WHEN MATCHED AND s.gone THEN DELETE WHEN MATCHED THEN UPDATE SET status = upper(s.status),"
        " amount = t.amount + s.amount"
        " WHEN NOT MATCHED THEN INSERT (order_id, status, amount) VALUES (s.order_id, s.status, s.amount)",
        (
            ("order_id", C, "order_id"),
            ("status", C, "status"),
            ("amount", C, "amount"),
            ("amount", "{c}.mart.f09", "amount"),
        ),
        (*GONE, ("*", "{c}.mart.f09", "order_id")),
    ),
    FormatJob(
        "f10",
        filled("f10"),
        f"MERGE INTO {{c}}.mart.f10 t USING (SELECT order_id, max(amount) AS most FROM {C} GROUP BY order_id) s"
        " ON t.order_id = s.order_id WHEN MATCHED THEN UPDATE SET t.amount = s.most",
        (("amount", C, "amount"),),
        (("*", C, "order_id"), ("*", "{c}.mart.f10", "order_id")),
    ),
    FormatJob(
        "f11",
        filled("f11"),
        f"MERGE INTO {{c}}.mart.f11 t USING {C} s ON t.order_id = s.order_id WHEN MATCHED THEN UPDATE SET *"
        " WHEN NOT MATCHED THEN INSERT *",
        (("order_id", C, "order_id"), ("status", C, "status"), ("amount", C, "amount")),
        (("*", C, "order_id"), ("*", "{c}.mart.f11", "order_id")),
    ),
    FormatJob(
        "f12",
        filled("f12"),
        "UPDATE {c}.mart.f12 SET amount = amount * 2, status = 'x' WHERE order_id = 1",
        (("amount", "{c}.mart.f12", "amount"),),
        (("*", "{c}.mart.f12", "order_id"),),
    ),
    FormatJob(
        "f13",
        filled("f13"),
        "DELETE FROM {c}.mart.f13 WHERE status = 'open' AND amount > 1",
        (),
        (("*", "{c}.mart.f13", "status"), ("*", "{c}.mart.f13", "amount")),
    ),
    FormatJob(
        "f14",
        filled("f14"),
        f"DELETE FROM {{c}}.mart.f14 WHERE order_id IN (SELECT order_id FROM {C} WHERE gone)",
        (),
        (*GONE, ("*", "{c}.mart.f14", "order_id")),
        only="iceberg",
    ),
    FormatJob(
        "f15",
        filled("f15"),
        "CREATE TABLE {c}.mart.f15b USING {f} AS SELECT order_id, amount FROM {c}.mart.f15"
        " VERSION AS OF {version:mart.f15}",
    ),
    FormatJob(
        "f16",
        (table("f16"),),
        f"INSERT INTO {{c}}.mart.f16 (amount, order_id) SELECT amount, order_id FROM {ORDERS}",
        only="delta",  # Iceberg takes no INSERT that leaves a column out
    ),
    FormatJob("f24", (), f"CREATE TABLE {{c}}.mart.f24 USING {{f}} AS SELECT * FROM {ORDERS} WHERE amount > 1"),
    FormatJob("f25", (), "CREATE TABLE {c}.mart.f25 USING {f} AS SELECT *, c1 + c2 AS both FROM {c}.sales.wide"),
    FormatJob(
        "f26",
        (*filled("f26"), "SET spark.databricks.delta.schema.autoMerge.enabled=true"),
        f"MERGE INTO {{c}}.mart.f26 t USING {C} s ON t.order_id = s.order_id"
        " WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
        tuple((name, C, name) for name in ("order_id", "status", "amount", "gone")),
        (("*", C, "order_id"), ("*", "{c}.mart.f26", "order_id")),
        only="delta",
    ),
    FormatJob(
        "f27",
        ("SET spark.databricks.delta.schema.autoMerge.enabled=false", table("f27")),
        "INSERT INTO {c}.mart.f27 BY NAME SELECT max(amount) AS amount, order_id, min(status) AS status"
        f" FROM {ORDERS} GROUP BY order_id",
    ),
    FormatJob(
        "f28",
        filled("f28"),
        f"MERGE INTO {{c}}.mart.f28 t USING {C} s ON t.order_id = s.order_id"
        " WHEN MATCHED THEN UPDATE SET status = s.status WHEN NOT MATCHED BY SOURCE AND t.amount > 1 THEN DELETE",
        (("status", C, "status"),),
        (("*", C, "order_id"), ("*", "{c}.mart.f28", "order_id"), ("*", "{c}.mart.f28", "amount")),
    ),
    FormatJob("f29", filled("f29"), "INSERT INTO {c}.mart.f29 SELECT order_id + 10, status, amount FROM {c}.mart.f29"),
    FormatJob(
        "f33",
        (),
        "CREATE OR REPLACE TABLE {c}.mart.f33 USING {f} AS SELECT status, sum(amount) AS total"
        f" FROM {ORDERS} GROUP BY status ORDER BY status",
    ),
    FormatJob(
        "f34",
        (table("f34"),),
        f"INSERT INTO {{c}}.mart.f34 SELECT order_id, status, amount FROM {ORDERS}"
        f" UNION ALL SELECT order_id, status, amount FROM {C}",
    ),
    FormatJob(
        "f35",
        filled("f35"),
        f"MERGE INTO {{c}}.mart.f35 t USING {C} s ON t.order_id = s.order_id WHEN MATCHED AND t.status = 'open'"
        " THEN UPDATE SET amount = t.order_id * t.amount + s.amount"
        " WHEN NOT MATCHED THEN INSERT (order_id, status, amount) VALUES (s.order_id, s.status, s.amount)",
        queries=(
            "SELECT t.order_id * t.amount + s.amount AS amount FROM {c}.mart.f35 t"
            f" JOIN {C} s ON t.order_id = s.order_id WHERE t.status = 'open'",
            f"SELECT s.order_id, s.status, s.amount FROM {C} s ANTI JOIN {{c}}.mart.f35 t ON t.order_id = s.order_id",
        ),
    ),
    FormatJob(
        "f36",
        filled("f36"),
        "UPDATE {c}.mart.f36 SET amount = order_id, status = concat(status, amount) WHERE amount > 1",
        queries=("SELECT order_id AS amount, concat(status, amount) AS status FROM {c}.mart.f36 WHERE amount > 1",),
    ),
    FormatJob(
        "f37",
        filled("f37"),
        f"UPDATE {{c}}.mart.f37 SET amount = order_id + 1, status = 'x' WHERE order_id IN (SELECT order_id FROM {C})",
        queries=(f"SELECT t.order_id + 1 AS amount FROM {{c}}.mart.f37 t SEMI JOIN {C} s ON t.order_id = s.order_id",),
        only="iceberg",
    ),
    FormatJob(
        "f38",
        (
            table("f38", "order_id BIGINT, amount DOUBLE, day DATE", "day"),
            f"INSERT INTO {{c}}.mart.f38 SELECT order_id, amount, day FROM {ORDERS}",
        ),
        "DELETE FROM {c}.mart.f38 WHERE day < DATE'2026-01-02'",
        (),
        (("*", "{c}.mart.f38", "day"),),
    ),
    FormatJob(
        "f39",
        filled("f39"),
        f"DELETE FROM {{c}}.mart.f39 AS t WHERE amount > (SELECT avg(amount) FROM {C} WHERE gone) OR EXISTS"
        f" (SELECT 1 FROM {ORDERS} o WHERE o.order_id = t.order_id AND o.customer_id > 1)",
        (),
        (
            ("*", C, "amount"),
            ("*", C, "gone"),
            ("*", ORDERS, "order_id"),
            ("*", ORDERS, "customer_id"),
            ("*", "{c}.mart.f39", "order_id"),
            ("*", "{c}.mart.f39", "amount"),
        ),
        only="iceberg",
    ),
    FormatJob(
        "f40",
        filled("f40"),
        f"MERGE INTO {{c}}.mart.f40 t USING {C} s ON t.order_id = s.order_id WHEN MATCHED AND s.gone THEN DELETE",
        (),
        (*GONE, ("*", "{c}.mart.f40", "order_id")),
    ),
    FormatJob("f41", filled("f41"), "DELETE FROM {c}.mart.f41", ()),
    FormatJob(
        "f42",
        filled("f42"),
        f"MERGE INTO {{c}}.mart.f42 t USING (SELECT order_id, amount FROM {C} WHERE NOT gone) s"
        " ON t.order_id = s.order_id WHEN MATCHED AND t.amount > s.amount THEN DELETE"
        " WHEN NOT MATCHED BY SOURCE AND t.status = 'x' THEN DELETE",
        (),
        (
            *GONE,
            ("*", C, "amount"),
            ("*", "{c}.mart.f42", "order_id"),
            ("*", "{c}.mart.f42", "amount"),
            ("*", "{c}.mart.f42", "status"),
        ),
    ),
    FormatJob(
        "f43",
        filled("f43"),
        f"MERGE INTO {{c}}.mart.f43 t USING (SELECT order_id, max(amount) AS most FROM {C} WHERE status <> 'q'"
        " GROUP BY order_id) s ON t.order_id = s.order_id WHEN MATCHED AND s.most < 0 THEN DELETE"
        " WHEN NOT MATCHED THEN INSERT (order_id, amount) VALUES (s.order_id, s.most)"
        " WHEN NOT MATCHED BY SOURCE AND t.amount > 9 THEN UPDATE SET status = 'old'",
        (("order_id", C, "order_id"), ("amount", C, "amount")),
        (
            ("*", C, "order_id"),
            ("*", C, "status"),
            ("*", C, "amount"),
            ("*", "{c}.mart.f43", "order_id"),
            ("*", "{c}.mart.f43", "amount"),
        ),
    ),
    FormatJob(
        "f44",
        filled("f44"),
        f"MERGE INTO {{c}}.mart.f44 t USING (SELECT order_id, amount FROM {C} WHERE NOT gone) s"
        " ON t.order_id = s.order_id WHEN NOT MATCHED THEN INSERT (order_id, amount) VALUES (s.order_id, s.amount)",
        (("order_id", C, "order_id"), ("amount", C, "amount")),
        (*GONE, ("*", "{c}.mart.f44", "order_id")),
    ),
    FormatJob(
        "m09",
        merge_on_read("m09"),
        f"MERGE INTO {{c}}.mart.m09 t USING {C} s ON t.order_id = s.order_id"
        " WHEN MATCHED AND s.gone THEN DELETE WHEN MATCHED THEN UPDATE SET status = upper(s.status),"
        " amount = t.amount + s.amount"
        " WHEN NOT MATCHED THEN INSERT (order_id, status, amount) VALUES (s.order_id, s.status, s.amount)",
        (
            ("order_id", C, "order_id"),
            ("status", C, "status"),
            ("amount", C, "amount"),
            ("amount", "{c}.mart.m09", "amount"),
        ),
        (*GONE, ("*", "{c}.mart.m09", "order_id")),
        only="iceberg",
    ),
    FormatJob(
        "m10",
        merge_on_read("m10"),
        f"MERGE INTO {{c}}.mart.m10 t USING (SELECT order_id, max(amount) AS most FROM {C} GROUP BY order_id) s"
        " ON t.order_id = s.order_id WHEN MATCHED THEN UPDATE SET t.amount = s.most",
        (("amount", C, "amount"),),
        (("*", C, "order_id"), ("*", "{c}.mart.m10", "order_id")),
        only="iceberg",
    ),
    FormatJob(
        "m12",
        merge_on_read("m12"),
        "UPDATE {c}.mart.m12 SET amount = amount * 2, status = 'x' WHERE order_id = 1",
        (("amount", "{c}.mart.m12", "amount"),),
        (("*", "{c}.mart.m12", "order_id"),),
        only="iceberg",
    ),
    FormatJob(
        "m13",
        merge_on_read("m13"),
        "DELETE FROM {c}.mart.m13 WHERE status = 'open' AND amount > 1 AND order_id = 2",
        (),
        tuple(("*", "{c}.mart.m13", name) for name in ("status", "amount", "order_id")),
        only="iceberg",
    ),
    FormatJob(
        "m14",
        merge_on_read("m14"),
        f"DELETE FROM {{c}}.mart.m14 WHERE order_id IN (SELECT order_id FROM {C} WHERE gone)",
        (),
        (*GONE, ("*", "{c}.mart.m14", "order_id")),
        only="iceberg",
    ),
    FormatJob(
        "m15",
        merge_on_read("m15"),
        f"UPDATE {{c}}.mart.m15 SET amount = 0 WHERE order_id IN (SELECT order_id FROM {C} WHERE gone)",
        (),
        (*GONE, ("*", "{c}.mart.m15", "order_id")),
        only="iceberg",
    ),
    FormatJob(
        "m39",
        merge_on_read("m39"),
        "DELETE FROM {c}.mart.m39 WHERE status = 'open' AND order_id NOT IN (SELECT max(order_id) FROM {c}.mart.m39"
        " GROUP BY status)",
        (),
        (("*", "{c}.mart.m39", "order_id"), ("*", "{c}.mart.m39", "status")),
        only="iceberg",
    ),
    FormatJob(
        "m40",
        merge_on_read("m40"),
        f"MERGE INTO {{c}}.mart.m40 t USING {C} s ON t.order_id = s.order_id WHEN MATCHED AND s.gone THEN DELETE",
        (),
        (*GONE, ("*", "{c}.mart.m40", "order_id")),
        only="iceberg",
    ),
    FormatJob(
        "i01",
        (table("i01"), "ALTER TABLE {c}.mart.i01 CREATE BRANCH audit"),
        f"INSERT INTO {{c}}.mart.i01.branch_audit SELECT order_id, status, amount FROM {ORDERS}",
        only="iceberg",
    ),
    FormatJob(
        "f23",
        (table("f23"),),
        f"INSERT INTO {{c}}.mart.f23 (amount, order_id, status) SELECT amount, order_id, lower(status) FROM {ORDERS}",
    ),
]

MAINTENANCE = {
    "delta": ("OPTIMIZE {c}.sales.orders", "RESTORE TABLE {c}.sales.changes TO VERSION AS OF 1"),
    "iceberg": (
        "CALL {c}.system.rewrite_data_files(table => 'sales.orders', options => map('rewrite-all', 'true'))",
        "CALL {c}.system.expire_snapshots(table => 'sales.orders')",
    ),
}
"""Statements that read and write a table's files, and move no rows from one table to another."""
