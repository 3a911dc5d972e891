"""Lists of edges that people keep in spreadsheets, as a source."""
