"""`python -m workflows`: the command line, whatever the environment's PATH."""

from workflows.cli import main

main()
