"""What a log tells of loads beyond that they ran: which failed, and how many rows the others wrote."""
