"""LookML projects as a source: views, explores and dashboards by their files."""
