"""From the columns of any input to records: which profile fits, what its values say."""
