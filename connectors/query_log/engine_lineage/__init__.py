"""What engines themselves record of lineage, beside or in place of the text: one module for each of their forms."""
