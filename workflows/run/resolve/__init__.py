"""Fifth stage: names become the entities of the target."""
