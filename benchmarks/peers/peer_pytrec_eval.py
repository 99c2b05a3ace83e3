"""pytrec_eval: dicts of dicts → ``RelevanceEvaluator``; per-user values are averaged with numpy."""

from pathlib import Path

import numpy as np
import pytrec_eval

from peers import common, dicts

NAMES = {
    f"{theirs}_{k}": f"{ours}@{k}"
    for k in common.CUTS
    for ours, theirs in (("recall", "recall"), ("ndcg", "ndcg_cut"), ("map", "map_cut"))
}


def test(folder: Path) -> pytrec_eval.RelevanceEvaluator:
    return pytrec_eval.RelevanceEvaluator(dicts.held_out(folder / "test.parquet"), set(NAMES))


def listed(folder: Path, name: str) -> dicts.Dicts:
    return dicts.lists(folder / f"{name}.parquet")


def metrics(test: pytrec_eval.RelevanceEvaluator, lists: dicts.Dicts) -> common.Values:
    per_user = test.evaluate(lists).values()
    return {ours: float(np.mean([user[theirs] for user in per_user])) for theirs, ours in NAMES.items()}


if __name__ == "__main__":
    common.main(("pytrec-eval-terrier", "numpy"), test, listed, metrics)
