"""Configurations of Kafka Connect: which tables go into which topics, and which topics into which tables."""
