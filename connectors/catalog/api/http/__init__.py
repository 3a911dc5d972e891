"""What every call is given, and how it answers."""
