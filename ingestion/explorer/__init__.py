"""The explorer: the page that shows lineage, as files to serve or as one page that needs no network.

It stands here, below everything that shows it, because a notebook's graph, the catalog's server and its export all
need the same page, and imports run down only. Reading its own package data is all that this package does with a disk.
"""

from ingestion.explorer.pages import ASSETS, POLICY, asset, hosted_page, self_contained_page

__all__ = ["ASSETS", "POLICY", "asset", "hosted_page", "self_contained_page"]
