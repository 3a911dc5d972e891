"""Exports of warehouses in the cloud."""
