"""A statement to relational form, without any schema: tiers of parsers, each in processes that can be killed."""
