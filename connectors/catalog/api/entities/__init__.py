"""The calls of collections of entities, one module per family of calls."""
