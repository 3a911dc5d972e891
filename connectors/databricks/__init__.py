"""Unity Catalog's external lineage, as a sink: the edges that cross its border, over a workspace's REST API."""
