"""The commands: each a file with its options, one call and one rendering."""
