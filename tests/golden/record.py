"""Record results anew, and print what changed.

python -m tests.golden.record                      all of them
python -m tests.golden.record --estimates          values, weights, counts, codes of refusals
python -m tests.golden.record --judgements         intervals, p-values, words, tipping points
python -m tests.golden.record --only "answers"     calls whose theme or name has these letters
"""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser

from tests.golden import records
from tests.golden.calls import THEMES, run

MOST_LINES = 12


def main(arguments: list[str]) -> int:
    """How many calls changed is printed; the exit code is 0."""
    parser = ArgumentParser(prog="python -m tests.golden.record", description="Record results anew.")
    for kind in records.KINDS:
        parser.add_argument(f"--{kind}", action="store_true", help=f"only {kind}")
    parser.add_argument("--only", default="", help="only calls whose theme or name has these letters")
    asked = parser.parse_args(arguments)
    kinds = [kind for kind in records.KINDS if getattr(asked, kind)] or list(records.KINDS)
    count = changed = 0
    for theme, calls in THEMES.items():
        chosen = {name: call for name, call in calls.items() if asked.only in f"{theme}: {name}"}
        old = {kind: records.read(kind, theme) for kind in kinds}
        new = {kind: {name: found for name, found in old[kind].items() if name in calls} for kind in kinds}
        for name, call in chosen.items():
            begun = time.perf_counter()
            found = records.plain(run(call))
            if (took := time.perf_counter() - begun) > 2.0:
                print(f"{theme}: {name} took {took:.1f} s")
            lines = []
            for kind in kinds:
                new[kind][name] = found[kind]
                known = old[kind].get(name)
                lines += ["/new"] if known is None else records.differences(known, found[kind], f"/{kind}")
            count, changed = count + 1, changed + bool(lines)
            for line in lines[:MOST_LINES]:
                print(f"{theme}: {name}{line}")
        for kind in kinds:
            records.write(kind, theme, new[kind])
    print(f"{count} calls, {changed} changed")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
