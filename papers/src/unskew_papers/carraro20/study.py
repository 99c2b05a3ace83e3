"""The study of carraro20: which experiments there are, and what their page says."""

from __future__ import annotations

from unskew_papers.carraro20 import choices, in_worlds, tables
from unskew_papers.carraro20.click_worlds import KINDS
from unskew_papers.carraro20.setting import VERSION, Setting
from unskew_papers.study import Chart, Experiment, Study

CHARTS = tuple(
    Chart(part(kind), f"{title}: {kind}", x, "error, %")
    for part, title, x in (
        (in_worlds.by_strength, "Error by the strength of the skew", "strength of the skew"),
        (in_worlds.by_users, "Error by the size of the log", "users"),
    )
    for kind in KINDS
)

STUDY = Study(
    name="carraro20",
    title="Debiased Offline Evaluation of Recommender Systems: A Weighted-Sampling Approach",
    story="""
Instead of weighting a metric, draw a fairer test set from the held-out log: FULL is all of it, REG half of it at
random, SKEW half of it with weights 1/popularity, WTD and WTD_H half of it with weights w_u·w_i² towards the users and
items of a random sample, or towards even ones ([sample](../sample.md)). The paper holds the Recall@10 of five
recommenders on each against that on ratings of random items. Tables 1 to 4 come first, then what the paper leaves
open, then worlds whose truth is known.

**Protocol** (§5 of the paper, `protocol.py`). A rating above 3 is a like. MNAR ratings: 60 % training, 40 % held out.
MAR ratings: 15 % for the posteriors of WTD, 15 % for choosing settings, 70 % for the truth, disjoint (the authors'
published code lets validation into the truth). Settings are those with the highest Recall@10 on the validation part.
Recall is the mean over users who like something in the test set. A run is another random split.

**Models** (`recommenders.py`). The paper trains on ratings, with the neighbours and the MF of RankSys, whose code is
public. Its neighbours are cosines of ratings, and votes count times the rating. Its MF, by the steps of Pilászy,
Zibriczky & Tikk, fits c·(r − x·y)² over all pairs, with r the rating (0 unseen) and c = 1 + αr, and counts λ twice: in
YᵀY + λ, and again in every step. Ours are `user_knn`, `item_knn` and `wmf`, all with
[values=ratings](../models.md#ratings-instead-of-ones), and twice the paper's λ. Of MF the objective is the same; ours
takes conjugate gradients where RankSys takes one step per factor. *choices* has the numbers with ones in place of
ratings and λ once.

**What the paper does not say.** α, which is 1 here as in RankSys' own example, and the number of rounds, 20 as there
(*choices* has other α). Which of the cosines of RankSys it took: its example and its reference for neighbours have that
of ratings. What cannot be known: the splits, RankSys' random starts, and anything about Webscope R3 without a copy.

**When a number is met.** The paper prints no errors. It averages ten random splits of the same ratings as we do, so
its errors are those of ten of our runs; a number is met where the difference is within two standard errors of it, and
half a unit of the last printed digit. Ours has 40 runs, since ten leave errors of 5 to 30 points. Errors are over
splits of one log: they say how much the split matters, not how another shop would come out. Kendall's τ has a rule of
its own, which is wider (Tables 3 and 4).

Everything takes about twelve minutes of two free cores, `--quick` one; finished runs are kept.
""",
    version=VERSION,
    setting=lambda store, workers: Setting(store, workers=workers),
    experiments=(
        Experiment(
            "table1",
            "Table 1: the data",
            """
Users and items that both parts have in common. Numbers are met within one unit of the last printed digit: the paper
cuts digits off. 366 pairs of Coat stand in both parts, with the same rating.

Webscope R3 (Yahoo! R3) may not be passed on. With a copy of yours (`unskew data add yahoo-r3 FOLDER`) it is used, and
its half of every table is judged. Without one, a simulated world of its size stands in (`rating_world.py`): items are
shown unevenly, mostly those that are liked, and people choose what they like. The paper's numbers then stand beside
ours for context, and are not to be met.
""",
            tables.table_1,
            1,
            1,
        ),
        Experiment(
            "table2",
            "Table 2: Recall@10 on every test set",
            """
Y_gt is Recall@10 on random ratings, the other columns say by how many percent a test set is off it, and the last row
averages that, without its sign, over recommenders. Pairs of Y_gt that are also in training are kept, as in the paper;
no list can hold them (*pairs* shows what comes out without them). All claims of the paper about its averages are
judged, with errors of differences between the same runs.

How to read it. The paper's result comes out: FULL and REG are as far off as each other and overestimate everybody, SKEW
is half as far off, WTD nearer, WTD_H nearest. All averages are met, and so are all numbers of PosPop, AvgRating and
UB_KNN and what FULL and REG say of everybody; with ones in place of ratings they are not (*choices*). What stays
missed:
- **IB_KNN** is the best of the five in the paper, and behind UB_KNN here. RankSys' other similarities do not explain
  it: with cosines or Jaccard of ratings or of sets, to the power 1 or 2, each tried on 20 splits, UB_KNN with votes by
  ratings stayed ahead.
- **MF on SKEW**: the paper's 179 % is as much as FULL's, as it is of no other recommender. MF is chosen by some 130
  likes among 60 settings that hardly differ there, so that its numbers vary most.

"Nearer" is about levels. WTD_H is nearest because all scores were too high and it lowers them most, that of PosPop
below the truth.

The world of Webscope's size has 3 runs and 12 settings of MF.
""",
            tables.table_2,
            tables.RUNS,
            tables.QUICK,
            fewer=tables.FEWER_SETTINGS,
        ),
        Experiment(
            "table3",
            "Tables 3 and 4: do test sets rank as random ratings do?",
            """
Kendall's τ between the order of the recommenders on a test set and on random ratings, of means over runs; Table 4
leaves MF out. The paper's .68, .7 and .3 are 2/3, 2/3 and 1/3.

**τ is judged by a wider rule than other numbers.** Five recommenders whose true recalls lie within .01 of each other
(in the paper) cannot be ordered by 600 likes, and τ leaps by .2 (by 1/3 without MF) where two of them change places, so
that a standard error says little of it. τ is met where the middle 95 % of τ from ten of our runs, drawn again and again
with replacement, hold the paper's. The range stands beside every number, and is so wide that *met* says little: with
ones in place of ratings (*choices*) Table 3 is met as well, and Table 4 is not. How often ten of our runs have a τ
above 0 is said besides.

How to read it. Without MF, τ is 0 or 1/3 where the paper has 1/3 or 2/3; with ones in place of ratings it is negative
throughout (*choices*). What is left of the difference is IB_KNN (Table 2). In about half of all draws of ten runs τ
without MF is above 0, in the others it is not: ten runs do not know its sign. Nor does the truth know its own order:
between random ratings of one run and those of the others, which are mostly the same ratings, τ is about a third. No
test set ranks the recommenders as random ratings do; sampling brings levels nearer, and the order not at all.
""",
            tables.tables_3_and_4,
            tables.RUNS,
            tables.QUICK,
            folded=False,
            fewer=tables.FEWER_SETTINGS,
        ),
        Experiment(
            "metrics",
            "Precision, MAP and NDCG",
            """
The paper computes them and omits them, because their percentages are "very similar" to those of recall. Taken as: the
mean |difference| is within 25 % of that of recall. MAP and NDCG mostly are. Precision cannot be: it counts hits per
list, and a test set with half of the rows has half of the hits. The truth has about 600 likes, FULL 760, the samples
360 (last table). Its percentages compare sizes of test sets, and REG comes out far nearer to the truth than FULL, of
which it is a random half.
""",
            choices.metrics,
            tables.RUNS,
            tables.QUICK,
            fewer=tables.FEWER_SETTINGS,
        ),
        Experiment(
            "pairs",
            "Without pairs that stand in both parts",
            """
366 pairs of Coat stand among the coats that people chose and among the random ones. *Without training pairs*: Y_gt
without those of the run's training part (some 220), which no list can hold, so that they lower every recall. *Without
all pairs of both parts*: without all 366, so that the truth is about pairs that people did not choose. Every claim of
the paper holds either way, and so does its order; levels move by some 10 %.
""",
            choices.pairs,
            tables.RUNS,
            tables.QUICK,
            fewer=tables.FEWER_SETTINGS,
        ),
        Experiment(
            "choices",
            "What the paper leaves open",
            """
**Pairs as ones**: all pairs that were rated, high or low, count as 1, and λ counts once. Neighbours and MF fall short
of the paper's Y_gt, FULL says more of the neighbours than the paper has, and τ without MF is negative. **Likes as
ones**: ratings above 3 alone; FULL comes out far below what the paper prints. **Powers of the authors' code**: w_u·w_i,
where the paper has w_u·w_i²; then WTD_H does what SKEW does, and the paper's numbers do not come out. **MF**, settings
chosen anew for each: by α, and with λ once. Its Y_gt and what FULL says of it move within their errors; ratings are
what matters. RankSys' own steps, written anew and tried on four splits with three settings, gave the same recalls.
""",
            choices.choices,
            tables.RUNS,
            tables.QUICK,
            fewer=tables.FEWER_SETTINGS,
        ),
        Experiment(
            "worlds",
            "Worlds with a known truth",
            """
On Coat nobody knows why popular coats are popular. Here it is known (`click_worlds.py`): logs of clicks in which items
are *shown* unevenly and liked alike (exposure), *liked* unevenly and shown alike (taste), or both. The strength of the
skew is the standard deviation of log popularity. 200 items, 300 to 3,000 users with some five clicks each; random
lists, the most popular items, item-kNN, user-kNN and a factorisation, fitted to the training clicks. The truth is their
pooled recall@10 over all that is liked and not in training. 60 worlds of each kind, each with fresh items, users and
clicks.

**Methods** (`methods.py`), all from the same held-out log, and all pooled. naive, on the whole log: the paper's FULL.
reg, skew, wtd, wtd_h: naive on a sample of half of the rows; wtd takes its target from the likes among randomly shown
pairs, some 400 of them for 1,000 users. snips with the propensities by which clicks were drawn; snips and gs with
propensities by popularity (γ = 1: all of popularity is exposure); the [exposure path](../clicks.md), which is what
unskew does by default on such a log.

**Numbers.** *error*: mean over models of |estimate/truth − 1|. Of pairs whose true values differ by at least 10 %:
*wrong order* by the estimates alone; *right one named* and *wrong one named* by the verdict that stands with them, one
level over all ten pairs; *undecided or depends*, where it says that it does not know. *Interval holds the truth*: of
the 95 % intervals. ± is by the jackknife over worlds. ± 0 stands where the same was counted in all worlds: of 60
worlds without a wrong verdict, up to 5 in 100 may still have one.

How to read it.
- **Exposure is the reason:** skew and wtd_h are several times nearer to the truth than the whole log, order fewer
  pairs wrongly, and hardly ever name a wrong one. Weights by popularity do the same without throwing rows away, and
  with known propensities the error is smallest.
- **Taste is the reason:** the whole log was right, and samples are wrong: they punish the models that know what is
  liked, order many pairs wrongly, and with more users name wrong ones with confidence. wtd is spared where its random
  log is a log of likes, since that knows the taste.
- **Both:** skew is near with half of the rows, by luck: a half undoes a part of popularity only, and here a part of it
  is exposure. wtd_h goes too far. No number of users tells which world a log comes from.
- **The share of rows drawn is a hidden setting:** the smaller it is, the more of popularity is undone. wtd_h with a
  tenth of the rows is off by more than half even where exposure is the reason, with three quarters by a third (last
  tables).
- **Who says so:** a sample's verdict knows only chance. The exposure path says of most pairs that it depends, and
  names wrong ones hardly anywhere. Its value is an average over what it leaves open, not an estimate.
- Intervals of samples hold the truth where the method happens to be right, and then they are wide; the larger the log,
  the surer they miss it.
""",
            in_worlds.run,
            in_worlds.WORLDS,
            in_worlds.QUICK,
            CHARTS,
            folded=False,
        ),
    ),
)
