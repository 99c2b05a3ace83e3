"""``unskew demo``: the main job on a simulated world, with the truth beside the estimates."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unskew.cli.console import err, out, progress
from unskew.cli.options import check_outputs

if TYPE_CHECKING:
    from rich.table import Table

    from unskew.log import Recommender
    from unskew.result import Result

METRIC = "recall@10"


def demo(
    users: Annotated[int, typer.Option(help="How many users to draw.")] = 2000,
    items: Annotated[int, typer.Option(help="Size of the catalogue.")] = 500,
    seed: Annotated[int, typer.Option(help="Which users are drawn.")] = 0,
    html: Annotated[Path | None, typer.Option(help="Write one self-contained page.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Judge three recommenders from a skewed log, in a simulated shop where the truth is known."""
    check_outputs(html=html)
    from unskew.evaluation import evaluate
    from unskew.models import ItemKNN, MostPopular
    from unskew.simulate import World, relevant_for, truths

    world = World(users=users, items=items, seed=seed, relevant=relevant_for(items))
    with progress(quiet) as report:
        if report is not None:
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
            estimators=["naive", "ips", "snips", "gs(strata=5)"],
            propensity="known",
            seen=train,
            users=world.relevant_counts(),
            progress=report,
        )
    if not quiet:
        out.print(
            f"\nA simulated shop: {users:,} users, {items:,} items. Its window shows some items far more than others, "
            f"so the log of {len(train) + len(test):,} clicks is skewed.\n"
        )
        out.print(result)
        out.print(_beside_the_truth(result, truths(world, lists, [METRIC])))
        out.print(
            "Ratios inside a user (snips, gs) lean towards naive where clicks are few; ips and the target pooled don't."
        )
    if html is not None:
        result.to_html(html)
        if not quiet:
            err.print(f"wrote {html}")


def _beside_the_truth(result: Result, truth: list[dict[str, Any]]) -> Table:
    """What each estimator says, and what is true: who is really the best?"""
    from rich.table import Table

    true = {row["model"]: row["value"] for row in truth if row["target"] == "per_user"}
    table = Table(title=f"{METRIC} per_user, and the truth that no log shows", title_justify="left")
    table.add_column("estimator")
    for model in true:
        table.add_column(model, justify="right")
    table.add_column("best", style="bold")
    rows: dict[str, dict[str, float]] = {}
    for estimate in result.estimates:
        if estimate.metric == METRIC:
            rows.setdefault(estimate.estimator, {})[estimate.model] = estimate.value
    for name, values in (rows | {"the truth": true}).items():
        best = max(values, key=lambda model: values[model])
        style = "green" if best == max(true, key=lambda model: true[model]) else "red"
        cells = [f"{values[model]:.4f}" for model in true]
        table.add_row(name, *cells, f"[{style}]{best}[/]", end_section=name == list(rows)[-1])
    return table
