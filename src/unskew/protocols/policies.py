"""Does the logging policy decide which model wins? Every D^π by itself, and tests of what differs (jeunen18 §3.4).

Policies have different users, so that their values are independent; errors are those of users, and of what models were
fitted on (``refitting.py``). All ratios of ``family.py`` are tested at one level, which splits share.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import numpy as np

from unskew.core.bounds import Whole, word
from unskew.core.errors import InputError, RefusedError
from unskew.cross_validation import Average, CrossValidation
from unskew.cross_validation.fold_sums import Key
from unskew.cross_validation.merging import Folds
from unskew.cross_validation.run import judge_folds
from unskew.cross_validation.user_errors import cells_of, joined, user_errors
from unskew.evaluation.read import Stage
from unskew.evaluation.run import reporter
from unskew.inference.log_contrasts import UserErrors, log_ratios
from unskew.log import Log
from unskew.protocols.compare import as_ratio, standing
from unskew.protocols.comparison import MissingProtocol
from unskew.protocols.family import Family, Kind, kendall
from unskew.protocols.impact import Correction, PolicyDifference, PolicyImpact, PolicyRanking, PolicyValue
from unskew.protocols.judging import (
    NAIVE,
    NO_VALUE,
    Judged,
    judged,
    nothing_judged,
    prefixed,
    read_once,
    signs_of,
    windows,
)
from unskew.protocols.policy_parts import PolicyParts, policy_parts
from unskew.protocols.refitting import Judge, Moves, moved, spreads
from unskew.split import Splits, Splitter, make_splits

REFITS = Whole(0, 100, "Every refit judges all policies again.")
MIN_USERS = Whole(1, 2**31 - 1)


def policy_impact(
    log: Any,
    models: Mapping[str, Any] | Sequence[Any],
    splits: Sequence[str | Splitter] | str | Splitter | None = None,
    *,
    average: Literal["macro", "pooled"] = "macro",
    estimators: Sequence[Any] | None = None,
    equal: bool = True,
    min_users: int = 20,
    refits: int = 10,
    level: float = 0.95,
    seed: int = 0,
    store: str | Path | None = None,
    workers: int | None = None,
    progress: Stage | None = None,
    **options: Any,
) -> PolicyImpact:
    """Judge the same models on the part of the log that each policy wrote, and say what differs between policies.

    Args:
        log: with a column ``policy``. Users with rows of several policies are left out of all parts, and counted.
        models: as in ``cross_validate``.
        splits: canonical strings of splitters; by default leave-one-out with 10 repetitions and, where the log has
            times, sliding windows that fit it. Folds are those of the whole log, so that all policies are judged in the
            same windows.
        average: how folds are put together, ``macro`` or ``pooled``.
        estimators: by default naive, and snips where ``propensity`` is given: how much of what differs goes away.
            ``propensity`` is counted on each policy's own training rows, or is a column (``known``).
        equal: as many users of every policy as of the smallest, since models learn better from more rows.
        min_users: a fold in which some policy has fewer users to judge is skipped for all.
        refits: fits on halves of the users, two by two, which tell how far values depend on whom models were fitted
            on; 0 takes fitted models as given, which finds differences between policies too often.
        level: of all tests together, for each metric, estimator and target.
        seed: draws users and halves.
        store, workers, progress: as in ``cross_validate``.
        options: everything else that ``cross_validate`` takes.
    """
    word(average, tuple(Average), "average")
    REFITS.of(refits, "refits")
    MIN_USERS.of(min_users, "min_users")
    if refits % 2:
        raise InputError(
            f"refits={refits}: halves of the users come in pairs. Give an even number, or 0.",
            code="odd-number",
            argument="refits",
        )
    say = reporter(progress)
    if estimators is None:
        estimators = [NAIVE, "snips"] if options.get("propensity") is not None else [NAIVE]
    whole = read_once(log, options)
    parts = policy_parts(whole, equal=equal, seed=seed)
    asked, missing = _splits(whole, splits)
    ask = options | {"estimators": list(estimators), "level": level, "seed": seed, "store": store, "workers": workers}
    way, share = Average(average), 1.0 - (1.0 - level) / len(asked)
    found: dict[str, _OfSplit] = {}
    for each in asked:
        one, lost = _of_split(parts, models, each, ask, way, share, min_users, refits, say)
        missing += lost
        if one is not None:
            found[each.splitter] = one
    if not found:
        raise nothing_judged(missing)
    return PolicyImpact(
        source=whole.account.source,
        groups=parts.groups,
        shared_users=parts.shared_users,
        shared_rows=parts.shared_rows,
        results={split: one.results for split, one in found.items()},
        average=average,
        level=level,
        equal=equal,
        refits=refits,
        values_=tuple(row for one in found.values() for row in one.values()),
        differences_=tuple(row for one in found.values() for row in one.differences()),
        rankings_=tuple(row for one in found.values() for row in one.rankings()),
        corrections_=tuple(row for one in found.values() for row in one.corrections()),
        missing=tuple(missing),
    )


def _splits(
    log: Log, asked: Sequence[str | Splitter] | str | Splitter | None
) -> tuple[list[Splits], list[MissingProtocol]]:
    if asked is None:
        timed, missing = windows(log)
        return [make_splits(log, "leave_one_out(repeats=10)"), *timed], missing
    given = [asked] if isinstance(asked, str | Splitter) else list(asked)
    found = [make_splits(log, splitter) for splitter in given]
    if not found or len({each.splitter for each in found}) < len(found):
        raise InputError(
            "splits are different splitters, at least one, such as ['leave_one_out(repeats=10)'].",
            code="wrong-type",
            argument="splits",
        )
    return found, []


@dataclass(frozen=True, eq=False)
class _OfSplit:
    """All policies by one way of splitting."""

    split: str
    policies: tuple[str, ...]
    models: tuple[str, ...]
    results: Mapping[str, CrossValidation]
    columns: Mapping[Key, UserErrors]
    families: Mapping[Key, Family]
    moves: Sequence[Moves]
    way: Average
    level: float

    def values(self) -> list[PolicyValue]:
        out = []
        for key, family in self.families.items():
            for g, policy in enumerate(self.policies):
                rows = {
                    r.model: r for r in self.results[policy].rows() if (r.metric, r.estimator, r.target) == tuple(key)
                }
                for m, model in enumerate(self.models):
                    row = rows[model]
                    shown = standing(row, self.way, family, g, m)
                    out.append(PolicyValue(self.split, policy, model, *key, **shown, folds=row.folds))
        return out

    def differences(self) -> list[PolicyDifference]:
        out = []
        for key, family in self.families.items():
            for about, ratio in family.ratios.items():
                if about.kind is Kind.ORDER:
                    continue
                other = None if about.other < 0 else self.policies[about.other]
                against = None if about.against < 0 else self.models[about.against]
                shown, low, high = as_ratio(ratio)
                out.append(
                    PolicyDifference(
                        self.split,
                        *key,
                        kind=str(about.kind),
                        policy=self.policies[about.group],
                        other=other,
                        model=self.models[about.model],
                        against=against,
                        ratio=shown,
                        low=low,
                        high=high,
                        p_adjusted=ratio.p_adjusted,
                        differs=ratio.sign != 0,
                    )
                )
        return out

    def rankings(self) -> list[PolicyRanking]:
        out = []
        for key, family in self.families.items():
            for g, h in combinations(range(len(self.policies)), 2):
                ways = family.values(g), family.values(h), self._decided(key, g), self._decided(key, h)
                found = kendall(*ways)
                names = self.policies[g], self.policies[h]
                counts = found.pairs, found.agree, found.reversed, found.open
                out.append(PolicyRanking(self.split, *key, *names, found.tau, found.low, found.high, *counts))
        return out

    def corrections(self) -> list[Correction]:
        out: list[Correction] = []
        for key in self.families:
            plain = Key(key.metric, NAIVE, key.target)
            if key.estimator != NAIVE and plain in self.families:
                out += self._corrected(plain, key)
        return out

    def _corrected(self, plain: Key, key: Key) -> list[Correction]:
        before, after = self.families[plain], self.families[key]
        asked = after.asked()
        favours = [about for about in after.of_kind(Kind.FAVOUR) if about in before.ratios]
        mine, weighed = self.columns[plain], self.columns[key]
        both = UserErrors(
            np.concatenate([mine.values, weighed.values]),
            np.concatenate([mine.errors, weighed.errors], axis=1),
            np.concatenate([mine.carriers, weighed.carriers]),
        )
        own = before.asked()
        weights = [np.concatenate([own[about], -asked[about]]) for about in favours]
        more = spreads(self.moves, (plain, key)) if self.moves else ()
        out = []
        for about, change in zip(favours, log_ratios(both, weights, self.level, more), strict=True):
            one, other = before.ratios[about], after.ratios[about]
            out.append(
                Correction(
                    self.split,
                    key.metric,
                    key.target,
                    key.estimator,
                    self.policies[about.group],
                    self.models[about.model],
                    as_ratio(one)[0],
                    one.sign != 0,
                    as_ratio(other)[0],
                    other.sign != 0,
                    *as_ratio(change),
                    _changed(one.value, other.value, change.sign),
                )
            )
        return out

    def _decided(self, key: Key, group: int) -> Callable[[int, int], int]:
        """Who is ahead, where the policy's own verdict and the simultaneous interval agree."""
        family = self.families[key]
        signs = signs_of(self.results[self.policies[group]], key, self.way, self.models)

        def ahead(a: int, b: int) -> int:
            sign = family.order(group, a, b).sign * (-1 if family.lower_is_better else 1)
            return sign if sign == signs.get((a, b), 0) else 0

        return ahead


def _changed(before: float, after: float, sign: int) -> str:
    """Whether a log ratio is decidedly nearer to 0 than it was, or farther from it, by the sign of their difference."""
    if not sign:
        return "open"
    if abs(after) < abs(before):
        return "smaller" if sign * before > 0.0 else "open"
    return "larger" if sign * after < 0.0 else "open"


def _of_split(
    parts: PolicyParts,
    models: Any,
    splits: Splits,
    ask: dict[str, Any],
    way: Average,
    level: float,
    min_users: int,
    refits: int,
    say: Stage,
) -> tuple[_OfSplit | None, list[MissingProtocol]]:
    """All policies by one split; nothing where it refuses any of them."""
    cuts = parts.folds(splits, min_users)
    policies = tuple(group.policy for group in parts.groups)
    told = [prefixed(say, f"{splits.splitter}, {policy}") for policy in policies]
    found: list[Judged] = []
    missing: list[MissingProtocol] = []
    for log, own, report in zip(parts.logs, cuts, told, strict=True):
        one, lost = judged(log, models, own, ask | {"progress": report})
        missing += [each for each in lost if each not in missing]
        if one is None:
            return None, missing
        found.append(one)
    folds = [one.folds for one in found]
    keys = [key for key in cells_of(folds[0]) if all(key in cells_of(each) for each in folds)]
    if not keys:
        raise RefusedError(NO_VALUE, code="no-value")
    moves = [
        moved(log, own, one.folds, keys, way, refits, ask["seed"], _refit(models, one.ask, report))
        for log, own, one, report in zip(parts.logs, cuts, found, told, strict=True)
        if refits
    ]
    columns = {key: joined([user_errors(each, key, way) for each in folds]) for key in keys}
    names = folds[0].models
    families = {}
    for key in keys:
        lower = found[0].result.macro.traits[key.metric].lower_is_better
        more = spreads(moves, (key,)) if moves else ()
        families[key] = Family(len(folds), len(names), columns[key], level, lower, more)
    results = {policy: one.result for policy, one in zip(policies, found, strict=True)}
    return _OfSplit(splits.splitter, policies, names, results, columns, families, moves, way, level), missing


def _refit(models: Any, ask: dict[str, Any], say: Stage) -> Judge:
    """Judges a half of a part as its whole was judged."""

    def judge(log: Log, splits: Splits, what: str) -> Folds:
        how = ask | {"progress": prefixed(say, what), "refused": "skip"}
        return judge_folds(log, models, split=splits, **how).folds

    return judge
