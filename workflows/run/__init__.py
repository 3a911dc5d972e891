"""One run: its stages in order (pipeline), where they run (execution), and a folder for each of them."""
