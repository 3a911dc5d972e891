"""The catalog's memory: one SQLite file, split by subject."""
