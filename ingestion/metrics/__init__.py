"""Queries taken apart into a view, measures and dimensions: what an entity of a semantic layer is made of."""
