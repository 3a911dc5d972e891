"""The first tier: sqlglot's tree, and texts that it refuses written so that it takes them."""
