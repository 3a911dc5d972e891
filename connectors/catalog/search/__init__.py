"""Finding entities: by name, by what is known of them, and as the platform's search service does."""
