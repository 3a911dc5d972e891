"""The catalog's tables: one SQLite file, split by subject."""
