"""cornac: the families of gs23, ``FOLDER FAMILY DIM EPOCHS RATE PENALTY``; one thread, as with a seed of its own."""

import sys
from collections import OrderedDict
from pathlib import Path

import numpy as np
from cornac.data import Dataset
from cornac.models import BPR, MF, MMMF, NMF, PMF, SVD

from peers.common import Watch, report
from peers.found_again import recall

folder, family, dim, epochs = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
rate, penalty = float(sys.argv[5]), float(sys.argv[6])
user, item = (np.load(folder / f"{name}.npy") for name in ("user", "item"))
users, items = int(user.max()) + 1, int(item.max()) + 1
names = (OrderedDict((code, code) for code in range(n)) for n in (users, items))
data = Dataset(users, items, *names, (user, item, np.ones(len(user), dtype=np.float32)), seed=0)
common = {"k": dim, "max_iter": epochs, "seed": 0, "verbose": False}
steps = {"learning_rate": rate, "lambda_reg": penalty}
made = {
    "plain_mf": lambda: MF(use_bias=False, **common, **steps),
    "biased_mf": lambda: SVD(**common, **steps),
    "pmf linear": lambda: PMF(variant="linear", **common, **steps),
    "pmf nonlinear": lambda: PMF(variant="non_linear", **common, **steps),
    "nmf": lambda: NMF(lambda_u=penalty, lambda_v=penalty, **common),
    "mmmf": lambda: MMMF(num_threads=1, **common, **steps),
    "bpr": lambda: BPR(num_threads=1, **common, **steps),
}
model = made[family]()
watch = Watch()
model.fit(data)
taken = watch.read()
left, right = (model.U, model.V) if family.startswith("pmf") else (model.u_factors, model.i_factors)
offsets = 0.0 if family in ("plain_mf", "nmf") or family.startswith("pmf") else model.i_biases
finite = bool(np.isfinite(left).all() and np.isfinite(right).all())
report(taken, ("cornac", "numpy"), recall=recall(folder, left, right, offsets) if finite else None)
