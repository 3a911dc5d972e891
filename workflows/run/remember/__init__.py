"""Last stage: what the next run need not do again."""
