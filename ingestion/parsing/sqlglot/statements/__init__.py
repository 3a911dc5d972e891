"""Statements of sqlglot's tree, each by its kind, and those that it leaves as tokens."""
