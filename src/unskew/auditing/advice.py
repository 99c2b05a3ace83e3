"""The last word of an audit: what to do with this log, as commands that ``unskew evaluate`` accepts.

What the findings warn about is not advised: a propensity that its check found wrong or impossible, a column
``propensity`` that does not add up, a model of exposure that ignores the value where an MCAR log shows that the value
matters. What rests on an assumption names it. TEST, TRAIN, LISTS, PREDICTIONS and MCAR stand for the reader's files.

Logs of positives get no fitted model of exposure: a model of clicks is none (MATHS §13), and one exponent of popularity
is no evidence (§14). They get the plain call, which walks the whole exposure path. So do ratings behind a threshold,
whose plain call leaves open what a fitted model would take for granted.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from unskew.auditing.opening import selected_by_value
from unskew.kernels.arrays import present

if TYPE_CHECKING:
    from unskew.auditing.record import Audit

FITTED = "logistic(features=none, offsets=user+item)"
BAYES = "naive_bayes"
ENOUGH_RANDOM = 500  # rows of an MCAR log from which naive_bayes is worth its noise
SMALL_ESS = 100  # below it hardly any comparison can be decided
IMPLIED = (0.5, 2.0)  # Σ 1/P over the number of pairs: beyond, the column is something else


@dataclass(frozen=True)
class Advice:
    """One piece of advice; ``command`` is what to run, ``None`` where there is nothing to run."""

    text: str
    command: str | None = None


def advise(audit: Audit, columns: Mapping[str, str] | None = None) -> tuple[Advice, ...]:
    """What to do with this log, the most important first.

    Args:
        columns: our column names → theirs, which commands repeat.
    """
    if audit.users.number == 1 or audit.items.number == 1:
        return (Advice("Nothing can be compared on this log: there must be several users and several items."),)
    if not audit.expected:
        return (Advice("Gather more data: there are too few relevant interactions to hold a part of them out."),)
    if audit.feedback is None:
        return (
            Advice(
                "Say first what a value means, and audit again: feedback='conversions', ratings or implicit, or "
                "relevant='>=4'. What to do depends on it."
            ),
        )
    write = _Commands(audit, columns or {})
    found = [*_random_part(audit, write), *_weighed(audit, write)]
    least = min(row.ess for row in audit.expected if row.target == "pooled")
    if least < SMALL_ESS and any(advice.command and "--propensity" in advice.command for advice in found):
        found.append(Advice("Gather more data too: with so small an effective sample most verdicts are undecided."))
    return tuple(found)


class _Commands(NamedTuple):
    """Writes commands for one log: what is judged by which metric, under which target."""

    audit: Audit
    columns: Mapping[str, str]

    @property
    def predicted(self) -> bool:
        """Whether predictions of ratings are judged, not lists."""
        return self.audit.feedback == "ratings" and self.audit.relevant is None

    def write(
        self, estimators: Iterable[str], propensity: str | None = None, *, test: str = "TEST", given: Iterable[str] = ()
    ) -> str:
        """A call of ``unskew evaluate``; ``given`` are more options with their files."""
        audit = self.audit
        models = "--predictions NAME=PREDICTIONS" if self.predicted else "--recs NAME=LISTS"
        metric, target = ("mae", "per_pair") if self.predicted else ("recall@10", "pooled")
        if audit.feedback == "conversions" and not audit.positives:
            metric, target = "dcg@10", "per_user_sum"
        parts = [f"unskew evaluate {test}", *given, models]
        parts.append(f"--feedback {'implicit' if audit.positives else audit.feedback}")
        parts += [f"--relevant {shlex.quote(audit.relevant)}"] if audit.relevant else []
        parts += [f"--metric {metric}", f"--target {target}", *(f"--estimator {name}" for name in estimators)]
        parts += [f"--propensity {shlex.quote(propensity)}"] if propensity else []
        trained = any(option.startswith("--train") for option in parts)
        if of_log := self._columns(["test", "train"] if trained else ["test"]):
            parts.append("--columns " + shlex.quote(",".join(f"{ours}={own}" for ours, own in of_log.items())))
        parts += ["--duplicates first"] * bool(audit.size.duplicates) + ["--invalid drop"] * bool(audit.size.dropped)
        return " ".join(parts)

    def _columns(self, roles: list[str]) -> dict[str, str]:
        """What was said of the log's columns; places in files without a header do not speak of lists that have one."""
        found = {ours: own for ours, own in self.columns.items() if ours.rpartition(":")[0] in ("", "log", "test")}
        if not any(str(own).isdigit() for own in found.values()):
            return found
        return {f"{role}:{ours.rpartition(':')[2]}": own for role in roles for ours, own in found.items()}


def _random_part(audit: Audit, write: _Commands) -> list[Advice]:
    """An MCAR log is a fair test set by itself."""
    if audit.mcar is None or audit.feedback == "implicit":
        return []
    return [
        Advice(
            "The MCAR log is a fair test set by itself: a plain average over it needs no propensities. Where it is "
            "large enough to decide, it is the answer to trust.",
            write.write(["naive"], test="MCAR"),
        )
    ]


def _weighed(audit: Audit, write: _Commands) -> list[Advice]:
    """What to weigh by, with what that assumes; naive alone where nothing can be advised."""
    warned = _warned(audit)
    if audit.propensity is not None and not audit.propensity.constant:
        return _known(audit, write, warned)
    if audit.positives:
        return _positives(write)
    if audit.relevant is not None:
        return _thresholded(write)
    bayes = audit.mcar is not None and audit.mcar.rows >= ENOUGH_RANDOM and write.predicted and BAYES not in warned
    if bayes:
        return [
            Advice(
                f"On the log itself, weigh by {BAYES}, counted on a training log and the random rows. Its assumption: "
                "whether a pair was seen depends on its value alone.",
                write.write(["naive", "snips"], BAYES, given=["--train TRAIN", "--mcar MCAR"]),
            )
        ]
    if selected_by_value(audit.mcar):
        text = "What was seen depends on its value, and no model of exposure without the value allows for that"
        return [_undebiased(write, text)]
    if FITTED in warned:
        return [_undebiased(write, f"The usual model of what was seen, {FITTED}, does not hold up here")]
    return [
        Advice(
            f"Weigh by {FITTED}, fitted to what was seen in a training log. Its assumption: whether a pair was seen "
            "depends on how active the user and how popular the item is, not on its value. Only pairs drawn at random "
            "(mcar=…) can show whether the value matters.",
            write.write(["naive", "snips"], FITTED, given=["--train TRAIN"]),
        ),
        _undebiased(write, "Without a training log nothing can be fitted"),
    ]


def _known(audit: Audit, write: _Commands, warned: set[str]) -> list[Advice]:
    """The log's own propensities, unless they do not add up."""
    p = present(audit.propensity)
    low, high = IMPLIED
    if not audit.positives and not low <= p.implied_pairs / p.pairs <= high:
        return [_undebiased(write, "The column 'propensity' does not add up to the number of pairs; settle that first")]
    if "known" in warned:
        return [
            _undebiased(write, "The column 'propensity' does not agree with what was seen; settle that first"),
            Advice(
                "Unless this log is the test part of a split and the column speaks of pairs outside training: these "
                "are missing here, so that the check does not apply. Then weigh by it beside that training log.",
                write.write(["naive", "snips"], "known", given=["--train TRAIN"]),
            ),
        ]
    return [
        Advice(
            "Weigh by the log's own propensities. They are taken as right, and naive beside them shows what that "
            "changes.",
            write.write(["naive", "snips"], "known"),
        ),
        Advice(
            "With a training log, whose items are not recommended again, the same. If the column describes the log "
            "before it was split at random, add share=… with the test part's share.",
            write.write(["naive", "snips"], "known", given=["--train TRAIN"]),
        ),
    ]


def _positives(write: _Commands) -> list[Advice]:
    """Clicks without propensities: everything between the two ends of what nobody knows."""
    return [
        Advice(
            "The log alone cannot say how much of an item's popularity is exposure and how much is taste. With a "
            "training log and nothing else you get the exposure path: every model at every share of popularity that "
            "exposure may explain, from none (naive) to all. A model is called ahead only if it is ahead on the whole "
            "path; where that depends on the share, you are told where it turns. It takes exposure to depend on "
            "popularity alone: not on anything else, and not on the user.",
            write.write([], given=["--train TRAIN"]),
        ),
        _undebiased(write, "Without a training log popularity cannot be counted"),
        Advice(
            "To settle it, log the probability with which each item was shown (a column 'propensity'), or show a small "
            "share of the traffic items drawn at random."
        ),
    ]


def _thresholded(write: _Commands) -> list[Advice]:
    """Lists judged by ratings: all that unseen pairs may be worth, given the seen ones; no single model of exposure."""
    return [
        Advice(
            "Judge lists beside a training log, and name no propensities: seen pairs, relevant or not, say what unseen "
            "ones may be worth, in a box of assumptions (tilted), and beside it exposure may explain any share of "
            "popularity (exposure_path). A model is called ahead only if it is ahead in all of them; where that "
            "depends on an assumption, you are told on which.",
            write.write([], given=["--train TRAIN"]),
        ),
        _undebiased(write, "Without a training log neither can be had"),
    ]


def _undebiased(write: _Commands, reason: str) -> Advice:
    return Advice(f"{reason}: naive is all there is then, and it is not debiased.", write.write(["naive"]))


def _warned(audit: Audit) -> set[str]:
    """Propensities whose check was a warning, under the names by which they are advised.

    Held against clicks a check proves nothing about exposure, for or against.
    """
    found = () if audit.checks.positives else audit.checks
    flagged = [name for c in found if c.findings for name in (c.propensity, c.fitted)]
    flagged += [unfit.propensity for unfit in audit.checks.refused]
    return {advised for advised in (FITTED, BAYES, "known") for name in flagged if _same(advised, name)}


def _same(advised: str, name: str) -> bool:
    """Whether a name is the advised one, possibly with more options written out."""
    stem = advised.removesuffix(")")
    return name.startswith(stem) and name[len(stem) :][:1] in ("", ")", ",", "(")
