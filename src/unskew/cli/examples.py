"""Commands to start from, shown at the end of every ``--help``.

Files are those that ``unskew simulate -o shop`` writes, so that most commands can be pasted as they are, one after the
other (``tests/cli/test_examples.py`` does so).
"""

from __future__ import annotations

from collections.abc import Iterable

PARTS = "All metrics, estimators, propensities, … and their options: `unskew parts`."
MODELS = '--model most_popular --model "item_knn(neighbours=50)"'
EXAMPLES: dict[str, tuple[tuple[str, str], ...]] = {
    "": (
        ("See it work", "unskew demo"),
        ("Make files to try it on", "unskew simulate -o shop"),
        (
            "Judge two models",
            "unskew evaluate shop/test.parquet --train shop/train.parquet --recs new=shop/challenger.parquet "
            "--model old=most_popular",
        ),
        ("Is everything installed?", "unskew doctor"),
    ),
    "audit": (
        ("How skewed is a log?", "unskew audit shop/train.parquet --html audit.html"),
        ("Can a propensity be trusted?", 'unskew audit shop/train.parquet --propensity "popularity(gamma=1)"'),
    ),
    "compare-protocols": (
        (
            "Leave-one-out beside a hold-out",
            f'unskew compare-protocols shop/train.parquet {MODELS} --protocol "leave_one_out(repeats=2)" '
            '--protocol "holdout(share=0.2)"',
        ),
    ),
    "cross-validate": (
        (
            "Five folds; a stopped run continues where it was",
            f'unskew cross-validate shop/train.parquet --split "k_fold(folds=5)" {MODELS} --html page.html',
        ),
        (
            "Weeks of a log with times, each judged by what was known before",
            f'unskew cross-validate log.parquet --split "sliding_window(width=1w, folds=10)" {MODELS}',
        ),
    ),
    "data": (("What is here?", "unskew data list"), ("Get one", "unskew data fetch ml-100k")),
    "data add": (("A copy that you have", "unskew data add coat downloads/coat"),),
    "data fetch": (("From its publisher", "unskew data fetch ml-100k"),),
    "data list": (("All sets that have a name", "unskew data list"),),
    "data show": (("Licence, citation and content", "unskew data show coat"),),
    "demo": (
        ("With a page", "unskew demo --html report.html"),
        ("When the log cannot decide, ask", "unskew demo --anchored"),
    ),
    "doctor": (("Is everything installed?", "unskew doctor"), ("For a bug report", "unskew doctor --json -")),
    "evaluate": (
        (
            "Lists from files, with a page",
            "unskew evaluate shop/test.parquet --train shop/train.parquet --recs new=shop/challenger.parquet "
            "--recs old=shop/popular.parquet --metric recall@10 --html report.html",
        ),
        (
            "Fit baselines on the way",
            "unskew evaluate shop/test.parquet --train shop/train.parquet --model old=most_popular "
            '--model new="item_knn(neighbours=50)"',
        ),
        (
            "Predicted ratings",
            "unskew evaluate test.parquet --feedback ratings --predictions mf=mf.parquet --metric mae "
            "--propensity known",
        ),
    ),
    "parts": (("Everything", "unskew parts"), ("One part", "unskew parts gs"), ("One kind", "unskew parts metrics")),
    "plan": (
        (
            "Draw 500 pairs to ask about",
            "unskew plan shop/test.parquet --seen shop/train.parquet --recs new=shop/challenger.parquet "
            "--recs old=shop/popular.parquet --draw 500 --out ask.csv",
        ),
        (
            "Between models that are fitted on the way",
            "unskew plan shop/test.parquet --seen shop/train.parquet --model old=most_popular --model new=item_knn "
            "--detect 10%",
        ),
    ),
    "policy-impact": (
        (
            "Does the policy that wrote the log decide who wins?",
            f"unskew policy-impact months/log.parquet {MODELS} --html page.html",
        ),
    ),
    "sample": (
        (
            "Half of the rows, items less skewed",
            "unskew sample shop/test.parquet --train shop/train.parquet --strategy wtd_h --size 0.5 --out half.parquet",
        ),
    ),
    "simulate": (("A shop with its truth", "unskew simulate -o shop"),),
    "simulate ratings": (("Like MovieLens", "unskew simulate ratings --like ml-100k -o ratings"),),
    "split": (
        ("Hold out 30 % at random", 'unskew split shop/train.parquet --split "holdout(share=0.3)" -o parts'),
        ("Thirty days, one by one", 'unskew split log.parquet --split "sliding_window(width=1d, folds=30)" -o days'),
    ),
}
WITH_PARTS = {"audit", "compare-protocols", "cross-validate", "evaluate", "plan", "policy-impact", "sample", "split"}


def epilog(command: str) -> str:
    """The end of the ``--help`` of a command of ours."""
    return epilog_of(EXAMPLES[command], *([PARTS] if command in WITH_PARTS else []))


def epilog_of(examples: Iterable[tuple[str, str]], *more: str) -> str:
    """What to do, and the command that does it."""
    lines = [f"- {what}{'' if what.endswith('?') else ':'} `{line}`" for what, line in examples]
    return "\n\n".join(["Examples:", *lines, *more])
