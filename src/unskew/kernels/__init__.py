"""How is it computed fast? Compiled functions on arrays only; nothing here knows of files or frames."""

import os

try:
    _usable = int(os.environ.get("NUMBA_NUM_THREADS", "1")) > 0
except ValueError:
    _usable = False
if not _usable:  # numba would not be imported; kernels use none of its threads
    del os.environ["NUMBA_NUM_THREADS"]
