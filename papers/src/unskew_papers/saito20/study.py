"""The study of saito20: which experiments there are, and what their pages say."""

from __future__ import annotations

from unskew_papers.saito20 import figure2, table4, tables23
from unskew_papers.saito20.setting import VERSION, Setting
from unskew_papers.study import Chart, Experiment, Study


def _charts(figure: str, x: str) -> tuple[Chart, ...]:
    return tuple(
        Chart(f"{figure}/{metric} {reading}", f"Error of the estimates of {metric}, {reading}", x, "relative RMSE")
        for reading in ("as coded", "as printed")
        for metric in ("dcg@10", "recall@10")
    )


CANDIDATES = "16 of 32 candidates (sizes 5 and 20), 20 epochs at a rate of 5e-3 instead of 100 at 1e-3"


STUDY = Study(
    name="saito20",
    title="Doubly Robust Estimator for Ranking Metrics with Post-Click Conversions",
    story="""
Clicks are the selection, conversions after a click the outcome. A recommender is worth the mean over users of Σ
P^cvr·c(rank) (Eq. 1); naive, ips and dr (Eqs. 2–4) estimate that from clicks, and are judged by their relative RMSE
over 32 candidate recommenders (4 sizes × 2 penalties × 4 losses of `us.models.Factors`, trained on training
conversions, 100 epochs at the code's rate of 10⁻³; Table 1 prints 10⁻⁴). The estimates are computed on full matrices;
`us.evaluate` gives the same numbers (`papers/tests/test_saito20.py`).

The author's [code](https://github.com/usaito/dr-ranking-metric) differs from the text, and where it does, numbers
tell which of the two was run. What we follow, and how we know, stands with each experiment. *As coded* are its metrics:

- every user's sum is divided by that user's own estimated total, the true values too; the ratio is cut to [0, 1]. A
  total of 0 gives 0; negative totals, which dr has, divide as any other;
- from rank 2 on, DCG discounts rank r by log2 r;
- the guesses of ranks 2 … K are overwritten in place by their corrected values before DCG's total is summed (an array
  is changed through a view), so that the total corrects them a second time: a conversion at one of these ranks adds
  (y − x)/p to it, with x itself of the order of 1/p, and the total becomes negative where p is small. Naive estimates
  and true values are not harmed.

*Divided* is the first of these alone, *as printed* none (`coded.py`).
""",
    version=VERSION,
    setting=lambda store, workers: Setting(store, workers=workers),
    experiments=(
        Experiment(
            "table2",
            "Table 2: how rare clicks are",
            """
A logistic factorisation (10 factors, Adam, 5,000 batches of 256) of rated or not, over all 943 × 1,682 pairs of
ML-100K, gives Ô; P^ctr = Ô^power. A run is another start of the factorisation. Averages are met within 10 %, minima
(one cell of 1.6 million) within 50 %. The paper's last average has lost its digits: 2.685 × 10⁻⁶ is 2.685 × 10⁻³,
since the smallest value of all is only 25,000 times below it at this power.
""",
            tables23.run_2,
            tables23.RUNS,
            3,
        ),
        Experiment(
            "table3",
            "Table 3: where the guess is good enough",
            """
The share of pairs with q ≤ 2 P^cvr (Eq. 5: there dr has less variance than ips), q = P^cvr + Unif(−bound, bound), cut
to [0, 1]; met within 1.5 points. P^cvr = ε + (1 − ε)(2^(R̂−1) − 1)/(2^4 − 1) as in the code; with 2^R̂ as the text
prints it the shares come out higher (second table). The text's formula for q has min and max, and CTR and CVR, the
wrong way round: taken at its word q would be constant. The text draws noise for every pair, the code one number per
user: this table cannot tell.
""",
            tables23.run_3,
            tables23.RUNS,
            3,
        ),
        Experiment(
            "figure2a",
            "Figure 2 (a): error as clicks get rarer",
            """
Worlds of ML-100K with known rates; a click is training with probability .7, so that ips and dr use the propensity
.3·P^ctr of a validation click; bound .6. The paper draws one metric without naming it, relative to ips, one draw of
clicks in each of 20 runs, and prints a gain of dr over ips of 28.4 % at power .5 and of 54.8 % at "5.0" (3.0 is meant).
It claims that dr is ahead at every power.

**The gains are those of DCG@10 as coded**, whose noise is one number per user, drawn anew for every candidate and
metric (the text draws it for every pair). A number is met within 2√2 standard errors of ours: the paper's comes from 20
runs as ours does, and has an error of that size, which it does not print.

**What they mean.** Where dr is ahead, both are useless: with few clicks a user has one conversion in validation or
none, and the user's own ratio is then often 1 or 0 where the truth is about a hundredth. Errors are multiples of the
truth, naive the worst. With plenty of clicks (powers .5 to 1) every user has conversions and ips is nearly right.
There dr is *behind* it by recall, and by DCG over the total: a click without a conversion subtracts q/p, so that sums
of some users are negative, and cutting their ratios at 0 lifts the mean; those of ips never are. Only the second slip
turns that, and only at DCG@10: it makes the totals of users too small whose lists hold conversions, the more the more
ranks are corrected twice, and those of ips most. (With few clicks such totals are below 0 and count as 0, which takes
away some of the ratios of 1.) So "ahead at every power" rests on the slip, and on the metric: the claims below are
judged for every metric and reading.

*As printed* (Eqs. 1–4, sums that nothing divides) dr is ahead, clearly up to power 2. There one draw says little: at
large powers few clicks carry weights of many thousands, in most draws ips misses what they stand for, in a few it
explodes. So every run's validation clicks are drawn 1,000 times (`redraws.py`), and errors are means over all draws.
For rare clicks Var(dr)/Var(ips) ≈ Σ [m(1 − m) + (q − m)²]/p / Σ m/p over listed pairs, m = P^cvr, so that a perfect
guess gains about 1 − √(1 − m), and one with noise less: no reading of the printed formulas gives 54.8 %. With plenty of
clicks the gain is larger than 28.4 %: many listed pairs were clicked in training and cannot be clicked in validation,
for which .3·P^ctr makes up on average only; a guess covers them.

A run of all powers takes about four minutes of one core, half of it at power .5; what candidates list is kept, so that
it may be stopped, and other estimates made of it.
""",
            figure2.run_a,
            figure2.RUNS,
            2,
            _charts("figure2a", "power (larger: rarer clicks)"),
            fewer=CANDIDATES,
        ),
        Experiment(
            "figure2b",
            "Figure 2 (b): error as the guess gets worse",
            """
The same at power 2; naive and ips do not depend on the bound. The paper claims that dr is ahead at every bound, and
prints a gain of 46.5 % at bound 1: that of DCG@10 as coded, noise per user (with noise per pair it is far larger, since
noise then cancels in sums over items). As printed, a gain of that size does not come out at any bound, and at bound 1
hardly any; by recall@10 dr is then rather behind.
""",
            figure2.run_b,
            figure2.RUNS,
            6,
            _charts("figure2b", "bound (larger: worse guesses)"),
            fewer=CANDIDATES,
        ),
        Experiment(
            "table4",
            "Table 4: Coat (and Yahoo! R3, where you have it)",
            """
A rating is a click, 4 and 5 are conversions; 210 of Coat's 290 users have at least two conversions in training and
one to nine in the random test. *As run* by the author's code: all pairs are split 70/30 and validation is completed
with zeros; all items are candidates (also those of training); propensity and outcome are logistic factorisations by
Adam, fitted in sample, unclipped; every user's sum is divided by that user's total; the random test conversions,
treated alike, are the truth. Numbers are met within 15 %.

**The lists are random.** The code asks LightFM about users and items by their ids, but LightFM numbers them in the
order in which training rows bring them up, and these rows are shuffled. Each user is given another user's list of
other items. Done so (*as run*) the paper's numbers and its order dr < ips < naive come out. The mean over candidates
says why: lists at random contain 5, 10 or 50 of 300 coats, and that is what dr answers whatever the lists are. Its q
learns the clicked pairs by heart, so nothing is left to correct, and says nothing about the others.

**With the ids mended** the lists are about twice as good, dr still answers as for random ones, and it falls behind at
10 and 50. With p and q cross-fitted over pairs, and sums pooled before they are divided (*ours*), dr and ips agree with
each other, are near the truth (ips some 6 to 11 % below it), and far ahead of naive.

**The paper's DCG of ips and dr** comes from the two slips named above: with them built in, the paper's rows come out;
DCG over the same totals stands in the tables below them. In eight runs that were looked at, totals of dr are positive.

A full run takes about two seconds of one core. Yahoo! R3 may not be passed on; with a copy of yours
(`unskew data add yahoo-r3 FOLDER`) the same is done for it, in at most 30 runs.
""",
            table4.run,
            table4.RUNS,
            12,
            fewer="16 of 32 candidates (sizes 5 and 20)",
        ),
    ),
)
