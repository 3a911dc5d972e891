"""Metabase as a source: its serialized export and its REST API."""
