"""Documents that lineage is drawn from: cards and edges, what lies around them, and what they were."""
