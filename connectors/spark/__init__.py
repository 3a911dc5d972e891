"""Spark: the event logs of its applications, and the catalogs of its sessions."""
