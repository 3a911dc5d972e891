"""Third stage: the runs of each statement, grouped by what they mean."""
