"""Entity lineage: the metrics that queries compute, the views they read, and the dimensions they are split by."""
