"""Apache Superset as a source: its exports and its REST API."""
