"""``python -m unskew.cli`` is ``unskew``."""

from unskew.cli import main

main()
