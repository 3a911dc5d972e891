"""Contracts on data as files of the Open Data Contract Standard: what they promise, and a table written as one."""
