"""Commands that ask a catalog, or change what it says."""
