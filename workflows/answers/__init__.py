"""What a catalog and a text of SQL say, in answers of a bounded size: for language models, prompts and terminals."""
