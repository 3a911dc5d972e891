"""Exports of database servers."""
