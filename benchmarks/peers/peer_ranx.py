"""ranx: ``Qrels`` and ``Run`` made from dicts → ``evaluate``."""

from pathlib import Path

from ranx import Qrels, Run, evaluate  # type: ignore[import-not-found]

from peers import common, dicts


def test(folder: Path) -> Qrels:
    return Qrels(dicts.held_out(folder / "test.parquet"))


def listed(folder: Path, name: str) -> Run:
    return Run(dicts.lists(folder / f"{name}.parquet"))


def metrics(test: Qrels, lists: Run) -> common.Values:
    values = evaluate(test, lists, list(common.METRICS), save_results_in_run=False)
    return {name: float(value) for name, value in values.items()}


if __name__ == "__main__":
    common.main(("ranx", "numba", "numpy"), test, listed, metrics)
