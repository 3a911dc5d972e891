"""DataHub, over REST or by a file that its own ingestion takes."""
