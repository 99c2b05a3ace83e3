"""The command ``unskew``, also as ``python -m unskew``; Ctrl-C is answered from the first moment.

No module is taken from the working folder, where files of others may lie: neither here (``python -m`` puts it first,
and has looked there for a few of its own by now) nor by processes that are started.
"""

from __future__ import annotations

import os
import sys

if __name__ == "__main__" and not sys.flags.safe_path and sys.path[0] != os.path.dirname(os.path.dirname(__file__)):
    del sys.path[0]


def main() -> None:
    """Load the command line and run it."""
    os.environ["PYTHONSAFEPATH"] = "1"
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
