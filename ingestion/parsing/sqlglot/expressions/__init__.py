"""Expressions of sqlglot's tree: text with slots, the role of each column, and how the type follows."""
