"""The study of answers: which experiments there are, and what their page says."""

from __future__ import annotations

from unskew_papers.anchored import experiments
from unskew_papers.anchored.setting import VERSION, Setting
from unskew_papers.study import Chart, Experiment, Study

STUDY = Study(
    name="anchored",
    title="what a few hundred answers tell, and whether plans keep their promises",
    story="""
`unskew plan` says how many answers decide between models and draws the pairs to ask about; `anchored` puts answers
together with the log. Here the relevance of every candidate is known, so that both can be checked: on real data, and in
worlds. The metric is recall@10 over relevant pairs.

**Coat.** 290 people rated 24 coats of their choice and 16 that were drawn for them at random. The chosen ones are split
70/30, five times over, as in [coat-truth](coat-truth.md); its fourteen simple models are fitted to each training part.
Candidates are the randomly drawn coats outside training (pairs that stand in both parts of Coat are kept): the truth
about all of them is known, and an answer is what is written there. The log holds few of them; all its held-out rows
together make the guesses. The models' lists are the ten first of all coats outside training, and what lies in them
among the candidates counts.

**Worlds.** A hundred items, of which twelve are relevant to a user, and a shop that shows some items far more than
others and logs conversions. 4,000 people; five recommenders learn from what they did, three more know tastes up to
noise. A case are 400 of these people, drawn at random; all pairs outside training are candidates.

**Ways to use n rows**

| | |
|---|---|
| random rows alone | drawn from all candidates; the plain average over their relevant ones |
| anchored, random rows | drawn outside the log; the log and its guesses, recalibrated and cross-fitted |
| anchored, list design | the same, drawn by `us.plan(…).draw(n)` for all models, a quarter of it from all candidates |
| propensities fitted on random rows | snips on the log's likes, P(seen given the rating) by Bayes' rule |
| PPI++ | power-tuned (Angelopoulos, Duchi and Zrnic 2023), on random rows, the log's guesses as predictions |

With propensities of that kind ips is snips, and in worlds, where a rating is 0 or 1, all likes weigh the same. PPI++
takes rows for independent, as its authors do, and knows no rules about few answers.

**Right, wrong, undecided** (the rest), in shares. *Right* is of pairs of models that are truly different: beyond 1.96
standard errors if everything were known, users being a sample. *Wrong* is of all pairs of models: the other one is
truly better, by however little. *Each pair by itself* is at 1.96; *all pairs together* at one level for all. Anchored
keeps the rules of `evaluate`: exact limits where answers are few, nothing where draws do not stand for the pairs.
*These users only* takes users for all there are (the error of the draw alone).

Anchored is computed by its closed formula on arrays, over thousands of draws. That these are the numbers of
`us.evaluate(answers=…)` is tested (`papers/tests/test_anchored.py`): values, intervals, differences and p agree to
1e-9, in worlds with its own guesses, on Coat with given ones.

Errors are over splits, or worlds. Splits of one log do not vary as fresh logs would.
""",
    version=VERSION,
    setting=lambda store, workers: Setting(store, workers),
    experiments=(
        Experiment(
            "coat",
            "Coat, as rows grow",
            """
What was asked for beforehand of the list design at 2,000 rows: τ at least .80, a relative error of at most .15, no
wrong verdict. "Paper" are figures that were measured before anything of this was written, with draws of another kind:
here all pairs in which any two lists differ are asked about at 2,000 rows, and the rest is spread over the others, so
that values hardly err any more.

Intervals are for users as a sample; here they are the same users in every draw, so that how often they hold the truth
is asked in the next experiment.
""",
            experiments.coat,
            5,
            2,
            charts=(
                Chart("coat, Kendall's τ", "Kendall's τ on Coat", "rows", "τ"),
                Chart("coat, relative error", "Relative error on Coat", "rows", "relative error"),
            ),
            folded=False,
        ),
        Experiment(
            "users",
            "Coat, users drawn anew",
            """
In every draw 290 users are drawn from Coat's, with replacement, and the truth is that of all of them: then intervals
for users as a sample should hold it in 95 % of cases. *Values given* says how often there is an interval at all:
anchored withholds values while the number of relevant pairs is known to worse than a fifth.
""",
            experiments.users,
            5,
            2,
            folded=False,
        ),
        Experiment(
            "worlds",
            "Worlds, as rows grow",
            """
Fresh users in every draw, held against the 4,000 people of their world. The log misleads: items that are shown much
fill it. Weights that know nothing but the rating do not help; neither do more rows for them.

How to read it. With 100 or 200 rows the list design gives no values: few of these rows lie outside the lists, and where
by chance none of them is relevant, the number of relevant pairs would come out too low and look better known than it
is. Verdicts do not rest on it.
""",
            experiments.worlds,
            3,
            1,
            charts=(
                Chart("worlds, Kendall's τ", "Kendall's τ in worlds", "rows", "τ"),
                Chart("worlds, relative error", "Relative error in worlds", "rows", "relative error"),
            ),
            folded=False,
        ),
        Experiment(
            "power",
            "Rows for 80 % power, planned and measured",
            """
Each plan is told the true difference of every two models (truly different ones, where users are fixed; those for which
it names a number of rows, where they are a sample). *Where two lists differ*: rows drawn evenly there, for these two
alone. *By the plan's draw for all models*: the column `rows`, its uniform share included. *Random rows alone* have
neither a log nor guesses; judged as a sample from ever so many candidates they need more rows than Coat has, and with
the finite-population factor fewer. The power is measured at these numbers of rows, with users drawn anew where they are
a sample; on Coat with replacement from its own.

Asked for beforehand, on Coat: a median of at most 150 rows at 1.96 where lists differ, against more than 4,000 random
rows; and measured powers within .1 of what was promised. Plans know relevance from the log alone: on Coat people chose
what they like, so that guesses are too high (table "what there is"), variances too large, and plans a little too
careful.
""",
            experiments.power,
            2,
            1,
            folded=False,
        ),
    ),
)
