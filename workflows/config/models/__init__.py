"""The keys of the YAML as frozen models."""
