"""``unskew demo``: the main job on a simulated world, with the truth beside the estimates.

The truth is that of the users in the log, under the same target as the estimates. The intervals also allow for other
users being drawn from the population, so over 200 seeds they hold it in 97.5 % (challenger) to 100 % of the shops; the
mean truth over all of these shops lies inside in 93.5 to 95 % for models fixed in advance (tests/cli/test_demo.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

from unskew.cli.anchored_demo import show_anchored
from unskew.cli.console import out, progress
from unskew.cli.flags import messages_with_flags
from unskew.cli.options import File, QuietAlone, check_outputs, option, write_outputs, written
from unskew.core.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table

    from unskew.log import Recommender
    from unskew.result import Estimate, Result

ANCHORED = "A log that cannot decide, a plan, a few hundred answers, and a verdict."
METRIC, TARGET = "recall@10", "pooled"
NAIVE, RECOMMENDED = "naive", "snips"


def demo(
    users: Annotated[int, option("How many users to draw.")] = 2000,
    items: Annotated[int, option("Size of the catalogue.")] = 500,
    seed: Annotated[int, option("Seed: which users are drawn.")] = 0,
    anchored: Annotated[bool, option(ANCHORED, None, "--anchored")] = False,
    keep: Annotated[File, option("With --anchored: leave the files of every step in this folder.")] = None,
    html: Annotated[File, option("Write one self-contained page.")] = None,
    quiet: QuietAlone = False,
) -> None:
    """Judge three recommenders from a skewed log, in a simulated shop where the truth is known."""
    if anchored:
        show_anchored(users, items, seed, keep, html, quiet)
        return
    if keep is not None:
        raise InputError(
            "--keep goes with --anchored. A whole shop as files: unskew simulate --output FOLDER",
            code="conflicting-arguments",
        )
    check_outputs(html=html)
    from unskew.evaluation import evaluate
    from unskew.models import ItemKNN, MostPopular
    from unskew.simulate import World, relevant_for
    from unskew.simulate.shop_demo import ShopDemo

    world = World(users=users, items=items, seed=seed, relevant=relevant_for(items))
    with progress(quiet) as report:
        report("simulating a shop", 0, 1)
        train, test = world.train, world.test
        models: dict[str, Recommender] = {
            "popular": MostPopular().fit(train),
            "item_knn": ItemKNN().fit(train),
            "challenger": world.challenger(),
        }
        lists = {name: model.recommend(train.users, 100, seen=train) for name, model in models.items()}
        result = evaluate(
            test,
            lists,
            metrics=[METRIC],
            estimators=[NAIVE, RECOMMENDED],
            target=TARGET,
            propensity="known",
            train=train,
            users=world.relevant_counts(),
            progress=report,
        )
    result = messages_with_flags(result)
    truth = {name: world.truth(given, METRIC, TARGET) for name, given in lists.items()}
    if not quiet:
        out.print(
            f"\nA simulated shop: {users:,} users, {items:,} items. Its window shows some items far more than others, "
            f"so the log of {len(train) + len(test):,} clicks is skewed.\n"
        )
        out.print(result)
        out.print(beside_the_truth(result, truth))
        out.print(conclusion(result, truth))
    written(write_outputs(ShopDemo(result, truth, conclusion(result, truth)), html=html), quiet)


def beside_the_truth(result: Result, truth: Mapping[str, float]) -> Table:
    """Per model: naive, the recommended estimate with its interval, the truth, and whether the interval holds it."""
    from rich.table import Table
    from rich.text import Text

    from unskew.report import numbers

    naive, found = _by_model(result, NAIVE), _by_model(result, RECOMMENDED)
    places = numbers.decimals((e.low, e.high) for e in found.values())
    table = Table(title=f"{METRIC}, {TARGET}, and the truth that no log shows", title_justify="left")
    table.add_column("model")
    for name in (NAIVE, RECOMMENDED, "95 % interval", "truth"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("inside?")
    for model, true in truth.items():
        e = found[model]
        table.add_row(
            model,
            numbers.number(naive[model].value, places),
            numbers.number(e.value, places),
            numbers.interval(e.low, e.high, places),
            numbers.number(true, places),
            Text("yes", "green") if e.low <= true <= e.high else Text("no", "red"),
        )
    return table


def conclusion(result: Result, truth: Mapping[str, float]) -> str:
    """Whom each column calls best, and why an interval may miss the truth where one does."""
    found = _by_model(result, RECOMMENDED)
    said = {name: _best({m: e.value for m, e in _by_model(result, name).items()}) for name in (NAIVE, RECOMMENDED)}
    text = f"Best by {NAIVE}: {said[NAIVE]}. Best by {RECOMMENDED}: {said[RECOMMENDED]}. In truth: {_best(truth)}."
    missed = [model for model, true in truth.items() if not found[model].low <= true <= found[model].high]
    if missed:
        text += (
            f"\nThe interval of {' and '.join(missed)} misses the truth. Of 95 % intervals one in twenty may; another "
            "--seed draws other users."
        )
    return text


def _by_model(result: Result, estimator: str) -> dict[str, Estimate]:
    """The estimates of one estimator, by model."""
    return {e.model: e for e in result.estimates if (e.metric, e.target, e.estimator) == (METRIC, TARGET, estimator)}


def _best(values: Mapping[str, float]) -> str:
    return max(values, key=lambda model: values[model])
