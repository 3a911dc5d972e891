"""A dbt project as a source: its artifacts, or its own files, rendered."""
