"""What the paper prints: mean Kendall's τ over 20 seeds, between 81 models in the order of an estimate and of truth."""

from __future__ import annotations

CUTS = (5, 10, 20, 30, 100)
YAHOO = {  # Table 1
    "GS": (0.7148, 0.7763, 0.8008, 0.7521, 0.7261),
    "IPS": (0.6968, 0.7518, 0.7314, 0.7750, 0.6823),
    "Naive": (0.7168, 0.7756, 0.7880, 0.7234, 0.7275),
}
COAT = {  # Table 2
    "GS": (0.4187, 0.5403, 0.5553, 0.5611, 0.6600),
    "IPS": (0.4219, 0.5367, 0.5564, 0.5634, 0.6497),
    "Naive": (0.4065, 0.5439, 0.5544, 0.5587, 0.6703),
}
STRATA = (1, 2, 3, 5, 10, 20, 50, 100)  # Figure 1; the paper's counts cannot be read
GAMMAS = (1.5, 2.0, 2.5, 3.0)  # its footnote: similar outcomes
SEEDS = 20
