"""Query logs, files and tables, to records on Spark: it knows no platform by name."""
