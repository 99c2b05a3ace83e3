"""The study of schnabel16: which experiments there are, and what their pages say."""

from __future__ import annotations

from functools import partial

from unskew_papers.schnabel16 import completion, figure2, figure3, figure4, table1, table2, world
from unskew_papers.schnabel16.setting import METRICS, SHOWN, VERSION, Setting
from unskew_papers.study import Chart, Experiment, Study

QUICK = 12  # draws instead of 50
FEWER = "α of 1 and .25, a sample of 10 pairs, and three λ, instead of six α, four samples and nine λ"


def _charts(figure: str, x: str) -> tuple[Chart, ...]:
    return tuple(
        Chart(f"{figure}/{metric}", f"RMSE of the estimates of {SHOWN[metric]}", x, "RMSE") for metric in METRICS
    )


def _learning(metric: str) -> tuple[Chart, ...]:
    part, title = f"figure3-{metric}", f"True {SHOWN[metric]} of what was learnt"
    return (
        Chart(f"{part}/selection", title, "α (1: no selection)", SHOWN[metric]),
        Chart(f"{part}/propensities", title, "pairs in the random sample", SHOWN[metric]),
    )


STUDY = Study(
    name="schnabel16",
    title="Recommendations as Treatments: Debiasing Learning and Evaluation",
    story="""
The world of §6.2: a factorisation completes the 100,000 ratings of ML-100K to 943 × 1,682, the completed values become
ratings 1 … 5 by quantile with the shares .5263, .2419, .1447, .0616, .0255, and a rating is seen with probability k for
4 and 5, k·α^(4 − y) below, k such that 5 % of all pairs are seen. See [worlds](../worlds.md) for how to make such a
world of your own data. ML-100K has 943 users and 1,682 films; the paper's text counts one more of each. DCG is
discounted by log2(rank + 1), ties are broken by a hash of user and item.

What no page can know, since the paper does not tell: the form and the grid of its completion and its held-out tenth,
which pairs its trials saw, the grid of Figure 3, the sizes of the samples in Figures 3 and 4 and their numbers, and
what its t-test pairs.
""",
    version=VERSION,
    setting=lambda store, workers: Setting(store, workers=workers),
    experiments=(
        Experiment(
            "completion",
            "The completion of ML-100K, and the shares of the ratings",
            """
The paper takes the rank and the penalty whose completed matrix gives most of a held-out tenth of the ratings exactly.
*Completed matrix* is its name for the values before they become ratings by quantile; these, rounded to 1 … 5, are
compared here (*completed*), over three splits, for factorisations with unpenalised offsets, penalised ones and none.
The one with the most hits is the world of all experiments on this page.

It has offsets, and by Table 1 the paper's had none: 1.38 is naive's DCG@50 of rotate where every user has 50 ones, as
in all completions without offsets; with offsets some users have fewer. Hits after the adjustment (*adjusted*) choose no
offsets and the largest rank; tried by hand on one split, they go on rising (rank 40: 26.6 %, 80: 27.7 %, λ = .05),
while the other DCGs leave the paper's (coarsened 50.2 at rank 40). So neither reading gives the paper's world. The
DCG@50 of Table 1 is shown in four worlds (form, rank, λ); that of `unskew simulate` was chosen to fit Table 1, and
does. MAE and MSE there depend on the shares alone, and are the same in all.

The shares come from Marlin & Zemel (2009), whose data are others, and are not printed. Table 1 holds them: true MAE is
4 p₅ for rec_ones, 1 + 3 p₁ for rotate, 2 p₁ + p₂ + p₅ for coarsened, and naive's tell p₄. The shares that are then
seen at α = .25 are the paper's (*seen*); beside them those of ML-100K itself, where it prints .35 for 4.
""",
            world.run,
            completion.SPLITS,
            completion.SPLITS,
        ),
        Experiment(
            "table1",
            "Table 1: estimates of MAE and DCG@50 at α = .25",
            """
Five predictors that err in known ways; mean and standard deviation (sd) of the estimates over draws of what is seen.
MAE depends on the shares of the ratings alone and is held to the paper's numbers. DCG@50 depends on who likes what, so
its true and naive values are held to the paper's within 3 and 5 % (set after a first look, in another completion), and
ips and snips to our own truth; what is missed is the completion's doing (see above). Spreads of MAE are held to the
paper's within 25 %; those of DCG@50 within three standard errors of both, since each comes from 50 draws. By its naive
MAE rec_ones is better than rec_fours; the truth is the other way round.
""",
            table1.run,
            table1.RUNS,
            QUICK,
        ),
        Experiment(
            "figure2",
            "Figure 2: error of the estimators as selection grows",
            """
RMSE over draws, averaged over the five predictors; α = 1 shows all ratings alike, smaller α hides low ones. The paper
draws MSE and DCG@50 and prints no numbers, so its claims in words are judged: snips is naive at α = 1, where ips pays
a little; for α < 1 ips and snips beat naive, by a factor of 10 at the least at α = .25; for MSE snips is never behind
ips, for DCG@50 both are alike (within 25 %).
""",
            figure2.run,
            figure2.RUNS,
            QUICK,
            _charts("figure2", "α (1: no selection)"),
        ),
        Experiment(
            "figure3-mse",
            "Figure 3: error of learning as selection grows, and as propensities get worse",
            """
True MSE over all pairs of a factorisation (d = 20, the rest by cross-validation) that learns from what is seen:
unweighted (mf-naive), weighted by the known 1/P (mf-ips), and by naive Bayes propensities from a random sample at
α = .25 (mf-ips-nb). The paper draws 30 trials and prints no numbers. Claims: mf-ips beats mf-naive for every α < 1 and
is the same at α = 1 (within 2 %); mf-ips-nb beats mf-naive however small the sample.

The paper does not tell its grid here. Ours has nine λ from 1 to 15,625, and while the largest is the best, up to three
more, each five times the last; offsets with and without a penalty. A table says how often the best λ was the smallest
or the last. It used to end at 125, in the world without offsets, and mf-ips took 125 in 100 and 87 % of the trials at
α = .0625 and .03125, with a true MSE of 1.30 and 2.08. In this world mf-ips mostly takes unpenalised offsets and λ = 5;
at α = .03125 some trials take penalised ones and λ beyond 3,000. Fits with such λ need hundreds of sweeps: cut off at
100, one had a true MSE of 1.33 in place of 1.17.

A trial is another draw of what is seen, with a cross-validation of its own at each of 16 points. It takes a minute and
a half of one core; every point is kept, so that a run may be stopped and taken up again.
""",
            partial(figure3.run, "mse"),
            figure3.RUNS,
            1,
            _learning("mse"),
            fewer=FEWER,
        ),
        Experiment(
            "figure3-mae",
            "Figure 3 for MAE",
            """
The paper says of MAE that it gave similar results. Here the absolute loss is learnt, λ and offsets are chosen by
absolute errors, and the true MAE over all pairs is shown; the rest is as above, and the claims are the same. A trial
takes a few minutes of one core.
""",
            partial(figure3.run, "mae"),
            figure3.RUNS,
            1,
            _learning("mae"),
            fewer=FEWER,
        ),
        Experiment(
            "figure4",
            "Figure 4: error of the estimators as propensities get worse",
            """
α = .25. Propensities from naive Bayes with the shares of the ratings from a random sample (Laplace-smoothed): the
smaller the sample, the worse. The paper's text does not give its sizes; ours go from 10 to 100,000. Claims: with
estimated propensities neither ips nor snips is worse than naive, at any size; for MSE ips can be better with estimated
propensities than with the known ones.
""",
            figure4.run,
            figure4.RUNS,
            QUICK,
            _charts("figure4", "pairs in the random sample"),
        ),
        Experiment(
            "table2",
            "Table 2: learning from Coat (and Yahoo! R3, where you have it)",
            """
**Coat.** Trained on 24 self-selected coats of each of 290 people, tested on 16 chosen at random for each (366 of these
pairs are also in training, and stay, as in the paper). Propensities are the authors'; beside them our own, a logistic
regression on all products of covariates with a cross-validated penalty, as the paper describes how theirs were made
(*our logistic*).

**Yahoo! R3** may not be passed on. With a copy of yours (`unskew data add yahoo-r3 FOLDER`) naive Bayes takes the
shares of the ratings from 5 % of the random part and the other 95 % are the test, in at most 3 runs; without one the
paper's numbers stand alone, marked as not run.

λ, d and the treatment of offsets are chosen by cross-validation on the training part; MSE is learnt with the squared
loss, MAE with the absolute one. The paper prints λ from 10⁻⁶ to 1; Eq. 14 adds the losses up, Eqs. 10 and 12 average
them over all pairs. Our λ are those of the authors' code, .008 to 125, and a table gives the chosen ones in both units
of the paper: as an average they are inside its range, as a sum beyond it. Coat is learnt with powers of ten over the
printed range too, losses as an average (one run), and mf-ips then has both of the paper's numbers within .001; as a
sum, tried for its MSE, the best λ is the last, 1, and the error 1.309. Met where the error is at most 2 % above the
paper's; a lower one is no miss (the MAE of mf-ips would be one, by a two-sided 2 %). HL-MNAR and HL-MAR are quoted from
the paper and not run.

The paper reports p < .001 of a paired t-test for all comparisons, without saying what is paired: here the two methods'
errors on the same test rating, and beside it the mean errors on the same person, since one person's ratings are not
independent. Shown is the largest p over runs.
""",
            table2.run,
            table2.RUNS,
            1,
            fewer="without the printed λ",
        ),
    ),
)
