"""What is remembered from run to run, the journal of what was read among it, and what that tells a monitor."""
