"""The study of Coat: which experiments there are, and what their page says."""

from __future__ import annotations

from unskew_papers.coat_truth import experiments
from unskew_papers.coat_truth.setting import VERSION, Setting
from unskew_papers.study import Experiment, Study

STUDY = Study(
    name="coat-truth",
    title="what recipes for logs without propensities say on real data",
    story="""
On most logs nobody can check a verdict. On Coat one can: 290 people rated 24 coats of their own choice, a skewed log,
and 16 coats that were drawn for them at random, which show the truth. Here the skewed part is split at random, 70 % for
training and 30 % held out, ten times over; fourteen recommenders are fitted to each training part; and every recipe is
asked about all 91 pairs of them, from the held-out part alone. A rating of 4 or 5 is a like.

**Truth.** The average over likes among the randomly drawn coats that are not in the person's training part. It is a
sample, too: two models count as *truly different* where their difference there is beyond 1.96 standard errors,
clustered by person. Of equal pairs one in twenty is taken for different by chance, with either sign, so a right method
is called wrong now and then.

**Right, wrong, depends, undecided**, in percent of truly different pairs. *All pairs together* is what unskew says: one
level over the 91 pairs, and checks that withhold verdicts (few hits, few clicks per user, places that the log could
never show). *Each pair by itself* is what most papers do: a difference beyond 1.96 standard errors, and no checks; over
scenarios (the exposure path, census and tilt) it must be so in every one of them.

**Interval holds the truth**: the share of models whose 95 % interval, over all scenarios where there are some, holds
the value that the random ratings give. That value has an error, so that even a right interval misses it in more than
one of twenty cases. *With the truth's own error* therefore widens the interval by it, in every scenario: the squares of
its two halves and of 1.96 standard errors of the truth are added. A right interval holds it in 95 % of cases, if the
held-out ratings and the random ones err independently. What was asked for is held against this second rule.

**Recipes.** The *default call* is unskew without any choice: `evaluate(test, models, train=…)`, with the threshold
where there are ratings, and the estimator that its headline rests on. From likes that is the exposure path. From
ratings it is census and tilt with the exposure path beside it: what one decides and the other contradicts somewhere
depends. Likes only: naive; snips with popularity raised to a power (γ = −1 takes exposure as even and is naive, γ = 1
says that exposure explains all of popularity, γ = 2 is common in the literature), pooled over relevant pairs or per
user; gs; the exposure path. All ratings: snips with the propensities that Coat's authors ship, with naive Bayes (which
is given the shares of the stars among the random ratings), with a logistic factorisation of what was seen; dr and
direct with an outcome model; the exposure path with counts over all that was rated; census and tilt by itself.

**What was chosen after looking at this data.** The box of census and tilt (odds up to 4, slope up to .4). Which set of
models and which metric are the main ones: both sets had been run, on both metrics. That two estimators with scenarios
must not contradict each other: census and tilt alone was seen to be wrong on some pairs. So the first table is no fresh
test of these; the others are beside it, and every floor is held against all of them. Studies in worlds that did not
enter these choices: [the exposure path](../exposure_path.md), [census and tilt](../census.md).

Errors are over splits of one log. They say how much the split matters, not how far another shop would be from this one.
""",
    version=VERSION,
    setting=lambda store, workers: Setting(store, workers=workers),
    experiments=(
        Experiment(
            "models",
            "Fourteen simple models",
            """
Random; the most liked, most rated and least rated coats; the share of likes, shrunk in three degrees; the largest 2, 5
and 20 factors of likes and 5 of what was rated (singular value decompositions); item-kNN and user-kNN; and a mix of
factors and shares. recall@10, the default metric, is the main one; recall@50 is beside it.

What was asked for beforehand: the default call wrong on at most 1 % of truly different pairs; right on 35 % by the path
from ratings and on 30 % by census and tilt, whose region holds the truth for 93 % of the models. These floors are held
against the numbers as they stand.

How to read it. From ratings the default call decides most pairs, rightly. From likes alone it says of most pairs that
it depends, and what it gets wrong, mostly at recall@50, has one model in it: factors of what was *rated*, which learn
how each person chose, and are put ahead of models that know what people like. That is what the path does not cover, and
says so with every verdict. Tables without this model follow the others; they were added after looking. Since the chance
of training counts is part of the path's errors, it decides a little less, and is wrong less often.
People chose coats that they expected to like, so naive often names the right model, too, with an interval that mostly
misses the truth. Weights by one power of popularity decide less the larger the power, and each pair by itself they are
wrong more often. Per user they seem to do better; with so few likes per person such ratios are close to naive, and
unskew withholds them. The outcome model by itself (direct) decides nearly everything, with intervals that know nothing
of its errors.
""",
            experiments.simple,
            experiments.RUNS,
            experiments.QUICK,
            folded=False,
        ),
        Experiment(
            "learned",
            "Fourteen models, mostly learnt",
            """
Random; the most liked and most rated coats; the share of likes, shrunk a little and a lot; item-kNN of four sizes and
factorisations by warp (two sizes) and bpr, fitted to likes; factorisations of ratings of two sizes: unskew's own
models. The same recipes and the same floors.

How to read it. From ratings much as above. The exposure path decides less than was asked for at recall@10, and at
recall@50 the default call from likes is wrong too often: what it gets wrong are item-kNN models against models that
also know what people dislike. These imitate how each person chose, though less than a model of what was rated does.
""",
            experiments.learned,
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
rated join the learnt fourteen; shares are of the truly different pairs with at least one of the two. Every verdict of
the path carries the sentence that says so. Census and tilt knows from ratings what was looked at and not liked, and is
not fooled here; where the path contradicts it, the default call says that it depends.
""",
            experiments.imitators,
            experiments.RUNS,
            experiments.QUICK,
            folded=False,
        ),
    ),
)
