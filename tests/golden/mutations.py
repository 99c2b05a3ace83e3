"""Do the records catch small errors? Ten are slipped into a copy of the package, one a room, and each must be caught.

    python -m tests.golden.mutations [WORD …]

A line for every error says which call caught it; the exit code is 1 where one was not caught. Words choose errors by
their rooms. In ``make verify``.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]


class Mutation(NamedTuple):
    """A line of a file of ``src/unskew``, and what it becomes: a number that differs by a millionth or so."""

    file: str
    before: str
    after: str


MUTATIONS = (
    Mutation("metrics/additive.py", "1.0 / np.log2(rank + 1.0)", "1.0 / np.log2(rank + 1.000001)"),
    Mutation("metrics/rating.py", "np.square(prediction - value)", "np.square(prediction - value + 1e-6)"),
    Mutation("propensity/popularity.py", "(used / unit) ** exponent", "(used / unit) ** (exponent + 1e-6)"),
    Mutation("propensity/naive_bayes.py", "(counts + self.smoothing) /", "(counts + self.smoothing + 1e-5) /"),
    Mutation("outcome/means.py", "size + self.shrink,", "size + self.shrink + 1e-5,"),
    Mutation("estimators/snips.py", "inverse = batch.inverse\n", "inverse = batch.inverse ** 1.000001\n"),
    Mutation("split/holdout.py", 'draws(log, "holdout", self.seed)', 'draws(log, "hold-out", self.seed)'),
    Mutation("sampling/weighted.py", "** self.item_power", "** (self.item_power + 0.05)"),
    Mutation("inference/ratio_form.py", "return np.sqrt(value)", "return np.sqrt(value) * 1.000001"),
    Mutation("auditing/spread.py", "max(float(places @ rows / (size * (rows @ number))), 0.0)",
             "max(float(places @ rows / (size * (rows @ number))), 0.0) + 1e-6"),
)  # fmt: skip


def caught(mutation: Mutation, package: Path) -> str | None:
    """The first recorded call that differs, in a copy of the package with this error."""
    file = package / mutation.file
    text, times = file.read_text(encoding="utf-8"), file.stat()
    if mutation.before not in text:
        raise SystemExit(f"{mutation.file} has no {mutation.before!r} any more: write this mutation anew")
    file.write_text(text.replace(mutation.before, mutation.after, 1), encoding="utf-8")
    try:
        command = [sys.executable, "-m", "pytest", "-qx", "-p", "no:cacheprovider", "tests/golden/test_golden.py"]
        paths = os.pathsep.join([str(package.parent), str(ROOT)])
        env = os.environ | {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
        printed = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False).stdout
    finally:
        file.write_text(text, encoding="utf-8")
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    found = re.search(r"^FAILED .*\[(.*?)\]", printed, re.M)
    if found is None and " passed" not in printed:
        raise SystemExit(f"{mutation.file}: the tests did not run:\n{printed[-2000:]}")
    return None if found is None else found[1]


def main(words: list[str]) -> int:
    """1 where an error was not caught."""
    missed = 0
    with tempfile.TemporaryDirectory(prefix="unskew-mutations-") as folder:
        package = Path(shutil.copytree(ROOT / "src" / "unskew", Path(folder) / "unskew"))
        for mutation in MUTATIONS:
            if words and not any(word in mutation.file for word in words):
                continue
            by = caught(mutation, package)
            missed += by is None
            told = "NOT CAUGHT" if by is None else f"caught by {by}"
            print(f"{mutation.file}: {mutation.before.strip()} → {mutation.after.strip()}: {told}", flush=True)
    print(f"{missed} not caught" if missed else "every error was caught")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
