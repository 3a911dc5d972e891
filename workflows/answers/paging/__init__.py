"""Answers of any length in pages of a bounded size, with names and texts of others as data."""
