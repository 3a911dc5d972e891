"""What the sample log's lineage is: written down by hand, held against PostgreSQL by test_sample_lineage.py.

Names are schema.table as PostgreSQL folds them. Temporary tables are folded away; a redefined view has its last
definition; the failed statement and the truncated one give nothing.
"""

from __future__ import annotations

from pathlib import Path

SAMPLE = Path(__file__).parents[2] / "config" / "sample"
DATABASE = "shopdb"
RECORDS = 65
STATEMENTS = 68
"""Records may hold several statements."""
TRUNCATED = "mart.payment_gaps"
"""The target of the statement that the log cut: no parser may make anything of it."""
FAILED = 1
PATH_EDGE = ("/srv/imports/orders_2026-11-18.csv", "staging.raw_orders")
"""What COPY loads."""
TEMPORARY = ("recent", "enriched")
"""Two sessions have a table `recent` each: payments must not reach sales, nor orders the fees."""
SECRETS = (
    "Winter-2026", "Spring-2027", "sk_live_9aF27cQx51TzLr80", "p3pp3r-77f2", "pepper-5f4dcc3b5aa7",
    "tok_live_4242424242424242", "jane.doe@example.com",
)  # fmt: skip
"""Literals of the log that must not leave by any way out."""

SOURCES: dict[str, set[str]] = {
    "mart.info": {"shop.customers", "shop.orders", "mart.webact"},
    "mart.webact": {"mart.webinfo", "shop.web"},
    "mart.webinfo": {"shop.customers", "shop.web"},
    "mart.payment_mix": {"shop.payments"},
    "mart.daily_sales": {"shop.orders", "shop.customers"},
    "mart.sales_by_city": {"shop.orders", "shop.customers"},
    "mart.fees": {"shop.payments"},
    "staging.orders_import": {"staging.raw_orders"},
    "staging.clean_orders": {"staging.orders_import", "shop.customers", "shop.exchange_rates"},
    "mart.import_quality": {"staging.clean_orders"},
    "mart.customer_dim": {"shop.customers", "shop.orders"},
    "mart.product_margin": {"shop.products"},
    "mart.best_customers": {"shop.orders", "shop.order_items", "shop.customers"},
    "mart.orders_2025": {"shop.orders"},
    "mart.basket": {"shop.order_items", "shop.orders", "shop.products"},
    "mart.category_paths": {"shop.categories"},
    "mart.store_turnover": {"shop.orders"},
    "mart.stock_level": {"shop.stock"},
    "mart.monthly_sales": {"mart.daily_sales", "shop.stores"},
    "mart.late_payments": {"shop.orders", "shop.payments"},
    "mart.active_customers": {"shop.customers", "shop.orders"},
    "mart.Customer Report": {"mart.customer_dim", "mart.best_customers"},
    "mart.card_payments": {"shop.payments"},
    "mart.order_overview": {"shop.orders", "shop.stores", "shop.payments", "shop.order_items"},
    "mart.contacts": {"shop.customers", "shop.suppliers"},
    "mart.never_sold": {"shop.products", "mart.category_paths", "shop.order_items"},
    "mart.store_report": {"mart.store_turnover", "shop.stores"},
}
"""By target: every other table that it is made from."""

FED_BY_THEMSELVES = ("mart.customer_dim", "mart.fees", "mart.stock_level")
"""A MERGE, a DELETE with a condition and an upsert read what their own table holds."""
TABLE_EDGES = frozenset((source, target) for target, sources in SOURCES.items() for source in sources) | {
    (table, table) for table in FED_BY_THEMSELVES
}

_DIRECT: dict[str, dict[str, str]] = {
    "mart.info": {
        "name": "shop.customers.name", "age": "shop.customers.age", "oid": "shop.orders.oid",
        "wcid": "mart.webact.wcid", "wdate": "mart.webact.wdate", "wpage": "mart.webact.wpage",
        "wreg": "mart.webact.wreg",
    },
    "mart.webact": {
        "wcid": "mart.webinfo.wcid shop.web.cid", "wdate": "mart.webinfo.wdate shop.web.date",
        "wpage": "mart.webinfo.wpage shop.web.page", "wreg": "mart.webinfo.wreg shop.web.reg",
    },
    "mart.webinfo": {
        "wcid": "shop.customers.cid", "wdate": "shop.web.date", "wpage": "shop.web.page", "wreg": "shop.web.reg",
    },
    "mart.payment_mix": {"method": "shop.payments.method", "amount": "shop.payments.amount", "payments": ""},
    "mart.daily_sales": {
        "day": "shop.orders.ordered_at", "store_id": "shop.orders.store_id", "orders": "", "gross": "shop.orders.total",
    },
    "mart.sales_by_city": {
        "country": "shop.customers.country", "city": "shop.customers.city", "turnover": "shop.orders.total",
    },
    "mart.fees": {
        "day": "shop.payments.paid_at", "method": "shop.payments.method", "fee": "shop.payments.amount",
        "payments": "shop.payments.payment_id",
    },
    "staging.orders_import": {
        "oid": "staging.raw_orders.order_ref", "cid": "staging.raw_orders.customer_ref",
        "ordered_at": "staging.raw_orders.placed", "amount": "staging.raw_orders.amount",
    },
    "staging.clean_orders": {
        "oid": "staging.orders_import.oid", "cid": "shop.customers.cid", "country": "shop.customers.country",
        "amount_eur": "staging.orders_import.amount shop.exchange_rates.rate",
        "ordered_at": "staging.orders_import.ordered_at",
    },
    "mart.import_quality": {
        "orders": "", "newest": "staging.clean_orders.ordered_at", "complete": "staging.clean_orders.country",
    },
    "mart.customer_dim": {
        "customer_id": "shop.customers.cid", "full_name": "shop.customers.name", "mail": "shop.customers.email",
        "town": "shop.customers.city", "first_order": "shop.orders.ordered_at", "lifetime_value": "shop.orders.total",
        "segment": "",
    },
    "mart.product_margin": {
        "product_id": "shop.products.product_id", "price": "shop.products.price",
        "margin": "shop.products.price shop.products.cost", "product_name": "shop.products.name",
    },
    "mart.best_customers": {
        "cid": "shop.orders.cid", "place": "",
        "spent": "shop.order_items.quantity shop.order_items.unit_price shop.order_items.discount",
        "name": "shop.customers.name", "country": "shop.customers.country",
    },
    "mart.orders_2025": {
        "oid": "shop.orders.oid", "cid": "shop.orders.cid", "store_id": "shop.orders.store_id",
        "ordered_at": "shop.orders.ordered_at", "status": "shop.orders.status", "total": "shop.orders.total",
    },
    "mart.basket": {
        "oid": "shop.order_items.oid", "line_no": "shop.order_items.line_no",
        "product_id": "shop.order_items.product_id", "quantity": "shop.order_items.quantity",
        "unit_price": "shop.order_items.unit_price", "discount": "shop.order_items.discount",
        "ordered_at": "shop.orders.ordered_at", "product": "shop.products.name",
        "category_id": "shop.products.category_id",
    },
    "mart.category_paths": {"category_id": "shop.categories.category_id", "path": "shop.categories.name"},
    "mart.store_turnover": {"store_id": "shop.orders.store_id", "turnover": "shop.orders.total"},
    "mart.stock_level": {
        "product_id": "shop.stock.product_id", "store_id": "shop.stock.store_id", "on_hand": "shop.stock.on_hand",
        "counted_at": "shop.stock.counted_at",
    },
    "mart.monthly_sales": {
        "month": "mart.daily_sales.day", "region": "shop.stores.region", "gross": "mart.daily_sales.gross",
        "orders": "mart.daily_sales.orders",
    },
    "mart.late_payments": {
        "oid": "shop.orders.oid", "cid": "shop.orders.cid", "total": "shop.orders.total",
        "days": "shop.payments.paid_at shop.orders.ordered_at",
    },
    "mart.active_customers": {
        "cid": "shop.customers.cid", "name": "shop.customers.name", "last_seen": "shop.orders.ordered_at",
        "spent": "shop.orders.total",
    },
    "mart.Customer Report": {
        "Full Name": "mart.customer_dim.full_name", "Value": "mart.customer_dim.lifetime_value",
        "Place": "mart.best_customers.place",
    },
    "mart.card_payments": {
        "payment_id": "shop.payments.payment_id", "amount": "shop.payments.amount", "card": "shop.payments.card_token",
    },
    "mart.order_overview": {
        "oid": "shop.orders.oid", "total": "shop.orders.total", "store": "shop.stores.name",
        "paid_at": "shop.payments.paid_at", "lines": "shop.order_items.line_no",
    },
    "mart.contacts": {
        "name": "shop.customers.name shop.suppliers.name", "email": "shop.customers.email shop.suppliers.mail",
        "kind": "",
    },
    "mart.never_sold": {
        "product_id": "shop.products.product_id", "name": "shop.products.name", "path": "mart.category_paths.path",
    },
    "mart.store_report": {
        "name": "shop.stores.name", "region": "shop.stores.region", "turnover": "mart.store_turnover.turnover",
    },
}  # fmt: skip


def _column_edges() -> frozenset[tuple[str, str, str, str]]:
    edges = set()
    for target, columns in _DIRECT.items():
        for column, sources in columns.items():
            for source in sources.split():
                table, _, source_column = source.rpartition(".")
                edges.add((table, source_column, target, column))
    return frozenset(edges)


COLUMNS: dict[str, list[str]] = {target: list(columns) for target, columns in _DIRECT.items()}
"""By target: its columns."""

COLUMN_EDGES = _column_edges()
"""All direct ones: (source table, its column, target table, its column)."""
