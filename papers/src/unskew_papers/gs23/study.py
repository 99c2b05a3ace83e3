"""The study of gs23: which experiments there are, and what their page says."""

from __future__ import annotations

from unskew_papers.gs23 import figure1, in_worlds, tables, theorem, variants
from unskew_papers.gs23.printed import SEEDS
from unskew_papers.gs23.setting import VERSION, Setting
from unskew_papers.study import Chart, Experiment, Study

QUICK = 3


def _boxes(part: str, where: str) -> tuple[Chart, ...]:
    """Figure 1."""
    title = f"Kendall's τ at Recall@100 over 20 seeds, {where}"
    return (Chart(f"{part}/τ of every seed", title, "strata of gs, naive and IPS", "Kendall's τ", boxes=True),)


STUDY = Study(
    name="gs23",
    title="Stratified Estimator for Recommendation Systems with Implicit Feedback",
    story="""
The paper asks how well estimators order recommenders. It fits 81 of them to the clicks of a training part, ranks them
by their estimated recall on a test part, and holds that order against the one by recall on items that were shown at
random: Kendall's τ, over 20 random splits. Three estimators are compared, all of them averages over users: *naive*,
*IPS* with weights 1/P divided by their own sum for each user (`snips` here), and its own, the *generalized
stratified* one (`gs`), which replaces a weight by the mean weight of the user's clicks in the same stratum of P. P ∝
popularity^1.5 (γ = 2).

**Protocol** (its Algorithm 1). Ratings of 4 and 5 are likes, and everything else is thrown away, from training, test
and truth. Likes are split 80/20 at random; that is our reading, since the paper does not say. Random pairs that stand
in the training part are left out of the truth (*variants* counts them as misses instead). Recommenders: MostPop, and
MF, SVD, PMF (two forms), WMF, NMF, MMMF and BPR with 10, 20, … 100 factors each. The paper takes Cornac's and does
not say how they are trained: here as Cornac does unless it is told, epochs, rates and WMF's weights; *variants* has
epochs that are fixed once per family by a validation curve ([families](../model_families.md)). Models learn from the
likes with their ratings, 4 or 5, where they can: with 1 for every like SVD has nothing to learn (*variants* again).
Ratings were chosen before any number was seen; of the two ways to train, both were run before one was put into the
tables, as the paper builds on Cornac and its numbers are met more closely.

**How it is judged.** A τ is met within .08 of the paper's. Differences between estimators are tested as in the paper:
Welch's t over the 20 τ, two-sided, level .05, Bonferroni over three pairs.

**What the paper does not report** stands below every table: errors, regret, coverage, and how often an estimator's
*verdict* on two models is right or wrong, among pairs that the random items tell apart. *Verdicts* are what unskew
says: one level over all 3,240 pairs, and checks that may withhold them; *each pair by itself* is a difference beyond
1.96 standard errors, and no checks.

Errors are over splits of one log: they say how much the split and the models' seeds matter, not how another log would
come out. Everything runs on [studies](../studies.md): a model is fitted and ranked once per split, and every
estimator, power, stratification and variant uses those lists. What it takes: [benchmarks](../benchmarks.md#studies).
""",
    version=VERSION,
    setting=lambda store, workers: Setting(store, workers=workers),
    experiments=(
        Experiment(
            "table2",
            "Table 2: Kendall's τ on Coat",
            """
290 people, 300 coats, 1,905 likes among the coats that they chose and 860 among random ones.

How to read it. The paper's table comes out: τ rises from about .45 at Recall@5 to more than .6 at Recall@100, and the
three estimators order the models alike. At Recall@100 naive is ahead of the other two by more than in the paper, and
in our runs that is significant. None of the three is right about levels: 95 % intervals of gs and IPS hold the truth
for six to eight models of ten, those of naive for three to five.

A τ hides who is sure. Each pair by itself, all three decide most of the pairs, and name the wrong model in about one
of a hundred. unskew withholds all verdicts of gs and IPS here: most people have one or two held-out likes, and a
ratio inside a user is then close to naive, whatever the weights. What is left is naive's, which is marked as not
debiased.
""",
            tables.table_2,
            SEEDS,
            QUICK,
        ),
        Experiment(
            "figure1b",
            "Figure 1b: the number of strata, on Coat",
            """
τ at Recall@100 by the number of strata, one point per seed. With one stratum gs is naive, exactly; with many it is
IPS (Proposition 4.1). The paper's counts cannot be read off its figure. Strata hold as many held-out pairs each
(*pairs*, the default here), as many items of the catalogue each, or are equally wide in P; the paper does not say
which. With equal widths nearly all pairs of a popular catalogue fall into one stratum, and gs stays naive for longer.

By γ: its footnote says that 1.5, 2, 2.5 and 3 come out similarly. They do; τ falls a little as γ grows.
""",
            figure1.on_coat,
            SEEDS,
            QUICK,
            _boxes("figure1b", "Coat"),
        ),
        Experiment(
            "table1",
            "Table 1: Kendall's τ on Yahoo! R3, or a world of its size",
            """
Yahoo! R3 may not be passed on. With a copy of yours (`unskew data add yahoo-r3 FOLDER`) it is used and judged.
Without one, a simulated world stands in: 15,400 users × 1,000 items, about 312,000 chosen ratings, ten random ones
for each of 5,400 users (`carraro20/rating_world.py`). The paper's numbers then stand beside ours for context, and are
not to be met. Its claim, that gs is the best or not different from the best at every cut-off, is judged on whatever
is there.

How to read it. In the world both gs and IPS order the models better than naive at every cut-off, and gs is never
significantly behind the best: there items are shown unevenly, and weights by popularity help. Its τ lie below the
paper's, and move with how models are trained: they are those of a made-up world. Here the price of verdicts without
checks is plain: each pair by itself, gs and IPS name the wrong model in 14 to 23 of a hundred truly different pairs,
and naive in more than 20. unskew withholds all of gs and IPS, and marks naive as not debiased.

Finished lists take about 5 GB in the store; delete it when you are done.
""",
            tables.table_1,
            SEEDS,
            QUICK,
        ),
        Experiment(
            "figure1a",
            "Figure 1a: the number of strata, there",
            """
As Figure 1b, on the large set.
""",
            figure1.on_yahoo,
            SEEDS,
            QUICK,
            _boxes("figure1a", "the large set"),
        ),
        Experiment(
            "variants",
            "What the paper leaves open, on Coat",
            """
τ in four more settings, each held against the paper's. Epochs by validation curves move τ at Recall@10 by .05, and
two of the fifteen numbers out of the tolerance. With 1 for every like instead of its rating, τ at Recall@20 and 30
lies around .1 above the paper's: SVD's lists are then random for everybody, and random lists are easy to put last.
Counting random pairs of the training part moves little.
""",
            variants.variants,
            SEEDS,
            QUICK,
        ),
        Experiment(
            "verdicts",
            "What the paper does not report: verdicts",
            """
25 of the 81 recommenders (three sizes of each family) on Coat, in percent of the pairs that the random items tell
apart. Beside the paper's three estimators: snips pooled over users with γ = 1, and the exposure path, which unskew
takes for likes without propensities. *Depends* says that it turns with how much of popularity is exposure.

How to read it. An order is not a verdict. Each pair by itself, ratios inside users decide most pairs, rightly; but
they are close to naive, their intervals miss the truth, and unskew withholds them. Pooled weights would be debiased
if γ were right. With γ = 1 they name the wrong model more often than the right one at Recall@100, each pair by
itself, and a few are left after all checks (every such verdict says that it rests on γ). The exposure path names
hardly any model from two likes a person, says *depends* for half of the pairs, names no wrong one, and its region
holds the truth. On Coat people chose what they expected to like, which is why naive does well; nothing in such a log
tells that from exposure.
""",
            variants.verdicts,
            SEEDS,
            QUICK,
        ),
        Experiment(
            "theorem",
            "Theorems 4.1 and 4.2, user by user",
            """
300 users of a world whose propensities are known; exposure is drawn 200 times. A user's recall of the 30 items that
are shown most is estimated by IPS (Eq. 2, with the true number of relevant items) and by gs with as many strata.

Theorem 4.2 holds, as it must: for every user and every draw the bias term of gs is at least that of IPS, which is 0,
and its concentration term at most that of IPS. What happens is another matter. The bound of Theorem 4.1 is around 3
for an error that cannot exceed 1 by much, so that it says nothing here. And gs trades the other way round than the
terms suggest: its spread is no smaller than that of IPS in these worlds, since means over few clicks vary with which
of them were seen, while its bias is real and falls with the number of strata. The theorem takes weights as given;
those of gs are not.
""",
            theorem.theorem,
            5,
            1,
        ),
        Experiment(
            "worlds",
            "Where gs beats IPS and naive, and where not",
            """
Worlds of clicks in which popular items are shown more, liked more, or both, with twelve recommenders and a complete
truth. Propensities are known, or a power of popularity.

How to read it. Where popularity is exposure, weights help and more strata help more: gs lies between naive and IPS,
and never beats the better of the two by more than chance. Where popularity is taste, every weight by popularity
hurts, and few strata hurt less. So gs is a way to weigh less, for those who are not sure of their weights. None of
the estimators inside users is near the truth where exposure is skewed, *known propensities included*: a user's few
clicks make such ratios lean towards naive. Pooled over users with known propensities the error is gone, and 95 %
intervals hold the truth.
""",
            in_worlds.worlds,
            SEEDS,
            QUICK,
        ),
    ),
)
