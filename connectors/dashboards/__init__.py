"""What the dashboard tools have in common: their settings, reading of their exports, queries, records."""
