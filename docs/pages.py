"""One page of every kind, by the commands that make them: what ``docs/pictures.py`` photographs.

    python docs/pages.py FOLDER [KIND …]

The shops are small, so that all pages together take two minutes; nothing is concluded from their numbers.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

STUDY = """
[data]
world = { users = 600, items = 120 }

[study]
seeds = 5
metrics = ["recall@10"]
target = "pooled"

[models]
popular = "most_popular"
neighbours = { model = "item_knn", neighbours = [5, 50] }
svd = "svd(dim=10)"

[questions.known]
estimators = ["naive", "snips", "gs(strata=5)"]
propensity = "known"

[questions.path]
estimators = ["exposure_path"]
"""
FITTED = (
    "popular=most_popular",
    "recent=recently_popular(days=7)",
    "item_knn=item_knn(neighbours=50)",
    "svd=svd(dim=20)",
)
FOLDS = "sliding_window(width=1w, folds=6)"


def main(folder: Path, kinds: Sequence[str] = ()) -> dict[str, Path]:
    """Make the pages that are asked for, or all; gives back where they are."""
    folder.mkdir(parents=True, exist_ok=True)
    _simulate(folder)
    commands = _commands()
    pages = {kind: folder / f"{kind}.html" for kind in kinds or (*commands, "checks")}
    for kind, page in pages.items():
        if kind == "checks":
            _checks(folder / "shop", page)
        else:
            _unskew(folder, *commands[kind], "--html", page.name)
    return pages


def _simulate(folder: Path) -> None:
    """A shop with the lists of three models, and a log of 120 days by three logging policies."""
    if not (folder / "shop").exists():
        _unskew(folder, "simulate", "--users", "1500", "--items", "300", "--seed", "0", "-o", "shop")
    if not (folder / "log").exists():
        size = ("--users", "3000", "--items", "400", "--days", "120", "--seed", "0")
        _unskew(folder, "simulate", "shop-over-time", *size, "-o", "log")
    (folder / "study.toml").write_text(STUDY)


def _commands() -> dict[str, list[str]]:
    """The command of every kind, for the folder of the shops."""
    log, train, test = "log/log.parquet", "shop/train.parquet", "shop/test.parquet"
    lists = _each("--recs", [f"{name}=shop/{name}.parquet" for name in ("popular", "item_knn", "challenger")])
    fitted = _each("--model", FITTED)
    both = _each("--metric", ("recall@10", "dcg@10"))
    log_alone = [*_each("--estimator", ("naive", "exposure_path")), "--by", "popularity(strata=3)"]
    known = [*_each("--estimator", ("naive", "ips", "snips", "gs(strata=5)")), "--propensity", "known"]
    evaluate = ["evaluate", test, "--train", train, "--users", "shop/users.parquet", *lists]
    propensities = _each("--propensity", ("known", "popularity(gamma=1)", "popularity(gamma=2)"))
    return {
        "demo": ["demo"],
        "evaluate": [*evaluate, *both, *known, *_each("--target", ("pooled", "per_user"))],
        "exposure-path": [*evaluate, *both, *log_alone],
        "comparison": [*evaluate, *_each("--estimator", ("naive", "snips")), *propensities],
        "audit": ["audit", log, *_each("--propensity", ("popularity(gamma=1)", "uniform"))],
        "sample": ["sample", test, "--train", train, "--size", "0.5", "-o", "sample.parquet"],
        "split": ["split", log, "--split", FOLDS, "-o", "folds", "--force"],
        "cross-validate": ["cross-validate", log, "--split", FOLDS, *fitted, *both, "--no-store"],
        "protocols": ["compare-protocols", log, *fitted],
        "policies": ["policy-impact", log, *fitted, "--refits", "2"],
        "plan": ["plan", test, "--seen", train, *lists, "--detect", "20%"],
        "study": ["study", "study.toml", "--store", "store"],
        "anchored": ["demo", "--anchored"],
    }


def _each(option: str, values: Sequence[str]) -> list[str]:
    """An option that is given several times."""
    return [part for value in values for part in (option, value)]


def _checks(shop: Path, page: Path) -> None:
    """Checks on propensities, which are asked for from Python."""
    import unskew as us

    log = us.read_log(shop / "train.parquet")
    us.propensity.check(["popularity(gamma=1)", "uniform"], log).to_html(page)


def _unskew(folder: Path, *command: str) -> None:
    subprocess.run([sys.executable, "-m", "unskew", *command, "--quiet"], check=True, cwd=folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
