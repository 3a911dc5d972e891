"""YAML and JSON read with the line of every key: document, references."""
