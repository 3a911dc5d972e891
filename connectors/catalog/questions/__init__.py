"""Questions to a catalog: a question in, an answer of values out."""
