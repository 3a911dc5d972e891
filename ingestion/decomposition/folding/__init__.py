"""Queries folded into rows over base tables: names resolved, joins and groups understood."""
