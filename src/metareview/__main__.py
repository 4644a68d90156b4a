"""`python -m metareview`."""

from metareview.cli import main

main()
