"""Where nothing undoes the skew of the log, everything that is read first says so; elsewhere nothing does."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.said import only
from unskew.report import notebook, page
from unskew.report.words import NOT_DEBIASED
from unskew.result import MetricTraits, Result

from .reading import printed


def why(result: Result) -> str:
    """What is said of it beside the headline."""
    return only("not-debiased", result.headline()["trust"])


def record(result: Result) -> str:
    return json.dumps(result.to_dict(), ensure_ascii=False)


READ: dict[str, Callable[[Result], str]] = {
    "terminal": lambda result: printed(result, 80),
    "narrow terminal": lambda result: printed(result, 60),
    "page": page,
    "notebook": notebook,
    "json": record,
    "print": str,
    "repr": repr,
}


@pytest.mark.parametrize("medium", READ)
def test_naive_alone_is_called_not_debiased(naive_only: Result, medium: str) -> None:
    """In the terminal, the page, the notebook, JSON and print(result)."""
    assert NOT_DEBIASED in READ[medium](naive_only)


@pytest.mark.parametrize("medium", READ)
@pytest.mark.parametrize("shape", ["two", "many", "segmented", "undecided", "nothing_known", "kept_back"])
def test_nothing_else_is(shape: str, medium: str, request: pytest.FixtureRequest) -> None:
    """Naive beside an estimator that debiases is a contrast, not the answer."""
    assert NOT_DEBIASED not in READ[medium](request.getfixturevalue(shape))


def test_a_ratio_is_told_which_metrics_the_path_is_for(naive_only: Result) -> None:
    """Not that a training log is lacking, where it is given and the metric is what stands in the way."""
    ratio = replace(naive_only, traits={"recall@10": MetricTraits(additive=False)})
    untrained = {name: account for name, account in ratio.inputs.items() if name != "train"}
    texts = [why(result) for result in (ratio, replace(ratio, inputs=untrained), naive_only)]
    texts.append(why(replace(naive_only, inputs=untrained)))
    assert len({*texts}) == 4 and all("exposure_path" in text for text in texts)
    assert [("dcg@10" in text, "training log" in text) for text in texts[:2]] == [(True, False), (True, True)]


def test_it_opens_the_title(naive_only: Result) -> None:
    """The browser's tab, the page's first heading, the first line of the notebook and of print(result)."""
    text, title = page(naive_only), naive_only.headline()["title"]
    assert title.startswith(f"{NOT_DEBIASED}: ") and f"<title>{title}</title>" in text
    heading = text[text.index("<h1>") : text.index("</h1>")]
    assert heading.split(">", 1)[1].strip().startswith('<span class="flag">' + f"{NOT_DEBIASED}:</span>")
    assert repr(naive_only).startswith(f"<Result: {title}; 2 models, 1 cell, 1 warning; ")
    assert title in printed(naive_only, 80).splitlines()[0]
    assert notebook(naive_only).index(NOT_DEBIASED) < notebook(naive_only).index("recall@10")


def test_the_json_says_so_in_its_headline(naive_only: Result, two: Result, tmp_path: Path) -> None:
    """A program can ask, a person can read."""
    naive_only.to_json(tmp_path / "r.json")
    headline = json.loads((tmp_path / "r.json").read_text())["headline"]
    assert (
        headline["debiased"] is False
        and headline["title"].startswith(NOT_DEBIASED)
        and headline["estimator"] == "naive"
    )
    assert headline["trust"][0] == why(naive_only)
    assert two.to_dict()["headline"]["debiased"] is True


def test_a_naive_lead_does_not_look_like_a_result(naive_only: Result, two: Result) -> None:
    """No green: the page's bar is that of a caution, and the estimates are those of the log as it is."""
    text = page(naive_only)
    assert '<li class="caution">' in text and '<li class="behind">' not in text
    assert '<li class="better">' in page(two)
    coloured = printed(naive_only, 80, force_terminal=True, color_system="standard")
    assert "\x1b[1;33m●" in coloured and "\x1b[32m●" not in coloured
