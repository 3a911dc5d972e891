"""Fourth stage: statements bound to each other over time, when schemas are known."""
