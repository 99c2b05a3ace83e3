"""Write the numbers of README and docs by the commands that make them: ``make docs-numbers``.

    python docs/renew.py [--check] [--long] [--only WORD]

A region of a page holds what a command prints, run from the root of the repository:

    <!-- made by: python docs/coat_case.py -->
    …
    <!-- end -->

Inside a sentence stands a single number, by a name of ``docs/cited.py``, which takes it from stored results:

    <!--= coat.naive -->1.129<!--=-->

``--check`` writes nothing, shows what differs and exits with 1 (``make verify``). A command that takes long says so,
``<!-- made by: python -m tests.anchored.study 400 (20 minutes) -->``, and is run with ``--long`` only.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
REGION = re.compile(
    r"(?P<open><!-- made by: (?P<command>[^\n]*?)(?P<long> \(\d+ (?:minutes|hours)\))? -->\n)"
    r"(?P<text>.*?)(?P<close>\n<!-- end -->)",
    re.S,
)
NUMBER = re.compile(r"(?P<open><!--= (?P<name>[\w.]+) -->)(?P<text>.*?)(?P<close><!--=-->)", re.S)
PERCENT = re.compile(r"(?<=\d)%")


@cache
def printed(command: str) -> str:
    """What a command prints, with a space before every per-cent sign as in the pages."""
    words = shlex.split(command)
    if words[0] == "python":
        words[0] = sys.executable
    elif words[0] == "unskew":
        words = [sys.executable, "-m", *words]
    print(f"running {command} ...", file=sys.stderr, flush=True)
    plain = os.environ | {"COLUMNS": "120", "TERM": "dumb", "NO_COLOR": "1"}
    done = subprocess.run(words, cwd=ROOT, env=plain, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{command} failed:\n{done.stderr or done.stdout}")
    return PERCENT.sub(" %", done.stdout.strip())


def renewed(text: str, *, long: bool, only: str, cited: Callable[[str], str]) -> str:
    """The page with its regions and numbers made anew."""

    def region(found: re.Match[str]) -> str:
        if (found["long"] and not long) or only not in found["command"]:
            return found[0]
        return found["open"] + printed(found["command"]) + found["close"]

    def number(found: re.Match[str]) -> str:
        return found["open"] + cited(found["name"]) + found["close"] if only in found["name"] else found[0]

    return NUMBER.sub(number, REGION.sub(region, text))


def main() -> None:
    """Renew the pages, or check them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 where a page differs")
    parser.add_argument("--long", action="store_true", help="also commands that take minutes or hours")
    parser.add_argument("--only", default="", metavar="WORD", help="commands and names that hold this word")
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    from docs.cited import cited

    stale = 0
    for page in (ROOT / "README.md", *sorted(HERE.rglob("*.md"))):
        before = page.read_text(encoding="utf-8")
        after = renewed(before, long=options.long, only=options.only, cited=cited)
        if after == before:
            continue
        stale += 1
        name = str(page.relative_to(ROOT))
        if options.check:
            print(
                "\n".join(difflib.unified_diff(before.splitlines(), after.splitlines(), name, name, lineterm="", n=0))
            )
        else:
            page.write_text(after, encoding="utf-8")
            print(f"wrote {name}")
    if options.check and stale:
        raise SystemExit(f"{stale} pages hold numbers that their commands do not print. Run: make docs-numbers")
    print(f"{stale} pages changed" if stale else "every number is as its command prints it")


if __name__ == "__main__":
    main()
