"""Sixth stage: what a log says goes to the sink, and what else is filed beside it."""
