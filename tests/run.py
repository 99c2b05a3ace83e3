"""Run the whole suite from an empty numba cache, so that no kernel is taken from an earlier compilation."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

with tempfile.TemporaryDirectory(prefix="unskew-numba-") as cache:
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    command = [sys.executable, "-m", "pytest", "-n", "auto", "--dist", "worksteal", *sys.argv[1:]]
    sys.exit(subprocess.call(command, env=environment))
