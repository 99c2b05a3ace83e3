"""What the columns of results, comparisons, audits and checks mean, one line each."""

from __future__ import annotations

Terms = tuple[tuple[str, str], ...]

RESULT: Terms = (
    ("estimate", "What the metric would be if every interaction had been seen, by one estimator."),
    (
        "interval",
        "Where the true value lies with the level given in the settings, over samples of users like these. Without any "
        "hit there is only a bound from above (≤).",
    ),
    ("naive", "Takes the log as it is: right only if what was shown did not depend on what would be liked."),
    ("debiased", "Every other estimator: seen interactions count more the less likely they were to be seen."),
    (
        "propensity",
        "How likely an interaction was to be seen. Absolute: its level means something. Relative: only its ratios do.",
    ),
    ("per_user", "Target: each user's average over relevant items, then the mean over users."),
    ("pooled", "Target: the average over all relevant user–item pairs; active users count more."),
    ("per_user_sum", "Target: each user's sum over items, then the mean over users."),
    ("per_pair", "Target: the mean over all pairs of a user and an item, seen or not."),
    (
        "normalised",
        "Of sums: pooled divides by the estimated total of all users, per_user by each user's own (cut to [0, 1]).",
    ),
    ("direct, dr", "Estimators with an outcome model: its guesses alone, or corrected by what was seen."),
    ("se", "Standard error, clustered by user."),
    ("ess", "Effective sample size: so many equally weighted hits would tell as much; only hits carry a number."),
    (
        "hits",
        "Held-out interactions that carry the number: those that the list holds where its places are worth something.",
    ),
    (
        "never shown",
        "Share of a list's worth on items that the log could never show (unsupported): nothing is known there.",
    ),
    (
        "largest share",
        "Weight of the heaviest interaction in the total (max_weight_share); above a few per cent, beware.",
    ),
    (
        "clipped",
        "Share of interactions whose weight was limited (clipped_share): P raised to a floor, or, by switch, the "
        "correction left out. Less variance, some bias.",
    ),
    (
        "support gap",
        "Share of held-out interactions on items that training never showed (support_gap).",
    ),
    (
        "few clicks",
        "How far a ratio inside users is off because they have few clicks (few_clicks): leave one click out, and "
        "look how much the ratio moves.",
    ),
    (
        "difference",
        "Estimate of the first model minus that of the second, over the same users. Its interval is as wide as every "
        "check of the verdict asks for; a dash means that a check withheld the verdict (trust says which).",
    ),
    (
        "p, adjusted p",
        "Chance of a difference this large between equal models; adjusted so that it holds for all pairs and segments "
        "together.",
    ),
    (
        "verdict",
        "Better or worse where propensities are known, ahead or behind where they are assumed, else undecided.",
    ),
    (
        "tipping (Γ)",
        "Factor by which propensities (or their odds) must be wrong, in the worst direction, to undo the lead. Other "
        "errors can undo it sooner, also where none is written.",
    ),
    ("Γ, low", "The same, allowing for sampling error."),
    (
        "users needed",
        "Users at which a difference like this one would be found four times out of five; a dash beyond a hundred "
        "times the users there are.",
    ),
    ("trust", "Why a pair is undecided, or what should make you doubt a verdict."),
)

COMPARISON: Terms = (
    ("spread", "Largest minus smallest estimate of a model over the propensities."),
    (
        "÷ half-width",
        "The spread over the mean half-width of the intervals. Above 1, the choice of the propensity matters more than "
        "chance does.",
    ),
    *(entry for entry in RESULT if entry[0] in ("estimate", "interval", "naive", "propensity", "ess", "largest share")),
    *(entry for entry in RESULT if entry[0] in ("per_user", "pooled", "per_user_sum", "difference", "verdict")),
)

AUDIT: Terms = (
    (
        "KL bits",
        "How far the shares of items (or users) are from equal shares, in bits: 0 is even (carraro20 Eqs. 1–5).",
    ),
    ("chance", "What the number beside it would be without any preference or difference, given this many rows."),
    ("effective", "How many equally frequent items (or users) would be as diverse; entropy-based."),
    ("Gini", "0 where all have the same number of rows, near 1 where one has them all."),
    ("top 1 %", "Share of the rows on the hundredth of the items (or users) that has the most of them."),
    (
        "popularity exponent",
        "How fast counts fall with rank in the tail: count ∝ rank^−exponent, by maximum likelihood.",
    ),
    (
        "MCAR",
        "Missing completely at random: a log whose pairs were drawn by lot, so that nothing decided what was seen.",
    ),
    ("ratio", "How often a value is seen in the log, over how often it would be if being seen did not depend on it."),
    (
        "P(seen | value)",
        "Bayes: P(value | seen) P(seen) / P(value), with P(value) from the MCAR log (schnabel16 Eq. 18).",
    ),
    ("total variation", "Half the sum of the differences between two distributions: 0 the same, 1 nothing in common."),
    ("Jensen–Shannon", "How far two distributions are apart, in bits: 0 the same, 1 nothing in common."),
    (
        "propensity",
        "How likely an interaction was to be seen. Absolute: its level means something. Relative: only ratios do.",
    ),
    ("ess", "Effective sample size: how many equally weighted interactions would tell as much."),
    ("wider", "The standard error of snips over that of naive; mostly: between which eight of ten random lists lie."),
    (
        "standard error",
        "How far an estimate would typically move with other users; intervals are about twice that to either side.",
    ),
    ("per_user", "Target: each user's average over relevant items, then the mean over users."),
    ("pooled", "Target: the average over all relevant user–item pairs; active users count more."),
    ("per_user_sum", "Target: each user's sum over items, then the mean over users."),
)

CHECKS: Terms = (
    (
        "propensity",
        "How likely an interaction was to be seen. Absolute: its level means something. Relative: only ratios do.",
    ),
    (
        "held-out pairs",
        "Pairs, seen and unseen, that the fit did not know: folds by a hash of user and item, each judged by a model "
        "that was fitted without it.",
    ),
    ("log-loss", "Minus the mean log-probability of what happened, seen or not; lower is better."),
    ("Brier", "The mean squared distance of P from what happened (1 seen, 0 not); lower is better."),
    ("one constant for all", "The density of the log as everybody's propensity: what any model should beat."),
    ("reliability", "Among pairs with similar P, the share that was seen: it should be P."),
    (
        "balance",
        "Seen over predicted, for tenths of the users by activity and of the items by popularity (counted outside the "
        "fold): 1 where P is right for all of them.",
    ),
    (
        "overlap",
        "How P is spread over seen and unseen pairs. Unseen pairs far to the left of the seen ones have no support.",
    ),
    ("ess", "Effective sample size of the weights 1/P: how many equally weighted interactions would tell as much."),
    ("largest, top 1 %", "Share of the largest weight, and of the largest hundredth of the weights, in their sum."),
    ("clip", "Raising every P below a threshold to it: less variance, some bias. The table says whom it would touch."),
    (
        "implied pairs",
        "Σ 1/P over the seen pairs estimates users × items, where P is absolute and zeros are logged too.",
    ),
)


def of_audit(*, checked: bool) -> Terms:
    """The terms of an audit, with those of the checks where there are checks."""
    known = {term for term, _ in AUDIT}
    return AUDIT + (tuple(entry for entry in CHECKS if entry[0] not in known) if checked else ())
