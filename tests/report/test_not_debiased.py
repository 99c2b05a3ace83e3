"""Where nothing undoes the skew of the log, everything that is read first says so; elsewhere nothing does."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from unskew.report import notebook, page
from unskew.result import MetricTraits, Result

from .made_up import INPUTS, estimate

SAID = "Not debiased"
TITLE = "Not debiased: popular is ahead of challenger on recall@10"


def terminal(result: Result, width: int = 80) -> str:
    file = io.StringIO()
    Console(file=file, width=width).print(result)
    return file.getvalue()


def record(result: Result) -> str:
    return json.dumps(result.to_dict(), ensure_ascii=False)


READ: dict[str, Callable[[Result], str]] = {
    "terminal": terminal,
    "narrow terminal": lambda result: terminal(result, 60),
    "page": page,
    "notebook": notebook,
    "json": record,
    "print": str,
    "repr": repr,
}


@pytest.mark.parametrize("medium", READ)
def test_naive_alone_is_called_not_debiased(naive_only: Result, medium: str) -> None:
    """In the terminal, the page, the notebook, JSON and print(result)."""
    assert SAID in READ[medium](naive_only)


@pytest.mark.parametrize("medium", READ)
@pytest.mark.parametrize("shape", ["two", "many", "segmented", "undecided", "nothing_known", "kept_back"])
def test_nothing_else_is(shape: str, medium: str, request: pytest.FixtureRequest) -> None:
    """Naive beside an estimator that debiases is a contrast, not the answer."""
    assert SAID not in READ[medium](request.getfixturevalue(shape))


def test_a_ratio_is_told_which_metrics_the_path_is_for(naive_only: Result) -> None:
    """Not that a training log is lacking, where it is given and the metric is what stands in the way."""
    ratio = replace(naive_only, traits={"recall@10": MetricTraits(additive=False)})
    untrained = {name: account for name, account in ratio.inputs.items() if name != "train"}

    def said(result: Result) -> str:
        return " ".join(terminal(result).replace("│", " ").split())

    assert "use dcg@10 or recall@10 with target pooled." in said(ratio)
    assert "asks for a training log" not in said(ratio)
    assert "target pooled, and a training log." in said(replace(ratio, inputs=untrained))
    assert "use exposure_path with target pooled" in said(naive_only)
    assert "exposure_path asks for a training log only" in said(replace(naive_only, inputs=untrained))


def test_it_opens_the_title(naive_only: Result) -> None:
    """The browser's tab, the page's first heading, the first line of the notebook and of print(result)."""
    text = page(naive_only)
    assert f"<title>{TITLE}</title>" in text
    heading = text[text.index("<h1>") : text.index("</h1>")]
    assert heading.split(">", 1)[1].strip().startswith('<span class="flag">Not debiased:</span>')
    assert repr(naive_only) == f"<Result: {TITLE}; 2 models, 1 cell, 1 warning; .table(), .verdicts(), .to_html()>"
    assert TITLE in terminal(naive_only).splitlines()[0]
    assert notebook(naive_only).index(SAID) < notebook(naive_only).index("recall@10")


def test_the_json_says_so_in_its_headline(naive_only: Result, two: Result, tmp_path: Path) -> None:
    """A program can ask, a person can read."""
    naive_only.to_json(tmp_path / "r.json")
    headline = json.loads((tmp_path / "r.json").read_text())["headline"]
    assert headline["debiased"] is False and headline["title"] == TITLE and headline["estimator"] == "naive"
    assert "Nothing here undoes the skew of the log" in headline["trust"][0]
    assert two.to_dict()["headline"]["debiased"] is True


def test_one_model_and_open_pairs_are_not_debiased_either() -> None:
    """Our own words go on in small letters; names of models stay as they are."""
    one = Result((estimate("als", 0.1, estimator="naive"),), (), (), INPUTS, ())
    assert one.headline()["title"] == "Not debiased: estimates on recall@10"
    assert "Nothing here undoes the skew" in terminal(one).replace("\n", " ")


def test_a_naive_lead_does_not_look_like_a_result(naive_only: Result, two: Result) -> None:
    """No green: the page's bar is that of a caution, and the estimates are those of the log as it is."""
    text = page(naive_only)
    assert '<li class="caution">' in text and '<li class="behind">' not in text
    assert "would score if everything had been seen, with" not in text
    assert '<li class="better">' in page(two) and "would score if everything had been seen, with" in page(two)
    file = io.StringIO()
    Console(file=file, width=80, force_terminal=True, color_system="standard").print(naive_only)
    assert "\x1b[1;33m●" in file.getvalue() and "\x1b[32m●" not in file.getvalue()


def test_why_it_matters_is_said_once(naive_only: Result) -> None:
    """Beside the headline: what goes wrong, and what would help."""
    for text in (page(naive_only), notebook(naive_only)):
        assert text.count("Nothing here undoes the skew of the log") == 1
