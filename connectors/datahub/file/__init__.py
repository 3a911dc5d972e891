"""A file of proposals that DataHub ingests."""
