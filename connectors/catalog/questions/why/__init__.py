"""Why a table or a column is wrong: what happened upstream of it, ranked by how well it explains what tests tell."""
