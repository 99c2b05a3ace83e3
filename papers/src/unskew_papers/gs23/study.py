"""The study of gs23: which experiments there are, and what their page says."""

from __future__ import annotations

from unskew_papers.gs23 import figure1, in_worlds, tables, theorem, variants
from unskew_papers.gs23.printed import SEEDS
from unskew_papers.gs23.setting import VERSION, Setting
from unskew_papers.study import Chart, Experiment, Study

QUICK = 3
FEW = "25 of the 81 models"
FEWER, TENTH = f"{FEW}, and every other number of strata", f"{FEW}, and a tenth of the world's users"


def _boxes(part: str, where: str) -> tuple[Chart, ...]:
    """Figure 1."""
    title = f"Kendall's τ at Recall@100 over 20 seeds, {where}"
    return (Chart(f"{part}/{figure1.SEEDS_OF}", title, "strata of gs, naive and IPS", "Kendall's τ", boxes=True),)


STORY = """
The paper asks how well estimators order recommenders. It fits 81 of them to the clicks of a training part, ranks them
by their estimated recall on a test part, and holds that order against the one by recall on items that were shown at
random: Kendall's τ, over 20 random splits. Three estimators are compared, all of them averages over users: *naive*,
*IPS* with weights 1/P divided by their own sum for each user (`snips` here), and its own, the *generalized
stratified* one (`gs`), which replaces a weight by the mean weight of the user's clicks in the same stratum of P. P ∝
popularity^1.5 (γ = 2).

**Protocol** (its Algorithm 1). Ratings of 4 and 5 are likes, and everything else is thrown away, from training, test
and truth. Random pairs that stand in the training part are left out of the truth. Recommenders: MostPop, and MF, SVD,
PMF (two forms), WMF, NMF, MMMF and BPR with 10, 20, … 100 factors each.

**What the paper leaves open** is taken from the code that it says it builds on, that of Jadidinejad, Macdonald &
Ounis (The Simpson's Paradox in the Offline Evaluation of Recommendation Systems, TOIS 2022), which is public:
[terrierteam/stratified_recsys_eval](https://github.com/terrierteam/stratified_recsys_eval), with a part in Cornac.
Its own code is not in reach. From the ancestor:

- likes are split 80/20 at random, and models learn from them with their ratings where they can;
- MF and SVD learn at a rate of .001, and everything else is as Cornac has it unless it is told;
- popularity is counted on the whole log, the test part included;
- the strata are equally wide in P, between the smallest and the largest P of the test part.

Two slips of the ancestor are not taken over, since Eqs. 2 and 4 leave no room for them: it keys propensities by an
item's id and looks them up by its place, and divides SNIPS by its weights twice. Three
things that it does and we do not were not tried: its lists hold what a user has in training, as all of Cornac's did
until July 2023 ([#523](https://github.com/PreferredAI/cornac/pull/523)), its NMF has offsets, and its WMF is trained by
100 epochs of Adam towards the ratings instead of sweeps towards ones.

Every recommender counts in a τ, also one with so few hits that unskew withholds its value.

**How it is judged.** A τ of the paper is a mean over 20 seeds, like ours, and its spread is not printed: it is taken
to be ours. A τ is met within two standard errors of the difference, ours and the paper's both counted; the column
*paper* shows it with the error that is assumed. Differences between estimators are tested as in the paper: Welch's t
over the 20 τ, two-sided, level .05, Bonferroni over three pairs.

**What the paper does not report** stands below every table: errors, regret, coverage, and how often an estimator's
*verdict* on two models is right or wrong, among pairs that the random items tell apart: as unskew says it (one level
over all 3,240 pairs, and checks that may withhold it), and *each pair by itself*, beyond 1.96 standard errors.

Errors are over splits of one log: they say how much the split and the models' seeds matter, not how another log would
come out. Everything runs on [studies](../studies.md). What it takes: [benchmarks](../benchmarks.md#studies).
"""
TABLE_2 = """
290 people, 300 coats, 1,905 likes among the coats that they chose and 860 among random ones.

With the ancestor's settings the paper's table comes out, and no two estimators differ significantly, as it says; p at
Recall@100 is close to the level. That `gs` *combines the strengths* of naive and IPS does not: it lies between the
two at every cut-off, here as in the paper's table. Averaged over the five the paper's gs is ahead of its naive by
.0003; ours is behind by .016.

None of the three is right about levels: 95 % intervals of gs and IPS hold the truth for five to nine models of ten,
those of naive for four to seven. Each pair by itself, all three decide most of the pairs, and name the wrong model in
about one of a hundred or fewer. unskew withholds all verdicts of gs and IPS here: most people have one or two
held-out likes, and a ratio inside a user is then close to naive, whatever the weights.
"""
FIGURE_1B = """
τ at Recall@100 by the number of strata, one point per seed. With one stratum gs is naive, exactly; with many it is
IPS (Proposition 4.1). The paper's counts cannot be read off its figure. Beside strata of equal width those of as many
held-out pairs each (*pairs*, unskew's default), which reach IPS with three.

The paper calls gs robust to the number of strata. By its own test no two numbers differ; but their τ rise and fall
together over the seeds, and a paired test sees that they differ. On Coat the way from naive to IPS is short; where
weights matter, the number of strata does (the world at the end of this page).

By γ: the paper's footnote says that 1.5, 2, 2.5 and 3 come out similarly, and they do.
"""
VARIANTS = """
τ in other settings, and how far all 15 numbers are from the paper's: .024 with the ancestor's settings, .044 with none
of them. Most of that is the rate: SVD and MF at .01 are other recommenders. Popularity and strata move little each.
The numbers alone do not single these settings out, since two standard errors are about .08 at Recall@5 and .04 at
Recall@100; that the ancestor has them does. What they decide is the test: with none of them naive is significantly
ahead at Recall@100 (p = .020), which the paper denies; with all of them it is not (.058).

With 1 for every like instead of its rating τ at Recall@20 and 30 lies around .1 above the paper's: SVD's lists are then
random for everybody, and random lists are easy to put last. The last two rows are of 2026-11-16.
"""
TABLE_1 = """
Yahoo! R3 may not be passed on. With a copy of yours (`unskew data add yahoo-r3 FOLDER`) the table is made and judged;
what it would say is not known here. A simulated world of its size stands at the end, under its own name.
"""
THEOREM = """
300 users of a world whose propensities are known; exposure is drawn 200 times. A user's recall of the 30 items that
are shown most is estimated by IPS (Eq. 2, with the true number of relevant items) and by gs with as many strata. The
bounds are `weights_bias` and `weights_concentration` of `unskew_papers.bounds` ([how](../ratings.md#bounds)).

Theorem 4.2 holds, as it must. What happens is another matter. The bound of Theorem 4.1 is 2 to 5 for an error that
cannot exceed 1 by much, so that it says nothing here. And gs trades the other way round than the terms suggest: its
spread is no smaller than that of IPS, since means over few clicks vary with which of them were seen, while its bias is
real and falls with the number of strata. The theorem takes weights as given; those of gs are not.
"""
VERDICTS = """
25 of the 81 recommenders on Coat, trained and weighed as in the simulated world, in percent of the pairs that the
random items tell apart. Beside the paper's three estimators: snips pooled over users with γ = 1, and the exposure path,
which unskew takes for likes without propensities. *Depends*: it turns with how much of popularity is exposure.

An order is not a verdict. Each pair by itself, ratios inside users decide most pairs, rightly; but they are close to
naive, their intervals miss the truth, and unskew withholds them. With pooled weights and γ = 1 the wrong model is named
more often than the right one at Recall@100, each pair by itself. The exposure path says *depends* for more than half of
the pairs, names next to no wrong model, and its region holds the truth. On Coat people chose what they expected to
like, which is why naive does well; nothing in such a log tells that from exposure.
"""
WORLDS = """
Worlds of clicks in which popular items are shown more, liked more, or both, with twelve recommenders and a complete
truth. Propensities are known, or a power of popularity. None of this is the paper's.

Where popularity is exposure, weights help and more strata help more: gs lies between naive and IPS. Where popularity
is taste, every weight by popularity hurts, and few strata hurt less. So gs is a way to weigh less. None of the
estimators inside users is near the truth where exposure is skewed, *known propensities included*: a user's few clicks
make such ratios lean towards naive. Pooled over users with known propensities the error is gone.
"""
SIMULATED = """
15,400 users × 1,000 items, about 312,000 chosen ratings, ten random ones for each of 5,400 users
(`carraro20/rating_world.py`), with Cornac's rates, popularity of the training part and strata of as many pairs each.
Nothing here speaks for or against the paper's Table 1; the claim of that table is asked of the world, and counted as
the world's.

In the world gs and IPS order the models better than naive at every cut-off, and gs is never significantly behind the
best: items are shown unevenly there, and weights by popularity help. Each pair by itself, gs and IPS name the wrong
model in 14 to 23 of a hundred truly different pairs; unskew withholds all of them.

Finished lists take about 5 GB in the store; delete it when you are done.
"""
SIMULATED_STRATA = """
As Figure 1b, in that world. There the number of strata matters, by both tests: τ at Recall@100 rises from .46 with one
stratum to .60 with three.
"""

STUDY = Study(
    name="gs23",
    title="Stratified Estimator for Recommendation Systems with Implicit Feedback",
    story=STORY,
    version=VERSION,
    setting=lambda store, workers: Setting(store, workers=workers),
    experiments=(
        Experiment("table2", "Table 2: Kendall's τ on Coat", TABLE_2,
                   tables.table_2, SEEDS, QUICK, fewer=FEW),
        Experiment("figure1b", "Figure 1b: the number of strata, on Coat", FIGURE_1B,
                   figure1.on_coat, SEEDS, QUICK, _boxes("figure1b", "Coat"), fewer=FEWER),
        Experiment("variants", "Table 2 with one thing changed at a time", VARIANTS,
                   variants.variants, SEEDS, QUICK, fewer=FEW),
        Experiment("table1", "Table 1: Kendall's τ on Yahoo! R3", TABLE_1,
                   tables.table_1, SEEDS, QUICK, fewer=FEW),
        Experiment("figure1a", "Figure 1a: the number of strata, on Yahoo! R3", "As Figure 1b, with such a copy.",
                   figure1.on_yahoo, SEEDS, QUICK, _boxes("figure1a", "Yahoo! R3"), fewer=FEWER),
        Experiment("theorem", "Theorems 4.1 and 4.2, user by user", THEOREM,
                   theorem.theorem, 5, 1, fewer="40 of 200 draws of exposure"),
        Experiment("verdicts", "What the paper does not report: verdicts", VERDICTS,
                   variants.verdicts, SEEDS, QUICK),
        Experiment("worlds", "Where gs beats IPS and naive, and where not", WORLDS,
                   in_worlds.worlds, SEEDS, QUICK, fewer="250 of 1,000 users"),
        Experiment("simulated", "Not the paper's: Kendall's τ in a world of Yahoo's size", SIMULATED,
                   tables.simulated, SEEDS, QUICK, fewer=TENTH),
        Experiment("simulated-strata", "Not the paper's: the number of strata there", SIMULATED_STRATA,
                   figure1.on_world, SEEDS, QUICK, _boxes("simulated-strata", "a simulated world"), fewer=TENTH),
    ),
)  # fmt: skip
