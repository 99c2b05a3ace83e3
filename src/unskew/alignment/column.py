"""Is a column of propensities the chance that this user was shown this item at all? What the log says of it.

Where all that was seen is kept, also what brought nothing, right propensities add up in every part of the log that is
chosen without a look at the rows which are added up (MATHS §18):

    all pairs     Σ_O 1/P = |C|                                                      ``level.py``
    items         the same in tenths of the items, by how often the *other* half of the users has them
    single items  mean over items of (t/c − 1)² − v, t = Σ 1/P, c the item's pairs, v = Σ (1 − P)/P² ÷ c²: 0
    users         Σ_u (n_uB/n̄_B − 1) (Σ_OA 1/P − ρ |C_uA|) = 0 over users with n_uB > 0, and the same mirrored

A and B are two halves of the items. A user's n_B says how active the user is, without a look at A; ρ is the ratio over
these users, which exceeds 1 where others never come and the column knows it. Where no population was named, users
without rows are missing, and ρ is what tells whether the level is right.

Propensities that lack a factor f_u, by which users are active, make the last line τ = Var(f) of the pairs; and with
r = Σ_O 1/P − ρ |C| of a user, σ = Σ_u r_uA r_uB / Σ_u |C_uA||C_uB| is Var(f) as well. Two things make τ differ from 0
with right propensities: numbers of rows that are fixed (a page has ten places) make it −1/n̄; and pages that are drawn
at random as a whole make rare pairs come together, so that σ is well above τ (1.4 to 9 times it in 240 simulated worlds
of pages, .8 to 1.2 times where f is lacking). Neither is taken for an error. A factor of users that has nothing to do
with how active they are is not seen.

A column that passes all of them may carry "better", but not of ratings, which people choose by what they will say. One
that fails any of them carries nothing, and what cannot be tested stays a condition of the verdict, with whatever looks
odd in the column itself (``signs``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from unskew.alignment.level import (
    ENOUGH,
    ERRORS,
    FEW,
    LevelCheck,
    LevelInputs,
    LevelPart,
    LevelSums,
    Ratio,
    SeenQuestion,
    half_of,
    shows_zeros,
)
from unskew.alignment.rows import has_level
from unskew.core.notice import Notice
from unskew.core.text import plain
from unskew.engine.data import EvaluationData
from unskew.inference.merging import Mergeable, merged_by
from unskew.kernels.arrays import Bools, Floats, Ints64, present
from unskew.kernels.levels import count_halves, group_counts, group_sums, item_totals
from unskew.log import Feedback, Log
from unskew.propensity import Propensity, Scope

TENTHS = 10
SLIGHT = 0.1  # of the level
OFF = 0.2  # by how much a tenth, or the factor of a user, must be off
TOGETHER = 1.5  # σ/τ: beyond, pairs of a user come together
MISSED = 10.0  # heavy rows that may not have come: with fewer, thin honest logs are off in one tenth or another
FEWEST_GROUPS = 3  # of items: with fewer, popular and rare ones are hardly told apart
SEEN = 0.5  # an error that a test must be able to see, to be passed
BLOCK = 1 << 16  # users whose sums are looked at together
MOST_ITEMS = 100_000  # beyond, totals of single items are not kept
CERTAIN = 0.1  # of the rows with P = 1, beside others
FLOORED = 0.05  # of the rows at the least P
SHARES = (0.9, 1.02)  # what shares of all items add up to
CORE = 30  # rows: the largest number of rows below which items are left out, as filters go
FITTED = 0.1  # of the median that chance gives to squared errors of items' totals
MEDIAN = 0.4549  # of χ² with one degree of freedom
IMPLIED = 0.5  # of the pairs: no list of ten is needed where more are relevant
LOG_IT = (
    "Log the chance that this user was shown this item at all in the period of the log, however it came about "
    "(docs/logging.md)"
)


@dataclass(frozen=True, eq=False)
class ItemColumns(Mergeable):
    """By half of the users and item: Σ 1/P and Σ (1 − P)/P² over the rows, how many rows and how many pairs there are,
    and the least and the largest P.
    """

    inverse: Floats
    noise: Floats
    rows: Ints64
    pairs: Ints64
    low: Floats = merged_by(np.minimum)
    high: Floats = merged_by(np.maximum)

    @classmethod
    def of(cls, held: EvaluationData, items: int, excluded: Log | None) -> ItemColumns | None:
        """Of some users; ``None`` where there are too many items to keep numbers of each."""
        if items > MOST_ITEMS:
            return None
        half, rows, known = half_of(held), *np.zeros((2, 2, items), dtype=np.int64)
        low, high, inverse, noise = np.full((2, items), np.inf), *np.zeros((3, 2, items))
        item_totals(held.indptr, held.item, present(held.propensity), half, low, high, inverse, noise)
        count_halves(held.indptr, held.item, half, rows)
        if excluded is not None:
            count_halves(excluded.indptr, excluded.item, half, known)
        return cls(inverse, noise, rows, np.bincount(half, minlength=2)[:, None] - known, low, high)

    @property
    def whole(self) -> ItemColumns:
        """Of all users together."""
        inverse, noise, rows, pairs = (each.sum(axis=0) for each in (self.inverse, self.noise, self.rows, self.pairs))
        return ItemColumns(inverse, noise, rows, pairs, self.low.min(axis=0), self.high.max(axis=0))


def _least(a: tuple[float, int], b: tuple[float, int]) -> tuple[float, int]:
    """The lower of two numbers with how often it comes."""
    return (a[0], a[1] + b[1]) if a[0] == b[0] else min(a, b)


def _few_names(a: frozenset[str], b: frozenset[str]) -> frozenset[str]:
    return frozenset(sorted(a | b)[:2])


@dataclass(frozen=True, eq=False)
class ColumnFacts(Mergeable):
    """What the column looks like in the rows of some users; that of others is added.

    Args:
        rows, certain: rows, and those with P = 1; of all of them, and of those that brought something.
        implied: Σ y/P against the number of pairs, for how many of these would be relevant.
        least: the least P, and how many rows have it.
        policies: names of policies, two at most.
    """

    rows: tuple[int, int]
    certain: tuple[int, int]
    implied: LevelSums
    items: ItemColumns | None
    least: tuple[float, int] = merged_by(_least)
    policies: frozenset[str] = merged_by(_few_names)

    @classmethod
    def of(cls, held: EvaluationData, rows: Log, excluded: Log | None) -> ColumnFacts:
        """Of some users."""
        p, items = present(held.propensity), len(rows.items)
        liked, certain = held.value > 0.0, p == 1.0
        least = float(p.min(initial=math.inf))
        names = () if rows.policy is None else rows.policy.unique().sort()[:2]
        return cls(
            (len(p), int(np.count_nonzero(liked))),
            (int(np.count_nonzero(certain)), int(np.count_nonzero(certain & liked))),
            LevelSums.over_all(held, p, held.value, present(held.candidates), items),
            ItemColumns.of(held, items, excluded),
            (least, int(np.count_nonzero(p == least))),
            frozenset(map(str, names)),
        )


@dataclass(frozen=True, eq=False)
class GroupSums(Mergeable):
    """Sums over users of what they have in groups of items, and of products of these.

    Args:
        rows, square, alone, cube: of every group the rows, Σ 1/P², Σ (1 − P)/P² and Σ 1/P³.
        sums: Σ of x_u, the numbers of a user: by group Σ 1/P, and how many pairs there are.
        products: Σ x_u x_uᵀ.
    """

    users: int
    rows: Floats
    square: Floats
    alone: Floats
    cube: Floats
    sums: Floats
    products: Floats


def _grouped(part: LevelPart, group: Ints64, low: int, high: int, excluded: Log | None) -> tuple[Floats, ...]:
    """Of some users by group: Σ 1/P, the pairs, the rows; and sums over their rows."""
    held, groups = part.held, int(group.max()) + 1
    half = half_of(held)
    weight, rows = np.zeros((high - low, groups)), np.zeros((high - low, groups))
    sums = group_sums(held.indptr, held.item, present(held.propensity), half, group, low, high, weight)
    group_counts(held.indptr, held.item, half, group, low, high, rows)
    sizes = np.stack([np.bincount(each[each >= 0], minlength=groups) for each in group]).astype(np.float64)
    pairs = sizes[half[low:high]]
    if excluded is not None:
        group_counts(excluded.indptr, excluded.item, half, group, low, high, pairs)
    return weight, pairs, -rows, sums


@dataclass(frozen=True, eq=False)
class PopularityQuestion:
    """What inverse propensities add up to in groups of items; ``group[h, i]`` is that of item i for half h of users."""

    group: Ints64
    unseen: bool

    def of(self, part: LevelPart) -> GroupSums:
        """The sums of some users."""
        groups, width = int(self.group.max()) + 1, 2 * (int(self.group.max()) + 1)
        by_rows, total, products = np.zeros((5, groups)), np.zeros(width), np.zeros((width, width))
        for low in range(0, part.held.users, BLOCK):
            high = min(low + BLOCK, part.held.users)
            weight, pairs, _, sums = _grouped(part, self.group, low, high, part.known if self.unseen else None)
            x = np.concatenate([weight, pairs], axis=1)
            by_rows, total, products = by_rows + sums, total + x.sum(axis=0), products + x.T @ x
        return GroupSums(part.held.users, by_rows[0], by_rows[2], by_rows[3], by_rows[4], total, products)


@dataclass(frozen=True, eq=False)
class ActivitySums(Mergeable):
    """Sums over users that tell whether the active ones have too many pairs: in half A of the items, and mirrored in B.

    Args:
        users: with rows in B.
        sums: over them, of (t, c, n, nt, nc, tt', tc', ct', cc'): Σ 1/P and the pairs in A (t', c' in B), rows in B.
        products: Σ of the products of (nt, nc, t, c).
    """

    users: Floats
    sums: Floats
    products: Floats


@dataclass(frozen=True, eq=False)
class ActivityQuestion:
    """Σ 1/P of users in two halves of the items; ``allowed[h, i]``: half h of the users is checked on item i."""

    allowed: Bools
    unseen: bool

    def of(self, part: LevelPart) -> ActivitySums:
        """The sums of some users."""
        bit = ((part.rows.items.hashes >> np.uint64(23)) & np.uint64(1)).astype(np.int64)
        group = np.where(self.allowed, bit, -1)
        users, sums, products = np.zeros(2), np.zeros((2, 9)), np.zeros((2, 4, 4))
        if group.max() < 1:  # one half of the items has none
            return ActivitySums(users, sums, products)
        for low in range(0, part.held.users, BLOCK):
            high = min(low + BLOCK, part.held.users)
            weight, pairs, rows, _ = _grouped(part, group, low, high, part.known if self.unseen else None)
            for a, b in ((0, 1), (1, 0)):
                there = rows[:, b] > 0.0
                t, c, n, other, others = (
                    each[there, half] for each, half in ((weight, a), (pairs, a), (rows, b), (weight, b), (pairs, b))
                )
                x = np.column_stack([n * t, n * c, t, c])
                users[a] += len(t)
                sums[a] += [t.sum(), c.sum(), n.sum(), n @ t, n @ c, t @ other, t @ others, c @ other, c @ others]
                products[a] += x.T @ x
        return ActivitySums(users, sums, products)


class Finding(NamedTuple):
    """What one test found: ``wrong`` in words; ``able`` whether it would have seen an error of a half."""

    wrong: str = ""
    able: bool = False


class ColumnCheck(NamedTuple):
    """What is known of a column of propensities.

    Args:
        passed: all that was seen is logged, and the column passed every test.
        wrong: why nothing is decided by it.
        untested: which tests could not be made, in words; empty where all were, or where zeros are not logged.
        zeros: whether all that was seen is logged, also what brought nothing.
        implied: which share of all pairs it makes relevant; ``None`` where that cannot be said.
        signs: what it must not be and looks like, in words that go on after "if".
    """

    passed: bool = False
    wrong: str = ""
    untested: str = ""
    zeros: bool = False
    implied: float | None = None
    signs: tuple[str, ...] = ()

    @property
    def plain(self) -> Mapping[str, object]:
        """For the account of an evaluation."""
        return {
            "zeros_logged": self.zeros,
            "passed": self.passed,
            "wrong": self.wrong,
            "untested": self.untested,
            "implied_relevance": self.implied,
            "signs": list(self.signs),
        }


def check_column(given: LevelInputs, level: LevelCheck, found: ColumnFacts) -> ColumnCheck:
    """Test a column of propensities that was not fitted here by all that the log shows of it."""
    zeros, tests = shows_zeros(given), has_level(given.model, given.rows, given.rules)
    implied, much = _implied(given, found) if tests else (None, "")
    wrong, findings = much, []
    if zeros and tests and not wrong:
        findings = [*_tests(given, level), _of_single_items(found.items)]
        wrong = next((finding.wrong for finding in findings if finding.wrong), "")
    wrong = wrong or (level.wrong if not findings else "")
    able = bool(findings) and all(finding.able for finding in findings)
    signs = tuple(_signs(given, found, level, implied, able))
    return ColumnCheck(
        passed=able and not wrong and not signs and given.model.known and not given.rows.estimated_by,
        wrong=_after_because(f"{wrong.rstrip('.')}. {LOG_IT}") if wrong else "",
        untested="" if not zeros or able or wrong else "too little was seen to test it",
        zeros=zeros,
        implied=implied,
        signs=signs,
    )


def _after_because(sentence: str) -> str:
    """A sentence of ours within another one."""
    return sentence[:1].lower() + sentence[1:] if sentence.startswith(("The ", "By ")) else sentence


def _tests(given: LevelInputs, level: LevelCheck) -> list[Finding]:
    """The level, items by popularity, and users by activity."""
    counts = given.ask(SeenQuestion()).counts
    allowed = np.ones_like(counts, dtype=np.bool_) if given.named else counts[::-1] > 0
    group = tenths(counts[::-1], allowed)
    if group.max() < 1:
        return [Finding(level.wrong)]
    by_items = given.ask(PopularityQuestion(group, given.rules.unseen))
    by_users = given.ask(ActivityQuestion(allowed, given.rules.unseen))
    share = _of_comers(by_users) if level.high and not given.population else None
    return [_level(level, share), _of_items(by_items, share), _of_users(by_users)]


def _level(check: LevelCheck, comers: tuple[float, float] | None) -> Finding:
    """The level, which was looked at already; where users without rows are missing, that of those who have some."""
    if comers is not None:
        value, error = comers
        wrong = abs(value - 1.0) > max(SLIGHT, ERRORS * error)
        return Finding(check.wrong if wrong else "", ERRORS * error <= SEEN)
    ratio = check.ratio
    able = ratio is not None and not check.unknown and ERRORS * ratio.error <= SEEN
    return Finding(check.wrong, able)


def _of_comers(sums: ActivitySums) -> tuple[float, float]:
    """Σ 1/P ÷ pairs in one half of the items, over users with rows in the other, and its standard error."""
    t, c = sums.sums[:, 0].sum(), sums.sums[:, 1].sum()
    if c <= 0.0:
        return math.nan, math.inf
    way = np.array([0.0, 0.0, 1.0, -t / c])
    return float(t / c), math.sqrt(max(float(sum(way @ each @ way for each in sums.products)), 0.0) * 2.0) / float(c)


def tenths(counts: Ints64, allowed: Bools) -> Ints64:
    """Groups of entries by their counts, each with a tenth of the rows as far as ties allow; −1 where not allowed."""
    numbers = np.sort(counts[allowed])
    if not numbers.any():
        return np.full(counts.shape, -1)
    below = np.cumsum(numbers) / int(numbers.sum())
    edges = np.unique(numbers[np.searchsorted(below, np.arange(1, TENTHS) / TENTHS)])
    found = np.searchsorted(edges, counts, side="left")
    _, dense = np.unique(np.where(allowed, found, -1), return_inverse=True)
    dense = dense.reshape(counts.shape)
    return dense if allowed.all() else dense - 1


def _of_items(sums: GroupSums, comers: tuple[float, float] | None) -> Finding:
    """The tenth of the items that is off the most; neighbours are put together until each rests on enough weights.

    Where users without rows are missing, all tenths are too high alike, and each is held against all of them.
    """
    groups, together = len(sums.rows), _together(sums)
    able = len(together) >= FEWEST_GROUPS
    usual = 1.0 if comers is None else float(sums.sums[:groups].sum() / sums.sums[groups:].sum())
    for group in together:
        value, error, heavy = (each / usual for each in _ratio(sums, group))
        lacking = max(error, heavy)
        if abs(value - 1.0) > OFF and abs(value - 1.0) > ERRORS * (lacking if value < 1.0 else error):
            kind = "least" if group[0] == 0 else "most" if group[-1] == groups - 1 else "moderately"
            return Finding(
                f"Σ 1/P over the seen pairs of the {kind} popular items is {value:.2g} of the number of their pairs "
                f"({abs(value - 1.0) / error:.0f} standard errors off), which it would equal on average if the "
                "propensities were right"
            )
        able &= ERRORS * lacking <= SEEN
    return Finding(able=able)


def _together(sums: GroupSums) -> list[list[int]]:
    """Groups of neighbours with enough weights; what is left over joins the last one."""
    found: list[list[int]] = []
    under_way: list[int] = []
    for g in range(len(sums.rows)):
        under_way.append(g)
        weight, square = sums.sums[under_way].sum(), sums.square[under_way].sum()
        if square > 0.0 and weight**2 / square >= ENOUGH:
            found.append(under_way)
            under_way = []
    if under_way and found:
        found[-1] = found[-1] + under_way
    return found or [under_way]


def _ratio(sums: GroupSums, group: list[int]) -> tuple[float, float, float]:
    """Σ 1/P ÷ pairs of some groups, its standard error, and that where heavy rows happened not to come."""
    groups = len(sums.rows)
    t, c = np.array(group), np.array(group) + groups
    weight, pairs = float(sums.sums[t].sum()), float(sums.sums[c].sum())
    if pairs <= 0.0 or weight <= 0.0:
        return math.nan, math.inf, math.inf
    value = weight / pairs

    def products(a: Ints64, b: Ints64) -> float:
        return float(sums.products[np.ix_(a, b)].sum())

    spread = products(t, t) - 2.0 * value * products(t, c) + value**2 * products(c, c)
    clustered = sums.users / max(sums.users - 1, 1) * max(spread, 0.0)
    variance = max(clustered, float(sums.alone[t].sum()))
    heavy = float(sums.cube[t].sum() / sums.square[t].sum())
    return value, math.sqrt(variance) / pairs, (math.sqrt(variance) + MISSED * heavy / ERRORS) / pairs


def _of_single_items(items: ItemColumns | None) -> Finding:
    """Whether items have more pairs than there are, and others fewer, by a factor of each item's own.

    With x what an item lacks of its share in one half of the users and v the variance of that, the factor's variance is
    the mean of x² − v, and that of x_A x_B. Items are looked at where the other half often has them, so that nothing is
    chosen by what is looked at. Both must be large: items that are shown together are off together in one half.
    """
    if items is None:
        return Finding(able=True)
    often = (items.rows[::-1] > 0) & ((items.inverse**2 >= ENOUGH * (items.inverse + items.noise))[::-1])
    both = often.all(axis=0)
    if np.count_nonzero(both) < TENTHS:
        return Finding(able=True)
    usual = items.inverse[often].sum() / items.pairs[often].sum()
    share = np.maximum(items.pairs * usual, 1.0)
    x, noise = items.inverse / share - 1.0, items.noise[often] / share[often] ** 2
    spread = min(float(np.mean(x[often] ** 2 - noise)), float(np.mean(x[0, both] * x[1, both])))
    error = math.sqrt(2.0 * float(noise @ noise)) / len(noise)
    if spread > SLIGHT**2 and spread > ERRORS * error:
        return Finding(
            "by Σ 1/P, some items have more pairs than there are, and others fewer: the column is off by a factor of "
            f"each item's own, about ±{math.sqrt(spread):.0%}, as where items were out of stock or promoted for a while"
        )
    return Finding(able=True)


def _of_users(sums: ActivitySums) -> Finding:
    """Whether users who are more active have too many pairs by the column, or too few."""
    t, c, n, nt, nc, tt, tc, ct, cc = sums.sums.T
    if sums.users.min() < FEW or not t.all() or not cc.all():
        return Finding()
    ratio, mean = t.sum() / c.sum(), n / sums.users
    excess = float(((nt - ratio * nc) / mean - (t - ratio * c)).sum() / (ratio * c.sum()))
    alike = float((tt - ratio * (tc + ct) + ratio**2 * cc).sum() / (ratio**2 * cc).sum())
    ways = [np.array([1.0 / each, -ratio / each, -1.0, ratio]) for each in mean]
    variance = sum(float(way @ each @ way) for way, each in zip(ways, sums.products, strict=True))
    error = math.sqrt(max(2.0 * variance, 0.0)) / float(ratio * c.sum())  # both halves: as if they went together
    fixed = 1.0 / float(mean.sum())  # of pages with a fixed number of places
    beyond = excess if excess > 0.0 else min(excess + fixed, 0.0)
    together = 0.0 < TOGETHER * excess < alike
    if abs(beyond) > OFF**2 and abs(beyond) > ERRORS * error and not together:
        how = "more" if beyond > 0.0 else "fewer"
        return Finding(
            f"by Σ 1/P, active users have {how} pairs than there are, and others the other way round: the column is "
            f"off by a factor of each user's own, about ±{math.sqrt(abs(beyond)):.0%} "
            f"({abs(beyond) / error:.0f} standard errors)"
        )
    return Finding(able=ERRORS * error <= SEEN)


def looks_fitted(given: LevelInputs, found: ColumnFacts) -> bool:
    """Whether the items' totals are right more exactly than chance allows: numbers that were fitted to them."""
    if found.items is None or given.facts.known:
        return False
    items = found.items.whole
    enough = (items.noise > 0.0) & (items.rows >= FEW)
    if np.count_nonzero(enough) < 2 * TENTHS:
        return False
    squared = (items.inverse[enough] - items.pairs[enough]) ** 2 / items.noise[enough]
    return bool(np.median(squared) < FITTED * MEDIAN)


def _implied(given: LevelInputs, found: ColumnFacts) -> tuple[float | None, str]:
    """Which share of the pairs the column makes relevant, and what is wrong with that."""
    if not given.rules.ranks or given.facts.graded or given.model.estimated:
        return None, ""
    ratio = Ratio.of(found.implied)
    if not math.isfinite(ratio.value):
        return None, ""
    if ratio.known and ratio.value - 1.0 > ERRORS * ratio.error:
        return ratio.value, (
            f"By the column, more pairs are relevant than there are: Σ y/P is {ratio.value:.2g} times the number of "
            f"pairs ({ratio.errors:.0f} standard errors off)"
        )
    return ratio.value, ""


def _signs(
    given: LevelInputs, found: ColumnFacts, level: LevelCheck, implied: float | None, able: bool
) -> Iterator[Notice]:
    """What the column, or the log, looks like; each is an ordinary way to be wrong."""
    items = None if found.items is None else found.items.whole
    account, rows = given.rows.account, max(found.rows[0], 1)
    certain = max((n / max(of, 1) for n, of in zip(found.certain, found.rows, strict=True)), default=0.0)
    if certain > CERTAIN and found.certain[0] < rows:
        yield Notice(f"the rows with P = 1 ({certain:.0%}) really could not have been missing", code="certain-rows")
    least, times = found.least
    if least < 1.0 and times > FLOORED * rows and _shared_least(items, least) and _many_values(given):
        yield Notice(
            f"P was not raised to {least:.3g}, which {times / rows:.0%} of the rows have", code="raised-to-a-floor"
        )
    if items is not None and given.model.refers(given.rows) is Scope.TEST and _adds_to_one(items):
        yield Notice("it is no share of all items (over the items it adds up to 1)", code="share-of-items")
    if len(found.policies) > 1:
        yield Notice(
            "it counts every policy that could have shown the pair, not only the one that did", code="several-policies"
        )
    if repeated := account.dropped.get("duplicate pair", 0):
        yield Notice(
            f"it counts all showings of a pair together ({repeated:,} rows repeat one)", code="repeated-showings"
        )
    if implied is not None and implied > IMPLIED:
        yield Notice(f"{min(implied, 1.0):.0%} of all pairs are relevant, as it implies", code="implied-relevance")
    if items is not None and not given.facts.known and _is_core(items.rows):
        yield Notice("no items were left out of the log because they have few rows", code="few-rows-left-out")
    if level.hint:
        yield Notice(
            "it speaks of the test log alone, and not of a log that a random split divided",
            code="share-not-given",
        )
    if given.rules.feedback is Feedback.RATINGS:
        yield Notice("it depends on the rating as far as the choice to rate did", code="rated-by-value")
    if able and looks_fitted(given, found):
        yield Notice("it was not fitted to this very log", code="fitted-to-log")


def _shared_least(items: ItemColumns | None, least: float) -> bool:
    return items is not None and int(np.count_nonzero(items.low == least)) >= 3


def _many_values(given: LevelInputs) -> bool:
    """Whether P has many different values, so that one of them should not be frequent."""
    seen = given.facts.seen
    return seen is not None and seen.bins >= 2 * TENTHS


def _adds_to_one(items: ItemColumns) -> bool:
    """Whether each item has one P, and these add up to 1."""
    there = items.rows > 0
    each = bool((items.low[there] == items.high[there]).all()) and int(items.rows.sum()) >= 3 * int(there.sum())
    return each and SHARES[0] <= float(items.low[there].sum()) <= SHARES[1]


def _is_core(rows: Ints64) -> bool:
    """Whether items with fewer rows than some number are missing."""
    there = rows[rows > 0]
    if len(there) < 3 * TENTHS or not 3 <= (least := int(there.min())) <= CORE:
        return False
    return int(np.count_nonzero(there <= least + 1)) >= max(5, len(there) // 10)


def condition(propensity: Propensity, check: ColumnCheck | None, marks: Log, feedback: Feedback) -> str:
    """What must hold for propensities to be right, in words that go on after "if"."""
    if not propensity.known:
        return propensity.assumption
    logged = "propensity" in propensity.reads
    name = plain(marks.account.columns.get("propensity", "propensity") if logged else str(propensity))
    what = "this user was shown this item at all in this period"
    if feedback is Feedback.RATINGS:
        what = "this user's rating of this item came into the log of this period"
    said = f"`{name}` is the chance that {what}, however it came about"
    if marks.estimated_by:
        said = f"`{name}`, which {marks.estimated_by} estimated, is right"
    return ", and ".join([said, *(() if check is None else check.signs)])
