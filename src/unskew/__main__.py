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
    columns = os.environ.get("COLUMNS", "1")
    if not (columns.isascii() and columns.isdigit() and len(columns) < 5 and int(columns)):
        del os.environ["COLUMNS"]  # no width of a terminal: tables would take all memory, or show nothing
    try:
        _fill_closed_streams()
        from unskew.core.stopping import stop_on_signals

        stop_on_signals()
        from unskew.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("Stopped. Nothing was half-written.\n")
        sys.exit(130)
    except OSError as error:  # no file can be opened (ulimit -n), before a command begins
        sys.stderr.write(f"unskew cannot begin, the system refuses: {error.strerror}.\n")
        sys.exit(2)


def _fill_closed_streams() -> None:
    """Where a stream is closed (``2>&-``), its number leads nowhere, instead of to whatever is opened next."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # it gets the lowest number that is free


if __name__ == "__main__":
    main()
