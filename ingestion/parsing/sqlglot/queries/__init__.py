"""Queries of sqlglot's tree: their select lists, relations, clauses and table functions."""
