"""``python -m unskew`` is the command ``unskew``."""

from unskew.cli import main

main()
