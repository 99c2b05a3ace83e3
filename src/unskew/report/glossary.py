"""What the columns mean, one line each."""

from __future__ import annotations

TERMS: tuple[tuple[str, str], ...] = (
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
