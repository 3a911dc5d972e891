"""The values that every other room speaks: names, columns and lineage, entities, what was said of an edge, what is
asked of a platform.
"""
