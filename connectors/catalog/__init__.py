"""The embedded catalog: a metadata platform's REST API for lineage over one SQLite file."""

from connectors.catalog.http.server import CatalogAddress, CatalogConfig, running_catalog, serve

__all__ = ["CatalogAddress", "CatalogConfig", "running_catalog", "serve"]
