"""Texts that sqlglot refuses, edited by their tokens so that it takes them: the lineage stays the same."""
