"""The roastery: a small dbt project, and what a real dbt made of it (`make_artifacts.py`)."""

from pathlib import Path

PROJECT = Path(__file__).parent / "roastery"
BUILT = Path(__file__).parent / "built"
FRESHNESS = {
    "metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/sources/v3.json"},
    "results": [
        {
            "unique_id": "source.roastery.shop.orders",
            "status": "error",
            "max_loaded_at": "2026-01-04T10:00:00Z",
            "snapshotted_at": "2026-01-05T00:00:00Z",
        }
    ],
}
"""What `dbt source freshness` leaves, of one source."""
