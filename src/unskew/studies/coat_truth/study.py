"""The study of Coat: which experiments there are, and what their page says."""

from __future__ import annotations

from unskew.studies.coat_truth import experiments
from unskew.studies.coat_truth.setting import VERSION, Setting
from unskew.studies.study import Experiment, Study

STUDY = Study(
    name="coat-truth",
    title="what recipes for logs without propensities say on real data",
    story="""
On most logs nobody can check a verdict. On Coat one can: 290 people rated 24 coats of their own choice, a skewed log,
and 16 coats that were drawn for them at random, which show the truth. Here the skewed part is split at random, 70 % for
training and 30 % held out, ten times over; fourteen simple recommenders are fitted to each training part; and every
recipe is asked about all 91 pairs of them, from the held-out part alone. A rating of 4 or 5 is a like.

**Truth.** The average over likes among the randomly drawn coats that are not in the person's training part. It is a
sample, too: two models count as *truly different* where their difference there is beyond 1.96 standard errors,
clustered by person. Of equal pairs one in twenty is taken for different by chance, with either sign, so a right method
is called wrong now and then.

**Right, wrong, depends, undecided**, in percent of truly different pairs. *All pairs together* is what unskew says: one
level over the 91 pairs, and checks that withhold verdicts (few hits, few clicks per user, places that the log could
never show). *Each pair by itself* is what most papers do: a difference beyond 1.96 standard errors, and no checks; over
the exposure path it must be so at every point. *Interval holds the truth* is the share of models whose 95 % interval
(over all scenarios, where there are some) the random ratings do not contradict: their value lies inside, or outside by
at most 1.645 of its own standard errors.

**Recipes.** Likes only: naive; snips with popularity raised to a power (γ = −1 takes exposure as even and is naive,
γ = 1 says that exposure explains all of popularity, γ = 2 is common in the literature), pooled over relevant pairs or
per user; gs; the exposure path. All ratings: snips with the propensities that Coat's authors ship, with naive Bayes
(which is given the shares of the stars among the random ratings), with a logistic factorisation of what was seen; dr
and direct with an outcome model; the exposure path with counts over all that was rated; census and tilt.

Errors are over splits of one log. They say how much the split matters, not how far another shop would be from this one.
""",
    version=VERSION,
    setting=lambda store, workers: Setting(store, workers=workers),
    experiments=(
        Experiment(
            "models",
            "Fourteen simple models",
            """
Random; most liked and most rated coats; the share of likes, shrunk a little and a lot; item-kNN of four sizes and
factorisations by warp (two sizes) and bpr, fitted to likes; factorisations of ratings of two sizes. recall@50 is the
main table, since lists of 50 of 300 coats let 16 random ratings per person tell models apart; recall@10 is beside it.

What was asked for beforehand: an unskew default call wrong on at most 1 % of truly different pairs; right on 35 % by
the path from ratings, on 30 % by census and tilt, whose region holds the truth for 93 % of the models. These floors are
held against the numbers as they stand.

How to read it. People chose coats that they expected to like, so naive often names the right model, with an interval
that mostly misses the truth. Weights by one power of popularity, each pair by itself, name the wrong model more
often than the right one. Per user they seem to do better; with so few likes per person such ratios are close to naive,
and unskew withholds them. The path from likes decides little and is not free of error: what it gets wrong are mostly
item-kNN models against models that also know what people dislike. These imitate how each person chose, which is what
the path does not cover. With counts of all that was rated it decides more and errs less.
""",
            experiments.fourteen,
            experiments.RUNS,
            experiments.QUICK,
            folded=False,
        ),
        Experiment(
            "imitators",
            "Two models that resemble how people chose",
            """
What no recipe here covers: exposure chosen for each user. On Coat people chose for themselves, and a model that learns
what a person *looks at*, liked or not, resembles that choice. An item-kNN and a factorisation fitted to all that was
rated join the fourteen; shares are of the truly different pairs with at least one of the two. Every verdict of the path
carries the sentence that says so.
""",
            experiments.imitators,
            experiments.RUNS,
            experiments.QUICK,
            folded=False,
        ),
    ),
)
