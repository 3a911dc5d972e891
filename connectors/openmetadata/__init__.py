"""OpenMetadata over REST: the client, and the sink that writes lineage with it."""
