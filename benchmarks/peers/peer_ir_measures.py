"""ir-measures: dicts of dicts → ``evaluator(...).calc_aggregate``."""

from pathlib import Path

import ir_measures
from ir_measures import AP, R, nDCG

from peers import common, dicts

MEASURES = {
    measure: f"{name}@{k}"
    for k in common.CUTS
    for name, measure in (("recall", R @ k), ("ndcg", nDCG @ k), ("map", AP @ k))
}


def test(folder: Path) -> ir_measures.providers.Evaluator:
    return ir_measures.evaluator(list(MEASURES), dicts.held_out(folder / "test.parquet"))


def listed(folder: Path, name: str) -> dicts.Dicts:
    return dicts.lists(folder / f"{name}.parquet")


def metrics(test: ir_measures.providers.Evaluator, lists: dicts.Dicts) -> common.Values:
    return {MEASURES[measure]: float(value) for measure, value in test.calc_aggregate(lists).items()}


if __name__ == "__main__":
    common.main(("ir-measures", "pytrec-eval-terrier", "numpy"), test, listed, metrics)
