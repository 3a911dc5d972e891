"""Power BI's projects as a source: semantic models and reports by their files."""
