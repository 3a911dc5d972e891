"""Searches narrowed by what is known of tables: tags, owners, producers, use, age."""
