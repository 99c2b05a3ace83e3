"""The command ``unskew``, also as ``python -m unskew``; Ctrl-C is answered from the first moment."""

from __future__ import annotations

import sys


def main() -> None:
    """Load the command line and run it."""
    try:
        from unskew.cli import main as run

        run()
    except KeyboardInterrupt:  # while modules are loaded; later the commands say it themselves
        sys.stderr.write("Stopped. Nothing was half-written.\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
