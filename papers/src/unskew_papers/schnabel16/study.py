"""The study of schnabel16: which experiments there are, and what their pages say."""

from __future__ import annotations

from unskew_papers.schnabel16 import figure2, figure3, figure4, table1, table2
from unskew_papers.schnabel16.setting import METRICS, SHOWN, VERSION, Setting
from unskew_papers.study import Chart, Experiment, Study

QUICK = 12  # draws instead of 50


def _charts(figure: str, x: str) -> tuple[Chart, ...]:
    return tuple(
        Chart(f"{figure}/{metric}", f"RMSE of the estimates of {SHOWN[metric]}", x, "RMSE") for metric in METRICS
    )


STUDY = Study(
    name="schnabel16",
    title="Recommendations as Treatments: Debiasing Learning and Evaluation",
    story="""
The world of §6.2: a factorisation completes the 100,000 ratings of ML-100K to 943 × 1,682, the completed values become
ratings 1 … 5 by quantile with the shares .5263, .2419, .1447, .0616, .0255 (those behind the paper's Table 1), and a
rating is seen with probability k for 4 and 5, k·α^(4 − y) below, k such that 5 % of all pairs are seen. See
[worlds](../worlds.md) for how to make such a world of your own data.

Ours differs where the paper does not tell: the factorisation (no offsets, rank 10, by alternating least squares; with
offsets a few users would have fewer than the 50 ones that the paper's DCG@50 of rotate implies, so we took the form
that fits), and which pairs are drawn. ML-100K has 943 users and 1,682 films; the paper's text counts one more of each.
DCG is discounted by log2(rank + 1), ties are broken by a hash of user and item.
""",
    version=VERSION,
    setting=lambda store, workers: Setting(store, workers=workers),
    experiments=(
        Experiment(
            "table1",
            "Table 1: estimates of MAE and DCG@50 at α = .25",
            """
Five predictors that err in known ways; mean and standard deviation (sd) of the estimates over draws of what is seen.
MAE depends on the shares of the ratings alone and is held to the paper's numbers. DCG@50 depends on who likes what, so
its true and naive values are held to the paper's within 3 and 5 % (set after a first look), and ips and snips to our
own truth. Spreads of MAE are held to the paper's within 25 %; those of DCG@50 within three standard errors of both,
since each comes from 50 draws (by 25 % two of the 15, naive's on rec_fours and skewed, would be missed; the exact
spreads, which follow from P, are all within 25 %: `tests/simulate/test_schnabel16_world.py`). By its naive MAE rec_ones
is better than rec_fours; the truth is the other way round.
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
            "figure3",
            "Figure 3: error of learning as selection grows, and as propensities get worse",
            """
True MSE over all pairs of a factorisation (d = 20, the rest by cross-validation) that learns from what is seen:
unweighted (mf-naive), weighted by the known 1/P (mf-ips), and by naive Bayes propensities from a random sample at
α = .25 (mf-ips-nb). The paper draws 30 trials and prints no numbers. Claims: mf-ips beats mf-naive for every α < 1 and
is the same at α = 1 (within 2 %); mf-ips-nb beats mf-naive however small the sample.

The paper does not tell its grid here. Ours has six λ from 1 to 125 and offsets with and without a penalty (λ of .2 and
.5 were tried on one fold of one trial at six points: never the best, and two thirds of the time). A table says how
often the best λ was the smallest or the largest. The choice matters: with unpenalised offsets only and λ of 1, 5 and
25, mf-naive did better and mf-ips-nb fell behind it for a sample of 1,000 (.366 against .346, one trial).

A trial is another draw of what is seen, with a cross-validation of its own at each of 16 points. It takes about a
minute of one core; every point is kept, so that a run may be stopped and taken up again.
""",
            figure3.run,
            figure3.RUNS,
            1,
            (
                Chart("figure3/selection", "True MSE of what was learnt", "α (1: no selection)", "MSE"),
                Chart("figure3/propensities", "True MSE of what was learnt", "pairs in the random sample", "MSE"),
            ),
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
loss, MAE with the absolute one. Met where the error is at most 2 % above the paper's; a lower one is no miss (the MAE
of mf-ips would be one, by a two-sided 2 %). HL-MNAR and HL-MAR are quoted from the paper and not run.

The paper reports p < .001 of a paired t-test for all comparisons, without saying what is paired: here the two methods'
errors on the same test rating, and beside it the mean errors on the same person, since one person's ratings are not
independent. Shown is the largest p over runs.
""",
            table2.run,
            table2.RUNS,
            1,
        ),
    ),
)
