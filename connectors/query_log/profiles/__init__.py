"""What platforms export as their query log: one file for each exporter, as data."""
