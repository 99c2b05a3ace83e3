"""The document of ``unskew demo --anchored``: four steps, each said as its outcome is, and the truth at the end."""

from __future__ import annotations

from unskew.report import document as doc
from unskew.report import numbers, words
from unskew.report.plan_document import power_cards
from unskew.report.texts import glossary
from unskew.report.truth_charts import TRUTH, Row, beside_truth
from unskew.report.view import View, decided, in_scenarios
from unskew.result import Estimate, Verdict
from unskew.simulate.anchored_demo import ANCHORED, CHALLENGER, METRIC, PER_USER, POPULAR, TARGET, AnchoredDemo

PLAN, VERDICT = "What unskew plan says.", "What unskew evaluate --answers says of log and answers together."
SHARES = (0.25, 0.5, 1.0, 2.0)  # of the planned rows


def anchored_demo_document(demo: AnchoredDemo) -> doc.Document:
    """What people look at."""
    return doc.Document(
        title=doc.Sentence.plain(_headline(demo)),
        summary=(
            doc.on_page(doc.Paragraph(_opening(demo), "opening")),
            doc.in_brief(doc.Sentences((doc.Sentence.plain(_opening(demo), "note"),))),
        ),
        body=(
            *(_log(demo), *_plan(demo), *_answers(demo), *_verdict(demo)),
            doc.on_page(_repeat(demo)),
            glossary("plan", also=("naive", "verdict")),
        ),
        panel="A simulated shop whose truth is known",
        subtitle=f"{METRIC}, {TARGET}",
    )


def _headline(demo: AnchoredDemo) -> str:
    if demo.drawn is None:
        return "This log cannot decide, and no number of answers would"
    asked = numbers.count(len(demo.drawn.frame))
    if demo.agrees is None:
        return f"The log could not decide, nor could {asked} questions"
    start = f"The log could not decide. {asked} questions did" if _open(demo) else f"{asked} questions decided"
    return start if demo.agrees else f"{start}, and the truth disagrees"


def _open(demo: AnchoredDemo) -> bool:
    """Whether the log alone names no model."""
    view = View.of(demo.before)
    assert view.headline is not None
    return not any(decided(v) for v in view.verdicts(view.headline, view.carrier(view.headline)))


def _opening(demo: AnchoredDemo) -> str:
    world, opened = demo.world, len(demo.tables["train"]) + len(demo.tables["test"])
    return (
        f"{numbers.count(world.users)} users, {numbers.count(world.items)} items. The log has {numbers.count(opened)} "
        "pages that were opened, and whether they led to a purchase. The shop window shows some items far more than "
        f"others, and nobody wrote down how much. Which list is better: {POPULAR} (what sold most) or {CHALLENGER} (a "
        "new model)?"
    )


def _step(menu: str, title: str, *blocks: doc.Block, said: tuple[doc.Sentence, ...], lead: str) -> doc.Section:
    """A section on a page; on a terminal, sentences under the same title."""
    return doc.Section(menu.lower(), title, (doc.Sentences(said, title), *blocks), lead, menu)


def _log(demo: AnchoredDemo) -> doc.Block:
    title = "1. The log cannot decide" if _open(demo) else "1. What the log says"
    said = tuple(words.headline_sentences(View.of(demo.before)))
    return _step("Log", title, said=said, lead="What unskew evaluate says of the log alone.")


def _plan(demo: AnchoredDemo) -> tuple[doc.Block, ...]:
    pair, settings = demo.plan.pairs[0], demo.plan.settings
    if pair.rows is None:
        said = doc.Sentence.plain(
            "With so few users and items, no number of answers gives the wanted power. A larger shop would: --users "
            "2000 --items 500.",
            "warning",
        )
        return (_step("Plan", "2. The plan: more users are needed", said=(said,), lead=PLAN),)
    random = "more than there are" if pair.rows_random is None else numbers.count(pair.rows_random)
    power, uniform = numbers.share(settings.power), numbers.share(settings.uniform)
    said = doc.Sentence.plain(
        f"{numbers.count(pair.rows)} answers decide with a power of {power} if one model leads by "
        f"{settings.detect.replace('%', ' %')} of the other's value. Drawn at random from all candidates, it would "
        f"take {random}. At most {PER_USER} questions per user; {uniform} of them go to all candidates alike, the "
        "rest where the lists differ.",
        "note",
    )
    found = demo.plan.power([share * pair.rows for share in SHARES])
    rows = tuple(
        (numbers.count(round(row["rows"])), numbers.share(row["power"]), numbers.share(row["power_random"]))
        for row in found.iter_rows(named=True)
    )
    table = doc.Table("Power", "chance of a verdict", doc.columns((), ("questions", "planned", "at random")), rows)
    title = f"2. The plan: {numbers.count(pair.rows)} questions"
    return (_step("Plan", title, power_cards(demo.plan), doc.in_brief(table), said=(said,), lead=PLAN),)


def _answers(demo: AnchoredDemo) -> tuple[doc.Block, ...]:
    if demo.answers is None:
        return ()
    value = demo.answers["value"]
    asked, relevant, silent = len(value), int(value.sum()), value.null_count()
    counts = [numbers.count(n) for n in (asked, demo.answers["user"].n_unique(), relevant)]
    counts += [numbers.count(n) for n in (asked - relevant - silent, silent)]
    said = doc.Sentence.plain(
        "The draw has {} pairs of {} users (its size varies by chance), each with the probability of being drawn. They "
        "are shown in an exploration slot: {} relevant, {} not, {} without an answer.".format(*counts),
        "note",
    )
    return (_step("Answers", "3. The shop answers", said=(said,), lead="What was truly relevant comes back."),)


def _verdict(demo: AnchoredDemo) -> tuple[doc.Block, ...]:
    if demo.after is None:
        return ()
    view = View.of(demo.after)
    said = (*words.headline_sentences(view), _truth(demo), *_missed(demo, view))
    cards = doc.Cards((_differences(demo, view), _values(demo, view)), (TRUTH,), fit=True, inline=True)
    title = "4. The verdict, and the truth"
    return (_step("Verdict", title, cards, _table(demo), said=said, lead=VERDICT),)


def _truth(demo: AnchoredDemo) -> doc.Sentence:
    """Whether verdict and interval agree with what only a simulated shop knows."""
    better = CHALLENGER if demo.lead > 0.0 else POPULAR
    text = f"In truth {better} is better, by {numbers.number(abs(demo.lead), 4)}."
    verdict = demo.verdict
    if demo.agrees is None or verdict is None:
        return doc.Sentence.plain(f"{text} The answers were too few to show it; another --seed asks others.", "note")
    inside = verdict.low <= demo.lead <= verdict.high
    interval = "its interval holds the truth" if inside else "its interval misses the truth, as one in twenty may"
    if demo.agrees:
        return doc.Sentence.plain(f"{text} The verdict is right, and {interval}.", "good" if inside else "note")
    return doc.Sentence.plain(f"{text} The verdict is wrong, as one in twenty may be; {interval}.", "warning")


def _missed(demo: AnchoredDemo, view: View) -> tuple[doc.Sentence, ...]:
    """Which other intervals and ranges miss the truth."""
    assert view.headline is not None
    values = [e.model for e in demo.estimates() if not (e.low <= demo.truth[e.model] <= e.high) and e.value == e.value]
    found = []
    if values:
        whose = " and ".join(values)
        found.append(
            f"The interval of {whose} misses the truth in the table below; of 95 % intervals one in twenty may."
        )
    ranges = [v for v in view.verdicts(view.headline) if in_scenarios(v)]
    if ranges and not any(v.low <= demo.lead <= v.high for v in ranges):
        found.append("No range from the log alone holds the true difference: what they assume fails in this shop.")
    return tuple(doc.Sentence.plain(text, "note") for text in found)


def _table(demo: AnchoredDemo) -> doc.Table:
    """Naive, the range that the log leaves, what the answers say, and the truth."""
    assert demo.after is not None
    before, after = View.of(demo.before), {e.model: e for e in demo.estimates()}
    assert before.headline is not None
    naive = before.naive(before.headline)
    ranges = {e.model: e for e in before.estimates(before.headline, before.carrier(before.headline))}
    plain = {e.model: e for e in before.estimates(before.headline, naive)} if naive else {}
    places = 4
    rows = tuple(
        (
            name,
            numbers.number(plain[name].value, places) if name in plain else numbers.DASH,
            words.limits(ranges[name], places),
            numbers.number(after[name].value, places),
            words.limits(after[name], places),
            numbers.number(demo.truth[name], places),
        )
        for name in demo.truth
    )
    columns = doc.columns(("model",), ("naive", "the log alone", ANCHORED, "interval", "truth"))
    return doc.Table(METRIC, f"{TARGET}, and the truth that no log shows", columns, rows)


def _differences(demo: AnchoredDemo, view: View) -> doc.Chart:
    assert view.headline is not None

    def row(v: Verdict) -> Row:
        return Row(_short(v.estimator), v.verdict, v.difference, v.low, v.high, demo.lead, in_scenarios(v))

    rows = [row(v) for v in view.by_pair(view.headline)]
    note = f"{METRIC}; to the right of the dotted line {CHALLENGER} leads. Wide bars: ranges over scenarios"
    label = "Difference between the models before and after the answers"
    return beside_truth(f"{CHALLENGER} − {POPULAR}", note, label, rows, zero=True)


def _values(demo: AnchoredDemo, view: View) -> doc.Chart:
    assert view.headline is not None

    def row(e: Estimate) -> Row:
        name, scenarios = f"{e.model}, {_short(e.estimator)}", in_scenarios(e)
        tone = "depends" if scenarios else "better" if e.estimator == ANCHORED else "undecided"
        return Row(name, tone, e.value, e.low, e.high, demo.truth[e.model], scenarios)

    rows = [row(e) for e in view.by_model(view.headline)]
    return beside_truth("Values", METRIC, "Values of the models before and after the answers", rows)


def _short(estimator: str) -> str:
    return estimator.partition("(")[0]


def _repeat(demo: AnchoredDemo) -> doc.Section:
    """Commands for every step."""
    world = demo.world
    make = f"unskew demo --anchored --users {world.users} --items {world.items} --seed {world.seed} --keep shop"
    names = ("The log alone:", "The plan, and the questions:", "The verdict, once answers are there:")
    steps = (("The files:", make), *zip(names, demo.commands("shop"), strict=True))
    return doc.Section("repeat", "Repeat each step", (doc.Steps("", steps),), "", "Commands")
