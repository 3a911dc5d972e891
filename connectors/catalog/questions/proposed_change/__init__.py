"""What a change of SQL would do downstream, were it run."""
