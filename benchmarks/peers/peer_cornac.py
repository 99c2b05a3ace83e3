"""cornac: ``MF``, stochastic gradient descent with offsets, ``FOLDER DIM EPOCHS``.

It tells no times of epochs: that of one is the difference between a long and a short fit, over their epochs.
"""

import sys
import time
from collections import OrderedDict
from pathlib import Path

import numpy as np
from cornac.data import Dataset  # type: ignore[import-not-found]
from cornac.models import MF  # type: ignore[import-not-found]

from peers.common import Taken, report

folder, dim, epochs = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
indptr, item, value = (np.load(folder / f"{n}.npy") for n in ("indptr", "item", "value"))
users, items = len(indptr) - 1, int(item.max()) + 1
user, item = np.repeat(np.arange(users), np.diff(indptr)), item.astype(np.int64)
names = (OrderedDict((code, code) for code in range(n)) for n in (users, items))
data = Dataset(users, items, *names, (user, item, value.astype(np.float32)), seed=0)


def fit(rounds: int) -> float:
    began = time.perf_counter()
    MF(k=dim, backend="cpu", max_iter=rounds, early_stop=False, use_bias=True, num_threads=0, seed=0).fit(data)
    return time.perf_counter() - began


fit(1)
short = fit(1)
report(Taken((fit(1 + epochs) - short) / epochs, 0.0), ("cornac", "numpy", "scipy"))
