"""The tiers for what sqlglot refuses: sqlfluff's tree, then sqlparse's tokens."""
