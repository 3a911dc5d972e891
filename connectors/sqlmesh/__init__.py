"""A SQLMesh project as a source: its models, by SQLMesh where it is installed, by rules of our own where not."""
