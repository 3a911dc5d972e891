"""Exports of query engines, and of catalogs."""
