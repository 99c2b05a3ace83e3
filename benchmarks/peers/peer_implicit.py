"""implicit: alternating least squares, ``FOLDER DIM EPOCHS cg|exact``; seconds of every epoch as one JSON line."""

import sys
import time
from pathlib import Path

import implicit
import numpy as np
from scipy import sparse

from peers.common import Taken, report

folder, dim, epochs, solver = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
indptr, item, value, propensity = (np.load(folder / f"{n}.npy") for n in ("indptr", "item", "value", "propensity"))
confidence = (value / propensity).astype(np.float32)
ratings = sparse.csr_matrix((confidence, item, indptr), (len(indptr) - 1, int(item.max()) + 1))
seconds: list[float] = []
cpu = [time.process_time()]


def note(epoch: int, elapsed: float, loss: object) -> None:
    seconds.append(elapsed)
    cpu.append(time.process_time())


model = implicit.cpu.als.AlternatingLeastSquares(
    factors=dim, iterations=epochs, use_cg=solver == "cg", num_threads=0, dtype=np.float32, random_state=0
)
model.fit(ratings, show_progress=False, callback=note)
report(Taken(float(np.median(seconds)), float(np.median(np.diff(cpu)))), ("implicit", "numpy", "scipy"))
