"""The commits of tables in Delta Lake and Apache Iceberg, as their own logs have them, as a source."""
