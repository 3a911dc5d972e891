"""Parser processes: what they and their owner say to each other, and how they are killed."""
