"""Metrics of a query log: its SELECTs counted by who ran them, taken apart once, and filed."""
