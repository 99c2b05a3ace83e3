"""Where nothing undoes the skew of the log, everything that is read first says so; elsewhere nothing does."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from unskew.report import notebook, page
from unskew.report.words import NOT_DEBIASED
from unskew.result import Result

from .reading import printed


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


def test_it_opens_the_title(naive_only: Result) -> None:
    """The browser's tab, the page's first heading, the first line of the notebook and of print(result)."""
    text, title = page(naive_only), naive_only.headline()["title"]
    assert title.startswith(f"{NOT_DEBIASED}: ") and f"<title>{title}</title>" in text
    heading = text[text.index("<h1>") : text.index("</h1>")]
    assert heading.split(">", 1)[1].strip().startswith('<span class="flag">' + f"{NOT_DEBIASED}:</span>")
    assert repr(naive_only).startswith(f"<Result: {title}; 2 models, 1 cell, 1 warning; ")
    assert title in printed(naive_only, 80).splitlines()[0]
    assert notebook(naive_only).index(NOT_DEBIASED) < notebook(naive_only).index("recall@10")
