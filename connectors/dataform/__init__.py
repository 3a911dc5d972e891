"""A Dataform project as a source: the graph that its own compiler writes as JSON."""
