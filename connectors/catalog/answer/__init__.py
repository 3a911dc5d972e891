"""One answer and its renderings: text, Markdown, JSON, table, with one budget and one cursor."""
