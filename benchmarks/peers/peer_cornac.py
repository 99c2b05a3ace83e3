"""cornac: ``MF``, stochastic gradient descent with offsets, ``FOLDER DIM EPOCHS``.

It tells no times of epochs: that of one is the difference between a long and a short fit, over their epochs. The fits
leave every hundredth rating out and say how well they predict it.
"""

import sys
from collections import OrderedDict
from pathlib import Path

import numpy as np
from cornac.data import Dataset
from cornac.models import MF

from peers.common import Taken, Watch, report

folder, dim, epochs = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
indptr, item, value = (np.load(folder / f"{n}.npy") for n in ("indptr", "item", "value"))
users, items = len(indptr) - 1, int(item.max()) + 1
user, item = np.repeat(np.arange(users), np.diff(indptr)), item.astype(np.int64)
names = (OrderedDict((code, code) for code in range(n)) for n in (users, items))
held = np.arange(len(value)) % 100 == 0
data = Dataset(users, items, *names, (user[~held], item[~held], value[~held].astype(np.float32)), seed=0)
user, item, value = user[held], item[held], value[held]


def fit(rounds: int) -> tuple[Taken, float]:
    watch = Watch()
    model = MF(k=dim, backend="cpu", max_iter=rounds, early_stop=False, use_bias=True, num_threads=0, seed=0).fit(data)
    taken = watch.read()
    guess = np.einsum("ij,ij->i", model.u_factors[user], model.i_factors[item])
    guess += model.global_mean + model.u_biases[user] + model.i_biases[item]
    return taken, float(np.sqrt(np.mean((guess - value) ** 2)))


fits = {rounds: fit(rounds) for rounds in (1, 1 + epochs, 5 * epochs)}
short, long = fits[1][0], fits[1 + epochs][0]
epoch = Taken(*((b - a) / epochs for a, b in zip(short, long, strict=True)))
quality = [(rounds, *taken, rmse) for rounds, (taken, rmse) in fits.items()]
report(epoch, ("cornac", "numpy", "scipy"), quality=quality)
