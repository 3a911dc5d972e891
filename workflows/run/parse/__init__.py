"""Second stage: each distinct statement parsed once."""
