"""Scripts of Flink SQL as a source."""
