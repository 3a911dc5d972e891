"""The relational form of a statement to its symbolic lineage: `form`, `roles`, `analyzer`, and `symbolic`, its
bytes.
"""
