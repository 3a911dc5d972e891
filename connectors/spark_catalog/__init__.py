"""Spark's own catalogs as a source: the views that are defined in them, and the columns of what those read."""

from connectors.spark_catalog.catalog import SparkCatalog

__all__ = ["SparkCatalog"]
