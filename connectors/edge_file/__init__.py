"""A list of edges in a file, as a sink: what a run publishes, for a spreadsheet."""
