"""The document of a plan: what decides each pair of models, power over rows, and what the draw rests on."""

from __future__ import annotations

from itertools import cycle, islice
from typing import Any

from unskew.core.notice import Notice
from unskew.design.plan import PairPlan, Plan
from unskew.report import document as doc
from unskew.report import numbers
from unskew.report.marks import ESTIMATORS
from unskew.report.names import clean, shown
from unskew.report.plots import DASHED, SOFT, chart, colours, field, layers, lines, marks, points
from unskew.report.texts import glossary, section

NO_SIZE = ("size", "nothing")  # needs of pairs that have no difference to detect, and so no power
PAIRS = 6  # with a curve of their own; more could not be told apart


def plan_document(plan: Plan) -> doc.Document:
    """What people look at."""
    names = shown(list(plan.models))
    pairs = _in_order(plan)
    s = plan.settings
    return doc.Document(
        title=doc.Sentence.plain(_headline(plan)),
        panel="How many answers would decide",
        subtitle=f"{s.metric}, {numbers.share(s.power)} power at a level of {numbers.share(s.level)}",
        summary=(
            doc.Paragraph(_opening(plan), "opening"),
            doc.Sentences(tuple(_sentence(pair, names, s.detect) for pair in pairs), shown=10, where="in the table"),
            doc.Sentences(tuple(doc.Sentence.plain(clean(note), "warning") for note in plan.notes)),
        ),
        body=(
            section("plan.rows", _table(pairs, names), power_cards(plan)),
            section("plan.draw", doc.Sentences(tuple(doc.Sentence.plain(text, "note") for text in _draw(plan)))),
            glossary("plan"),
        ),
    )


def power_cards(plan: Plan) -> doc.Cards:
    """Power over rows with its legend, of the pairs of models that take the fewest rows."""
    names, drawn = shown(list(plan.models)), [pair for pair in _in_order(plan) if pair.needs not in NO_SIZE][:PAIRS]
    if not drawn:
        return doc.Cards(())
    swatches = tuple(
        doc.Swatch(_both(pair, names), f"var(--e{place})") for place, pair in enumerate(drawn, 1)
    )  # fmt: skip
    return doc.Cards((_chart(plan, drawn, names),), (doc.Legend("", swatches),), fit=True, inline=True)


def _in_order(plan: Plan) -> list[PairPlan]:
    return sorted(plan.pairs, key=lambda pair: (pair.rows is None, pair.rows or 0))


def _headline(plan: Plan) -> Notice:
    needed = [pair.rows for pair in plan.pairs if pair.rows is not None]
    if len(needed) == len(plan.pairs):
        which = f"between {'both' if len(needed) == 1 else 'all models'}"
        return Notice(f"{_probably(needed)} {which}", code="would-decide-all", answers=max(needed))
    if needed:
        text = f"{_probably(needed)} {len(needed)} of {len(plan.pairs)} pairs of models"
        return Notice(text, code="would-decide-some", answers=max(needed), pairs=len(needed))
    if all(pair.needs in NO_SIZE for pair in plan.pairs):
        return Notice("Say which difference matters: the log suggests none", code="no-size")
    text = f"No number of answers is expected to find {_lead(plan)} with these users and lists"
    return Notice(text, code="too-few-pairs")


def _probably(needed: list[int]) -> str:
    """A plan has a power, and rests on guesses of what is relevant: it promises nothing."""
    return f"About {numbers.count(max(needed))} answers would probably decide"


def _lead(plan: Plan) -> str:
    """What is to be detected: whether answers decide depends on it."""
    detect = plan.settings.detect
    if detect == "log":
        return "the least difference that the log suggests"
    return f"a lead of {numbers.percent(detect)}" if detect.endswith("%") else f"a difference of {detect}"


def _opening(plan: Plan) -> str:
    s = plan.settings
    more = ", whatever part of popularity is exposure" if s.detect == "log" else ""
    more = " over the lesser value" if s.detect.endswith("%") else more
    what = f"{_lead(plan)}{more}"
    together = "for all pairs of models together" if s.simultaneous else "for each pair of models alone"
    rounds = f", divided over {s.rounds} declared rounds (this is round {plan.round})" if s.rounds > 1 else ""
    users = "users like these" if s.users_are == "sampled" else "exactly these users"
    return (
        f"To be detected with a power of {numbers.share(s.power)}: {what}, for {users}. The level holds "
        f"{together}{rounds}: a difference counts beyond {numbers.number(s.critical, 2)} standard errors."
    )


def _sentence(pair: PairPlan, names: dict[str, str], detect: str) -> doc.Sentence:
    no_size = "the log suggests no size, as its lead depends on what is assumed" if detect == "log" else "a value is 0"
    a, b = names[pair.a], names[pair.b]
    text = {
        "users": f": more users are needed, about {_times(pair)} as many; no number of rows is enough.",
        "pairs": f": all pairs in which the lists differ are too few; about {_times(pair)} as many users would do.",
        "limits": ": the limit per user allows too few rows; a higher one would do.",
        "positives": ": too few relevant pairs are expected where the lists differ for any verdict.",
        "size": f": {no_size}; say which difference matters to you, as a share ('5%') or a number (0.01).",
        "nothing": ": the lists do not differ.",
    }.get(pair.needs)
    if text is None:
        random = "more rows than there are" if pair.rows_random is None else numbers.count(pair.rows_random)
        text = f": {numbers.count(pair.rows)} rows by this plan's draw, {random} at random."
    return doc.Sentence.about(f"{a} – {b}", text, "note" if pair.needs == "rows" else "warning")


def _times(pair: PairPlan) -> str:
    """Two digits: it rests on guesses."""
    times = pair.times_users
    if times is None:
        return "many times"
    return f"{numbers.number(times, 1) if times < 10.0 else numbers.about(round(times))} times"


def _drawn_from(plan: Plan) -> str:
    """Which pairs may be drawn, and why."""
    if not plan.settings.positives_only:
        return "Pairs are drawn from candidates outside the log: of those in it the relevance is known already."
    if plan.settings.fixed_relevance:
        return (
            "Pairs are drawn from candidates outside the log: relevance is declared fixed, so that pairs in it would "
            "be answered as they were logged."
        )
    return (
        "Pairs are drawn from all candidates, those in the log included: a log of positives only is selected on "
        "success, and cannot stand for its pairs."
    )


def _draw(plan: Plan) -> list[str]:
    s = plan.settings
    found = [
        _drawn_from(plan),
        f"There are {numbers.count(s.candidates)} candidates of {numbers.count(s.users)} users and "
        f"{numbers.count(s.items)} items.",
        f"How relevant pairs probably are comes from: {clean(s.relevance)}. It shapes the draw, and biases no answer.",
    ]
    if s.uniform:
        text = f"{numbers.share(s.uniform)} of a draw are spread over all candidates alike"
        found.append(f"{text}, so that values can be estimated as well; the rest goes where lists differ.")
    else:
        found.append("All rows are drawn where lists differ: answers decide between models, and give no values.")
    if s.per_user is not None:
        found.append(f"No user is asked about more than {s.per_user} pairs in a round.")
    found.append(
        "All of it assumes that rows are asked about as drawn, that answers are complete, and that they measure the "
        "same relevance as the log."
    )
    return found


def _table(pairs: list[PairPlan], names: dict[str, str]) -> doc.Table:
    labels = ("detect", "pairs", "random", "differ", "ask")
    rows = tuple(
        (
            names[pair.a],
            names[pair.b],
            numbers.DASH if pair.needs in NO_SIZE else numbers.number(pair.detect, 4),
            *(numbers.count(n) for n in (pair.differing, pair.rows_random, pair.rows_differ, pair.rows)),
            pair.needs,
        )
        for pair in pairs
    )
    columns = (*doc.columns(("a", "b"), labels), doc.Column("needs", "text"))
    return doc.Table("Rows needed", "the fewest first", columns, rows)


def _both(pair: PairPlan, names: dict[str, str]) -> str:
    return f"{names[pair.a]} – {names[pair.b]}"


def _chart(plan: Plan, pairs: list[PairPlan], names: dict[str, str]) -> doc.Chart:
    """Power over rows: by the plan's draw, and dashed at random; a diamond where the plan has the wanted power."""
    wanted = {(pair.a, pair.b): _both(pair, names) for pair in pairs}
    data: list[dict[str, Any]] = []
    random: list[dict[str, Any]] = []
    for row in plan.power().iter_rows(named=True):
        pair = wanted.get((row["a"], row["b"]))
        if pair is None:
            continue
        text = f"{pair}: {numbers.count(round(row['rows']))} rows, power {numbers.share(row['power'])}"
        data.append({"rows": row["rows"], "power": row["power"], "pair": pair, "text": text})
        random.append({"rows": row["rows"], "power": row["power_random"], "pair": pair})
    planned: list[dict[str, Any]] = [
        {
            "rows": float(pair.rows),
            "power": plan.power_of(plan.pairs.index(pair), pair.rows),
            "pair": _both(pair, names),
            "text": f"planned for {_both(pair, names)}: {numbers.count(pair.rows)} rows",
        }
        for pair in pairs
        if pair.rows is not None
    ]
    axis = {"title": "rows asked about", "tickCount": 5, "format": "~s", "labelOverlap": "greedy", "grid": False}
    where = {
        "x": field("rows:Q", axis=axis, scale={"type": "log", "nice": False}),
        "y": field("power:Q", axis={"title": None, "tickCount": 5, "format": "~%"}, scale={"domain": [0, 1]}),
        "color": colours("pair:N", list(wanted.values()), list(islice(cycle(ESTIMATORS), len(wanted)))),
    }
    wish = marks("wish", "rule", {"y": field("power:Q")}, color=SOFT, strokeWidth=1, strokeDash=[2, 3])
    diamonds = points(where, 110, "planned", shape="diamond")
    spec = layers(wish, lines(where, 1.5, "random", **DASHED), lines(where), points(where, 10), diamonds)
    return chart(
        "Power over rows", "dashed: drawn at random; diamonds: planned; dotted: the wanted power",
        "Chance of the right verdict by rows", spec, rows=data, random=random, planned=planned,
        wish=[{"power": plan.settings.power}],
    )  # fmt: skip
