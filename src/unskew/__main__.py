"""The command ``unskew``, also as ``python -m unskew``; Ctrl-C is answered from the first moment."""

from __future__ import annotations

import sys


def main() -> None:
    """Load the command line and run it."""
    try:
        from unskew.stopping import stop_on_signals

        stop_on_signals()
    except KeyboardInterrupt:
        sys.stderr.write("Stopped. Nothing was half-written.\n")
        sys.exit(130)
    from unskew.cli import main as run

    run()


if __name__ == "__main__":
    main()
