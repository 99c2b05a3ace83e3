"""What a careful reader should know of the rows, the lists and predictions, the users and the items."""

from __future__ import annotations

from collections.abc import Iterator

from unskew.alignment.lists import PLACES_BEYOND, TRAINING_ITEMS, FoundLists
from unskew.alignment.predicted import WITHOUT_PREDICTION
from unskew.alignment.rows import IN_TRAINING
from unskew.alignment.spelling import Respelled, respelled
from unskew.core.text import plain
from unskew.estimators import Need, Target
from unskew.evaluation.facts import Facts
from unskew.judging.list_notes import UNEVEN
from unskew.log.interactions import DUPLICATE, MOSTLY, REPEATED, mostly_repeated
from unskew.log.position import SOME
from unskew.log.said import NOT_USED
from unskew.metrics import RankingMetric
from unskew.split import LeaveOneOut


def repeated_pairs(facts: Facts) -> Iterator[str]:
    """Pairs that a log holds several times and that were kept once without anybody asking for it."""
    for log in (facts.inputs.test, facts.inputs.train):
        if log is not None:
            yield from (
                note.saying(f"{log.account.source}: {note}.") for note in log.account.notes if note.code == REPEATED
            )
    account = facts.aligned.account
    for each in (account["test"], account["train"]):
        again = 0 if each is None else each["dropped"].get(DUPLICATE, 0)
        if again and again > MOSTLY * each["rows"]:
            yield f"{plain(each['source'])}: {mostly_repeated(again, each['rows'], each['columns'])}"


def unused_amounts(facts: Facts) -> Iterator[str]:
    """Columns that may say what a row was worth, while every row counts as a positive, or where it was shown."""
    for log in (facts.inputs.test, facts.inputs.train):
        if log is not None:
            yield from (
                note.saying(f"{log.account.source}: {note}.")
                for note in log.account.notes
                if note.code in (NOT_USED, SOME)
            )


def sampled_rows(facts: Facts) -> Iterator[str]:
    """A sample with unequal chances is no random part of the log."""
    drawn_by = facts.inputs.test.sampled_by
    if drawn_by.startswith(LeaveOneOut.name):
        yield (
            f"The test log holds one row of each user ({drawn_by}), so that a row of an active user is less likely to "
            "be in it: scores describe users alike, and are not debiased."
        )
    elif drawn_by:
        yield (
            f"The test log is a sample ({drawn_by}): scores describe its rows, which were drawn "
            "with unequal chances. That changes the skew of the log, and does not debias the scores. Intervals do not "
            "know of the rows that were left out, and can be too narrow: evaluate the whole log with sample=… instead."
        )


def samples_drawn(facts: Facts) -> Iterator[str]:
    """What averages over samples are, and what they take for granted."""
    found = facts.samples
    if found is None:
        return
    if found.equal:
        yield f"Scores are those of samples of the test log ({found.text}), which are as skewed as the log itself."
        return
    yield (
        f"Scores are averages over samples of the test log ({found.text}). That changes the skew of the log, and does "
        "not debias the scores: nothing checks whether what is seen more often was only shown more often. Intervals "
        "take the weights of users and items as given, though they were counted on the training log."
    )


def rows_in_training(facts: Facts) -> Iterator[str]:
    """With unseen candidates nothing that is in training can be recommended."""
    if again := facts.dropped.get(IN_TRAINING):
        yield (
            f"{again:,} held-out interactions repeat a training pair of the same user and were dropped, because only "
            "unseen items are candidates. To judge repeats too, use candidates='all'."
        )


def rows_outside_population(facts: Facts) -> Iterator[str]:
    """Training rows that a propensity is fitted without."""
    if facts.propensity.outside:
        yield (
            f"{facts.propensity.outside:,} training rows belong to users outside the population (users=…), and "
            f"'{facts.request.propensity}' is fitted without them: it is the population's probability of being seen "
            "that counts."
        )


def fitted_to_fewer(facts: Facts) -> Iterator[str]:
    """A propensity fitted in advance knows the users and items of its log only."""
    train, items = facts.inputs.train, facts.aligned.logged
    if facts.propensity.outgrown and train is not None:
        model = facts.request.propensity
        yield (
            f"'{model}' was fitted before this evaluation, which counts {facts.inputs.users:,} users and "
            f"{len(items):,} items, while the training log knows {facts.inputs.train_users:,} and "
            f"{len(train.items):,}: users and items without training rows make its level too high. Give its string "
            f"(propensity='{model}'), and it is fitted over all of them."
        )


def rows_without_prediction(facts: Facts) -> Iterator[str]:
    """Rows that some model does not predict are lost to all."""
    if lost := facts.dropped.get(WITHOUT_PREDICTION):
        yield (
            f"{lost:,} held-out {'pair was' if lost == 1 else 'pairs were'} dropped because some model has no "
            "prediction there. The others stand for all of them in naive and snips; ips still divides by all candidate "
            "pairs, and comes out too low."
        )


def other_spellings(facts: Facts) -> Iterator[str]:
    """Ids of the training log, the catalogue and dropped predictions that the test log writes otherwise."""
    inputs = facts.inputs
    ours = {"item": inputs.test.items}
    if (train := inputs.train) is not None:
        found = (*inputs.train_spelling.found, *respelled({"item": train.items}, ours))
        harm = "nobody has seen them in training as it is"
        yield from _written_otherwise(f"training log {train.account.source}", found, harm)
    if (catalogue := inputs.catalogue) is not None:
        found = respelled({"item": catalogue.items}, ours)
        yield from _written_otherwise(
            f"catalogue {catalogue.account.source}", found, "each counts as two items as it is"
        )
    for name, items in inputs.predicted_items.items() if facts.dropped.get(WITHOUT_PREDICTION) else ():
        found = (*inputs.spelling[name].found, *respelled({"item": items}, ours))
        yield from _written_otherwise(plain(name), found, "they predict nothing as it is")


def _written_otherwise(name: str, found: tuple[Respelled, ...], harm: str) -> Iterator[str]:
    for other in found:
        yield (
            f"{name}: {other.count:,} of its {other.total:,} {other.what}s occur in no log as they are written, such "
            f"as '{other.listed}', where the logs have '{other.logged}'. If they are the same, write them alike: "
            f"{harm}."
        )


def lists_of_models(facts: Facts) -> Iterator[str]:
    """Ids, missing lists and training items, model by model; what all models lack is told by ``users_unserved``."""
    lacking = _unserved(facts)
    for name, coded in facts.aligned.found_lists.items():
        yield from _about_lists(plain(name), coded, lacking, unseen=facts.inputs.rules.unseen)


def _unserved(facts: Facts) -> int:
    """Users with held-out interactions who have a list from no model, where several models have lists."""
    return facts.answers[0].sums.places.unserved if len(facts.aligned.found_lists) > 1 else 0


def users_unserved(facts: Facts) -> Iterator[str]:
    """Users without a list from any model: said once, with what to do."""
    rows, lacking = facts.aligned.facts.rows, _unserved(facts)
    if not lacking:
        return
    new = ", as many as have no training row," if lacking == rows.untrained else ""
    others = (
        ", or judge the others alone: give the users who have lists, each once, as the population (users=…), and leave "
        "out the rows of all others with invalid='drop'"
    )
    yield (
        f"{lacking:,} of {rows.active:,} users with held-out interactions{new} have a list from no model and score 0 "
        f"for all of them. Make lists for them too{'' if facts.in_fold else others}."
    )


def _about_lists(name: str, coded: FoundLists, lacking: int, *, unseen: bool) -> Iterator[str]:
    for strange in coded.strange:
        yield (
            f"{name}: {strange.share:.0%} of its {strange.what}s occur in no log. They look like '{strange.listed}', "
            f"those of the logs like '{strange.logged}': are these the same ids, written the same way?"
        )
    yield from _written_otherwise(name, coded.respelled, "they cannot be hits as it is")
    if coded.gaps:
        yield (
            f"{name}: {coded.gaps}: is the column really the place in the list? Items count at the ranks that they "
            "have. Number the items of each list 1, 2, 3, …, or leave the column out where a score orders the lists: "
            "columns={'rank': ''}."
        )
    if (without := coded.account["users_without_list"] - lacking) > 0:
        more = "more " if lacking else ""
        yield f"{name}: {without:,} {more}users with held-out interactions have no list and score 0."
    if unseen and (repeats := coded.account[TRAINING_ITEMS]):
        yield (
            f"{name}: {repeats:,} listed items are in the user's training data and cannot be hits. Remove them and "
            "close the ranks up with drop_seen=True (give longer lists then), or, if the lists of all models keep "
            "such items, judge repeats too with candidates='all'."
        )


def short_lists(facts: Facts) -> Iterator[str]:
    """Metrics that look deeper than any list goes."""
    for name, account in facts.aligned.account["models"].items():
        deepest = account["longest_rank"]
        deep = sorted({m.k for run in facts.plan.runs for m in run.metrics if m.k and m.k > deepest})
        if deep:
            cuts = ", ".join(map(str, deep))
            yield (
                f"{plain(name)}: no list goes beyond rank {deepest}; metrics at {cuts} count everything deeper as "
                "missed."
            )


def uneven_lists(facts: Facts) -> Iterator[str]:
    """Lists that leave more places empty than those of another model, and lose by it."""
    accounts, places = facts.aligned.account["models"], facts.answers[0].sums.places
    ranking = {m for run in facts.plan.runs for m in run.metrics if isinstance(m, RankingMetric)}
    cuts = sorted({m.k for m in ranking if m.k is not None}) if places.filled.size else []
    for j, name in enumerate(facts.inputs.models):
        reached = [k for k in cuts if k <= accounts[name].get("longest_rank", 0)]  # of the others: ``short_lists``
        uneven = [k for k in reached if places.empty(k)[j] - places.empty(k).min() > UNEVEN]
        if not uneven:
            continue
        k, shares = uneven[-1], places.empty(uneven[-1])
        still = ", of which that many are left when training items are dropped" if facts.inputs.rules.drop_seen else ""
        yield (
            f"{plain(name)}: its lists leave {shares[j]:.0%} of the places up to rank {k} empty, those of "
            f"{plain(facts.inputs.models[int(shares.argmin())])} {shares.min():.0%}. Empty places count as missed, so "
            f"{plain(name)} loses by them: give lists of at least {k} items{still}."
        )


def empty_lists(facts: Facts) -> Iterator[str]:
    """Lists that are missing evenly count as empty ones: said where sums over lists are computed."""
    if not (summing := facts.estimators(Need.LISTS)):
        return
    alike: dict[int, list[str]] = {}
    for name, account in facts.aligned.account["models"].items():
        empty = account.get("users_without_list", 0) + account.get("silent_users_without_list", 0)
        alike.setdefault(empty, []).append(plain(name))
    for number, names in alike.items():
        if number:
            yield (
                f"{' and '.join(names)}: {number:,} of {facts.aligned.facts.rows.users:,} users have no list; for "
                f"{', '.join(summing)} they count as users whom the model recommends nothing."
            )


def items_not_named(facts: Facts) -> Iterator[str]:
    """A catalogue that lacks items of the logs."""
    items = facts.aligned.account["items"]
    if items["only_in_logs"]:
        yield (
            f"{items['only_in_logs']:,} of the {items['catalogue']:,} items are in the logs and not in the catalogue "
            "(items=…): they were seen, so they count as candidates all the same."
        )


def listed_beyond_catalogue(facts: Facts) -> Iterator[str]:
    """Listed items outside the catalogue: what estimators make of them.

    A catalogue that is made of logs lacks the items that nobody happened to see. What is listed beyond it may be such
    an item, or no item at all: naive and ips cannot count it either way, a model counts it, a number of pairs lacks it.
    """
    places = sum(account.get(PLACES_BEYOND, 0) for account in facts.aligned.account["models"].values())
    if not places:
        return
    listed = sum(each.entries for each in facts.aligned.facts.lists)
    share = f"{places:,} of {listed:,} listed places ({places / listed:.1%})"
    if facts.aligned.closed:
        yield f"{share} hold items outside the catalogue (items=…): they are no candidates and count as 0."
        return
    parts = []
    if counting := facts.estimators(Need.LISTS):
        parts.append(f"{', '.join(counting)} count them as candidates")
    if any(run.target.normalised for run in facts.plan.runs):
        parts.append("normalised targets leave them out")
    if dividing := facts.estimators(Need.CANDIDATES):
        parts.append(f"{', '.join(dividing)} count the pairs of the other items only, which may be too few")
    if parts:
        yield f"{share} hold items that no log shows: {'; '.join(parts)}. Name all items there are with items=…."


def silent_users(facts: Facts) -> Iterator[str]:
    """Averages over a population that nobody named."""
    if facts.inputs.population is not None:
        return
    if facts.runs(Target.PER_USER_SUM):
        yield (
            "Sums are averaged over the users of the given logs; users who were silent in all of them are not known "
            "and would lower the averages. Give the whole population with users=…."
        )
    elif facts.estimators(Need.CANDIDATES):
        yield (
            "Averages over all pairs divide by the users of the given logs times their candidates; users who were "
            "silent in all of them, and items that no log shows, are not known. Give the population with users=…."
        )
