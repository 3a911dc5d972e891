"""Symbolic lineage to flows between relations: what names mean over time, schemas, temporary tables."""
