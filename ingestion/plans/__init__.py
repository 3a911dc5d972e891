"""The plans that Spark prints, to the same lineage that statements give: `lineage`, `writes`, `names`, `cache`,
`rendering`.
"""
