"""The explorer over a catalog: served at `/`, and exported to a file."""
