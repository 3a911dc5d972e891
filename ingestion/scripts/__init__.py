"""Files of SQL: their statements, what they export, and the explanation of one column."""
