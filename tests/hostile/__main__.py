"""``python -m tests.hostile``: run the campaign, print what was found, keep the files of whatever went wrong."""

from __future__ import annotations

import argparse
import secrets
import sys
import tempfile
from pathlib import Path

from tests.hostile.campaign import KINDS, Campaign
from tests.hostile.tables import show


def main() -> int:
    """Parse the options, run, print; 1 if anything was neither clean nor right."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.add_argument("--inputs", type=int, default=2000, help="how many inputs, over all kinds")
    parser.add_argument("--seed", type=int, default=0, help="which inputs")
    parser.add_argument("--fresh", action="store_true", help="a seed that nobody has seen")
    parser.add_argument("--only", action="append", choices=sorted(KINDS), help="only this kind; repeat")
    parser.add_argument("--index", type=int, help="only this input of the kind, whose files are kept")
    parser.add_argument("--jobs", type=int, default=2, help="workers side by side")
    parser.add_argument("--keep", type=Path, help="where the files of failures are kept")
    given = parser.parse_args()
    seed = secrets.randbelow(10**9) if given.fresh else given.seed
    keep = given.keep or Path(tempfile.mkdtemp(prefix=f"hostile-{seed}-"))
    keep.mkdir(parents=True, exist_ok=True)
    campaign = Campaign(seed, keep.resolve(), given.jobs, always_keep=given.index is not None)
    findings = campaign.run(given.inputs, given.only, given.index)
    print(show(findings, seed, keep))
    return 0 if findings.good else 1


if __name__ == "__main__":
    sys.exit(main())
