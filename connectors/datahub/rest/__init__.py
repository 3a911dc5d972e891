"""DataHub over REST, by its own emitter."""
