"""dbt's artifacts that lie elsewhere, brought to this machine's disk for as long as they are read."""
