"""The explorer: the page that shows a catalog's lineage, served or as one file."""
