"""Factor models on ML-100K and Coat: what they reach beside LightFM, and how long they take.

ML-100K as in LightFM's example: every rating is a positive, ten per user are held out, nothing is left out of lists.
Coat as in saito20: 100 epochs, rate 1e-3, on the ratings of 4 and 5, judged on the ratings of 4 and 5 of the random
sample. This prints the figures of docs/models.md; ``--lightfm PYTHON`` names an interpreter that has LightFM (as from
``pip install rectools-lightfm`` in an environment of its own), which is then fitted to the same pairs.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

import unskew as us
from unskew.log import Feedback, Log
from unskew_papers.models import Factors, fit_all

Floats = npt.NDArray[np.float64]
LOSSES = ("logistic", "bpr", "warp", "warp-kos")
PEER = Path(__file__).parent / "peers" / "lightfm_factors.py"
SEEDS = 3


def movielens(seed: int) -> tuple[Log, Log]:
    """Ten ratings of every user held out at random, as in the set's own split 'ua'."""
    log = replace(us.load("ml-100k").mnar, value=None, feedback=Feedback.IMPLICIT)
    order = np.lexsort((np.random.default_rng(seed).random(len(log)), log.user))
    place = np.empty(len(log), dtype=np.int64)
    place[order] = np.arange(len(log)) - log.indptr[log.user[order]]
    return log.take(place >= 10), log.take(place < 10)


def coat(seed: int) -> tuple[Log, Log]:
    """What people chose, and what they were shown at random."""
    data = us.load("coat")
    assert data.mcar is not None
    return data.mnar.positives(">=4"), data.mcar.positives(">=4")


def judge(scores: Floats, part: Log) -> tuple[float, float]:
    """Precision@10 and AUC, averaged over users, among all items."""
    rank = np.argsort(np.argsort(-scores, axis=1), axis=1)[part.user, part.item]
    count = np.diff(part.indptr)
    precision = np.bincount(part.user, rank < 10, len(count)) / 10
    above = np.bincount(part.user, rank, len(count)) - count * (count - 1) / 2  # negatives before positives
    auc = 1.0 - above[count > 0] / (count * (scores.shape[1] - count))[count > 0]
    return float(precision[count > 0].mean()), float(auc.mean())


def ours(model: Factors, train: Log) -> Floats:
    users, items = model.fit(train).factors()
    return np.asarray(users @ items.T)


def lightfm(python: str, model: Factors, train: Log) -> Floats:
    """Scores of LightFM with the same options on the same pairs."""
    names = ("dim", "loss", "rate", "l2", "schedule", "seed", "epochs")
    options = json.dumps({name: getattr(model, name) for name in names})
    with tempfile.TemporaryDirectory() as folder:
        pairs, scores = f"{folder}/train.npz", f"{folder}/scores.npz"
        np.savez(pairs, user=train.user, item=train.item, shape=(len(train.users), len(train.items)))
        plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        subprocess.run([python, str(PEER), pairs, scores, options], check=True, env=plain)
        return np.asarray(np.load(scores)["scores"])


def settings() -> Iterator[tuple[str, Factors]]:
    for schedule, loss in itertools.product(("adagrad", "adadelta"), LOSSES):
        yield "ML-100K", Factors(dim=10, loss=loss, epochs=10, schedule=schedule)
    for (dim, l2), loss in itertools.product(((5, 1e-4), (20, 1e-2), (100, 1e-2)), LOSSES):
        yield "Coat", Factors(dim=dim, loss=loss, rate=1e-3, l2=l2, epochs=100)


def accuracy(python: str | None) -> None:
    who = ["unskew"] if python is None else ["unskew", "LightFM"]
    columns = [f"{name}: precision@10 train, test · AUC train, test" for name in who]
    print(f"| data | model | {' | '.join(columns)} |")
    print("|---" * (len(who) + 2) + "|")
    for data, model in settings():
        found: dict[str, list[Floats]] = {name: [] for name in who}
        for model.seed in range(SEEDS):
            train, test = (movielens if data == "ML-100K" else coat)(model.seed)
            for name in who:
                scores = lightfm(python, model, train) if name == "LightFM" and python else ours(model, train)
                found[name].append(np.array([judge(scores, part) for part in (train, test)]).T.ravel())
        cells = [", ".join(f"{x:.3f}" for x in np.mean(found[name], axis=0)) for name in who]
        told = f"{model.loss}, {model.schedule}, dim {model.dim}, l2 {model.l2:g}"
        print(f"| {data} | {told} | {' | '.join(cells)} |", flush=True)


def speed() -> None:
    train, _ = movielens(0)
    for loss in LOSSES:
        model = Factors(dim=30, loss=loss, epochs=10).fit(train)  # compiled by now
        began = time.thread_time()
        model.fit(train)
        took = time.thread_time() - began
        print(f"{loss}, dim 30: {10 / took:.0f} epochs of ML-100K in a second of CPU.")
    grid = itertools.product((5, 20, 50, 100), (1e-2, 1e-4), LOSSES)
    models = [Factors(dim=dim, loss=loss, rate=1e-3, l2=l2, epochs=100) for dim, l2, loss in grid]
    positives, _ = coat(0)
    start, cpu = time.perf_counter(), time.process_time()
    fit_all(models, positives)
    took, cpu = time.perf_counter() - start, time.process_time() - cpu
    print(
        f"Coat, {len(models)} models, 100 epochs over {len(positives):,} positives: {took:.1f} s, {cpu:.1f} s of CPU, "
        f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}."
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lightfm", metavar="PYTHON", help="an interpreter that has LightFM")
    parser.add_argument("--speed", action="store_true", help="times only")
    told = parser.parse_args()
    if not told.speed:
        accuracy(told.lightfm)
    speed()
