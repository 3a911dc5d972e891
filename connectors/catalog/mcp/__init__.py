"""The questions to a catalog for language models: read-only, each answer in a budget."""
