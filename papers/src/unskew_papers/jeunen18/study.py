"""The study of jeunen18: which experiments there are, and what their page says."""

from __future__ import annotations

from unskew_papers.jeunen18 import overstated, table2, table3, truth, variants
from unskew_papers.jeunen18.protocols import LOOCV, SW
from unskew_papers.jeunen18.setting import SOURCES, VERSION, Setting
from unskew_papers.study import Chart, Experiment, Study

FIGURE_1 = tuple(
    Chart(f"table2/{name}, {protocol}", f"{name}: Recall@k under {protocol}", "k", "Recall@k")
    for name in SOURCES
    for protocol in table2.protocols_of(name)
    if protocol in (LOOCV, SW)
)
FIGURE_2 = tuple(
    Chart(f"table3/{policy}, {protocol}", f"Rows of '{policy}': Recall@k under {protocol}", "k", "Recall@k")
    for protocol in (LOOCV, SW)
    for policy in table3.OWN
)

STUDY = Study(
    name="jeunen18",
    title="Fair Offline Evaluation Methodologies for Implicit-Feedback Recommender Systems with MNAR Data",
    story="""
Leave-one-out (LOOCV) lets the future predict the past. SW-EVAL judges each day by what was known before it. The paper
compares both on the log of a shop that is not public, and finds that LOOCV overstates levels, understates popularity,
ranks otherwise, and that the policy which wrote a log favours its own algorithm. Here the same is done on public logs
and in a simulated shop with a quarter of the paper's users and items (`papers/src/unskew_papers/shop`), whose truth is
known. The paper's numbers stand beside the shop's as context: it is another shop, and no number of it is a target.
What is judged are the paper's findings.

**Protocols.** LOOCV: one random row of each user who has several, ten times (`leave_one_out(repeats=10)`). SW-EVAL: the
last 30 windows (`sliding_window(folds=30, min_users=100)`), users with a past and a row in the window, all rows before
the window train. The hold-out is one random fifth of the rows. All are `us.cross_validate`; values are averages over
folds, and errors are clustered by user over all folds. Items that a user has had are left out of lists.

**Algorithms** (`most_popular`, `recently_popular`, `svd`, `user_knn(votes=count)`, `item_knn`) are those of the paper's
§3.1. Settings are chosen by Recall@10 of one repetition of leave-one-out, none of the ten that are reported, and are
kept for every k, for SW-EVAL and for the rows of each policy. Dimensions and neighbours are tried from 1 up (1, 2, 3,
5, 10, 20, …) until three in a row are no better than the best, so that no winner is the largest that was tried. The
paper does not say how N of POP-N was tuned, and leave-one-out cannot tell: of all N up to the whole log we take the one
with the best Recall@10 in the five windows before those that are judged.

**Errors.** ± is one standard error, and intervals hold 95 %. Δ % and other ratios have theirs by the delta method, with
the covariance of the two values. Between protocols no covariance is counted, though they share users. Kendall's τ has
its interval from 2,000 draws of both protocols' values from their normal laws; of four models it can only be −1, −2/3,
…, 1.

**Slips.** Of Table 3, .230 (U-kNN, SW-EVAL, popularity policy, k = 5) and .406 (I-kNN, LOOCV, item-kNN policy, k = 15)
do not fit the Δ % beside them, and stand corrected as .023 and .306 (`printed.py`, `papers/tests/test_jeunen18.py`).

A quick run says at its beginning what it has less of. Finished cross-validations are kept, so that a run may be
stopped. Everything takes about 15 minutes of CPU time.
""",
    version=VERSION,
    setting=lambda store, workers: Setting(store, workers=workers),
    experiments=(
        Experiment(
            "table1",
            "Table 1: the logs",
            """
Distinct pairs of user and item, the first in time; of ratings all, whatever their value. No day of Online Retail has
100 customers with a past, so its windows are weeks; MovieTweetings and the shop are judged by day. The times of ML-100K
tell when somebody sat down to rate films seen long before: it has no windows. The paper's log stands beside the shop.
""",
            table2.table_1,
            1,
            1,
        ),
        Experiment(
            "table2",
            "Table 2 and Figure 1: leave-one-out against SW-EVAL",
            """
Levels: the best Recall@10 under LOOCV is asked to be at least twice that under SW-EVAL (the paper: five times).
Popularity: POP over the best is asked to be larger under SW-EVAL (the paper: 44 % against 11 %). Rankings: some pair of
POP, SVD, U-kNN and I-kNN is decided one way under LOOCV and the other way under SW-EVAL, each at one simultaneous level
over all pairs.

In the shop and on Online Retail all three come out. Leave-one-out's best level is three to four times SW-EVAL's, and
popularity is far closer to the best under SW-EVAL. In the shop leave-one-out puts I-kNN ahead of U-kNN and SW-EVAL puts
it behind; on Online Retail the pair is SVD and U-kNN. On MovieTweetings none does: POP is nearly the best under
leave-one-out, and SW-EVAL finds POP-N twice as good as all else. Algorithm by algorithm leave-one-out is above SW-EVAL
on every log. The random hold-out ranks like leave-one-out in the shop and on Online Retail.
""",
            table2.table_2,
            1,
            1,
            FIGURE_1,
        ),
        Experiment(
            "tuning",
            "The reversal by tuning",
            """
Online Retail: the dimensions of SVD. Leave-one-out rises up to 300 of them, far beyond what is best for SW-EVAL. A grid
that ends at 100, as ours did, hides that: with 100 dimensions SVD is not behind either neighbour model under SW-EVAL.
As leave-one-out tunes it, SVD comes within a twentieth of I-kNN there and far ahead of U-kNN, and is behind both under
SW-EVAL.
""",
            variants.tuning,
            1,
            1,
            folded=False,
        ),
        Experiment(
            "first-only",
            "Only the first item of a window",
            """
The paper says that results were very comparable where only the first item of a user's window is relevant, so that
Recall is the hit rate as in LOOCV, and prints none of them. Here they are, and over those of all items: a ratio of 1
says that the level does not come from the number of relevant items. On the public logs it is within 12 % at k = 10. The
shop is less comparable: levels are 17 to 31 % higher there, and models that are close swap. The gap to LOOCV stays.
""",
            variants.first_only,
            1,
            1,
        ),
        Experiment(
            "widths",
            "Windows of other widths",
            """
The paper leaves the width for later. The same last week as 28 windows of 6 hours, 7 of a day and one of a week; windows
with fewer than 100 users who have a past are skipped, and counted. Online Retail has enough users for weeks only. A
window of a week asks for what comes days after the last fit, and not of users who had no row at its beginning.
""",
            variants.widths,
            1,
            1,
            folded=False,
        ),
        Experiment(
            "table3",
            "Table 3 and Figure 2: what the logging policy does",
            """
The rows of each policy of the shop on their own: popularity (π_p, a quarter of the users), `recently_popular(days=7)`
where the paper's is undisclosed (π_u, a quarter), item-kNN (π_i, half). A policy favours its own algorithm if that
algorithm's Recall@10 over SVD's, which resembles no policy, is larger on the policy's rows than on those of each other
one: POP for π_p, POP-N for π_u, I-kNN for π_i. Policies serve other users, so their errors are independent. U-kNN,
which resembles none either, is a second reference. Rankings: the paper finds one for all policies under leave-one-out,
and different ones under SW-EVAL. A claim on τ is judged by its standard error; half a swapped pair is the line.

I-kNN is favoured where item-kNN wrote the log, under both protocols and against both references. Policies rank alike
under leave-one-out; under SW-EVAL item-kNN's rows rank otherwise than those of the two policies that show popular
items, which are hard to tell apart. The favour hangs on the tuning: with 100 dimensions, the end of a narrow grid,
I-kNN over SVD is *smaller* on item-kNN's rows, since so many dimensions fail on the rows of the other policies (last
tables). Such a reference is no fixed measure: the next section does without.
""",
            table3.run,
            1,
            1,
            FIGURE_2,
        ),
        Experiment(
            "overstated",
            "How much does each policy overstate each algorithm?",
            """
The shop knows what its users wanted in the last week, seen or not, so that each log can be held against its own truth:
Recall@10 on the rows of a policy over Recall@10 on all that its users wanted, of the same lists. Policies serve a third
of the users each, and visitors find 5 items without the page, or 1. Each policy overstates its own algorithm most:
I-kNN more than three times where item-kNN wrote the log, twice elsewhere, but U-kNN and SVD, which learn from the same
clicks, nearly as much. The less is found without the page, the more so.
""",
            overstated.run,
            overstated.RUNS,
            overstated.QUICK_RUNS,
            folded=False,
        ),
        Experiment(
            "truth",
            "Which protocol picks what an A/B test would pick?",
            """
The paper leaves it for later. Each run is a small shop with its own tastes and fashions (`shop/varied.py`), so that the
winner varies. Every protocol tunes each algorithm by its own Recall@10 and picks the best; regret is the share of
clicks that an A/B test of the pick in the week behind the log would lose to the best candidate, exactly computed. snips
and gs know the shop's propensities, the chance that a wanted item was looked at; leave-one-out has them over the number
of the user's rows. The exposure path knows none. Verdicts are about tuned algorithms, at one level over all candidates.

SW-EVAL picks the best algorithm in every world, mostly POP-N, of which leave-one-out and the hold-out have no value.
Among the other four these lose twice as many clicks as SW-EVAL, which twelve worlds do not decide. By verdicts they
differ more: two in five of leave-one-out's are wrong, and one in twenty of SW-EVAL's, which decides less. Propensities
do not help: they undo what was easily seen, not what the future tells of the past, and leave-one-out and the hold-out
pick worse with them; SW-EVAL picks no better, and decides hardly anything.
""",
            truth.run,
            truth.RUNS,
            truth.QUICK_RUNS,
            folded=False,
        ),
    ),
)
