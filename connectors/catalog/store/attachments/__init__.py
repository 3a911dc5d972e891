"""What hangs on entities beside their documents: counts of use, joins, rows."""
