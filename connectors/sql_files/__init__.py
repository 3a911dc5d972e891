"""SQL files and dbt projects, read as scripts: their lineage, their metrics, what changes between two of them."""
