"""Run the whole suite from an empty numba cache, so that no kernel is taken from an earlier compilation.

Whole files go to the workers, so that what the tests of a file share is made once, and the long files go first
(``conftest.py``), so that no worker waits long for another.

``--quick`` runs the tests that look at every part without worlds, processes or browsers, with kernels as they are kept.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

QUICK = (
    "tests/test_rooms.py", "tests/test_spec.py", "tests/test_bounds.py", "tests/test_plain.py",
    "tests/refusals/test_cells.py",
    "tests/refusals/test_ways_out.py", "tests/kernels", "tests/identities/test_between_estimators.py", "tests/split",
    "tests/inference/test_student.py", "tests/inference/test_contrast.py", "tests/inference/test_moments.py",
    "tests/outside", "tests/report/test_words.py",
)  # fmt: skip


def main(arguments: list[str]) -> int:
    """The exit code of pytest."""
    command = [sys.executable, "-m", "pytest", "-n", "auto", "--dist", "loadfile", "--no-loadscope-reorder"]
    if "--quick" in arguments:
        others = [word for word in arguments if word != "--quick"]
        return subprocess.call([*command, "-q", *QUICK, *others])
    with tempfile.TemporaryDirectory(prefix="unskew-numba-") as cache:
        return subprocess.call([*command, *arguments], env={**os.environ, "NUMBA_CACHE_DIR": cache})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
