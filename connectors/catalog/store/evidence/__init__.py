"""What happened to tables, and when: what a search for the cause of bad data asks of the store."""
