"""The embedded catalog: a metadata platform's REST API for lineage over one SQLite file."""
