"""Finding entities the way the platform's search service does."""
