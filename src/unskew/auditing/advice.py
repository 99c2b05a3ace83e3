"""The last word of an audit: what to do with this log, as commands that ``unskew evaluate`` accepts.

What the findings warn about is not advised: a propensity that its check found wrong or impossible, a column
``propensity`` that does not add up, a model of exposure that ignores the value where an MCAR log shows that the value
matters. What rests on an assumption names it.

Of a log from a file the commands run as they are printed: the first one holds a part of it out, the others judge simple
models on that. Of a log from memory TEST, TRAIN, LISTS, PREDICTIONS and MCAR stand for the reader's files.

Logs of positives get no fitted model of exposure: a model of clicks is none (MATHS §13), and one exponent of popularity
is no evidence (§14). They get the plain call, which walks the whole exposure path. So do ratings behind a threshold,
whose plain call leaves open what a fitted model would take for granted.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from unskew.auditing.opening import selected_by_value
from unskew.kernels.arrays import present

if TYPE_CHECKING:
    from unskew.auditing.record import Audit

FITTED = "logistic(features=none, offsets=user+item)"
BAYES = "naive_bayes"
ENOUGH_RANDOM = 500  # rows of an MCAR log from which naive_bayes is worth its noise
SMALL_ESS = 100  # below it hardly any comparison can be decided
HELD_OUT = 0.3  # of the log's rows
LISTING = ("popular=most_popular", "item_knn=item_knn")  # models that need nothing but a training log
PREDICTING = ("mf=mf", 'offsets="mf(dim=0)"')
IMPLIED = (0.5, 2.0)  # Σ 1/P over the number of pairs: beyond, the column is something else


@dataclass(frozen=True)
class Advice:
    """One piece of advice; ``command`` is what to run, ``None`` where there is nothing to run.

    ``code`` is what is advised, whatever the wording.
    """

    code: str
    text: str
    command: str | None = None


def advise(
    audit: Audit, columns: Mapping[str, str] | None = None, files: Mapping[str, str] | None = None
) -> tuple[Advice, ...]:
    """What to do with this log, the most important first.

    Args:
        columns: our column names → theirs, which commands repeat.
        files: the paths of ``log`` and ``mcar``, where they came from files.
    """
    if audit.users.number == 1 or audit.items.number == 1:
        return (
            Advice(
                "nothing-to-compare",
                "Nothing can be compared on this log: there must be several users and several items.",
            ),
        )
    if not audit.expected:
        return (
            Advice(
                "more-data", "Gather more data: there are too few relevant interactions to hold a part of them out."
            ),
        )
    if audit.feedback is None:
        return (
            Advice(
                "say-feedback",
                "Say first what a value means, and audit again: feedback='conversions', ratings or implicit, or "
                "relevant='>=4'. What to do depends on it.",
            ),
        )
    write = _Commands(audit, columns or {}, files or {})
    found = [*_random_part(audit, write), *_weighed(audit, write)]
    if write.log and any(advice.command for advice in found):
        found.insert(0, write.holding_out())
    least = min(row.ess for row in audit.expected if row.target == "pooled")
    if least < SMALL_ESS and any(advice.command and "--propensity" in advice.command for advice in found):
        found.append(
            Advice("more-data", "Gather more data too: with so small an effective sample most verdicts are undecided.")
        )
    return tuple(found)


class _Commands(NamedTuple):
    """Writes commands for one log: what is judged by which metric, under which target.

    Of a log from a file a part is held out, at random; in order of time where that is all that is assumed of it.
    """

    audit: Audit
    columns: Mapping[str, str]
    files: Mapping[str, str]

    @property
    def log(self) -> str:
        """The file of the log; empty where it came from memory."""
        return self.files.get("log", "")

    @property
    def folder(self) -> str:
        """Where its parts are written."""
        return re.sub(r"[^\w-]+", "_", PurePath(self.log).name.split(".")[0]) + "_parts"

    @property
    def by_time(self) -> bool:
        """Whether the part that is held out is the latest: no propensity needs to know its share."""
        audit = self.audit
        unweighed = audit.propensity is None and (audit.positives or audit.relevant is not None)
        return audit.time is not None and unweighed

    @property
    def predicted(self) -> bool:
        """Whether predictions of ratings are judged, not lists."""
        return self.audit.feedback == "ratings" and self.audit.relevant is None

    def holding_out(self) -> Advice:
        """Parts of the log, of which the other commands name the first fold."""
        way = f"holdout(share={HELD_OUT}, by=time)" if self.by_time else f"holdout(share={HELD_OUT})"
        words = ["unskew split", shlex.quote(self.log), f'--split "{way}"', *self._reading()]
        own = "--predictions" if self.predicted else "--recs"
        return Advice(
            "hold-out",
            "Hold a part of the log out, which models do not learn from. The commands below judge simple models on it, "
            f"to show what comes out; give yours, made from the training part, with {own} NAME=FILE in their place.",
            " ".join([*words, f"-o {self.folder}"]),
        )

    def write(
        self, estimators: Iterable[str], propensity: str | None = None, *, test: str = "TEST", given: Iterable[str] = ()
    ) -> str:
        """A call of ``unskew evaluate``; ``given`` are more options with their files."""
        audit = self.audit
        metric, target = ("mae", "per_pair") if self.predicted else ("recall@10", "pooled")
        if audit.feedback == "conversions" and not audit.positives:
            metric, target = "dcg@10", "per_user_sum"
        inputs = self._parts(test, given) if self.log else self._placeholders(test, given)
        parts = ["unskew evaluate", *inputs, f"--feedback {'implicit' if audit.positives else audit.feedback}"]
        parts += [f"--relevant {shlex.quote(audit.relevant)}"] if audit.relevant else []
        parts += [f"--metric {metric}", f"--target {target}", *(f"--estimator {name}" for name in estimators)]
        parts += [f"--propensity {shlex.quote(propensity)}"] if propensity else []
        return " ".join(parts if self.log else [*parts, *self._reading()])

    def _placeholders(self, test: str, given: Iterable[str]) -> list[str]:
        return [test, *given, "--predictions NAME=PREDICTIONS" if self.predicted else "--recs NAME=LISTS"]

    def _parts(self, test: str, given: Iterable[str]) -> list[str]:
        """The parts that were held out and learnt from, and models fitted on the latter."""
        fold = f"{self.folder}/000"
        named = {"TEST": f"{fold}/test.parquet", "MCAR": shlex.quote(self.files.get("mcar", "MCAR"))}
        others = [option.replace("MCAR", named["MCAR"]) for option in given if not option.startswith("--train")]
        share = [] if self.by_time or test == "MCAR" else [f"--share {HELD_OUT}"]
        models = PREDICTING if self.predicted else LISTING
        return [named[test], f"--train {fold}/train.parquet", *share, *others, *(f"--model {each}" for each in models)]

    def _reading(self) -> list[str]:
        """How the log was read, so that it is read so again; of one file alone, columns need not say of which."""
        said = {ours: own for ours, own in self.columns.items() if ours.rpartition(":")[0] in ("", "log", "test")}
        if self.log:
            said = {ours.rpartition(":")[2]: own for ours, own in said.items()}
        named = ",".join(f"{ours}={own}" for ours, own in said.items())
        found = [f"--columns {shlex.quote(named)}"] if said else []
        found += ["--duplicates first"] * bool(self.audit.size.duplicates)
        return found + ["--invalid drop"] * bool(self.audit.size.dropped)


def _random_part(audit: Audit, write: _Commands) -> list[Advice]:
    """An MCAR log is a fair test set by itself."""
    if audit.mcar is None or audit.feedback == "implicit":
        return []
    return [
        Advice(
            "random-part",
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
                "weigh-by-value",
                f"On the log itself, weigh by {BAYES}, counted on a training log and the random rows. Its assumption: "
                "whether a pair was seen depends on its value alone.",
                write.write(["naive", "snips"], BAYES, given=["--train TRAIN", "--mcar MCAR"]),
            )
        ]
    if selected_by_value(audit.mcar):
        text = "What was seen depends on its value, and no model of exposure without the value allows for that"
        return [_undebiased(write, "values-matter", text)]
    if FITTED in warned:
        return [
            _undebiased(write, "fitted-disagrees", f"The usual model of what was seen, {FITTED}, does not hold up here")
        ]
    return [
        Advice(
            "fitted-propensities",
            f"Weigh by {FITTED}, fitted to what was seen in a training log. Its assumption: whether a pair was seen "
            "depends on how active the user and how popular the item is, not on its value. Only pairs drawn at random "
            "(mcar=…) can show whether the value matters.",
            write.write(["naive", "snips"], FITTED, given=["--train TRAIN"]),
        ),
        *_untrained(write, "nothing can be fitted"),
    ]


def _known(audit: Audit, write: _Commands, warned: set[str]) -> list[Advice]:
    """The log's own propensities, unless they do not add up."""
    p = present(audit.propensity)
    low, high = IMPLIED
    if not audit.positives and not low <= p.implied_pairs / p.pairs <= high:
        return [
            _undebiased(
                write,
                "implied-pairs",
                "The column 'propensity' does not add up to the number of pairs; settle that first",
            )
        ]
    if "known" in warned:
        return [
            _undebiased(
                write, "own-disagree", "The column 'propensity' does not agree with what was seen; settle that first"
            ),
            Advice(
                "own-of-test-part",
                "Unless this log is the test part of a split and the column speaks of pairs outside training: these "
                "are missing here, so that the check does not apply. Then weigh by it beside that training log.",
                None if write.log else write.write(["naive", "snips"], "known(part=test)", given=["--train TRAIN"]),
            ),
        ]
    own = Advice(
        "own-propensities",
        "Weigh by the log's own propensities. They are taken as right, and naive beside them shows what that changes.",
        write.write(["naive", "snips"], "known"),
    )
    if write.log:  # a part of it has a training log, and its share is told
        return [own]
    return [
        own,
        Advice(
            "own-with-training",
            "With a training log, whose items are not recommended again, the same, if the column was written for the "
            "test log. If it describes the log before that was split at random, give propensity='known' and share=….",
            write.write(["naive", "snips"], "known(part=test)", given=["--train TRAIN"]),
        ),
    ]


def _positives(write: _Commands) -> list[Advice]:
    """Clicks without propensities: everything between the two ends of what nobody knows."""
    return [
        Advice(
            "exposure-range",
            "The log alone cannot say how much of an item's popularity is exposure and how much is taste. With a "
            "training log and nothing else you get the exposure path: every model at every share of popularity that "
            "exposure may explain, from none (naive) to all. A model is called ahead only if it is ahead on the whole "
            "path; where that depends on the share, you are told where it turns. It takes exposure to depend on "
            "popularity alone: not on anything else, and not on the user.",
            write.write([], given=["--train TRAIN"]),
        ),
        *_untrained(write, "popularity cannot be counted"),
        Advice(
            "log-propensities",
            "To settle it, log the probability with which each item was shown (a column 'propensity'), or show a small "
            "share of the traffic items drawn at random.",
        ),
    ]


def _thresholded(write: _Commands) -> list[Advice]:
    """Lists judged by ratings: all that unseen pairs may be worth, given the seen ones; no single model of exposure."""
    return [
        Advice(
            "outcome-model",
            "Judge lists beside a training log, and name no propensities: seen pairs, relevant or not, say what unseen "
            "ones may be worth, in a box of assumptions (tilted), and beside it exposure may explain any share of "
            "popularity (exposure_path). A model is called ahead only if it is ahead in all of them; where that "
            "depends on an assumption, you are told on which.",
            write.write([], given=["--train TRAIN"]),
        ),
        *_untrained(write, "neither can be had"),
    ]


def _untrained(write: _Commands, lost: str) -> list[Advice]:
    """What is left without a training log; a part of the log itself is one."""
    return [] if write.log else [_undebiased(write, "no-training-log", f"Without a training log {lost}")]


def _undebiased(write: _Commands, code: str, reason: str) -> Advice:
    return Advice(code, f"{reason}: naive is all there is then, and it is not debiased.", write.write(["naive"]))


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
