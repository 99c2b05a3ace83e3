"""The page of a plan: where no number of answers decides, and where the log holds positives only."""

from __future__ import annotations

import html
from dataclasses import replace

import unskew as us
from tests.design.shop import shop
from tests.report.reading import flat, told
from tests.said import only
from unskew.core.notice import codes
from unskew.design.plan import Plan
from unskew.report import document_of, page


def made(detect: str, **options: object) -> Plan:
    world = shop(users=80, items=25, k=4)
    models = {name: world.models[name] for name in ("good", "fair")}
    return us.plan(
        models, log=world.log, seen=world.seen, feedback="conversions", metric="recall@4", detect=detect,
        **options,  # type: ignore[arg-type]
    )  # fmt: skip


def test_what_no_answers_find_is_named() -> None:
    """Whether answers decide depends on the lead; and how many more users it takes is a guess, said in two digits."""
    plan = made("40%")
    pair = replace(plan.pairs[0], rows=None, needs="users", times_users=33_161.2)
    shown = replace(plan, pairs=(pair,))
    assert told(document_of(shown).title) == ("too-few-pairs",) and "40\u00a0%" in str(document_of(shown).title)
    assert "33,000 times" in page(shown) and "33,161" not in page(shown)
    assert "7.1 times" in page(replace(plan, pairs=(replace(pair, times_users=7.13),)))


def test_a_log_of_positives_is_said_to_ask_for_too_much() -> None:
    """Its guesses of relevance are far too low; a log with zeros, and a model of relevance that is given, are not."""
    world = shop(users=80, items=25, k=4)
    models = {name: world.models[name] for name in ("good", "fair")}
    plan = us.plan(models, log=world.positives(), seen=world.seen.drop("value"), metric="recall@4", detect="40%")
    said = only("positives-only", plan.notes)
    assert said in html.unescape(page(plan)) and flat(said) in flat(plan.summary())
    assert "positives-only" not in codes(made("40%").notes)
