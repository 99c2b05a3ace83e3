"""The page of a plan: the planned rows on the curves, and nothing drawn where no difference is named."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import unskew as us
from tests.design.shop import shop
from tests.report.every_output import check_every_output
from unskew.design.deciding import decide
from unskew.design.plan import Plan
from unskew.report import document as doc
from unskew.report import document_of, page
from unskew.report.plan_document import power_cards


def made(detect: str, **options: object) -> Plan:
    world = shop(users=80, items=25, k=4)
    models = {name: world.models[name] for name in ("good", "fair")}
    return us.plan(
        models, log=world.log, seen=world.seen, feedback="conversions", metric="recall@4", detect=detect,
        **options,  # type: ignore[arg-type]
    )  # fmt: skip


def test_the_planned_rows_are_marked() -> None:
    """On the curve, at the wanted power, with a text."""
    plan = made("40%", power=0.7)
    (chart,) = power_cards(plan).cards
    assert isinstance(chart, doc.Chart)
    ((mark,), (wish,)) = (chart.data["planned"], chart.data["wish"])
    assert mark["rows"] == plan.pairs[0].rows and mark["power"] == pytest.approx(0.7, abs=0.02)
    check_every_output(plan)
    assert wish["power"] == 0.7 and "with a power of 70" in page(plan)


def test_the_title_promises_no_verdict() -> None:
    """A plan has a power below 1, and guesses what is relevant."""
    plan = made("40%")
    assert str(document_of(plan).title) == f"About {plan.pairs[0].rows:,} answers would probably decide between both"


def test_without_a_difference_the_page_asks_for_one() -> None:
    """No curve at 0 %, no difference of 0.0000, and no claim that answers could not decide."""
    plan = made("40%")
    parts = replace(plan.parts, detect=np.zeros_like(plan.parts.detect))  # as where the lead changes hands
    none = decide(replace(plan, parts=parts, settings=replace(plan.settings, detect="log")))
    assert str(document_of(none).title) == "Say which difference matters: the log suggests none"
    assert not power_cards(none).cards and "0.0000" not in page(none)
