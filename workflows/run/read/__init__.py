"""First stage: the source's records as statements, on Spark."""
